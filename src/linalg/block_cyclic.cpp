// The caller's matrices: views, and factorizations in place.
#include "base/instantiate.hpp"
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "linalg/dense.hpp"
#include "linalg/matrix_exchange.hpp"
#include "linalg/operand.hpp"
#include "linalg/tall_qr.hpp"

#include <algorithm>
#include <limits>

namespace arges {

using namespace linalg;

namespace {

template <class T>
std::uint64_t digest_of(const BlockCyclic<T>& matrix) {
    return Digest()
        .add(matrix.rows)
        .add(matrix.columns)
        .add(matrix.row_block)
        .add(matrix.column_block)
        .add(matrix.grid_rows)
        .add(matrix.grid_columns)
        .add(matrix.order)
        .add(matrix.row_source)
        .add(matrix.column_source)
        .value();
}

template <class T>
using Element = std::remove_const_t<T>;

template <class T>
MatrixLayout layout_of(const BlockCyclic<T>& view) {
    return {{view.rows, view.row_block, view.grid_rows, view.row_source},
            {view.columns, view.column_block, view.grid_columns, view.column_source},
            grid_ranks(view.grid_rows, view.grid_columns, view.order)};
}

template <class T>
std::string described(const BlockCyclic<T>& view, const char* what) {
    return std::string(what) + ": the block-cyclic matrix of " + std::to_string(view.rows) + " x " + std::to_string(view.columns);
}

/// Checks numbers that must be the same on all ranks, then what each rank has. Collective.
template <class T>
void check_view(const BlockCyclic<T>& view, const char* what) {
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
    if (!world.communicator().all_equal(digest_of(view)))
        throw InvalidArgument(
            std::string(what) +
            ": the ranks describe different block-cyclic matrices; shape, blocks, grid and sources must be the same on all");
    check_size(layout_of(view), text);
}

/// For functions that work on the array itself.
template <class T>
DistributedMatrix<T> in_place(const BlockCyclic<T>& view, const char* what) {
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
    return DistributedMatrix<T>(view.world.state(), layout, view.data, view.leading_dimension);
}

template <class T>
void check_shape(const BlockCyclic<T>& view, std::int64_t rows, std::int64_t columns, const char* what, const char* which) {
    if (view.rows == rows && view.columns == columns) return;
    throw InvalidArgument(std::string(what) + ": " + which + " is " + std::to_string(view.rows) + " x " + std::to_string(view.columns) +
                          "; it must be " + std::to_string(rows) + " x " + std::to_string(columns));
}

template <class T>
void check_same_grid(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, const char* what) {
    if (&A.world() == &B.world() && (A.layout().single() ? B.layout().single() : A.layout().same_grid(B.layout()))) return;
    throw InvalidArgument(std::string(what) + ": the matrices are not on the same world, grid and blocks; redistribute one of them");
}

template <class T>
void copy_local(const DistributedMatrix<T>& from, DistributedMatrix<T>& to) {
    for (std::int64_t j = 0; j < from.local_columns(); ++j) std::copy_n(from.column(j), from.local_rows(), to.column(j));
}

}  // namespace

namespace {

/// What local_rows() and local_columns() count with.
template <class T>
void check_counts(const BlockCyclic<T>& view) {
    if (view.rows < 0 || view.columns < 0 || view.row_block < 1 || view.column_block < 1 || view.grid_rows < 1 || view.grid_columns < 1 ||
        view.grid_rows > view.world.size() / view.grid_columns)
        throw InvalidArgument(described(view, "BlockCyclic") +
                              ": rows and columns must not be negative, blocks and the grid at least 1 x 1, and the grid not "
                              "larger than the world");
}

}  // namespace

template <class T>
std::int64_t BlockCyclic<T>::local_rows() const {
    check_counts(*this);
    const auto layout = layout_of(*this);
    const auto at = layout.position(world.rank());
    return at < 0 ? 0 : layout.rows.count(layout.grid_row(at));
}

template <class T>
std::int64_t BlockCyclic<T>::local_columns() const {
    check_counts(*this);
    const auto layout = layout_of(*this);
    const auto at = layout.position(world.rank());
    return at < 0 ? 0 : layout.columns.count(layout.grid_column(at));
}

namespace {

/// What both directions between a view and a tensor check and make.
template <class T>
MatrixExchange between(const Operand<Element<T>>& tensor, const BlockCyclic<T>& view, const char* what) {
    check_view(view, what);
    check_shape(view, tensor.labels.rows.size, tensor.labels.columns.size, what, "the block-cyclic matrix");
    if (tensor.state.world != view.world.state())
        throw InvalidArgument(std::string(what) + ": " + tensor.labels.text +
                              " and the block-cyclic matrix live on different worlds; use transfer() first");
    const auto distance = std::max<std::int64_t>({1, view.local_rows(), view.leading_dimension});
    MatrixExchange exchange(tensor.state.world->movement_communicator(), tensor.state.shape(), tensor.labels, layout_of(view), distance,
                            tensor.world().rank());
    reserve_buffers(*tensor.state.world, exchange, sizeof(T), what);
    return exchange;
}

}  // namespace

template <class T>
void from_block_cyclic(const BlockCyclic<T>& matrix, const IndexedTensor<std::remove_const_t<T>>& target) {
    const CollectiveCall call(ranks_of(matrix.world), "from_block_cyclic", linalg::digest_of(target));
    const Operand<Element<T>> tensor(target, "from_block_cyclic");
    if (!tensor.state.shape().symmetry().trivial())
        throw InvalidArgument("from_block_cyclic: " + tensor.labels.text +
                              " has a symmetry, which the matrix may not have; use a tensor without, and canonical()");
    const auto exchange = between(tensor, matrix, "from_block_cyclic");
    ChangedHostElements changed(*target.factor().tensor);
    exchange.scatter(static_cast<const Element<T>*>(matrix.data), changed.of<Element<T>>(), false, tensor.state.world->workspace());
}

template <class T>
Tensor<std::remove_const_t<T>> from_block_cyclic(const BlockCyclic<T>& matrix, const std::string& name) {
    const CollectiveCall call(ranks_of(matrix.world), "from_block_cyclic");
    check_view(matrix, "from_block_cyclic");
    Tensor<Element<T>> result(matrix.world, {matrix.rows, matrix.columns}, name);
    from_block_cyclic(matrix, result["i|j"]);
    return result;
}

template <class T>
void to_block_cyclic(const IndexedTensor<T>& source, const BlockCyclic<T>& matrix) {
    const CollectiveCall call(ranks_of(matrix.world), "to_block_cyclic", linalg::digest_of(source));
    Operand<T> tensor(source, "to_block_cyclic");
    Tensor<T> copy;
    if (!tensor.state.shape().symmetry().trivial()) {
        copy = tensor.tensor().with_symmetry(Symmetry::none(tensor.state.shape().order()));
        return to_block_cyclic(copy[source.factor().labels], matrix);
    }
    const auto exchange = between(tensor, matrix, "to_block_cyclic");
    exchange.gather(HostElements(tensor.state).of<T>(), matrix.data, false, tensor.state.world->workspace());
}

template <class T>
Tensor<T> from_replicated(const World& world, std::vector<std::int64_t> extents, std::span<const T> values, const std::string& name) {
    const CollectiveCall call(ranks_of(world), "from_replicated", extents, values.size());
    Tensor<T> result(world, std::move(extents), name);
    auto& state = *result.state();
    if (state.world->dry()) return result;
    state.world->agree([&] {
        if (std::ssize(values) != result.size())
            throw InvalidArgument(state.title() + ": from_replicated with " + std::to_string(values.size()) + " values for " +
                                  std::to_string(result.size()) + " elements; give the whole tensor, first index fastest");
    });
    const std::int64_t count = result.size(), step = 1;
    call.require_same(StridedArray{values.data(), {&count, 1}, {&step, 1}, sizeof(T)});
    ChangedHostElements changed(state);
    T* const elements = changed.of<T>();
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        std::int64_t key = 0;
        for (std::size_t d = x.size(); d-- > 0;) key = key * result.extents()[d] + x[d];
        elements[offset] = values[key];
    });
    return result;
}

template <class T>
void qr(const BlockCyclic<T>& A, const BlockCyclic<T>& R) {
    const CollectiveCall call(ranks_of(A.world), "qr");
    auto matrix = in_place(A, "qr"), triangle = in_place(R, "qr");
    const auto k = std::min(A.rows, A.columns);
    check_shape(R, k, A.columns, "qr", "R");
    check_same_grid(matrix, triangle, "qr");
    check_finite(matrix, Part::all, described(A, "qr"));
    if (!matrix.layout().single()) return qr_on_grid(matrix, triangle);
    const TallQr<T> tall(matrix);
    if (matrix.takes_part())
        for (std::int64_t j = 0; j < A.columns && k > 0; ++j) std::copy_n(tall.r().data() + j * k, k, triangle.column(j));
    DistributedMatrix<T> Q(matrix.shared_world(), matrix.layout().resized(A.rows, k), "qr");
    tall.form(Q);
    copy_local(Q, matrix);
}

template <class T>
std::vector<real_of<T>> svd(const BlockCyclic<T>& A, const BlockCyclic<T>& U, const BlockCyclic<T>& Vh) {
    const CollectiveCall call(ranks_of(A.world), "svd");
    const auto k = std::min(A.rows, A.columns);
    auto matrix = in_place(A, "svd"), left = in_place(U, "svd"), right = in_place(Vh, "svd");
    check_shape(U, A.rows, k, "svd", "U");
    check_shape(Vh, k, A.columns, "svd", "Vh");
    check_same_grid(matrix, left, "svd");
    check_same_grid(matrix, right, "svd");
    check_finite(matrix, Part::all, described(A, "svd"));
    if (A.rows >= A.columns) {
        auto result = svd_by_bidiagonal(matrix, {}, true, true);
        copy_local(*result.U, left);
        copy_local(*result.Vh, right);
        return result.s;
    }
    // Bidiagonal form is for matrices that are not wide: a wide one is turned, which moves its elements.
    const auto whole = from_block_cyclic(A, "A");
    auto result = svd(whole["i|j"]);
    to_block_cyclic(result.U["i|j"], U);
    to_block_cyclic(result.Vh["i|j"], Vh);
    return result.s;
}

template <class T>
std::vector<real_of<T>> eigh(const BlockCyclic<T>& A, const BlockCyclic<T>& vectors) {
    const CollectiveCall call(ranks_of(A.world), "eigh");
    auto matrix = in_place(A, "eigh"), target = in_place(vectors, "eigh");
    check_shape(A, A.rows, A.rows, "eigh", "A");
    check_shape(vectors, A.rows, A.rows, "eigh", "the matrix of vectors");
    check_same_grid(matrix, target, "eigh");
    check_finite(matrix, Part::lower, described(A, "eigh"));
    return eigh_dense(matrix, &target);
}

template <class T>
void cholesky(const BlockCyclic<T>& A) {
    const CollectiveCall call(ranks_of(A.world), "cholesky");
    auto matrix = in_place(A, "cholesky");
    check_shape(A, A.rows, A.rows, "cholesky", "A");
    check_finite(matrix, Part::lower, described(A, "cholesky"));
    cholesky_dense(matrix, described(A, "cholesky"));
}

template <class T>
void solve_positive(const BlockCyclic<T>& A, const BlockCyclic<T>& B) {
    const CollectiveCall call(ranks_of(A.world), "solve_positive", digest_of(A), digest_of(B));
    check_shape(B, A.rows, B.columns, "solve_positive", "B");
    cholesky(A);
    TriangularOptions step;
    solve_triangular(A, B, step);
    step.operation = Operation::adjoint;
    solve_triangular(A, B, step);
}

template <class T>
void solve_triangular(const BlockCyclic<T>& A, const BlockCyclic<T>& B, const TriangularOptions& options) {
    const CollectiveCall call(ranks_of(A.world), "solve_triangular", options.side, options.triangle, options.operation,
                              options.unit_diagonal);
    const auto matrix = in_place(A, "solve_triangular");
    auto X = in_place(B, "solve_triangular");
    check_shape(A, A.rows, A.rows, "solve_triangular", "A");
    const bool left = options.side == Side::left;
    check_shape(B, left ? A.rows : B.rows, left ? B.columns : A.rows, "solve_triangular", "B");
    check_same_grid(matrix, X, "solve_triangular");
    check_finite(matrix, options.triangle == Triangle::lower ? Part::lower : Part::upper, described(A, "solve_triangular"));
    check_finite(X, Part::all, described(B, "solve_triangular"));
    solve_triangular_dense(matrix, X, options, described(A, "solve_triangular"));
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template struct BlockCyclic<T>;                                                                                                        \
    template struct BlockCyclic<const T>;                                                                                                  \
    template Tensor<T> from_block_cyclic(const BlockCyclic<T>&, const std::string&);                                                       \
    template Tensor<T> from_block_cyclic(const BlockCyclic<const T>&, const std::string&);                                                 \
    template void from_block_cyclic(const BlockCyclic<T>&, const IndexedTensor<T>&);                                                       \
    template void from_block_cyclic(const BlockCyclic<const T>&, const IndexedTensor<T>&);                                                 \
    template void to_block_cyclic(const IndexedTensor<T>&, const BlockCyclic<T>&);                                                         \
    template Tensor<T> from_replicated(const World&, std::vector<std::int64_t>, std::span<const T>, const std::string&);                   \
    template void qr(const BlockCyclic<T>&, const BlockCyclic<T>&);                                                                        \
    template std::vector<real_of<T>> svd(const BlockCyclic<T>&, const BlockCyclic<T>&, const BlockCyclic<T>&);                             \
    template std::vector<real_of<T>> eigh(const BlockCyclic<T>&, const BlockCyclic<T>&);                                                   \
    template void cholesky(const BlockCyclic<T>&);                                                                                         \
    template void solve_positive(const BlockCyclic<T>&, const BlockCyclic<T>&);                                                            \
    template void solve_triangular(const BlockCyclic<T>&, const BlockCyclic<T>&, const TriangularOptions&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges
