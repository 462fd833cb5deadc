// Where matrices are factorized.
#include "base/math.hpp"
#include "linalg/dense.hpp"

#include <algorithm>

namespace arges::linalg {

namespace {

/// When rows are spread over ranks for TSQR: each has so many of them at least, or the triangles are small, and then fewer ranks
/// have rows.
struct TallRule {
    std::int64_t rows, small_triangle;
};

/// Merging triangles takes about n^3 operations on each step of the tree, at a lower rate than ScaLAPACK's products. Measured on
/// 2 and 4 ranks (docs/linear_algebra.md): with 200 columns TSQR wins from n rows per rank on, with 500 from 4 n, with 1000 it
/// loses at 4 n yet. For the SVD it saves work on the longer side, too, and wins from n rows on.
TallRule tall_rule(std::int64_t n, Purpose purpose) {
    constexpr std::int64_t columns_per_unit = 128;
    if (purpose == Purpose::svd) return {n, 512};
    return {ceil_div(n * std::max(n, columns_per_unit), columns_per_unit), columns_per_unit};
}

/// The tensor's own distribution of rows as a layout, if its dimensions are spread along rows only and in a way that blocks can
/// express.
std::optional<MatrixLayout> rows_in_place(const Layout& tensor, const Matricization& labels) {
    std::optional<MatrixLayout> result;
    for (int s = 0; s < tensor.slots(); ++s) {
        if (tensor.slot(s).grid_length() == 1) continue;
        const auto& dims = labels.rows.dimensions;
        const auto found = std::find(dims.begin(), dims.end(), tensor.slot_dimensions(s)[0]);
        if (found == dims.end() || result) return std::nullopt;
        const std::size_t at = found - dims.begin();
        const auto grid_length = tensor.slot(s).grid_length();
        if (at + 1 < dims.size() && labels.rows.extents[at] % grid_length != 0) return std::nullopt;
        std::int64_t block = 1;
        for (std::size_t i = 0; i < at; ++i) block *= labels.rows.extents[i];
        result = on_one_rank(labels.rows.size, labels.columns.size);
        result->rows = {labels.rows.size, std::max<std::int64_t>(1, block), grid_length, 0};
        result->ranks.clear();
        for (std::int64_t p = 0; p < grid_length; ++p) result->ranks.push_back(tensor.rank_at(p, s));
    }
    return result;
}

}  // namespace

MatrixLayout on_one_rank(std::int64_t rows, std::int64_t columns, std::int64_t rank) {
    return {{rows, std::max<std::int64_t>(1, rows), 1, 0}, {columns, std::max<std::int64_t>(1, columns), 1, 0}, {rank}};
}

Placement choose_placement(const Layout& tensor, const Matricization& labels, std::int64_t ranks, const MatrixGrid& wanted,
                           Purpose purpose) {
    const auto m = labels.rows.size, n = labels.columns.size;
    const auto grid = choose_layout(m, n, ranks, wanted);
    const bool free = wanted.rows == 0 && wanted.columns == 0;
    const auto rule = tall_rule(n, purpose);
    const auto most = n > 0 ? std::min(ranks, m / rule.rows) : 1;  // ranks that have enough rows
    if (free && n > 0 && m >= 2 * n && (most == ranks || n <= rule.small_triangle)) {
        if (const auto in_place = rows_in_place(tensor, labels); in_place && in_place->rows.grid_length <= most) return {*in_place, true};
        auto layout = on_one_rank(m, n);
        layout.rows = {m, ceil_div(m, most), most, 0};
        layout.ranks = grid_ranks(most, 1, GridOrder::column_major);
        return {layout, true};
    }
    if (grid.single()) return {on_one_rank(m, n), true};
    return {grid, false};
}

DistributedMatrix moved(DistributedMatrix&& matrix, const World& world, const MatrixLayout& layout) {
    const auto tensor = store(world, std::move(matrix), {matrix.rows()}, {matrix.columns()}, "matrix");
    return load(*tensor.dense_state(), parse_matricization("i|j", tensor.extents(), "matrix"), layout);
}

}  // namespace arges::linalg
