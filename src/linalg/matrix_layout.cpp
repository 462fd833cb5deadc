// Block-cyclic layouts, and the choice of grid and blocks for a matrix by what grids of so many ranks are worth (measured).
#include "linalg/matrix_layout.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"

#include <algorithm>
#include <limits>

namespace arges::linalg {

namespace {

/// A rank gets at least so many blocks' worth of rows times columns; below that, messages cost more than they bring.
constexpr std::int64_t least_side = 192;

/// Small matrices balance better with small blocks, large ones multiply faster with large blocks. Measured for QR on 2 ranks:
/// 0.0468 s with 32 and 0.0523 s with 64 at side 1000, 0.329 s and 0.340 s at 2000, 2.74 s and 2.61 s at 4000.
std::int64_t default_block(std::int64_t side) { return side < 3000 ? 32 : 64; }

struct Shape {
    std::int64_t rows = 1, columns = 1;
};

/// What a grid is worth: ranks, less for shapes that are far from square. A single row of 3, 5 or 7 ranks beats fewer ranks in a
/// rectangle, as panels are then on one rank; of 11 ranks 2 x 5 are better.
double worth(Shape grid) {
    const double longer = std::max(grid.rows, grid.columns), shorter = std::min(grid.rows, grid.columns);
    return longer * shorter / (1 + 0.03 * longer / shorter);
}

/// The best grid of at most so many ranks; the longer side lies along the longer side of the matrix.
Shape best_grid(std::int64_t ranks, bool tall) {
    Shape best;
    for (std::int64_t shorter = 1; shorter * shorter <= ranks; ++shorter) {
        const Shape grid{shorter, ranks / shorter};
        if (worth(grid) > worth(best)) best = grid;
    }
    if (tall) std::swap(best.rows, best.columns);
    return best;
}

void check_wanted(const MatrixGrid& wanted, std::int64_t ranks) {
    if (wanted.rows < 0 || wanted.columns < 0 || wanted.block < 0)
        throw InvalidArgument("matrix grid: " + std::to_string(wanted.rows) + " x " + std::to_string(wanted.columns) +
                              " ranks with blocks of " + std::to_string(wanted.block) +
                              "; numbers must not be negative, and 0 lets the library choose");
    if (std::max<std::int64_t>(1, wanted.rows) > ranks / std::max<std::int64_t>(1, wanted.columns))
        throw InvalidArgument("matrix grid: " + std::to_string(std::max<std::int64_t>(1, wanted.rows)) + " x " +
                              std::to_string(std::max<std::int64_t>(1, wanted.columns)) + " ranks, but the world has " +
                              std::to_string(ranks) + "; use a smaller grid");
}

}  // namespace

std::int64_t BlockAxis::count(std::int64_t at) const {
    const auto distance = (at - source + grid_length) % grid_length;
    const auto blocks = extent / block;  // whole ones
    auto result = blocks / grid_length * block;
    if (distance < blocks % grid_length) result += block;
    if (distance == blocks % grid_length) result += extent % block;
    return result;
}

std::int64_t MatrixLayout::position(std::int64_t rank) const {
    const auto found = std::find(ranks.begin(), ranks.end(), rank);
    return found == ranks.end() ? -1 : found - ranks.begin();
}

MatrixLayout MatrixLayout::resized(std::int64_t new_rows, std::int64_t new_columns) const {
    auto result = *this;
    result.rows.extent = new_rows;
    result.columns.extent = new_columns;
    return result;
}

bool MatrixLayout::same_grid(const MatrixLayout& other) const {
    return resized(0, 0).rows == other.resized(0, 0).rows && resized(0, 0).columns == other.resized(0, 0).columns && ranks == other.ranks;
}

std::vector<std::int64_t> grid_ranks(std::int64_t rows, std::int64_t columns, GridOrder order) {
    std::vector<std::int64_t> result;
    for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t r = 0; r < rows; ++r) result.push_back(order == GridOrder::row_major ? r * columns + c : r + rows * c);
    return result;
}

MatrixLayout choose_layout(std::int64_t rows, std::int64_t columns, std::int64_t ranks, const MatrixGrid& wanted) {
    check_wanted(wanted, ranks);
    const auto useful = std::max<std::int64_t>(1, rows / least_side) * std::max<std::int64_t>(1, columns / least_side);
    auto grid = best_grid(std::min(ranks, useful), rows >= 4 * columns);
    if (wanted.rows > 0 && wanted.columns > 0)
        grid = {wanted.rows, wanted.columns};
    else if (wanted.rows > 0)
        grid = {wanted.rows, ranks / wanted.rows};
    else if (wanted.columns > 0)
        grid = {ranks / wanted.columns, wanted.columns};
    const auto block = wanted.block > 0 ? wanted.block : default_block(std::min(rows, columns));
    return {{rows, block, grid.rows, 0}, {columns, block, grid.columns, 0}, grid_ranks(grid.rows, grid.columns, GridOrder::row_major)};
}

void check_size(const MatrixLayout& layout, const std::string& what) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto &r = layout.rows, &c = layout.columns;
    const bool fits = r.extent <= most && c.extent <= most && r.block <= most && c.block <= most &&
                      Wide(r.max_count()) * std::max<std::int64_t>(1, c.max_count()) <= most;
    if (!fits)
        throw Unsupported(what + ": the matrix of " + std::to_string(r.extent) + " x " + std::to_string(c.extent) + " on a grid of " +
                          std::to_string(r.grid_length) + " x " + std::to_string(c.grid_length) + " ranks has parts of " +
                          std::to_string(r.max_count()) + " x " + std::to_string(c.max_count()) + ", but ScaLAPACK's indices end at " +
                          std::to_string(most) + "; use more ranks");
}

}  // namespace arges::linalg
