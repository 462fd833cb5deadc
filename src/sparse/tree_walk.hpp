/// MTTKRP on a fiber tree: one thread's part, for the root, an inner level or a flat mode.
#pragma once

#include "sparse/fiber_tree.hpp"
#include "sparse/lanes.hpp"
#include "sparse/row_matrix.hpp"
#include "sparse/thread_rows.hpp"

#include <algorithm>
#include <span>

namespace arges::sparse {

/// Walks over the nonzeros of `range`. R: columns, see for_column_chunks(). Others: number of flat modes whose rows are
/// multiplied at a nonzero, 0 when it is none of 1, 2, 3 or not known.
template <class T, int R, int Others>
class TreeWalk {
    using L = Lanes<T, R>;

public:
    /// `factors` by position in tree.modes, cut to `columns` columns; `position` is that of the result's mode.
    TreeWalk(const FiberTree<T>& tree, const typename FiberTree<T>::Range& range, std::span<const RowMatrix<const T>> factors, int position,
             int columns)
        : tree_(tree), range_(range), factors_(factors), columns_(R ? R : columns), position_(position), depth_(tree.depth()),
          order_(tree.modes.size()) {
        for (int p = depth_; p < order_; ++p)
            if (p != position) {
                if (others_ < 3) others_index_[others_] = tree.flat[p - depth_].data();
                if (others_ < 3) others_factor_[others_] = factors[p];
                ++others_;
            }
    }

    /// The result's mode is the root. Rows go to `out`, but that of the first node to `first_row` if that is not null, because
    /// another thread began it. Rows of `out` between those of the part are zeroed.
    void root(RowMatrix<T> out, T* first_row) const {
        const auto& level = tree_.levels[0];
        for (auto node = range_.begin[0]; node < range_.end[0]; ++node) {
            L sum(columns_);  // in the loop: it stays in registers
            sum.clear();
            add_children(0, node, sum);
            if (node == range_.begin[0] && first_row) {
                sum.store(first_row);
                continue;
            }
            const std::int64_t id = level.ids[node];
            const std::int64_t empty = node == 0 ? 0 : static_cast<std::int64_t>(level.ids[node - 1]) + 1;
            for (auto i = empty; i < id; ++i) std::fill_n(out.row(i), columns_, T(0));
            sum.store(out.row(id));
        }
    }

    /// The result's mode is an inner level or flat.
    void below_root(const RowTarget<T>& target) const {
        const auto& level = tree_.levels[0];
        L down(columns_);
        for (auto node = range_.begin[0]; node < range_.end[0]; ++node) {
            down.load(row(0, level.ids[node]));
            descend(0, node, down, target);
        }
    }

private:
    static constexpr std::int64_t ahead = 12;       // nonzeros between a prefetch and its use
    static constexpr std::int64_t nodes_ahead = 4;  // the same for nodes

    const T* row(int position, std::uint32_t id) const { return factors_[position].row(id); }
    std::pair<std::int64_t, std::int64_t> children(int l, std::int64_t node) const {
        const auto* start = tree_.levels[l].starts.data() + node;
        const std::size_t below = l + 1;
        return {std::max(start[0], range_.begin[below]), std::min(start[1], range_.end[below])};
    }

    /// sum += over the children of a node of their own sums, times their rows.
    void add_children(int l, std::int64_t node, L& sum) const {
        const auto [begin, end] = children(l, node);
        if (l + 1 == depth_) return add_nonzeros(begin, end, sum);
        const auto* ids = tree_.levels[l + 1].ids.data();
        L below(columns_);
        for (auto child = begin; child < end; ++child) {
            prefetch_row<R>(row(l + 1, ids[child + nodes_ahead]), columns_);
            below.clear();
            if (l + 2 == depth_) {
                const auto [first, last] = children(l + 1, child);
                add_nonzeros(first, last, below);
            } else {
                add_children(l + 1, child, below);
            }
            sum.add_product(below, row(l + 1, ids[child]));
        }
    }

    [[gnu::always_inline]] void prefetch(std::int64_t x) const {
        for (int i = 0; i < std::min(Others, 3); ++i) prefetch_row<R>(others_factor_[i].row(others_index_[i][x]), columns_);
    }

    /// sum += over nonzeros of value times flat rows.
    [[gnu::always_inline]] void add_nonzeros(std::int64_t begin, std::int64_t end, L& sum) const {
        const T* const values = tree_.values.data();
        for (auto x = begin; x < end; ++x) {
            const T value = values[x];
            prefetch(x + ahead);
            if constexpr (Others == 1)
                sum.add_scaled(value, other(0, x));
            else if constexpr (Others == 2)
                sum.add_scaled(value, other(0, x), other(1, x));
            else if constexpr (Others == 3)
                sum.add_scaled(value, other(0, x), other(1, x), other(2, x));
            else {
                L product(columns_);
                if (flat_product(x, product)) {
                    product.scale(value);
                    sum.add(product);
                } else {
                    sum.add(value);
                }
            }
        }
    }
    const T* other(int i, std::int64_t x) const { return others_factor_[i].row(others_index_[i][x]); }

    /// The product of the flat rows of nonzero x but that of the result; false if there are none.
    bool flat_product(std::int64_t x, L& product) const {
        bool any = false;
        for (int p = depth_; p < order_; ++p) {
            if (p == position_) continue;
            const T* factor = row(p, tree_.flat[p - depth_][x]);
            if (any)
                product.multiply(factor);
            else
                product.load(factor);
            any = true;
        }
        return any;
    }

    /// `down` is the product of the rows from the root to this node of level l.
    void descend(int l, std::int64_t node, const L& down, const RowTarget<T>& target) const {
        const auto [begin, end] = children(l, node);
        if (l + 1 == depth_) return scatter(begin, end, down, target);
        const auto* ids = tree_.levels[l + 1].ids.data();
        L next(columns_);
        for (auto child = begin; child < end; ++child) {
            if (l + 1 == position_) {
                __builtin_prefetch(target.row(ids[child + 1 < end ? child + 1 : child]), 1);
                next.clear();
                add_children(l + 1, child, next);
                next.add_product_to(down, target.row(ids[child]));
            } else {
                next.load_product(down, row(l + 1, ids[child]));
                descend(l + 1, child, next, target);
            }
        }
    }

    /// The result's mode is flat: each nonzero has its own row.
    void scatter(std::int64_t begin, std::int64_t end, const L& down, const RowTarget<T>& target) const {
        const auto& rows = tree_.flat[position_ - depth_];
        const auto last = range_.end[depth_] - 1;
        L product(columns_);
        for (auto x = begin; x < end; ++x) {
            prefetch(x + ahead);
            prefetch_row<R>(target.row(rows[std::min(x + ahead, last)]), columns_);
            const T value = tree_.values[x];
            T* to = target.row(rows[x]);
            if constexpr (Others == 1)
                product.load_scaled(value, other(0, x));
            else if (flat_product(x, product))
                product.scale(value);
            else {
                down.add_scaled_to(value, to);
                continue;
            }
            product.add_product_to(down, to);
        }
    }

    const FiberTree<T>& tree_;
    const typename FiberTree<T>::Range& range_;
    std::span<const RowMatrix<const T>> factors_;
    const int columns_, position_, depth_, order_;
    int others_ = 0;
    const std::uint32_t* others_index_[3] = {};
    RowMatrix<const T> others_factor_[3] = {};
};

}  // namespace arges::sparse
