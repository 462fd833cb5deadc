// Left singular vectors of a matricization, as many as a rank or a tolerance keeps: from the eigenvectors of the Gram matrix on the first
// rank, or by TSQR (Demmel, Grigori, Hoemmen, Langou, SIAM J. Sci. Comput. 34, 2012) of its longer side and the SVD of the triangle.
#include "decompose/tucker/dense_tucker_subspace.hpp"

#include "base/math.hpp"
#include "comm/values.hpp"
#include "decompose/distribution/dense_block.hpp"
#include "decompose/tucker/dense_unfolding.hpp"
#include "linalg/dense.hpp"
#include "linalg/tall_qr.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace arges::decompose {

namespace {

using linalg::DistributedMatrix;
using linalg::TallQr;

/// A matrix of which every rank has as many rows, for TSQR, which does not mind what they are numbered and whether some are zero.
linalg::MatrixLayout spread_rows(std::int64_t rows_of_rank, std::int64_t columns, std::int64_t ranks) {
    const auto rows = std::max<std::int64_t>(1, rows_of_rank);
    return {{rows * ranks, rows, ranks, 0},
            {columns, std::max<std::int64_t>(1, columns), 1, 0},
            linalg::grid_ranks(ranks, 1, GridOrder::column_major)};
}

/// Bytes that TSQR's triangles take from a rank, and what a product with Q takes back: each rank but the first sends its triangle
/// once, and the ranks that got them send as many parts of a product with `columns` columns, 0 for none.
std::int64_t tsqr_bytes(const WorldState& world, std::int64_t width, std::int64_t columns, std::int64_t element_bytes) {
    std::int64_t triangles = world.rank() > 0 ? 1 : 0, parts = 0;
    for (std::int64_t step = 1; step < world.size() && world.rank() % (2 * step) == 0; step *= 2)
        parts += world.rank() + step < world.size() ? 1 : 0;
    return width * (triangles * width + parts * columns) * element_bytes;
}

/// The transposed matricization of this rank's block: a row for each index of the other modes.
template <class T>
void fill_transposed(const T* block, const MiddleMode& at, DistributedMatrix& matrix) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < at.length; ++i) {
        T* const column = matrix.column<T>(i);
        for (std::int64_t k = 0; k < at.behind; ++k)
            std::copy_n(block + (i + k * at.length) * at.before, at.before, column + k * at.before);
        std::fill(column + at.before * at.behind, column + matrix.local_rows(), T(0));
    }
}

/// The matricization of this rank's block: a row for each index of the mode.
template <class T>
void fill_straight(const T* block, const MiddleMode& at, DistributedMatrix& matrix) {
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < at.behind; ++k)
        for (std::int64_t b = 0; b < at.before; ++b) {
            T* const column = matrix.column<T>(b + k * at.before);
            for (std::int64_t i = 0; i < at.length; ++i) column[i] = block[b + at.before * (i + k * at.length)];
            std::fill(column + at.length, column + matrix.local_rows(), T(0));
        }
}

/// A rank's part of a matrix with one column for each index of the shorter side.
template <class T>
DistributedMatrix spread_matrix(const Tensor<T>& tensor, int mode, bool transposed, std::int64_t columns) {
    const auto& state = *tensor.state();
    const auto& world = state.world_handle.state();
    const auto place = block_position(state.shape(), state.rank());
    const MiddleMode at(place.sizes, mode);
    const auto layout = spread_rows(world->communicator().maximum(transposed ? at.before * at.behind : at.length), columns, world->size());
    const HostElements here(state);
    DistributedMatrix matrix(linalg::matrix_kernels(*state.kernels), world, layout, "Tucker decomposition", TallQr::least_rows(columns, layout));
    if (place.count() == 0)
        matrix.clear();
    else
        transposed ? fill_transposed(here.of<T>(), at, matrix) : fill_straight(here.of<T>(), at, matrix);
    return matrix;
}

/// SVD of the triangle on the first rank.
linalg::DenseSvd svd_of_triangle(TallQr& qr, DistributedMatrix& matrix, bool left) {
    const auto n = matrix.columns();
    DistributedMatrix triangle(matrix.kernels(), matrix.shared_world(), linalg::on_one_rank(n, n),
                               matrix.is_first() ? qr.take_r() : Buffer<std::byte>(), "Tucker decomposition");
    return linalg::svd_by_bidiagonal(triangle, {}, left, !left);
}

std::vector<double> squares_of(std::vector<double> values) {
    for (auto& s : values) s *= s;
    return values;
}

/// Of a matricization that is not longer than wide: right singular vectors of the triangle of its transposed.
template <class T>
Subspace<T> of_wide(const Tensor<T>& tensor, int mode, const RankRule& rule) {
    const auto& world = *tensor.world().state();
    const auto length = tensor.extents()[mode];
    auto matrix = spread_matrix(tensor, mode, true, length);
    TallQr qr(matrix);
    auto svd = svd_of_triangle(qr, matrix, false);
    Subspace<T> result(squares_of(svd.s), rule, length);
    result.planned_bytes = tsqr_bytes(world, length, 0, sizeof(T));
    if (world.rank() == 0) {
        for (std::int64_t c = 0; c < result.rank; ++c)
            for (std::int64_t i = 0; i < length; ++i) result.u[i + c * length] = svd.Vh->template column<T>(i)[c];
        result.fix_signs();
    }
    result.share(world);
    return result;
}

/// Of a matricization that is longer than wide: Q times the left singular vectors of the triangle.
template <class T>
Subspace<T> of_long(const Tensor<T>& tensor, int mode, const RankRule& rule) {
    const auto& world = *tensor.world().state();
    const std::size_t m = mode;
    const auto length = tensor.extents()[m], width = tensor.size() / length;
    const auto moved = moved_to(tensor, layout_with_spread_mode(tensor.state()->shape(), mode));
    auto matrix = spread_matrix(moved.tensor, mode, false, width);
    TallQr qr(matrix);
    auto svd = svd_of_triangle(qr, matrix, true);
    Subspace<T> result(squares_of(svd.s), rule, length);
    DistributedMatrix vectors(matrix.kernels(), matrix.shared_world(), matrix.layout().resized(matrix.rows(), result.rank), "Tucker decomposition");
    qr.multiply(svd.U->data(), vectors);
    const auto& layout = moved.tensor.state()->shape();
    std::vector<T> rows;
    const auto mine = block_position(layout, world.rank());
    world.agree([&] {
        for (std::int64_t c = 0; c < result.rank; ++c) rows.insert(rows.end(), vectors.column<T>(c), vectors.column<T>(c) + mine.sizes[m]);
    });
    const auto all = gathered(world.communicator(), rows);
    auto next = all.begin();
    for (std::int64_t r = 0; r < world.size(); ++r) {
        const auto theirs = block_position(layout, r);
        for (std::int64_t c = 0; c < result.rank; ++c)
            for (std::int64_t x = 0; x < theirs.sizes[m]; ++x)
                result.u[theirs.coordinate[m] + x * theirs.grid_length[m] + c * length] = *next++;
    }
    result.fix_signs();
    result.planned_bytes = moved.planned_bytes + tsqr_bytes(world, width, result.rank, sizeof(T)) +
                           static_cast<std::int64_t>(rows.size() * sizeof(T)) * (world.size() - 1);
    return result;
}

}  // namespace

template <class T>
Subspace<T>::Subspace(const std::vector<double>& squares, const RankRule& rule, std::int64_t length) : rank(std::ssize(squares)) {
    while (rank > 1) {
        const double next = discarded + squares[rank - 1];
        if (rank <= rule.most && (rule.allowed < 0 || next > rule.allowed)) break;
        discarded = next;
        --rank;
    }
    for (std::int64_t i = 0; i < rank; ++i) kept += squares[i];
    u.resize(length * rank);
}

template <class T>
void Subspace<T>::fix_signs() {
    for (auto column = u.begin(); column != u.end(); column += length()) {
        const auto largest = std::max_element(column, column + length(), [](T a, T b) { return std::abs(a) < std::abs(b); });
        if (*largest < T(0))
            for (auto x = column; x != column + length(); ++x) *x = -*x;
    }
}

template <class T>
void Subspace<T>::share(const WorldState& world) {
    const auto bytes = std::as_writable_bytes(std::span(u));
    share_from_first(world.communicator(), bytes);
    planned_bytes += share_from_first_bytes(world.size(), world.rank(), std::ssize(bytes));
}

template <class T>
Subspace<T> subspace_of_gram(const World& world, Gram gram, std::int64_t length, const RankRule& rule) {
    const auto layout = linalg::on_one_rank(length, length);
    Gram vectors(gram.size());
    const auto& kernels = linalg::matrix_kernels(element_kernels<double>());
    DistributedMatrix matrix(kernels, world.state(), layout, gram.data(), length);
    DistributedMatrix columns(kernels, world.state(), layout, vectors.data(), length);
    auto squares = linalg::eigh_dense(matrix, &columns);
    std::reverse(squares.begin(), squares.end());
    for (double& s : squares) s = at_least_zero(s);
    Subspace<T> result(squares, rule, length);
    if (world.rank() == 0) {
        for (std::int64_t c = 0; c < result.rank; ++c)
            std::transform(columns.column<double>(length - 1 - c), columns.column<double>(length - 1 - c) + length, result.u.begin() + c * length,
                           [](double x) { return static_cast<T>(x); });
        result.fix_signs();
    }
    result.share(*world.state());
    return result;
}

template <class T>
Subspace<T> subspace_by_qr(const Tensor<T>& tensor, int mode, const RankRule& rule) {
    const auto length = tensor.extents()[mode];
    return length > tensor.size() / length ? of_long(tensor, mode, rule) : of_wide(tensor, mode, rule);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template struct Subspace<T>;                                                                                                           \
    template Subspace<T> subspace_of_gram(const World&, Gram, std::int64_t, const RankRule&);                                               \
    template Subspace<T> subspace_by_qr(const Tensor<T>&, int, const RankRule&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
