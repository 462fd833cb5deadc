#include "memory/counted_memory.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <gtest/gtest.h>
#include <malloc.h>
#include <vector>

namespace {

std::atomic<std::int64_t> held{0}, most{0};

void note(std::int64_t bytes) {
    const auto now = held += bytes;
    for (auto before = most.load(); before < now && !most.compare_exchange_weak(before, now);) {
    }
}

void* counted(void* data) {
    if (data != nullptr) note(static_cast<std::int64_t>(malloc_usable_size(data)));
    return data;
}

void uncount(void* data) {
    if (data != nullptr) note(-static_cast<std::int64_t>(malloc_usable_size(data)));
}

}  // namespace

// The heap of the whole program, of shared libraries too; these are glibc's names for what it would be without them.
#pragma GCC visibility push(default)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t bytes) noexcept { return counted(__libc_malloc(bytes)); }
void* calloc(std::size_t count, std::size_t bytes) noexcept { return counted(__libc_calloc(count, bytes)); }
void* realloc(void* data, std::size_t bytes) noexcept {
    uncount(data);
    return counted(__libc_realloc(data, bytes));
}
void* memalign(std::size_t alignment, std::size_t bytes) noexcept { return counted(__libc_memalign(alignment, bytes)); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept { return counted(__libc_memalign(alignment, bytes)); }
int posix_memalign(void** data, std::size_t alignment, std::size_t bytes) noexcept {
    *data = counted(__libc_memalign(alignment, bytes));
    return *data == nullptr ? ENOMEM : 0;
}
void free(void* data) noexcept {
    uncount(data);
    __libc_free(data);
}
}
#pragma GCC visibility pop

namespace arges::test {

std::int64_t held_now() { return held; }

std::int64_t most_held(const std::function<void()>& work) {
    const auto before = held.load();
    most = before;
    work();
    return most - before;
}

namespace {

TEST(CountedMemory, CountsWhatIsHeldAtOnce) {
    const auto bytes = most_held([] {
        { const std::vector<char> first(300000); }
        const std::vector<char> second(200000), third(150000);
    });
    EXPECT_GE(bytes, 350000);
    EXPECT_LE(bytes, 380000);
}

}  // namespace
}  // namespace arges::test
