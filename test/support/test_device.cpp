// Arrays lie in one range of addresses that is protected (mprotect) but for the time that kernels run.
#include "support/test_device.hpp"

#include "arges/element_kernels.hpp"
#include "base/instantiate.hpp"
#include "base/workspace.hpp"
#include "local/transfer.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace arges::test {
namespace {

class Device {
public:
    static Device& the() {
        static Device device;
        return device;
    }

    void* allocate(std::int64_t bytes) {
        const std::lock_guard lock(mutex_);
        const auto whole = Workspace::padded(bytes);
        for (auto it = free_.begin(); it != free_.end(); ++it) {
            const auto [begin, length] = *it;
            if (length < whole) continue;
            free_.erase(it);
            if (length > whole) free_[begin + whole] = length - whole;
            return memory_ + begin;
        }
        return nullptr;
    }

    void give_back(void* array, std::int64_t bytes) {
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

    void enter() {
        const std::lock_guard lock(mutex_);
        if (running_++ == 0) protect(PROT_READ | PROT_WRITE);
    }
    void leave() {
        const std::lock_guard lock(mutex_);
        if (--running_ == 0) protect(PROT_NONE);
    }

private:
    static constexpr std::int64_t size = std::int64_t{1} << 34;

    Device() {
        void* const memory = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) std::abort();
        madvise(memory, size, MADV_HUGEPAGE);  // what protect() costs grows with the number of pages in use
        memory_ = static_cast<std::byte*>(memory);
        free_[0] = size;
    }
    void protect(int access) {
        if (mprotect(memory_, size, access) != 0) std::abort();
    }

    std::mutex mutex_;
    std::byte* memory_ = nullptr;
    std::map<std::int64_t, std::int64_t> free_;  // begin and length
    int running_ = 0;
};

struct OnDevice {
    OnDevice() { Device::the().enter(); }
    ~OnDevice() { Device::the().leave(); }
};

const MemorySpace space{.name = "the tests' device",
                        .allocate = [](std::int64_t bytes) { return Device::the().allocate(bytes); },
                        .free = [](void* array, std::int64_t bytes) noexcept { Device::the().give_back(array, bytes); },
                        .copy =
                            [](void* to, const void* from, std::int64_t bytes) {
                                const OnDevice here;
                                std::memcpy(to, from, static_cast<std::size_t>(bytes));
                            }};

template <class T, class Table>
Table on_host;

/// A function of a table with the device's memory open.
template <class T, auto member>
struct Opened;
template <class T, class Table, class R, class... A, R (*Table::*member)(A...)>
struct Opened<T, member> {
    static R call(A... arguments) {
        const OnDevice here;
        return (on_host<T, Table>.*member)(arguments...);
    }
};

/// Single elements are on the host: functions of them stay as they are.
template <class T>
void use_device() {
    static ElementKernels table;
    if (element_kernels<T>().space == &space) return;
    on_host<T, ElementKernels> = element_kernels<T>();
    table = on_host<T, ElementKernels>;
    table.space = &space;
    table.convert = [](const std::type_info& type, const void* from, void* to, std::int64_t count) {
        const OnDevice here;
        local::convert_elements(type, on_host<T, ElementKernels>, from, to, count);
    };
    const auto open = [&]<auto member>() {
        if (table.*member != nullptr) table.*member = Opened<T, member>::call;
    };
    open.template operator()<&ElementKernels::fill>();
    open.template operator()<&ElementKernels::scale>();
    open.template operator()<&ElementKernels::divide>();
    open.template operator()<&ElementKernels::transfer>();
    open.template operator()<&ElementKernels::transfer_listed>();
    open.template operator()<&ElementKernels::make_real>();
    open.template operator()<&ElementKernels::contract>();
    open.template operator()<&ElementKernels::reduce>();
    open.template operator()<&ElementKernels::count_nonzero>();
    open.template operator()<&ElementKernels::scale_along>();
    open.template operator()<&ElementKernels::multiply_rows>();
    open.template operator()<&ElementKernels::split_pair>();
    open.template operator()<&ElementKernels::unpack_pair>();
    static Reductions reductions;
    on_host<T, Reductions> = reductions = *table.reductions;
    reductions.sum_row = Opened<T, &Reductions::sum_row>::call;
    reductions.place_of_best = Opened<T, &Reductions::place_of_best>::call;
    table.reductions = &reductions;
    use_element_kernels<T>(&table);
}

}  // namespace

#define USE_DEVICE(T) use_device<T>();
void use_test_device() { ARGES_FOR_EACH_ELEMENT_TYPE(USE_DEVICE) }

#define USE_HOST(T) use_element_kernels<T>(nullptr);
void use_host() { ARGES_FOR_EACH_ELEMENT_TYPE(USE_HOST) }

}  // namespace arges::test
