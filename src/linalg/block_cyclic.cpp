// The caller's matrices: views, and factorizations in place.
#include "base/element_at.hpp"
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"
#include "linalg/tall_qr.hpp"

#include <algorithm>
#include <limits>

namespace arges {

/// What the ranks must agree on.
static void add_to(Digest& digest, const BlockCyclic<void>& matrix) {
    for (const auto number : {matrix.rows, matrix.columns, matrix.row_block, matrix.column_block, matrix.grid_rows, matrix.grid_columns,
                              matrix.row_source, matrix.column_source})
        digest.add(number);
    digest.add(matrix.order);
}

}  // namespace arges

namespace arges::linalg {

namespace {

MatrixLayout layout_of(const View& view) {
    return {{view.rows, view.row_block, view.grid_rows, view.row_source},
            {view.columns, view.column_block, view.grid_columns, view.column_source},
            grid_ranks(view.grid_rows, view.grid_columns, view.order)};
}

std::string described(const View& view, const char* what) {
    return std::string(what) + ": the block-cyclic matrix of " + std::to_string(view.rows) + " x " + std::to_string(view.columns);
}

/// Checks numbers that must be the same on all ranks, then what each rank has. Collective.
void check_view(const View& view, const char* what) {
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

/// For functions that work on the array itself.
DistributedMatrix in_place(const ElementKernels& elements, const View& view, const char* what) {
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
    return DistributedMatrix(matrix_kernels(elements), view.world.state(), layout, view.data, view.leading_dimension);
}

void check_shape(const View& view, std::int64_t rows, std::int64_t columns, const char* what, const char* which) {
    if (view.rows == rows && view.columns == columns) return;
    throw InvalidArgument(std::string(what) + ": " + which + " is " + std::to_string(view.rows) + " x " + std::to_string(view.columns) +
                          "; it must be " + std::to_string(rows) + " x " + std::to_string(columns));
}

void check_same_grid(const DistributedMatrix& A, const DistributedMatrix& B, const char* what) {
    if (&A.world() == &B.world() && (A.layout().single() ? B.layout().single() : A.layout().same_grid(B.layout()))) return;
    throw InvalidArgument(std::string(what) + ": the matrices are not on the same world, grid and blocks; redistribute one of them");
}

/// What local_rows() and local_columns() count with.
void check_counts(const View& view) {
    if (view.rows < 0 || view.columns < 0 || view.row_block < 1 || view.column_block < 1 || view.grid_rows < 1 || view.grid_columns < 1 ||
        view.grid_rows > view.world.size() / view.grid_columns)
        throw InvalidArgument(described(view, "BlockCyclic") +
                              ": rows and columns must not be negative, blocks and the grid at least 1 x 1, and the grid not "
                              "larger than the world");
}

}  // namespace

std::int64_t local_rows(const View& view) {
    check_counts(view);
    const auto layout = layout_of(view);
    const auto at = layout.position(view.world.rank());
    return at < 0 ? 0 : layout.rows.count(layout.grid_row(at));
}

std::int64_t local_columns(const View& view) {
    check_counts(view);
    const auto layout = layout_of(view);
    const auto at = layout.position(view.world.rank());
    return at < 0 ? 0 : layout.columns.count(layout.grid_column(at));
}

namespace {

/// What both directions between a view and a tensor check and make.
MatrixExchange between(const Operand& tensor, const View& view, const char* what) {
    check_view(view, what);
    check_shape(view, tensor.labels.rows.size, tensor.labels.columns.size, what, "the block-cyclic matrix");
    if (tensor.state.world != view.world.state())
        throw InvalidArgument(std::string(what) + ": " + tensor.labels.text +
                              " and the block-cyclic matrix live on different worlds; use transfer() first");
    const auto distance = std::max<std::int64_t>({1, view.local_rows(), view.leading_dimension});
    MatrixExchange exchange(tensor.state.world->movement_communicator(), tensor.state.shape(), tensor.labels, layout_of(view), distance,
                            tensor.world().rank());
    reserve_buffers(*tensor.state.world, exchange, tensor.kernels.size, what);
    return exchange;
}

}  // namespace

void from_block_cyclic(const View& matrix, const Factor& target) {
    const CollectiveCall call(ranks_of(matrix.world), "from_block_cyclic", target);
    const Operand tensor(target, "from_block_cyclic");
    if (!tensor.state.shape().symmetry().trivial())
        throw InvalidArgument("from_block_cyclic: " + tensor.labels.text +
                              " has a symmetry, which the matrix may not have; use a tensor without, and canonical()");
    const auto exchange = between(tensor, matrix, "from_block_cyclic");
    ChangedHostElements changed(*target.tensor);
    exchange.scatter(tensor.kernels, matrix.data, changed.data(), false, tensor.state.world->workspace());
}

Result from_block_cyclic(const ElementKernels& kernels, const View& matrix, const std::string& name) {
    const CollectiveCall call(ranks_of(matrix.world), "from_block_cyclic");
    check_view(matrix, "from_block_cyclic");
    const DenseTensor result(matrix_kernels(kernels), matrix.world, {matrix.rows, matrix.columns}, name);
    from_block_cyclic(matrix, result["i|j"]);
    return result.state();
}

void to_block_cyclic(const Factor& source, const View& matrix) {
    const CollectiveCall call(ranks_of(matrix.world), "to_block_cyclic", source);
    const Operand tensor(source, "to_block_cyclic");
    if (!tensor.state.shape().symmetry().trivial()) return to_block_cyclic(tensor.tensor().unpacked()[source.labels], matrix);
    const auto exchange = between(tensor, matrix, "to_block_cyclic");
    exchange.gather(tensor.kernels, HostElements(tensor.state).data(), matrix.data, false, tensor.state.world->workspace());
}

Result from_replicated(const ElementKernels& kernels, const World& world, std::vector<std::int64_t> extents, const void* values,
                       std::int64_t count, const std::string& name) {
    const CollectiveCall call(ranks_of(world), "from_replicated", extents, count);
    const DenseTensor result(matrix_kernels(kernels), world, std::move(extents), name);
    auto& state = *result.state();
    if (state.world->dry()) return result.state();
    state.world->agree([&] {
        if (count != result.size())
            throw InvalidArgument(state.title() + ": from_replicated with " + std::to_string(count) + " values for " +
                                  std::to_string(result.size()) + " elements; give the whole tensor, first index fastest");
    });
    const std::int64_t step = 1;
    call.require_same(StridedArray{values, {&count, 1}, {&step, 1}, kernels.size});
    ChangedHostElements changed(state);
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        std::int64_t key = 0;
        for (std::size_t d = x.size(); d-- > 0;) key = key * result.extents()[d] + x[d];
        copy_element(element_at(changed.data(), offset, kernels.size), element_at(values, key, kernels.size), kernels.size);
    });
    return result.state();
}

void qr(const ElementKernels& kernels, const View& A, const View& R) {
    const CollectiveCall call(ranks_of(A.world), "qr");
    auto matrix = in_place(kernels, A, "qr"), triangle = in_place(kernels, R, "qr");
    const auto k = std::min(A.rows, A.columns);
    check_shape(R, k, A.columns, "qr", "R");
    check_same_grid(matrix, triangle, "qr");
    check_finite(matrix, Part::all, described(A, "qr"));
    if (!matrix.layout().single()) return qr_on_grid(matrix, triangle);
    const TallQr tall(matrix);
    if (matrix.takes_part())
        for (std::int64_t j = 0; j < A.columns && k > 0; ++j)
            copy_array(triangle.at(0, j), element_at(tall.r().data(), j * k, kernels.size), k * kernels.size, nullptr);
    DistributedMatrix Q(matrix.kernels(), matrix.shared_world(), matrix.layout().resized(A.rows, k), "qr");
    tall.form(Q);
    matrix.copy_from(Q);
}

std::vector<double> svd(const ElementKernels& kernels, const View& A, const View& U, const View& Vh) {
    const CollectiveCall call(ranks_of(A.world), "svd");
    const auto k = std::min(A.rows, A.columns);
    auto matrix = in_place(kernels, A, "svd"), left = in_place(kernels, U, "svd"), right = in_place(kernels, Vh, "svd");
    check_shape(U, A.rows, k, "svd", "U");
    check_shape(Vh, k, A.columns, "svd", "Vh");
    check_same_grid(matrix, left, "svd");
    check_same_grid(matrix, right, "svd");
    check_finite(matrix, Part::all, described(A, "svd"));
    if (A.rows >= A.columns) {
        auto result = svd_by_bidiagonal(matrix, {}, true, true);
        left.copy_from(*result.U);
        right.copy_from(*result.Vh);
        return result.s;
    }
    // Bidiagonal form is for matrices that are not wide: a wide one is turned, which moves its elements.
    const DenseTensor whole(from_block_cyclic(kernels, A, "A"));
    const auto result = svd(whole["i|j"], {});
    to_block_cyclic(DenseTensor(result.U)["i|j"], U);
    to_block_cyclic(DenseTensor(result.Vh)["i|j"], Vh);
    return result.s;
}

std::vector<double> eigh(const ElementKernels& kernels, const View& A, const View& vectors) {
    const CollectiveCall call(ranks_of(A.world), "eigh");
    auto matrix = in_place(kernels, A, "eigh"), target = in_place(kernels, vectors, "eigh");
    check_shape(A, A.rows, A.rows, "eigh", "A");
    check_shape(vectors, A.rows, A.rows, "eigh", "the matrix of vectors");
    check_same_grid(matrix, target, "eigh");
    check_finite(matrix, Part::lower, described(A, "eigh"));
    return eigh_dense(matrix, &target);
}

void cholesky(const ElementKernels& kernels, const View& A) {
    const CollectiveCall call(ranks_of(A.world), "cholesky");
    auto matrix = in_place(kernels, A, "cholesky");
    check_shape(A, A.rows, A.rows, "cholesky", "A");
    check_finite(matrix, Part::lower, described(A, "cholesky"));
    cholesky_dense(matrix, described(A, "cholesky"));
}

void solve_positive(const ElementKernels& kernels, const View& A, const View& B) {
    const CollectiveCall call(ranks_of(A.world), "solve_positive", A, B);
    check_shape(B, A.rows, B.columns, "solve_positive", "B");
    cholesky(kernels, A);
    solve_triangular(kernels, A, B, {});
    solve_triangular(kernels, A, B, {.operation = Operation::adjoint});
}

void solve_triangular(const ElementKernels& kernels, const View& A, const View& B, const TriangularOptions& options) {
    const CollectiveCall call(ranks_of(A.world), "solve_triangular", options.side, options.triangle, options.operation,
                              options.unit_diagonal);
    const auto matrix = in_place(kernels, A, "solve_triangular");
    auto X = in_place(kernels, B, "solve_triangular");
    check_shape(A, A.rows, A.rows, "solve_triangular", "A");
    const bool left = options.side == Side::left;
    check_shape(B, left ? A.rows : B.rows, left ? B.columns : A.rows, "solve_triangular", "B");
    check_same_grid(matrix, X, "solve_triangular");
    check_finite(matrix, options.triangle == Triangle::lower ? Part::lower : Part::upper, described(A, "solve_triangular"));
    check_finite(X, Part::all, described(B, "solve_triangular"));
    solve_triangular_dense(matrix, X, options, described(A, "solve_triangular"));
}

}  // namespace arges::linalg
