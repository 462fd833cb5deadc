#include "base/buffer.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace arges {

namespace {

constexpr std::int64_t line = 64;

std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) { return ceil_div(bytes, unit) * unit; }

#if defined(MADV_HUGEPAGE) && !defined(__SANITIZE_ADDRESS__)  // the sanitizer watches the heap only

constexpr std::int64_t huge_page = std::int64_t(1) << 21;
/// The end of an array that does not fill a huge page lies on one, too, where that adds no more than this part of the array:
/// nobody counts it.
constexpr std::int64_t waste = 16;

/// Smaller arrays stay with the heap, which finds memory faster.
bool is_mapped(std::int64_t bytes) { return bytes >= huge_page; }

bool fills_huge_pages(std::int64_t bytes) { return (rounded_up(bytes, huge_page) - bytes) * waste <= bytes; }

/// The first touch of a page costs a fault; with pages of 4 KiB they take as long as some ten passes over the array.
void* map_array(std::int64_t bytes) {
    const auto whole = rounded_up(bytes, huge_page);
    const auto length = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    void* const raw = mmap(nullptr, length(whole + huge_page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    const auto before = rounded_up(reinterpret_cast<std::intptr_t>(raw), huge_page) - reinterpret_cast<std::intptr_t>(raw);
    auto* const data = static_cast<std::byte*>(raw) + before;
    if (before > 0) munmap(raw, length(before));
    if (before < huge_page) munmap(data + whole, length(huge_page - before));
    madvise(data, length(fills_huge_pages(bytes) ? whole : whole - huge_page), MADV_HUGEPAGE);  // small pages do where it is refused
    return data;
}

void ask_for_huge_pages(void* data, std::int64_t bytes) {
    const auto begin = rounded_up(reinterpret_cast<std::intptr_t>(data), huge_page);
    const auto end = (reinterpret_cast<std::intptr_t>(data) + bytes) / huge_page * huge_page;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

void unmap_array(void* data, std::int64_t bytes) { munmap(data, rounded_up(bytes, huge_page)); }

#else

bool is_mapped(std::int64_t) { return false; }
void* map_array(std::int64_t) { return nullptr; }
void ask_for_huge_pages(void*, std::int64_t) {}
void unmap_array(void*, std::int64_t) {}
constexpr std::int64_t huge_page = 1;
bool fills_huge_pages(std::int64_t) { return false; }

#endif

/// On a cache line behind a pointer to the block. Not std::aligned_alloc(): glibc (2.36) asks for more than it then keeps, so that an array
/// does not find room where one of its size was before, and the heap grows by holes.
void* heap_array(std::int64_t bytes) {
    void* const block = std::malloc(static_cast<std::size_t>(rounded_up(bytes, line) + line));
    if (block == nullptr) return nullptr;
    auto* const data = static_cast<std::byte*>(block) + (line - reinterpret_cast<std::intptr_t>(block) % line);
    std::memcpy(data - sizeof block, &block, sizeof block);
    return data;
}

void free_heap_array(void* data) {
    void* block = nullptr;
    std::memcpy(&block, static_cast<std::byte*>(data) - sizeof block, sizeof block);
    std::free(block);
}

}  // namespace

void* allocate_array(std::int64_t bytes, const MemorySpace* space) {
    void* const data = space != nullptr ? space->allocate(bytes) : is_mapped(bytes) ? map_array(bytes) : heap_array(bytes);
    if (data == nullptr)
        throw OutOfMemory("out of memory: " + std::to_string(bytes) + " bytes could not be allocated" +
                          (space != nullptr ? " in the memory of " + std::string(space->name) : "") +
                          "; use more ranks or smaller tensors");
    return data;
}

void free_array(void* data, std::int64_t bytes, const MemorySpace* space) noexcept {
    if (space != nullptr)
        space->free(data, bytes);
    else if (is_mapped(bytes))
        unmap_array(data, bytes);
    else
        free_heap_array(data);
}

std::int64_t array_memory(std::int64_t bytes) noexcept {
    constexpr std::int64_t page = 4096;
    if (!is_mapped(bytes)) return rounded_up(bytes, line) + line;
    return rounded_up(bytes, fills_huge_pages(bytes) ? huge_page : page);
}

void prefer_huge_pages(void* data, std::int64_t bytes) noexcept { ask_for_huge_pages(data, bytes); }

bool arrays_start_zero(std::int64_t bytes) noexcept { return is_mapped(bytes); }

}  // namespace arges
