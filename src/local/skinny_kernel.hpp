/// The inner loop of products of a long matrix and a matrix of few columns.
#pragma once

#include "local/scalar.hpp"
#include "local/transpose_block.hpp"
#include "local/vector_kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace arges::local {

// A tile of C stays in the registers: tile_vectors x tile_columns vectors.
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64, tile_columns = 8;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32, tile_columns = 4;
#elif defined(__aarch64__)
inline constexpr int register_bytes = 16, tile_columns = 8;
#else
inline constexpr int register_bytes = 16, tile_columns = 4;
#endif
inline constexpr int tile_vectors = 3;

template <class T>
inline constexpr int vector_lanes = register_bytes / static_cast<int>(sizeof(T));

/// Rows of a tile; 24 doubles with AVX-512.
template <class T>
inline constexpr int tile_rows = tile_vectors* vector_lanes<T>;

/// Elements of a cache line.
template <class T>
inline constexpr int line_elements = 64 / static_cast<int>(sizeof(T));

/// Cache lines that will be needed soon: those at from + inner[i] + outer[j] for all i and j, as they
/// follow each other in memory where inner is the faster one there.
template <class T>
struct Prefetch {
    const T* from = nullptr;
    std::span<const std::int64_t> inner, outer;
    std::int64_t first = 0, last = 0;  ///< which of them, i fastest

    /// The share of one of several tiles.
    Prefetch share(std::int64_t tile, std::int64_t tiles) const {
        const std::int64_t lines = inner.size() * outer.size();
        return {from, inner, outer, lines * tile / tiles, lines * (tile + 1) / tiles};
    }
};

/// Fetches a tile's share of cache lines, some during each of its products.
template <class T>
class LineFetcher {
public:
    LineFetcher(const Prefetch<T>& lines, std::int64_t products)
        : lines_(lines), left_(lines.last - lines.first), each_((left_ + products - 1) / products) {
        if (left_ == 0) return;
        const auto length = std::ssize(lines.inner);
        i_ = lines.first % length;
        j_ = lines.first / length;
    }

    void fetch() {
        const std::int64_t count = std::min(each_, left_);
        left_ -= count;
        for (std::int64_t n = 0; n < count; ++n) {
            __builtin_prefetch(lines_.from + lines_.inner[i_] + lines_.outer[j_], 0, 2);
            if (++i_ < std::ssize(lines_.inner)) continue;
            i_ = 0;
            ++j_;
        }
    }

private:
    Prefetch<T> lines_;
    std::int64_t left_, each_, i_ = 0, j_ = 0;
};

/// Rows of A that are packed while they are used: those at a + k[p].
template <class T>
struct RowsToPack {
    const T* a = nullptr;
    const std::int64_t* k = nullptr;
};

/// Packed parts of A and B for one tile: tile_rows entries of A and `columns` of B for each of the
/// k products.
template <class T>
struct TileInput {
    T* a;
    const T* b;
    std::int64_t k;
    Prefetch<T> next;
    RowsToPack<T> rows = {};  ///< if there are any, A is not packed yet
};

/// The sum of the k products; column j of the tile begins at tile[j * tile_rows].
template <class T, int columns, bool packs>
void multiply_tile(const TileInput<T>& x, T* tile) {
    typedef T Vector __attribute__((vector_size(register_bytes)));
    typedef Vector InMemory __attribute__((may_alias));
    Vector sum[columns][tile_vectors];
#pragma GCC unroll 24
    for (int i = 0; i < columns * tile_vectors; ++i) sum[i / tile_vectors][i % tile_vectors] = Vector{};
    InMemory* a = reinterpret_cast<InMemory*>(x.a);
    const T* b = x.b;
    LineFetcher<T> next(x.next, x.k);
    for (std::int64_t p = 0; p < x.k; ++p, a += tile_vectors, b += columns) {
        Vector row[tile_vectors];
        if constexpr (packs) {
            const T* const from = x.rows.a + x.rows.k[p];  // need not be aligned as vectors are
#pragma GCC unroll 3
            for (int v = 0; v < tile_vectors; ++v) {
                std::memcpy(&row[v], from + v * vector_lanes<T>, sizeof(Vector));
                a[v] = row[v];
            }
        } else {
            for (int v = 0; v < tile_vectors; ++v) row[v] = a[v];
        }
        next.fetch();
#pragma GCC unroll 8
        for (int j = 0; j < columns; ++j)
#pragma GCC unroll 3
            for (int v = 0; v < tile_vectors; ++v) sum[j][v] += row[v] * b[j];
    }
    InMemory* const to = reinterpret_cast<InMemory*>(tile);
#pragma GCC unroll 24
    for (int i = 0; i < columns * tile_vectors; ++i) to[i] = sum[i / tile_vectors][i % tile_vectors];
}

/// multiply_tile for 1 <= columns <= tile_columns.
template <class T, int most = tile_columns>
void multiply_tile(int columns, const TileInput<T>& x, T* tile) {
    if (columns == most) return x.rows.a != nullptr ? multiply_tile<T, most, true>(x, tile) : multiply_tile<T, most, false>(x, tile);
    if constexpr (most > 1) multiply_tile<T, most - 1>(columns, x, tile);
}

/// True if each place follows the one before it.
inline bool are_neighbours(const std::int64_t* places, int count) {
    for (int i = 1; i < count; ++i)
        if (places[i] != places[0] + i) return false;
    return true;
}

/// Copies `rows` entries of A for every p in `k`: those at a + row[i] + k[p].
template <class T, int rows>
void copy_rows(const T* a, std::span<const std::int64_t> k, const std::int64_t* row, T* to) {
    if (are_neighbours(row, rows)) {
        for (const std::int64_t p : k) {
            std::memcpy(to, a + row[0] + p, rows * sizeof(T));
            to += tile_rows<T>;
        }
    } else {
        for (const std::int64_t p : k) {
            for (int i = 0; i < rows; ++i) to[i] = a[row[i] + p];
            to += tile_rows<T>;
        }
    }
}

/// copy_rows for a whole tile where A is contiguous along k, at least in parts.
template <class T>
void transpose_tile_rows(const T* a, std::span<const std::int64_t> k, const std::int64_t* row, T* to) {
    constexpr int edge = block_edge<T>;
    std::size_t p = 0;
    while (p + edge <= k.size()) {
        const bool block = are_neighbours(k.data() + p, edge);
        if (block)
            for (int i = 0; i + edge <= tile_rows<T>; i += edge) transpose_block(a + k[p], row + i, to + i, tile_rows<T>);
        constexpr int done = tile_rows<T> / edge * edge;
        const int copied = block ? done : 0, count = block ? edge : 1;
        for (int q = 0; q < count; ++q, ++p, to += tile_rows<T>)
            for (int i = copied; i < tile_rows<T>; ++i) to[i] = a[row[i] + k[p]];
    }
    for (; p < k.size(); ++p, to += tile_rows<T>)
        for (int i = 0; i < tile_rows<T>; ++i) to[i] = a[row[i] + k[p]];
}

/// Packs tile_rows rows of A for a tile.
template <class T>
void pack_tile_rows(const T* a, std::span<const std::int64_t> k, const std::int64_t* row, T* to) {
    if (are_neighbours(row, tile_rows<T>)) return copy_rows<T, tile_rows<T>>(a, k, row, to);
    if (k.size() > 1 && k[1] == k[0] + 1) return transpose_tile_rows(a, k, row, to);
    constexpr int lanes = vector_lanes<T>;
    for (int i = 0; i < tile_rows<T>; i += lanes) copy_rows<T, lanes>(a, k, row + i, to + i);
}

/// Where the rows and the columns of a tile are in C.
struct TilePlaces {
    std::span<const std::int64_t> rows, columns;
};

/// Fetches the cache lines of C that write_tile will write. (Where it is not inlined, GCC takes it
/// for a function without effect and drops it.)
template <class T>
[[gnu::always_inline]] inline void prefetch_tile(const TilePlaces& at, const T* c) {
    const bool joined = at.rows.back() - at.rows.front() == std::ssize(at.rows) - 1;
    const auto &lines = joined ? at.columns : at.rows, &along = joined ? at.rows : at.columns;
    const std::int64_t length = along.back() - along.front();
    for (const std::int64_t line : lines) {
        const T* const begin = c + line + along.front();
        if (length < tile_rows<T>)
            for (std::int64_t i = 0; i < length; i += line_elements<T>) __builtin_prefetch(begin + i, 1);
        __builtin_prefetch(begin + length, 1);
    }
}

/// C = alpha * tile + beta * C for a tile whose rows are neighbours in C.
template <bool whole, class T, class Change>
void write_columns(const T* tile, const TilePlaces& at, Change change, T* c) {
    const int rows = whole ? tile_rows<T> : static_cast<int>(at.rows.size());
    for (const std::int64_t column : at.columns) {
        T* const to = c + at.rows[0] + column;
#pragma omp simd
        for (int i = 0; i < rows; ++i) change(to[i], tile[i]);
        tile += tile_rows<T>;
    }
}

/// Likewise for any tile.
template <class T, class Change>
void write_elements(const T* tile, const TilePlaces& at, Change change, T* c) {
    for (const std::int64_t row : at.rows) {
        const T* from = tile++;
        for (const std::int64_t column : at.columns) {
            change(c[row + column], *from);
            from += tile_rows<T>;
        }
    }
}

/// C = alpha * tile + beta * C; for beta = 0 what C held is not read.
template <class T>
void write_tile(const T* tile, const TilePlaces& at, Update<T> update, T* c) {
    const auto write = [&](auto change) {
        const int rows = at.rows.size();
        if (!are_neighbours(at.rows.data(), rows)) return write_elements(tile, at, change, c);
        if (rows == tile_rows<T>) return write_columns<true>(tile, at, change, c);
        write_columns<false>(tile, at, change, c);
    };
    const T alpha = update.alpha, beta = update.beta;
    if (beta == T(0))
        write([=](T& to, T sum) { to = alpha * sum; });
    else
        write([=](T& to, T sum) { to = alpha * sum + beta * to; });
}

}  // namespace arges::local
