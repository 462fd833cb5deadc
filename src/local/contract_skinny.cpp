// A large operand times one with few columns: chunks of the summed index, whose part of the small operand is packed and stays in the cache,
// in blocks of registers, while the large one is prefetched.
#include "local/contract_plan.hpp"

#include "base/buffer.hpp"
#include "base/first_error.hpp"
#include "local/skinny_kernel.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace arges::local {
namespace {

constexpr std::int64_t panel_bytes = 448 << 10;         // of A, which stay in a core's cache
constexpr std::int64_t chunk_bytes = 128 << 10;         // of B, likewise
constexpr std::int64_t largest_depth = 128;             // products that a tile sums at once, from the nearest cache
constexpr std::int64_t largest_panel = 32;              // tiles
constexpr std::int64_t products_for_threads = 1 << 17;  // below, one thread is faster

std::int64_t quotient_above(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Offsets in one operand.
using Places = std::vector<std::int64_t>;

/// Lists to be filled; null where an operand's are not needed.
struct PlaceLists {
    Places* a = nullptr;
    Places* b = nullptr;
    Places* c = nullptr;
};

/// Where the entries first, ..., first + count - 1 of some axes are, the first axis fastest.
void list_places(std::span<const FoldAxis> axes, std::int64_t first, std::int64_t count, const PlaceLists& to) {
    const FoldAxis inner = axes.empty() ? FoldAxis{} : axes.front();
    FoldWalker outer(axes.subspan(axes.empty() ? 0 : 1), first / inner.size);
    const auto append = [](Places* places, std::int64_t place, std::int64_t stride, std::int64_t run) {
        if (!places) return;
        for (std::int64_t i = 0; i < run; ++i, place += stride) places->push_back(place);
    };
    for (Places* places : {to.a, to.b, to.c})
        if (places) places->clear();
    for (std::int64_t begin = first % inner.size; count > 0; begin = 0, outer.next()) {
        const std::int64_t run = std::min(inner.size - begin, count);
        append(to.a, outer.at().a + begin * inner.stride_a, inner.stride_a, run);
        append(to.b, outer.at().b + begin * inner.stride_b, inner.stride_b, run);
        append(to.c, outer.at().c + begin * inner.stride_c, inner.stride_c, run);
        count -= run;
    }
}

/// Some rows of A and C.
struct Panel {
    std::int64_t rows = 0;
    Places a, c;         ///< where they are; A's list repeats the last one to fill a tile
    Places cache_lines;  ///< where a cache line of rows begins in A

    void reserve(std::int64_t count) {
        for (Places* places : {&a, &c, &cache_lines}) places->reserve(count);
    }
};

/// How one product is cut. The part of B of a chunk of k stays in the cache; a block of a chunk is
/// summed at once.
template <class T>
struct Shape {
    explicit Shape(const SkinnyPlan& plan)
        : m(entries(plan.m)), n(entries(plan.n)), k(entries(plan.k)), column_tiles(quotient_above(n, tile_columns)) {
        constexpr std::int64_t bytes = sizeof(T);
        const std::int64_t most = std::max<std::int64_t>(64, chunk_bytes / bytes / n);
        chunk = quotient_above(k, quotient_above(k, most));
        block = quotient_above(chunk, quotient_above(chunk, largest_depth));
        const std::int64_t tiles = panel_bytes / bytes / tile_rows<T> / block;
        panel = tile_rows<T> * std::clamp<std::int64_t>(tiles, 1, largest_panel);
    }

    std::int64_t first_column(std::int64_t tile) const { return n * tile / column_tiles; }

    std::int64_t m, n, k;
    std::int64_t column_tiles;
    std::int64_t chunk, block;  ///< largest sizes along k
    std::int64_t panel;         ///< rows
};

/// What one thread computes, and its working memory.
template <class T>
class Worker {
public:
    Worker(const SkinnyPlan& plan, const Shape<T>& shape)
        : plan_(&plan), shape_(shape), packed_a_(shape.block * tile_rows<T>), packed_b_(shape.chunk * shape.n) {
        list_places(plan.n, 0, shape.n, {.b = &n_b_, .c = &n_c_});
        for (Places* places : {&k_a_, &k_b_, &steps_}) places->reserve(shape.chunk + shape.block);
        for (Panel* panel : {&now_, &next_}) panel->reserve(shape.panel + 1);
    }

    /// Computes the rows first, ..., last - 1 of C.
    void run(const Operands<T>& x, std::int64_t first, std::int64_t last) {
        x_ = x;
        list_rows(first, last, now_);
        for (std::int64_t k = 0; k < shape_.k; k += shape_.chunk) {
            begin_chunk(k);
            const bool more_chunks = k + shape_.chunk < shape_.k;
            for (std::int64_t row = first; row < last; row += shape_.panel) {
                const bool last_panel = row + shape_.panel >= last;
                list_rows(last_panel && more_chunks ? first : row + shape_.panel, last, next_);
                multiply_panel(k == 0, last_panel ? depth_ : 0);
                std::swap(now_, next_);
            }
        }
    }

private:
    /// Lists where the products of a chunk are, and those of the block after it, and packs the
    /// chunk's part of B.
    void begin_chunk(std::int64_t first) {
        depth_ = std::min(shape_.chunk, shape_.k - first);
        list_places(plan_->k, first, std::min(depth_ + shape_.block, shape_.k - first), {.a = &k_a_, .b = &k_b_});
        steps_ = k_a_;
        k_is_fast_ = k_a_.size() > 1 && k_a_[1] == k_a_[0] + 1;
        if (k_is_fast_ && !plan_->m.empty()) spread_steps(plan_->m.front().stride_a);
        T* to = packed_b_.data();
        for (std::int64_t p = 0; p < depth_; p += shape_.block)
            for (std::int64_t tile = 0; tile < shape_.column_tiles; ++tile)
                to = pack_columns({k_b_.begin() + p, k_b_.begin() + std::min(depth_, p + shape_.block)}, columns(n_b_, tile), to);
    }

    /// Where a cache line of A has several products, they are used to prefetch different rows.
    void spread_steps(std::int64_t row_stride) {
        for (std::size_t p = 0; p < steps_.size(); ++p) {
            const std::size_t row = p % line_elements<T>;
            steps_[p] = k_a_[p - row] + static_cast<std::int64_t>(row) * row_stride;
        }
    }

    std::span<const std::int64_t> columns(const Places& places, std::int64_t tile) const {
        return {places.begin() + shape_.first_column(tile), places.begin() + shape_.first_column(tile + 1)};
    }

    /// Packs a part of B for one tile: the columns of the first product, then those of the next
    /// one.
    T* pack_columns(std::span<const std::int64_t> k, std::span<const std::int64_t> n, T* to) const {
        constexpr std::size_t edge = block_edge<T>;
        for (std::size_t p = 0; p < k.size();) {
            const bool block = n.size() % edge == 0 && p + edge <= k.size() && are_neighbours(k.data() + p, edge);
            for (std::size_t j = 0; block && j < n.size(); j += edge) transpose_block(x_.b + k[p], n.data() + j, to + j, std::ssize(n));
            for (std::size_t j = 0; !block && j < n.size(); ++j) to[j] = x_.b[k[p] + n[j]];
            p += block ? edge : 1;
            to += (block ? edge : 1) * n.size();
        }
        return to;
    }

    /// Lists the rows of the panel that begins at `row`; none from `last` on.
    void list_rows(std::int64_t row, std::int64_t last, Panel& panel) const {
        panel.rows = std::clamp<std::int64_t>(last - row, 0, shape_.panel);
        list_places(plan_->m, std::min(row, last), panel.rows, {.a = &panel.a, .c = &panel.c});
        panel.cache_lines.clear();
        if (panel.rows == 0) return;
        for (std::int64_t i = 0; i < panel.rows; i += line_elements<T>) panel.cache_lines.push_back(panel.a[i]);
        panel.cache_lines.push_back(panel.a.back());  // rows need not begin with a line
        const std::int64_t filled = quotient_above(panel.rows, tile_rows<T>) * tile_rows<T>;
        panel.a.resize(filled, panel.a.back());
    }

    /// Adds the products of a chunk to the rows of a panel. The next panel begins with product
    /// `next_depth` of the lists.
    void multiply_panel(bool first_chunk, std::int64_t next_depth) {
        for (std::int64_t p = 0; p < depth_; p += shape_.block) {
            const bool last = p + shape_.block >= depth_;
            const std::int64_t next = last ? next_depth : p + shape_.block;
            multiply_block(p, lines((last ? next_ : now_).cache_lines, next), first_chunk && p == 0 ? x_.beta : T(1));
        }
    }

    /// Cache lines of some rows that the block of products at `first` of the lists reads.
    Prefetch<T> lines(const Places& rows, std::int64_t first) const {
        const std::int64_t end = first < depth_ ? depth_ : std::ssize(k_a_);
        const std::span<const std::int64_t> steps(steps_.data() + first, static_cast<std::size_t>(std::min(shape_.block, end - first)));
        if (k_is_fast_) return {x_.a, steps, rows};
        return {x_.a, rows, steps};
    }

    /// Likewise for the block of products that begins at p. Each tile fetches its share of the
    /// cache lines that are needed next.
    void multiply_block(std::int64_t p, const Prefetch<T>& next, T beta) {
        const std::int64_t count = std::min(shape_.block, depth_ - p);
        const std::int64_t tiles = quotient_above(now_.rows, tile_rows<T>) * shape_.column_tiles;
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            const std::int64_t row = tile / shape_.column_tiles * tile_rows<T>, column_tile = tile % shape_.column_tiles;
            const std::int64_t* const rows = now_.a.data() + row;
            RowsToPack<T> to_pack;
            if (column_tile == 0) {
                if (are_neighbours(rows, tile_rows<T>))
                    to_pack = {x_.a + rows[0], k_a_.data() + p};
                else
                    pack_tile_rows<T>(x_.a, {k_a_.data() + p, static_cast<std::size_t>(count)}, rows, packed_a_.data());
            }
            const T* b = packed_b_.data() + p * shape_.n + shape_.first_column(column_tile) * count;
            const TilePlaces at{{now_.c.data() + row, static_cast<std::size_t>(std::min<std::int64_t>(tile_rows<T>, now_.rows - row))},
                                columns(n_c_, column_tile)};
            alignas(64) T sum[tile_rows<T> * tile_columns];
            prefetch_tile(at, x_.c);
            multiply_tile<T>(static_cast<int>(at.columns.size()), {packed_a_.data(), b, count, next.share(tile, tiles), to_pack}, sum);
            write_tile<T>(sum, at, {x_.alpha, beta}, x_.c);
        }
    }

    const SkinnyPlan* plan_;
    Shape<T> shape_;
    Operands<T> x_{};
    Buffer<T> packed_a_, packed_b_;
    Places n_b_, n_c_;          ///< the columns
    std::int64_t depth_ = 0;    ///< products of the chunk
    Places k_a_, k_b_, steps_;  ///< where they are, and where their cache lines are prefetched
    bool k_is_fast_ = false;    ///< A is contiguous along them
    Panel now_, next_;
};

/// Entries first, ..., last - 1 of all rows of all products.
template <class T>
void run_rows(const SkinnyPlan& plan, std::int64_t m, const Operands<T>& x, std::int64_t first, std::int64_t last, Worker<T>& worker) {
    FoldWalker batch(plan.batch, first / m);
    for (std::int64_t begin = first % m; first < last; begin = 0, batch.next()) {
        const std::int64_t end = std::min(m, begin + last - first);
        const auto& at = batch.at();
        worker.run({x.alpha, x.a + at.a, x.b + at.b, x.beta, x.c + at.c}, begin, end);
        first += end - begin;
    }
}

}  // namespace

template <class T>
void contract_skinny(const SkinnyPlan& plan, Operands<T> x) {
    if (plan.swapped) std::swap(x.a, x.b);
    const Shape<T> shape(plan);
    const std::int64_t rows = entries(plan.batch) * shape.m;
    const std::int64_t tiles = quotient_above(rows, tile_rows<T>);
    const bool small = rows * shape.n * shape.k < products_for_threads || omp_in_parallel();
    const std::int64_t threads = small ? 1 : std::min<std::int64_t>(tiles, omp_get_max_threads());
    std::vector<Worker<T>> workers;
    for (std::int64_t i = 0; i < threads; ++i) workers.emplace_back(plan, shape);
    const auto begin = [&](std::int64_t i) { return std::min(rows, tiles * i / threads * tile_rows<T>); };
    FirstError error;
#pragma omp parallel for num_threads(static_cast <int>(threads)) schedule(static, 1) if (threads > 1)
    for (std::int64_t i = 0; i < threads; ++i) error.run([&] { run_rows(plan, shape.m, x, begin(i), begin(i + 1), workers[i]); });
    error.rethrow();
}

template void contract_skinny<float>(const SkinnyPlan&, Operands<float>);
template void contract_skinny<double>(const SkinnyPlan&, Operands<double>);

}  // namespace arges::local
