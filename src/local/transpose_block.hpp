/// Register-sized transposes and stores that bypass the caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace arges::local {

constexpr int block_bytes = 32;

/// Edge of the blocks that transpose_block handles; 4 for double.
template <class T>
inline constexpr int block_edge = block_bytes / static_cast<int>(sizeof(T));

/// A row of a block as 32-bit words, the smallest unit of which all element types are multiples.
typedef std::int32_t BlockRow __attribute__((vector_size(block_bytes)));

/// Of every two groups of `words` words, a gets the low ones of a and b alternately, and b the high
/// ones. For words = 1: a = a0 b0 a2 b2 ..., b = a1 b1 a3 b3 ...
template <std::size_t words, std::size_t... i>
inline void interleave(BlockRow& a, BlockRow& b, std::index_sequence<i...> /*words of a row*/) {
    constexpr std::size_t n = sizeof...(i);
    const BlockRow low = __builtin_shufflevector(a, b, ((i & words) ? n + (i & ~words) : i)...);
    const BlockRow high = __builtin_shufflevector(a, b, ((i & words) ? n + i : (i | words))...);
    a = low;
    b = high;
}

/// Exchanges the off-diagonal quarters of every (2 step) x (2 step) sub-block, and so on for larger
/// steps.
template <class T, int step = 1>
inline void transpose_rows(BlockRow* rows) {
    if constexpr (step < block_edge<T>) {
        using Words = std::make_index_sequence<block_bytes / 4>;
        constexpr std::size_t words = step * sizeof(T) / 4;
#pragma GCC unroll 8
        for (int i = 0; i < block_edge<T>; ++i)
            if (!(i & step)) interleave<words>(rows[i], rows[i + step], Words());
        transpose_rows<T, 2 * step>(rows);
    }
}

/// Reads block_edge rows at from + from_row[j] and writes their transpose: element i of row j goes
/// to to[i * ld + j].
template <class T>
inline void transpose_block(const T* from, const std::int64_t* from_row, T* to, std::int64_t ld) {
    BlockRow rows[block_edge<T>];
#pragma GCC unroll 8
    for (int j = 0; j < block_edge<T>; ++j) std::memcpy(&rows[j], from + from_row[j], block_bytes);
    transpose_rows<T>(rows);
#pragma GCC unroll 8
    for (int i = 0; i < block_edge<T>; ++i) std::memcpy(static_cast<void*>(to + i * ld), &rows[i], block_bytes);
}

/// Copies with stores that do not read the target's cache lines first; for data that will not be
/// used again soon. Call finish_streaming before another thread reads the target.
template <class T>
inline void stream_copy(const T* from, T* to, std::int64_t count) {
#if defined(__SSE2__)
    const char* source = reinterpret_cast<const char*>(from);
    char* target = reinterpret_cast<char*>(to);
    std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    const std::size_t head = std::min<std::size_t>(bytes, (0 - reinterpret_cast<std::uintptr_t>(target)) & 63);
    std::memcpy(target, source, head);
    source += head, target += head, bytes -= head;
    for (; bytes >= 64; bytes -= 64, source += 64, target += 64)
        for (int word = 0; word < 4; ++word)
            _mm_stream_si128(reinterpret_cast<__m128i*>(target) + word, _mm_loadu_si128(reinterpret_cast<const __m128i*>(source) + word));
    std::memcpy(target, source, bytes);
#else
    std::copy_n(from, count, to);
#endif
}

/// Makes the stores of stream_copy visible to other threads.
inline void finish_streaming() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

}  // namespace arges::local
