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

    void give_back(void* array, std::int64_t bytes) {
        if (array == nothing()) return;
        const std::lock_guard lock(mutex_);
        taken_ -= Workspace::padded(bytes);
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
    std::int64_t free_bytes() const {
        std::int64_t sum = 0;
        for (const auto& [begin, length] : free_) sum += length;
        return sum;
    }

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
        if (mprotect(memory_, size, access) != 0) std::abort();
    }

    std::mutex mutex_;
    std::byte* memory_ = nullptr;
    std::map<std::int64_t, std::int64_t> free_;  // begin and length
    int running_ = 0;
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

/// Copies that are begun and run as late as they may, so that what does not wait for them is found out.
class Link {
public:
    static Link& the() {
        static Link link;
        return link;
    }
    void copy(void* to, const void* from, std::int64_t bytes) {
        constexpr std::int64_t least_staged = 512;
        const std::lock_guard lock(mutex_);
        const bool to_device = Device::the().has(to);
        if (bytes >= least_staged && to_device != Device::the().has(from)) return device::staged_copy(*this, to, from, bytes, to_device);
        run(std::ssize(begun_));
        const OnDevice here;
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
    /// All of them.
    void finish() {
        const std::lock_guard lock(mutex_);
        run(std::ssize(begun_));
    }

    std::byte* buffer(int slot) { return buffers_[static_cast<std::size_t>(slot)].data(); }
    static std::int64_t piece() { return buffer_bytes; }
    void start(void* to, const void* from, std::int64_t count, int slot) { begun_.push_back({to, from, count, slot}); }
    void wait(int slot) {
        for (auto i = std::ssize(begun_); i-- > 0;)
            if (begun_[static_cast<std::size_t>(i)].slot == slot) return run(i + 1);
    }

private:
    static constexpr std::int64_t buffer_bytes = 1000;
    struct Begun {
        void* to;
        const void* from;
        std::int64_t count;
        int slot;
    };
    /// The first ones.
    void run(std::int64_t count) {
        if (count == 0) return;
        const OnDevice here;
        for (std::int64_t i = 0; i < count; ++i) {
            const auto& one = begun_[static_cast<std::size_t>(i)];
            std::memcpy(one.to, one.from, static_cast<std::size_t>(one.count));
        }
        begun_.erase(begun_.begin(), begun_.begin() + count);
    }

    std::mutex mutex_;
    std::array<std::array<std::byte, buffer_bytes>, 2> buffers_{};
    std::vector<Begun> begun_;
};

struct Kernel {
    Kernel() {
        Device::the().call();
        Link::the().finish();
    }
    OnDevice here;
};

const MemorySpace space{.name = "the tests' device",
                        .allocate = [](std::int64_t bytes) { return Device::the().allocate(bytes); },
                        .free =
                            [](void* array, std::int64_t bytes) noexcept {
                                Link::the().finish();
                                Device::the().give_back(array, bytes);
                            },
                        .copy = [](void* to, const void* from,
                                   std::int64_t bytes) { device::Failure::the().guarded([&] { Link::the().copy(to, from, bytes); }); },
                        .memory = [] { return DeviceMemory{.free_bytes = Device::the().free_bytes()}; }};

/// The device's kernels (src/device) in loops: see device/machine.hpp.
struct Loops {
    static const MemorySpace& space() { return test::space; }
    static bool has(const void* array) { return Device::the().has(array); }
    template <class F>
    static void blocks(std::int64_t count, const F& f) {
        const Kernel here;
        for (std::int64_t block = 0; block < count; ++block)
            for (int thread = 0; thread < device::threads; ++thread) f(block, thread);
    }
    template <class N, class F>
    static void tiles(std::int64_t count, const F& f) {
        const Kernel here;
        std::vector<N> tile(device::tile_elements);
        for (std::int64_t block = 0; block < count; ++block) {
            for (int thread = 0; thread < device::threads; ++thread) f.load(block, thread, tile.data());
            for (int thread = 0; thread < device::threads; ++thread) f.store(block, thread, tile.data());
        }
    }
    template <class F>
    static void trees(std::int64_t groups, const F& f) {
        const Kernel here;
        std::vector<typename F::Value> values(device::threads);
        for (std::int64_t group = 0; group < groups; ++group) {
            for (int thread = 0; thread < device::threads; ++thread) values[thread] = f.partial(group, thread, device::threads);
            for (int width = device::threads / 2; width > 0; width /= 2)
                for (int thread = 0; thread < width; ++thread) values[thread] = f.add(values[thread], values[thread + width]);
            f.store(group, values[0]);
        }
    }
    template <class T>
    static void multiply(const device::MatrixProducts<T>& x) {
        const Kernel here;
        for (std::int64_t i = 0; i < x.count; ++i)
            local::gemm<T>({x.m, x.n, x.k}, x.alpha, {x.a + i * x.step_a, x.lda, x.a_transposed},
                           {x.b + i * x.step_b, x.ldb, x.b_transposed}, x.beta, {x.c + i * x.step_c, x.ldc, false});
    }
};

bool is_default = false;

const device::Tables& tables() {
#define TABLE_OF(T) &test_device_kernels<T>(),
    static const device::Tables all{ARGES_FOR_EACH_ELEMENT_TYPE(TABLE_OF)};
    return all;
}

}  // namespace

void use_test_device() {
    is_default = true;
    device::replace_cuda(&tables(), true);
}

TestDevice::TestDevice() { device::replace_cuda(&tables(), is_default); }
TestDevice::~TestDevice() {
    fail_at(0);
    fail_allocation_at(0);
    if (!is_default) device::replace_cuda(nullptr, false);
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
