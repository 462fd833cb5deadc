// The caller's matrices: views, and factorizations in place.
#include "base/element_at.hpp"
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace arges {

using namespace linalg;

/// What the ranks must agree on.
static void add_to(Digest& digest, const AnyBlockCyclic& matrix) {
    for (const auto number : {matrix.rows, matrix.columns, matrix.row_block, matrix.column_block, matrix.grid_rows, matrix.grid_columns,
                              matrix.row_source, matrix.column_source})
        digest.add(number);
    digest.add(matrix.order).add(matrix.element);
}

namespace {

MatrixLayout layout_of(const AnyBlockCyclic& view) {
    return {{view.rows, view.row_block, view.grid_rows, view.row_source},
            {view.columns, view.column_block, view.grid_columns, view.column_source},
            grid_ranks(view.grid_rows, view.grid_columns, view.order)};
}

std::string described(const AnyBlockCyclic& view, const char* what) {
    return std::string(what) + ": the block-cyclic matrix of " + std::to_string(view.rows) + " x " + std::to_string(view.columns);
}

/// Checks numbers that must be the same on all ranks, then what each rank has. Collective.
void check_view(const AnyBlockCyclic& view, const char* what) {
    const auto text = described(view, what);
    view.world.size();  // refuses World::outside()
    const auto& world = *view.world.state();
    if (world.dry()) throw Unsupported(text + " is on the world of a dry run; use a world of real ranks");
    world.agree([&] {
        const auto number = [](std::int64_t n) { return std::to_string(n); };
        if (view.rows < 0 || view.columns < 0) throw InvalidArgument(text + ": rows and columns must not be negative");
        if (view.row_block < 1 || view.column_block < 1)
            throw InvalidArgument(text + " has blocks of " + number(view.row_block) + " x " + number(view.column_block) +
                                  "; they must be at least 1 x 1");
        if (view.grid_rows < 1 || view.grid_columns < 1 || view.grid_rows > world.size() / view.grid_columns)
            throw InvalidArgument(text + " is on a grid of " + number(view.grid_rows) + " x " + number(view.grid_columns) +
                                  ", and the world has " + number(world.size()) +
                                  " ranks; the grid must have at least one rank and not more than the world");
        if (view.row_source < 0 || view.row_source >= view.grid_rows || view.column_source < 0 || view.column_source >= view.grid_columns)
            throw InvalidArgument(text + " begins in row " + number(view.row_source) + " and column " + number(view.column_source) +
                                  " of a grid of " + number(view.grid_rows) + " x " + number(view.grid_columns) + "; sources run from 0");
        const auto m = view.local_rows(), n = view.local_columns();
        if (view.leading_dimension != 0 && view.leading_dimension < m)
            throw InvalidArgument(text + " has leading dimension " + number(view.leading_dimension) + " on rank " + number(world.rank()) +
                                  ", which has " + number(m) + " rows of it; give at least as many, or 0");
        if (view.data == nullptr && m > 0 && n > 0)
            throw InvalidArgument(text + " has a null pointer on rank " + number(world.rank()) + ", which has " + number(m) + " x " +
                                  number(n) + " elements of it");
    });
    if (!world.communicator().all_equal(Digest().add(view).value()))
        throw InvalidArgument(
            std::string(what) +
            ": the ranks describe different block-cyclic matrices; shape, blocks, grid and sources must be the same on all");
    check_size(layout_of(view), text);
}

/// For functions that work on the array itself. @param read  of which the elements are checked
DistributedMatrix in_place(const AnyBlockCyclic& view, const char* what, std::optional<Part> read = {}) {
    check_view(view, what);
    const auto& v = view;
    const bool single = v.grid_rows == 1 && v.grid_columns == 1;
    if (!single && (v.row_block != v.column_block || v.row_source != 0 || v.column_source != 0))
        throw InvalidArgument(
            described(view, what) + " has blocks of " + std::to_string(v.row_block) + " x " + std::to_string(v.column_block) +
            " and sources " + std::to_string(v.row_source) + ", " + std::to_string(v.column_source) +
            "; in place this needs square blocks and sources 0, so redistribute it, or make a tensor by from_block_cyclic()");
    view.world.state()->agree([&] {
        if (Wide(v.leading_dimension) * std::max<std::int64_t>(1, v.local_columns()) > std::numeric_limits<int>::max())
            throw Unsupported(described(view, what) + " has leading dimension " + std::to_string(v.leading_dimension) + " for " +
                              std::to_string(v.local_columns()) + " columns, but ScaLAPACK's indices end at " +
                              std::to_string(std::numeric_limits<int>::max()) + "; use a smaller one, or more ranks");
    });
    auto layout = layout_of(view);
    if (single) layout = on_one_rank(v.rows, v.columns);
    DistributedMatrix matrix(matrix_kernels(element_kernels(view.element)), view.world.state(), layout, view.data, view.leading_dimension);
    if (read) check_finite(matrix, *read, described(view, what));
    return matrix;
}

void check_shape(const AnyBlockCyclic& view, std::int64_t rows, std::int64_t columns, const char* what, const char* which) {
    if (view.rows == rows && view.columns == columns) return;
    throw InvalidArgument(std::string(what) + ": " + which + " is " + std::to_string(view.rows) + " x " + std::to_string(view.columns) +
                          "; it must be " + std::to_string(rows) + " x " + std::to_string(columns));
}

void check_alike(const DistributedMatrix& A, const DistributedMatrix& B, const char* what) {
    if (&A.world() != &B.world() || !(A.layout().single() ? B.layout().single() : A.layout().same_grid(B.layout())))
        throw InvalidArgument(std::string(what) + ": the matrices are not on the same world, grid and blocks; redistribute one of them");
    if (&A.kernels() != &B.kernels())
        throw InvalidArgument(std::string(what) + ": the matrices have elements of several types; convert one of them");
}

/// What both directions between a view and a tensor check and make.
MatrixExchange between(const MatrixOperand& tensor, const AnyBlockCyclic& view, const char* what) {
    check_view(view, what);
    check_shape(view, tensor.labels.rows.size, tensor.labels.columns.size, what, "the block-cyclic matrix");
    if (tensor.state.world != view.world.state())
        throw InvalidArgument(std::string(what) + ": " + tensor.labels.text +
                              " and the block-cyclic matrix live on different worlds; use transfer() first");
    if (tensor.tensor.element() != view.element)
        throw InvalidArgument(std::string(what) + ": " + tensor.labels.text + " has elements of type " +
                              to_string(tensor.tensor.element()) + " and the block-cyclic matrix of type " + to_string(view.element));
    const auto distance = std::max<std::int64_t>({1, view.local_rows(), view.leading_dimension});
    MatrixExchange exchange(tensor.state.world->movement_communicator(), tensor.state.shape(), tensor.labels, layout_of(view), distance,
                            tensor.world().rank());
    reserve_buffers(*tensor.state.world, exchange, tensor.kernels.size, what);
    return exchange;
}

}  // namespace

std::array<std::int64_t, 2> linalg::local_shape(const AnyBlockCyclic& view) {
    if (view.rows < 0 || view.columns < 0 || view.row_block < 1 || view.column_block < 1 || view.grid_rows < 1 || view.grid_columns < 1 ||
        view.grid_rows > view.world.size() / view.grid_columns)
        throw InvalidArgument(described(view, "BlockCyclic") +
                              ": rows and columns must not be negative, blocks and the grid at least 1 x 1, and the grid not "
                              "larger than the world");
    const auto layout = layout_of(view);
    const auto at = layout.position(view.world.rank());
    if (at < 0) return {0, 0};
    return {layout.rows.count(layout.grid_row(at)), layout.columns.count(layout.grid_column(at))};
}

void from_block_cyclic(const AnyBlockCyclic& matrix, const AnyIndexedTensor& target) {
    const CollectiveCall call(ranks_of(matrix.world), "from_block_cyclic", target);
    const MatrixOperand a(target, "from_block_cyclic");
    if (!a.state.shape().symmetry().trivial())
        throw InvalidArgument("from_block_cyclic: " + a.labels.text +
                              " has a symmetry, which the matrix may not have; use a tensor without, and canonical()");
    const auto exchange = between(a, matrix, "from_block_cyclic");
    ChangedHostElements changed(*target.factor().tensor);
    exchange.scatter(a.kernels, matrix.data, changed.data(), false, a.state.world->workspace());
}

AnyTensor from_block_cyclic(const AnyBlockCyclic& matrix, const std::string& name) {
    const CollectiveCall call(ranks_of(matrix.world), "from_block_cyclic");
    check_view(matrix, "from_block_cyclic");
    AnyTensor result(matrix.element, Storage::dense, matrix.world, {matrix.rows, matrix.columns}, {}, name);
    from_block_cyclic(matrix, result["i|j"]);
    return result;
}

void to_block_cyclic(const AnyIndexedTensor& source, const AnyBlockCyclic& matrix) {
    const CollectiveCall call(ranks_of(matrix.world), "to_block_cyclic", source);
    const MatrixOperand a(source, "to_block_cyclic");
    if (!a.state.shape().symmetry().trivial())
        return to_block_cyclic(a.tensor.with_symmetry(Symmetry::none(a.tensor.order()))[source.factor().labels], matrix);
    const auto exchange = between(a, matrix, "to_block_cyclic");
    exchange.gather(a.kernels, HostElements(a.state).data(), matrix.data, false, a.state.world->workspace());
}

AnyTensor from_replicated(ElementType element, const World& world, std::vector<std::int64_t> extents, const void* values,
                          std::int64_t count, const std::string& name) {
    const CollectiveCall call(ranks_of(world), "from_replicated", extents, count, element);
    AnyTensor result(element, Storage::dense, world, std::move(extents), {}, name);
    const auto& kernels = matrix_kernels(result.kernels()).elements();
    const auto& state = *result.any_state()->world;
    if (state.dry()) return result;
    state.agree([&] {
        if (count != result.size())
            throw InvalidArgument(result.title() + ": from_replicated with " + std::to_string(count) + " values for " +
                                  std::to_string(result.size()) + " elements; give the whole tensor, first index fastest");
    });
    std::vector<std::int64_t> strides;
    for (std::int64_t stride = 1; auto length : result.extents()) strides.push_back(std::exchange(stride, stride * length));
    const std::int64_t step = 1;
    call.require_same(StridedArray{values, {&count, 1}, {&step, 1}, kernels.size});
    result.write_array(values, strides);
    return result;
}

void qr(const AnyBlockCyclic& A, const AnyBlockCyclic& R) {
    const CollectiveCall call(ranks_of(A.world), "qr");
    auto matrix = in_place(A, "qr", Part::all), triangle = in_place(R, "qr");
    const auto k = std::min(A.rows, A.columns);
    check_shape(R, k, A.columns, "qr", "R");
    check_alike(matrix, triangle, "qr");
    if (!matrix.layout().single()) return qr_on_grid(matrix, triangle);
    const TallQr tall(matrix);
    const auto column = k * matrix.kernels().size;
    if (matrix.takes_part())
        for (std::int64_t j = 0; j < A.columns && k > 0; ++j) copy_array(triangle.at(0, j), tall.r().data() + j * column, column, nullptr);
    DistributedMatrix Q(matrix.kernels(), matrix.shared_world(), matrix.layout().resized(A.rows, k), "qr");
    tall.form(Q);
    matrix.copy_from(Q);
}

std::vector<double> svd(const AnyBlockCyclic& A, const AnyBlockCyclic& U, const AnyBlockCyclic& Vh) {
    const CollectiveCall call(ranks_of(A.world), "svd");
    const auto k = std::min(A.rows, A.columns);
    auto matrix = in_place(A, "svd", Part::all), left = in_place(U, "svd"), right = in_place(Vh, "svd");
    check_shape(U, A.rows, k, "svd", "U");
    check_shape(Vh, k, A.columns, "svd", "Vh");
    check_alike(matrix, left, "svd");
    check_alike(matrix, right, "svd");
    if (A.rows >= A.columns) {
        auto result = svd_by_bidiagonal(matrix, {}, true, true);
        left.copy_from(*result.U);
        right.copy_from(*result.Vh);
        return result.s;
    }
    // Bidiagonal form is for matrices that are not wide: a wide one is turned, which moves its elements.
    const auto result = svd(from_block_cyclic(A, "A")["i|j"]);
    to_block_cyclic(result.U["i|j"], U);
    to_block_cyclic(result.Vh["i|j"], Vh);
    return result.s;
}

std::vector<double> eigh(const AnyBlockCyclic& A, const AnyBlockCyclic& vectors) {
    const CollectiveCall call(ranks_of(A.world), "eigh");
    auto matrix = in_place(A, "eigh", Part::lower), target = in_place(vectors, "eigh");
    check_shape(A, A.rows, A.rows, "eigh", "A");
    check_shape(vectors, A.rows, A.rows, "eigh", "the matrix of vectors");
    check_alike(matrix, target, "eigh");
    return eigh_dense(matrix, &target);
}

void cholesky(const AnyBlockCyclic& A) {
    const CollectiveCall call(ranks_of(A.world), "cholesky");
    auto matrix = in_place(A, "cholesky", Part::lower);
    check_shape(A, A.rows, A.rows, "cholesky", "A");
    cholesky_dense(matrix, described(A, "cholesky"));
}

void solve_positive(const AnyBlockCyclic& A, const AnyBlockCyclic& B) {
    const CollectiveCall call(ranks_of(A.world), "solve_positive", A, B);
    check_shape(B, A.rows, B.columns, "solve_positive", "B");
    cholesky(A);
    solve_triangular(A, B, {});
    solve_triangular(A, B, {.operation = Operation::adjoint});
}

void solve_triangular(const AnyBlockCyclic& A, const AnyBlockCyclic& B, const TriangularOptions& options) {
    const CollectiveCall call(ranks_of(A.world), "solve_triangular", options.side, options.triangle, options.operation,
                              options.unit_diagonal);
    const auto matrix = in_place(A, "solve_triangular", options.triangle == Triangle::lower ? Part::lower : Part::upper);
    auto X = in_place(B, "solve_triangular", Part::all);
    check_shape(A, A.rows, A.rows, "solve_triangular", "A");
    const bool left = options.side == Side::left;
    check_shape(B, left ? A.rows : B.rows, left ? B.columns : A.rows, "solve_triangular", "B");
    check_alike(matrix, X, "solve_triangular");
    solve_triangular_dense(matrix, X, options, described(A, "solve_triangular"));
}

}  // namespace arges
