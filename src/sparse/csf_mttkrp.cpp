// MTTKRP on one, two or N compressed sparse fiber trees (SPLATT: Smith and Karypis, Tensor-matrix
// products with a compressed sparse tensor, 2015).
#include "base/first_error.hpp"
#include "sparse/mttkrp_formats.hpp"
#include "sparse/tree_walk.hpp"

#include <numeric>

namespace arges::sparse {

namespace {

/// A tree for all modes, two, or one for each mode.
template <class T>
class CsfMttkrp final : public FormatBase<T> {
public:
    CsfMttkrp(const LocalNonzeros<T>& nonzeros, Format format, std::span<const int> modes)
        : FormatBase<T>(nonzeros, modes), format_(format), tree_of_(nonzeros.rows.size(), 0) {
        const auto roots = csf_roots(nonzeros.rows, format, modes);
        trees_.reserve(roots.size());
        for (int root : roots) {
            tree_of_[root] = trees_.size();
            trees_.emplace_back(nonzeros, modes_from(root, nonzeros.rows));
        }
    }

    Format format() const override { return format_; }
    std::int64_t bytes() const override {
        return std::accumulate(trees_.begin(), trees_.end(), std::int64_t{0}, [](auto sum, const auto& t) { return sum + t.bytes(); });
    }

private:
    void multiply_checked(int mode, std::span<const RowMatrix<const T>> factors, RowMatrix<T> out) override {
        const auto& tree = trees_[tree_of_[mode]];
        int position = 0, others = 0;
        for (int p = 0; p < static_cast<int>(tree.modes.size()); ++p) {
            if (tree.modes[p] == mode)
                position = p;
            else if (p >= tree.depth())
                ++others;
        }
        for_column_chunks(out.columns, [&](auto r, int first, int columns) {
            std::vector<RowMatrix<const T>> chunk;
            for (int m : tree.modes) chunk.push_back(columns_of(factors[m], first, columns));
            with_number(others, [&](auto n) {
                using Walk = TreeWalk<T, decltype(r)::value, decltype(n)::value>;
                if (position == 0)
                    multiply_root<Walk>(tree, chunk, columns_of(out, first, columns));
                else
                    multiply_below_root<Walk>(tree, chunk, position, columns_of(out, first, columns));
            });
        });
    }

    template <class Walk>
    void multiply_root(const FiberTree<T>& tree, std::span<const RowMatrix<const T>> factors, RowMatrix<T> out) {
        const int parts = this->parts();
        const auto& level = tree.levels[0];
        std::vector<T> first_rows(parts * out.columns);
        std::vector<std::int64_t> continued(parts, -1);  // node that an earlier part began
        const auto nodes = level.nodes();
        FirstError error;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
        for (int p = 0; p < parts; ++p)
            error.run([&] {
                const auto range = tree.part(p, parts);
                if (range.begin[0] == range.end[0]) return;
                const bool shared = tree.first_nonzero(range.begin[0]) < this->first_nonzero(p, parts);
                if (shared) continued[p] = range.begin[0];
                Walk(tree, range, factors, 0, out.columns).root(out, shared ? first_rows.data() + p * out.columns : nullptr);
            });
        error.rethrow();
        const auto end = nodes == 0 ? 0 : static_cast<std::int64_t>(level.ids[nodes - 1]) + 1;
        for (auto i = end; i < out.rows; ++i) std::fill_n(out.row(i), out.columns, T(0));
        for (int p = 0; p < parts; ++p) {
            const auto node = continued[p];
            if (node < 0) continue;
            T* to = out.row(level.ids[node]);
            for (int r = 0; r < out.columns; ++r) to[r] += first_rows[p * out.columns + r];
        }
    }

    template <class Walk>
    void multiply_below_root(const FiberTree<T>& tree, std::span<const RowMatrix<const T>> factors, int position, RowMatrix<T> out) {
        const std::size_t p = position;
        const std::size_t depth = tree.depth();
        auto& rows = this->thread_rows(tree.modes[p], [&, parts = this->parts()](int part, const auto& add) {
            const auto range = tree.part(part, parts);
            const auto at = std::min(p, depth);
            const auto& ids = p < depth ? tree.levels[p].ids : tree.flat[p - depth];
            add(ids.data() + range.begin[at], range.end[at] - range.begin[at]);
        });
        rows.run(out, [&](int part, const RowTarget<T>& target) {
            const auto range = tree.part(part, rows.parts());
            Walk(tree, range, factors, position, out.columns).below_root(target);
        });
    }

    const Format format_;
    std::vector<FiberTree<T>> trees_;
    std::vector<std::size_t> tree_of_;  // by mode
};

}  // namespace

std::vector<int> csf_roots(std::span<const std::int64_t> rows, Format format, std::span<const int> modes) {
    const auto by_length = modes_from(-1, rows);
    std::vector<int> wanted, roots;
    if (format == Format::csf_one) wanted = {by_length.front()};
    if (format == Format::csf_two) wanted = {by_length.front(), by_length.back()};
    if (format == Format::csf_all) wanted.assign(modes.begin(), modes.end());
    for (int root : wanted)
        if (std::find(roots.begin(), roots.end(), root) == roots.end()) roots.push_back(root);
    return roots;
}

bool is_csf_root(std::span<const std::int64_t> rows, Format format, std::span<const int> modes, int mode) {
    const auto roots = csf_roots(rows, format, modes);
    return std::find(roots.begin(), roots.end(), mode) != roots.end();
}

MemoryTally csf_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, Format format,
                       std::span<const int> modes) {
    MemoryTally tally;
    for (int root : csf_roots(rows, format, modes)) tally.add(fiber_tree_memory(element_bytes, rows, modes_from(root, rows), count));
    return tally;
}

template <class T>
std::unique_ptr<Mttkrp<T>> make_csf(const LocalNonzeros<T>& nonzeros, Format format, std::span<const int> modes) {
    return std::make_unique<CsfMttkrp<T>>(nonzeros, format, modes);
}

template std::unique_ptr<Mttkrp<float>> make_csf(const LocalNonzeros<float>&, Format, std::span<const int>);
template std::unique_ptr<Mttkrp<double>> make_csf(const LocalNonzeros<double>&, Format, std::span<const int>);

}  // namespace arges::sparse
