// Arrays lie in one range of addresses that is protected (mprotect) but for the time that kernels run.
#include "support/test_device.hpp"

#include "arges/error.hpp"
#include "base/instantiate.hpp"
#include "base/workspace.hpp"
#include "device/device.hpp"
#include "device/staged_copy.hpp"
#include "device/table.hpp"
#include "interface/world/world_device.hpp"
#include "local/blas.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

namespace arges::test {
namespace {

class Device {
public:
    static Device& the() {
        static Device device;
        return device;
    }

    /// Where there is no memory an array that nothing will touch, as of a real device.
    void* allocate(std::int64_t bytes) {
        void* const array = device::Failure::the().guarded([&] { return found(bytes); });
        return array != nullptr ? array : nothing();
    }

    void* found(std::int64_t bytes) {
        const std::lock_guard lock(mutex_);
        ++allocations_;
        const auto refuse = [&] {
            return OutOfMemory("allocating " + std::to_string(bytes) +
                               " bytes on the tests' device; use no device (Device, --device none, ARGES_DEVICE=none)");
        };
        if (failing_allocation_ == allocations_) throw refuse();
        const auto whole = Workspace::padded(bytes);
        for (auto it = free_.begin(); it != free_.end(); ++it) {
            const auto [begin, length] = *it;
            if (length < whole) continue;
            free_.erase(it);
            if (length > whole) free_[begin + whole] = length - whole;
            peak_ = std::max(peak_, taken_ += whole);
            return memory_ + begin;
        }
        throw refuse();
    }

    /// Behind the kernels of the current queue.
    void give_back(void* array, std::int64_t bytes);

    void take_back(void* array, std::int64_t bytes) {
        const std::lock_guard lock(mutex_);
        auto it = free_.emplace(static_cast<std::byte*>(array) - memory_, Workspace::padded(bytes)).first;
        if (const auto next = std::next(it); next != free_.end() && it->first + it->second == next->first) {
            it->second += next->second;
            free_.erase(next);
        }
        if (it == free_.begin()) return;
        if (const auto before = std::prev(it); before->first + before->second == it->first) {
            before->second += it->second;
            free_.erase(it);
        }
    }

    bool has(const void* array) const {
        const auto at = static_cast<const std::byte*>(array) - memory_;
        return at >= 0 && at < size;
    }

    /// Before a kernel runs.
    void call() {
        const std::lock_guard lock(mutex_);
        ++calls_;
        if (failing_ != calls_) return;
        failing_ = 0;
        throw Error(
            "starting a kernel on the tests' device: it was told to fail; use no device (Device, --device none, ARGES_DEVICE=none)");
    }
    void fail_at(std::int64_t call) { failing_ = call == 0 ? 0 : calls_ + call; }
    void fail_allocation_at(std::int64_t call) { failing_allocation_ = call == 0 ? 0 : allocations_ + call; }
    std::int64_t allocations() const { return allocations_; }
    std::int64_t peak() const { return peak_; }
    void reset_peak() { peak_ = taken_; }
    std::int64_t calls() const { return calls_; }
    std::int64_t free_bytes() const { return size - page - taken_; }

    /// MPI touches the memory.
    void open() {
        enter();
        is_open_ = true;
    }
    bool is_open() const { return is_open_; }

    void enter() {
        const std::lock_guard lock(mutex_);
        if (running_++ == 0) protect(PROT_READ | PROT_WRITE);
    }
    void leave() {
        const std::lock_guard lock(mutex_);
        if (--running_ == 0) protect(PROT_NONE);
    }

private:
    static constexpr std::int64_t size = std::int64_t{1} << 34, page = 4096;

    void* nothing() const { return memory_ + size - page; }

    Device() {
        void* const memory = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) std::abort();
        madvise(memory, size, MADV_HUGEPAGE);  // what protect() costs grows with the number of pages in use
        memory_ = static_cast<std::byte*>(memory);
        free_[0] = size - page;
    }
    void protect(int access) {
        if (!is_open_ && mprotect(memory_, size, access) != 0) std::abort();
    }

    std::mutex mutex_;
    std::byte* memory_ = nullptr;
    std::map<std::int64_t, std::int64_t> free_;  // begin and length
    int running_ = 0;
    bool is_open_ = false;
    std::int64_t taken_ = 0, peak_ = 0;
    std::int64_t calls_ = 0, failing_ = 0, allocations_ = 0, failing_allocation_ = 0;
};

class OnDevice {
public:
    OnDevice() { Device::the().enter(); }
    ~OnDevice() { Device::the().leave(); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
};

/// What the host has told the device to do, in two queues. It is done as late as it may be, so that what does not wait for it is found out.
class Queues {
public:
    static Queues& the() {
        static auto* const queues = new Queues;  // arrays may be given back when the process ends
        return *queues;
    }
    int current() const { return current_; }
    void use(int queue) {
        const std::lock_guard lock(mutex_);
        current_ = queue;
    }
    /// What comes to the queue runs behind all of the other one. @return its number
    void follow(int queue) {
        const std::lock_guard lock(mutex_);
        queues_[queue].begun.push_back({[] {}, queues_[1 - queue].end()});
    }
    /// To the current queue. @return its number there
    std::int64_t put(std::function<void()> work) {
        constexpr std::size_t most = 256;
        const std::lock_guard lock(mutex_);
        auto& queue = queues_[current_];
        if (queue.begun.size() >= most) run(current_, queue.end());
        queue.begun.push_back({std::move(work), 0});
        return queue.end();
    }
    /// Waits for what the current queue has up to a number.
    void wait(std::int64_t number) {
        const std::lock_guard lock(mutex_);
        run(current_, number);
    }
    void wait() { wait(std::numeric_limits<std::int64_t>::max()); }

private:
    struct Begun {
        std::function<void()> work;
        std::int64_t behind;  // number in the other queue
    };
    struct Queue {
        std::deque<Begun> begun{};
        std::int64_t ended = 0;
        std::int64_t end() const { return ended + std::ssize(begun); }
    };
    void run(int number, std::int64_t until) {
        auto& queue = queues_[number];
        until = std::min(until, queue.end());
        if (queue.ended >= until) return;
        const OnDevice here;
        for (; queue.ended < until; ++queue.ended) {
            run(1 - number, queue.begun.front().behind);
            queue.begun.front().work();
            queue.begun.pop_front();
        }
    }

    std::mutex mutex_;
    int current_ = 0;
    std::array<Queue, 2> queues_;
};

void Device::give_back(void* array, std::int64_t bytes) {
    if (array == nothing()) return;
    {
        const std::lock_guard lock(mutex_);
        taken_ -= Workspace::padded(bytes);
    }
    Queues::the().put([=, this] { take_back(array, bytes); });
}

/// Copies of a queue by way of two buffers of the host.
class Link {
public:
    std::byte* buffer(int slot) { return buffers_[slot].data(); }
    static std::int64_t piece() { return buffer_bytes; }
    void start(void* to, const void* from, std::int64_t bytes, int slot) {
        last_[slot] = Queues::the().put([=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
    }
    void wait(int slot) { Queues::the().wait(last_[slot]); }

private:
    static constexpr std::int64_t buffer_bytes = 1000;
    std::array<std::array<std::byte, buffer_bytes>, 2> buffers_{};
    std::array<std::int64_t, 2> last_{};
};

void copy(void* to, const void* from, std::int64_t bytes) {
    constexpr std::int64_t least_staged = 512;
    static std::mutex mutex;
    static std::array<Link, 2> links;
    const std::lock_guard lock(mutex);
    const bool to_device = Device::the().has(to), from_device = Device::the().has(from);
    if (bytes >= least_staged && to_device != from_device)
        return device::staged_copy(links[Queues::the().current()], to, from, bytes, to_device);
    const auto size = static_cast<std::size_t>(bytes);
    if (to_device && from_device) {
        Queues::the().put([=] { std::memcpy(to, from, size); });
    } else if (to_device) {
        const std::vector<std::byte> now(static_cast<const std::byte*>(from), static_cast<const std::byte*>(from) + bytes);
        Queues::the().put([=] { std::memcpy(to, now.data(), size); });
    } else {
        Queues::the().wait();
        const OnDevice here;
        std::memcpy(to, from, size);
    }
}

/// Puts a kernel to the current queue.
void start(std::function<void()> kernel) {
    Device::the().call();
    Queues::the().put(std::move(kernel));
}

const MemorySpace space{
    .name = "the tests' device",
    .allocate = [](std::int64_t bytes) { return Device::the().allocate(bytes); },
    .free = [](void* array, std::int64_t bytes) noexcept { Device::the().give_back(array, bytes); },
    .copy = [](void* to, const void* from, std::int64_t bytes) { device::Failure::the().guarded([&] { test::copy(to, from, bytes); }); },
    .memory = [] { return DeviceMemory{.free_bytes = Device::the().free_bytes()}; },
    .use_queue = [](int queue) { Queues::the().use(queue); },
    .follow = [](int queue) { Queues::the().follow(queue); },
    .finish = [] { Queues::the().wait(); }};

/// The device's kernels (src/device) in loops: see device/machine.hpp.
struct Loops {
    static const MemorySpace& space() { return test::space; }
    static int queue() { return Queues::the().current(); }
    static bool has(const void* array) { return Device::the().has(array); }
    template <class F>
    static void blocks(std::int64_t count, const F& f) {
        start([=] {
            for (std::int64_t block = 0; block < count; ++block)
                for (int thread = 0; thread < device::threads; ++thread) f(block, thread);
        });
    }
    template <class N, class F>
    static void tiles(std::int64_t count, const F& f) {
        start([=] {
            std::vector<N> tile(device::tile_elements);
            for (std::int64_t block = 0; block < count; ++block) {
                for (int thread = 0; thread < device::threads; ++thread) f.load(block, thread, tile.data());
                for (int thread = 0; thread < device::threads; ++thread) f.store(block, thread, tile.data());
            }
        });
    }
    template <class F>
    static void trees(std::int64_t groups, const F& f) {
        start([=] {
            std::vector<typename F::Value> values(device::threads);
            for (std::int64_t group = 0; group < groups; ++group) {
                for (int thread = 0; thread < device::threads; ++thread) values[thread] = f.partial(group, thread, device::threads);
                for (int width = device::threads / 2; width > 0; width /= 2)
                    for (int thread = 0; thread < width; ++thread) values[thread] = f.add(values[thread], values[thread + width]);
                f.store(group, values[0]);
            }
        });
    }
    template <class T>
    static void multiply(const device::MatrixProducts<T>& x) {
        start([=] {
            for (std::int64_t i = 0; i < x.count; ++i)
                local::gemm<T>({x.m, x.n, x.k}, x.alpha, {x.a + i * x.step_a, x.lda, x.a_transposed},
                               {x.b + i * x.step_b, x.ldb, x.b_transposed}, x.beta, {x.c + i * x.step_c, x.ldc, false});
        });
    }
};

bool is_default = false;

const device::Tables& tables() {
#define TABLE_OF(T) &test_device_kernels<T>(),
    static const device::Tables all{ARGES_FOR_EACH_ELEMENT_TYPE(TABLE_OF)};
    return all;
}

}  // namespace

void use_test_device(bool messages) {
    is_default = true;
    if (messages) Device::the().open();
    device::replace_cuda(&tables(), true, messages);
}

TestDevice::TestDevice() { device::replace_cuda(&tables(), is_default, Device::the().is_open()); }
TestDevice::~TestDevice() {
    fail_at(0);
    fail_allocation_at(0);
    if (!is_default) device::replace_cuda(nullptr, false, false);
}
void TestDevice::fail_at(std::int64_t call) { Device::the().fail_at(call); }
void TestDevice::fail_allocation_at(std::int64_t call) { Device::the().fail_allocation_at(call); }
std::int64_t TestDevice::allocations() { return Device::the().allocations(); }
std::int64_t TestDevice::peak() { return Device::the().peak(); }
void TestDevice::reset_peak() { Device::the().reset_peak(); }
std::int64_t TestDevice::calls() { return Device::the().calls(); }

template <class T>
const ElementKernels& test_device_kernels() {
    return device::Kernels<Loops, T>::table(element_kernels<T>());
}

#define INSTANTIATE(T) template const ElementKernels& test_device_kernels<T>();
ARGES_FOR_EACH_ELEMENT_TYPE(INSTANTIATE)

const ElementKernels& tested(const ElementKernels& elements) { return WorldDevice(device::default_kind()).kernels(elements); }

}  // namespace arges::test
