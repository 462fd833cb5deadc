// TTMc on fiber trees (Smith and Karypis, Accelerating the Tucker decomposition with compressed sparse tensors, 2017); heavy slices are cut
// into pieces, whose sums are added in order.
#include "sparse/ttmc.hpp"

#include "arges/error.hpp"
#include "base/buffer.hpp"
#include "sparse/blocked_sum.hpp"

#include <algorithm>
#include <omp.h>
#include <string>

namespace arges::sparse {

namespace {

/// Slices with more nonzeros than a piece are cut into pieces, which threads share: of the nonzeros a 256th each, at least 512.
constexpr std::int64_t pieces_of_all = 256, least_piece = 512;

/// `mode`, then the others in their order. @throws InvalidArgument for a wrong mode
std::vector<int> root_and_others(int mode, int order) {
    if (mode < 0 || mode >= order)
        throw InvalidArgument("sparse TTMc: mode " + std::to_string(mode) + " of a tensor of order " + std::to_string(order) +
                              "; modes count from 0");
    std::vector<int> modes{mode};
    for (int m = 0; m < order; ++m)
        if (m != mode) modes.push_back(m);
    return modes;
}

/// Sums of Kronecker products below the nodes of a tree, with a buffer for each level.
template <class T>
class KroneckerSums {
public:
    /// `factors` by position in tree.modes.
    KroneckerSums(const FiberTree<T>& tree, std::span<const RowMatrix<const T>> factors) : tree_(tree), factors_(factors) {
        widths_.resize(factors.size(), 1);
        for (auto p = factors.size(); p-- > 1;) widths_[p - 1] = widths_[p] * factors[p].columns;
        for (auto width : widths_) buffers_.emplace_back(static_cast<std::size_t>(width));
    }

    /// Number of columns below level l.
    std::int64_t width(std::size_t l) const { return widths_[l]; }

    /// sum[0 .. width(l)) += what is below a node of level l and on the paths of `range`.
    void add(const typename FiberTree<T>::Range& range, std::size_t l, std::int64_t node, T* sum) {
        const auto& level = tree_.levels[l];
        const auto begin = std::max(level.starts[node], range.begin[l + 1]);
        const auto end = std::min(level.starts[node + 1], range.end[l + 1]);
        if (l + 1 == tree_.levels.size()) {
            for (auto x = begin; x < end; ++x) add_nonzero(x, sum);
            return;
        }
        auto& below = buffers_[l + 1];
        for (auto child = begin; child < end; ++child) {
            std::fill(below.begin(), below.end(), T(0));
            add(range, l + 1, child, below.data());
            add_outer(factors_[l + 1].row(tree_.levels[l + 1].ids[child]), factors_[l + 1].columns, below, sum);
        }
    }

private:
    /// The flat modes, from the last one: the product grows from the value.
    void add_nonzero(std::size_t x, T* sum) {
        const auto depth = tree_.levels.size(), last = factors_.size() - 1;
        if (depth > last) {
            sum[0] += tree_.values[x];
            return;
        }
        buffers_[last][0] = tree_.values[x];
        for (auto p = last; p >= depth; --p) {
            const T* row = factors_[p].row(tree_.flat[p - depth][x]);
            T* to = p == depth ? sum : buffers_[p - 1].data();
            if (p != depth) std::fill_n(to, widths_[p - 1], T(0));
            add_outer(row, factors_[p].columns, buffers_[p], to);
        }
    }

    /// to += row (outer) below
    static void add_outer(const T* row, int columns, const std::vector<T>& below, T* to) {
        const auto width = std::ssize(below);
        for (int c = 0; c < columns; ++c, to += width) {
            const T scale = row[c];
            const T* from = below.data();
#pragma omp simd
            for (std::int64_t k = 0; k < width; ++k) to[k] += scale * from[k];
        }
    }

    const FiberTree<T>& tree_;
    std::span<const RowMatrix<const T>> factors_;
    std::vector<std::int64_t> widths_;     // by position: product of the columns behind it
    std::vector<std::vector<T>> buffers_;  // by position, widths_ long
};

/// Elements of a Tucker model at the nonzeros below nodes of a tree: the core is multiplied with a row at each level.
template <class T>
class ModelElements {
public:
    /// `factors` by position in tree.modes; `core` likewise, the last position fastest.
    ModelElements(const FiberTree<T>& tree, std::span<const RowMatrix<const T>> factors, const std::vector<T>& core)
        : tree_(tree), factors_(factors), core_(core) {
        std::size_t width = core.size();
        for (const auto& factor : factors) buffers_.emplace_back(width /= static_cast<std::size_t>(factor.columns));
    }

    /// values[x] -= element x for the nonzeros below a node of level 0 and on the paths of `range`.
    void subtract(const typename FiberTree<T>::Range& range, std::int64_t node, T* values) {
        descend(range, 0, node, core_.data(), values);
    }

private:
    void descend(const typename FiberTree<T>::Range& range, std::size_t l, std::int64_t node, const T* from, T* values) {
        const auto& level = tree_.levels[l];
        const T* const here = multiplied(l, level.ids[node], from);
        const auto begin = std::max(level.starts[node], range.begin[l + 1]);
        const auto end = std::min(level.starts[node + 1], range.end[l + 1]);
        for (auto child = begin; child < end; ++child)
            if (l + 1 == tree_.levels.size())
                values[child] -= element(child, here);
            else
                descend(range, l + 1, child, here, values);
    }

    T element(std::size_t x, const T* from) {
        for (auto p = tree_.levels.size(); p < factors_.size(); ++p) from = multiplied(p, tree_.flat[p - tree_.levels.size()][x], from);
        return *from;
    }

    /// Rows of `from`, one for each column of the factor, added up with the elements of a row of it.
    const T* multiplied(std::size_t p, std::int64_t row, const T* from) {
        auto& to = buffers_[p];
        const auto width = std::ssize(to);
        const T* const scale = factors_[p].row(row);
        std::fill(to.begin(), to.end(), T(0));
        for (int c = 0; c < factors_[p].columns; ++c, from += width)
            for (std::int64_t k = 0; k < width; ++k) to[k] += scale[c] * from[k];
        return to.data();
    }

    const FiberTree<T>& tree_;
    std::span<const RowMatrix<const T>> factors_;
    const std::vector<T>& core_;
    std::vector<std::vector<T>> buffers_;  // by position: what is left of the core
};

/// An array of these lengths, the last one fastest, with its modes in another order.
template <class T>
std::vector<T> reordered(std::span<const T> from, const std::vector<int>& lengths, const std::vector<int>& modes) {
    std::vector<std::size_t> strides(lengths.size(), 1);
    for (auto m = lengths.size(); m-- > 1;) strides[m - 1] = strides[m] * static_cast<std::size_t>(lengths[m]);
    std::vector<T> result(from.size());
    std::vector<int> index(modes.size(), 0);
    std::size_t place = 0;
    for (T& value : result) {
        value = from[place];
        for (auto p = modes.size(); p-- > 0;) {
            const auto m = static_cast<std::size_t>(modes[p]);
            place += strides[m];
            if (++index[p] < lengths[m]) break;
            place -= strides[m] * static_cast<std::size_t>(lengths[m]);
            index[p] = 0;
        }
    }
    return result;
}

}  // namespace

template <class T>
Ttmc<T>::Ttmc(const LocalNonzeros<T>& nonzeros, int mode) : rows_(nonzeros.rows), tree_(nonzeros, root_and_others(mode, nonzeros.order())) {
    const auto piece = std::max(least_piece, tree_.count / pieces_of_all);
    light_.reserve(tree_.levels[0].nodes());
    for (std::int64_t node = 0; node < tree_.levels[0].nodes(); ++node) {
        const auto begin = tree_.first_nonzero(node), end = tree_.first_nonzero(node + 1);
        if (end - begin <= piece) {
            light_.push_back(node);
            continue;
        }
        heavy_.push_back({node, std::ssize(pieces_), 0});
        for (auto x = begin; x < end; x += piece) pieces_.push_back(tree_.range(x, std::min(end, x + piece)));
        heavy_.back().last_piece = std::ssize(pieces_);
    }
    if (tree_.weights.empty()) return;
    values_ = tree_.values;
    for (std::size_t x = 0; x < tree_.weights.size(); ++x) tree_.values[x] *= tree_.weights[x];
}

MemoryTally ttmc_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, int mode) {
    auto tally = fiber_tree_memory(element_bytes, rows, root_and_others(mode, rows.size()), count);
    tally.hold(std::min(count, rows[mode]) * std::int64_t{sizeof(std::int64_t)});
    return tally;
}

std::int64_t ttmc_product_memory(std::int64_t element_bytes, std::int64_t rows, std::int64_t columns, int threads) {
    // Every slice that is cut has a piece that is not full, and pieces that are.
    const auto pieces = pieces_of_all + 1 + std::min(rows, pieces_of_all + 1);
    return array_memory(pieces * columns * element_bytes) + threads * 2 * columns * element_bytes;
}

std::int64_t ttmc_values_memory(std::int64_t element_bytes, std::int64_t count) {
    return (count + std::int64_t{FiberTree<double>::padding}) * element_bytes;
}

template <class T>
std::int64_t Ttmc<T>::checked_width(std::span<const RowMatrix<const T>> factors) const {
    const std::size_t mode = tree_.modes[0];
    if (factors.size() != rows_.size())
        throw InvalidArgument("sparse TTMc: " + std::to_string(factors.size()) + " factors for a tensor of order " +
                              std::to_string(rows_.size()));
    std::int64_t width = 1;
    for (std::size_t m = 0; m < rows_.size(); ++m) {
        if (m == mode) continue;
        width *= factors[m].columns;
        if (factors[m].rows < rows_[m])
            throw InvalidArgument("sparse TTMc: factor " + std::to_string(m) + " has " + std::to_string(factors[m].rows) +
                                  " rows; needed: " + std::to_string(rows_[m]));
    }
    return width;
}

template <class T>
double Ttmc<T>::subtract_model(std::span<const T> core, std::span<const RowMatrix<const T>> factors) {
    const auto width = checked_width(factors);
    const auto root = static_cast<std::size_t>(tree_.modes[0]);
    if (std::ssize(core) != width * factors[root].columns)
        throw InvalidArgument("sparse TTMc: a core of " + std::to_string(core.size()) + " elements for factors with " +
                              std::to_string(width * factors[root].columns) + " tuples of columns");
    std::vector<int> lengths;
    for (const auto& factor : factors) lengths.push_back(factor.columns);
    std::vector<RowMatrix<const T>> by_position;
    for (int m : tree_.modes) by_position.push_back(factors[m]);
    const auto own_core = reordered(core, lengths, tree_.modes);
    if (values_.empty()) values_ = tree_.values;
    tree_.values = values_;
    std::vector<ModelElements<T>> elements(omp_get_max_threads(), ModelElements<T>(tree_, by_position, own_core));
    const auto whole = tree_.range(0, tree_.count);
    T* const values = tree_.values.data();
#pragma omp parallel
    {
        auto& mine = elements[omp_get_thread_num()];
#pragma omp for schedule(dynamic, 1) nowait
        for (std::size_t p = 0; p < pieces_.size(); ++p) mine.subtract(pieces_[p], pieces_[p].begin[0], values);
#pragma omp for schedule(dynamic, 8)
        for (std::size_t n = 0; n < light_.size(); ++n) mine.subtract(whole, light_[n], values);
    }
    const auto& weights = tree_.weights;
    return blocked_sum(tree_.count, [&](std::int64_t x) {
        const double e = values[x], weight = weights.empty() ? 1 : static_cast<double>(weights[x]);
        values[x] = static_cast<T>(weight * e);
        return weight * e * e;
    });
}

template <class T>
void Ttmc<T>::multiply(std::span<const RowMatrix<const T>> factors, RowMatrix<T> out) const {
    const std::size_t mode = tree_.modes[0];
    const auto width = checked_width(factors);
    if (out.rows < rows_[mode] || out.columns != width || out.stride < width)
        throw InvalidArgument("sparse TTMc: the result is " + std::to_string(out.rows) + " x " + std::to_string(out.columns) +
                              "; needed: " + std::to_string(rows_[mode]) + " x " + std::to_string(width) +
                              ", the product of the other factors' columns");
    std::vector<RowMatrix<const T>> by_position;
    for (int m : tree_.modes) by_position.push_back(factors[m]);
    // What may throw comes before the threads.
    std::vector<KroneckerSums<T>> sums(omp_get_max_threads(), KroneckerSums<T>(tree_, by_position));
    const auto whole = tree_.range(0, tree_.count);
    const auto piece_count = std::ssize(pieces_);
    Buffer<T> partial(piece_count * width);
    const auto row_of = [&](std::int64_t node) { return out.row(tree_.levels[0].ids[node]); };
#pragma omp parallel
    {
        auto& mine = sums[omp_get_thread_num()];
#pragma omp for schedule(static)
        for (std::int64_t i = 0; i < rows_[mode]; ++i) std::fill_n(out.row(i), width, T(0));
#pragma omp for schedule(dynamic, 1) nowait
        for (std::int64_t p = 0; p < piece_count; ++p) {
            const auto& piece = pieces_[p];
            std::fill_n(partial.data() + p * width, width, T(0));
            mine.add(piece, 0, piece.begin[0], partial.data() + p * width);
        }
#pragma omp for schedule(dynamic, 8)
        for (std::size_t n = 0; n < light_.size(); ++n) mine.add(whole, 0, light_[n], row_of(light_[n]));
#pragma omp for schedule(static)
        for (std::size_t h = 0; h < heavy_.size(); ++h) {
            T* const to = row_of(heavy_[h].node);
            for (auto p = heavy_[h].first_piece; p < heavy_[h].last_piece; ++p)
                for (std::int64_t r = 0; r < width; ++r) to[r] += partial[p * width + r];
        }
    }
}

template class Ttmc<float>;
template class Ttmc<double>;

}  // namespace arges::sparse
