/// The kernel for tiles that are contiguous along different axes in the source and in the target.
#pragma once

#include "local/transfer_kernel.hpp"

#include <algorithm>
#include <cstdint>

namespace arges::local {

/// Distance of the buffer's rows: a tile that is one run in the target has none between; otherwise
/// an odd number of cache lines, so that the rows spread over the cache.
template <class T>
inline std::int64_t buffer_stride(const KernelCall<T>& call) {
    constexpr std::int64_t line = 64 / sizeof(T);
    if (call.inner.to_stride == call.outer.count) return call.outer.count;
    return ((call.outer.count + line - 1) / line | 1) * line;
}

/// Transposes the tile into `buffer`, which has a row for every inner entry. The source is
/// contiguous along the inner axis and listed along the outer one. A cache line of it is used up
/// before the next one is read.
template <class T>
void read_tile(const KernelCall<T>& call, T* buffer) {
    constexpr std::int64_t edge = block_edge<T>, line = std::max<std::int64_t>(edge, 64 / sizeof(T));
    const std::int64_t rows = call.inner.count, columns = call.outer.count, ld = buffer_stride(call);
    const std::int64_t* from = call.outer.from;
    const auto read_elements = [&](std::int64_t i_begin, std::int64_t i_end, std::int64_t j_begin) {
        for (std::int64_t i = i_begin; i < i_end; ++i)
            for (std::int64_t j = j_begin; j < columns; ++j) buffer[i * ld + j] = call.from[from[j] + i];
    };
    const std::int64_t whole_columns = columns / edge * edge, whole_rows = rows / line * line;
    for (std::int64_t i = 0; i < whole_rows; i += line) {
        for (std::int64_t j = 0; j < whole_columns; j += edge)
            for (std::int64_t k = i; k < i + line; k += edge) transpose_block(call.from + k, from + j, buffer + k * ld + j, ld);
        read_elements(i, i + line, whole_columns);
    }
    read_elements(whole_rows, rows, 0);
}

/// Prefetches part `part` of `parts` of what read_tile reads. (Where it is not inlined, GCC takes
/// it for a function without effect and drops it.)
template <class T>
[[gnu::always_inline]] inline void prefetch_part(const KernelCall<T>& call, std::int64_t part, std::int64_t parts) {
    constexpr int line = 64 / static_cast<int>(sizeof(T));
    for (std::int64_t j = call.outer.count * part / parts; j < call.outer.count * (part + 1) / parts; ++j) {
        const T* row = call.from + call.outer.from[j];
        for (std::int64_t i = 0; i < call.inner.count; i += line) __builtin_prefetch(row + i, 0, 2);
        __builtin_prefetch(row + call.inner.count - 1, 0, 2);
    }
}

/// Writes `count` elements of the buffer, changing them there first if they are to be streamed.
template <bool accumulate, class T, class V>
inline void write_run(T* buffer, T* to, std::int64_t count, V value, bool stream) {
    if constexpr (!V::plain && !accumulate) {
        if (stream) {
            move_run<T, V, false>(buffer, buffer, count, value, false);
            return stream_copy(buffer, to, count);
        }
    }
    move_run<T, V, accumulate>(buffer, to, count, value, stream);
}

/// Elements begin, ..., end - 1 of the buffer go to `to` and the places after it.
struct BufferRun {
    std::int64_t begin, end, to;
};

/// What is written for inner entry i: a row of the buffer, or where the whole tile is one run, a
/// share of it that ends with a cache line of the target.
template <class T>
inline BufferRun run_in_tile(const KernelCall<T>& call, std::int64_t i) {
    const std::int64_t rows = call.inner.count, columns = call.outer.count;
    if (call.inner.to_stride != columns) {
        const std::int64_t begin = i * buffer_stride(call);
        return {begin, begin + columns, call.inner.to_at(i)};
    }
    constexpr std::int64_t line = 64 / sizeof(T);
    const std::int64_t phase = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(call.to) / sizeof(T)) % line;
    const auto cut = [&](std::int64_t j) { return j * columns / line * line - phase; };
    const std::int64_t begin = i == 0 ? 0 : std::max<std::int64_t>(0, cut(i));
    const std::int64_t end = i + 1 == rows ? rows * columns : std::max<std::int64_t>(0, cut(i + 1));
    return {begin, end, begin};
}

/// Moves one tile and prefetches the next one (null: none) while it writes. The detour over a
/// buffer lets each cache line of both sides be moved once, whatever the alignment.
template <bool accumulate, class T>
void transpose_tile(const KernelCall<T>& call, const KernelCall<T>* next, T* buffer, const KernelSettings<T>& settings) {
    const KernelAxis& inner = call.inner;
    read_tile(call, buffer);
    with_value(call, settings, [&](auto value) {
        for (std::int64_t i = 0; i < inner.count; ++i) {
            if (next) prefetch_part(*next, i, inner.count);
            const auto [begin, end, to] = run_in_tile(call, i);
            write_run<accumulate>(buffer + begin, call.to + to, end - begin, value, settings.stream);
        }
    });
}

}  // namespace arges::local
