// Gram matrices of matricizations in panels, summed by each thread in single precision over a few thousand terms only; and left singular
// vectors, as many as a rank or a tolerance keeps: from the eigenvectors of the Gram matrix on the first
// rank, or by TSQR (Demmel, Grigori, Hoemmen, Langou, SIAM J. Sci. Comput. 34, 2012) of its longer side and the SVD of the triangle.
#include "decompose/tucker/dense_tucker_subspace.hpp"

#include "base/buffer.hpp"
#include "base/first_error.hpp"
#include "base/math.hpp"
#include "comm/values.hpp"
#include "decompose/distribution/dense_block.hpp"
#include "decompose/tucker/dense_unfolding.hpp"
#include "linalg/dense.hpp"
#include "local/blas.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace arges::decompose {

namespace {

using linalg::DistributedMatrix;
using linalg::TallQr;

/// Columns of a matricization that are multiplied at once: few enough to be summed in single precision. Fewer where they are
/// put together from short pieces, so that the panel stays in the cache.
constexpr std::int64_t panel_terms = 4096, packed_terms = 512;

/// A sum of products of panels, in the lower triangle of a Gram matrix. For one thread, with one thread of BLAS.
template <class T>
struct GramSum {
    std::int64_t length;
    Gram gram;
    std::vector<T> part;

    /// Adds P P^T for a panel of length x terms (column-major), or of its transpose.
    void add(const T* panel, std::int64_t ld, bool transposed, std::int64_t terms) {
        local::add_gram<T>(length, terms, {panel, ld, transposed}, gram.data(), part);
    }
};

/// How a block is cut into panels of about panel_terms columns of the matricization.
struct Panels {
    enum class Kind : std::uint8_t { columns, rows, packed };
    Kind kind;
    std::int64_t step, per_run, count;
    bool copies_rows;  // because the distance of the columns is more than BLAS takes

    Panels(const MiddleMode& at, std::int64_t longest_stride) : copies_rows(at.before > longest_stride) {
        const bool first = at.before == 1, long_runs = at.before >= panel_terms / 4 || at.behind == 1;
        kind = first ? Kind::columns : long_runs ? Kind::rows : Kind::packed;
        const auto terms = first ? at.behind : at.before;
        step = kind == Kind::packed ? ceil_div(packed_terms, at.before) : std::min(terms, panel_terms);
        per_run = kind == Kind::packed ? 1 : ceil_div(terms, step);
        count = first ? per_run : kind == Kind::rows ? per_run * at.behind : ceil_div(at.behind, step);
    }
};

/// Adds one panel. `scratch` takes panels that are put together from short pieces.
template <class T>
void add_panel(const T* block, const MiddleMode& at, const Panels& panels, std::int64_t number, Buffer<T>& scratch, GramSum<T>& sum) {
    const auto begin = number % panels.per_run * panels.step;
    if (panels.kind == Panels::Kind::columns)
        return sum.add(block + begin * at.length, at.length, false, std::min(panels.step, at.behind - begin));
    if (panels.kind == Panels::Kind::rows) {
        const T* const run = block + number / panels.per_run * at.before * at.length + begin;
        const auto terms = std::min(panels.step, at.before - begin);
        if (!panels.copies_rows) return sum.add(run, at.before, true, terms);
        scratch.reserve(panels.step * at.length);
        for (std::int64_t i = 0; i < at.length; ++i) std::copy_n(run + i * at.before, terms, scratch.data() + i * terms);
        return sum.add(scratch.data(), terms, true, terms);
    }
    const auto first = number * panels.step, together = std::min(panels.step, at.behind - first), rows = together * at.before;
    scratch.reserve(panels.step * at.before * at.length);
    for (std::int64_t k = 0; k < together; ++k)
        for (std::int64_t i = 0; i < at.length; ++i)
            std::copy_n(block + (i + (first + k) * at.length) * at.before, at.before, scratch.data() + i * rows + k * at.before);
    sum.add(scratch.data(), rows, true, rows);
}

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
    DistributedMatrix matrix(linalg::matrix_kernels(*state.kernels), world, layout, "Tucker decomposition",
                             TallQr::least_rows(columns, layout));
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
    DistributedMatrix vectors(matrix.kernels(), matrix.shared_world(), matrix.layout().resized(matrix.rows(), result.rank),
                              "Tucker decomposition");
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
Gram gram_of_block(const T* block, const MiddleMode& at, std::int64_t longest_stride) {
    const Panels panels(at, longest_stride);
    const auto threads = std::clamp<std::int64_t>(panels.count, 1, omp_get_max_threads());
    std::vector<GramSum<T>> sums(threads, GramSum<T>{at.length, Gram(static_cast<std::size_t>(at.length * at.length), 0), {}});
    std::vector<Buffer<T>> scratch(threads);
    FirstError error;
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(threads))
    for (std::int64_t t = 0; t < threads; ++t)
        error.run([&] {
            const std::size_t thread = t;
            for (auto p = panels.count * t / threads; p < panels.count * (t + 1) / threads; ++p)
                add_panel(block, at, panels, p, scratch[thread], sums[thread]);
        });
    error.rethrow();
    auto gram = sums[0].gram;
    for (std::size_t t = 1; t < sums.size(); ++t)
        for (std::size_t i = 0; i < gram.size(); ++i) gram[i] += sums[t].gram[i];
    return gram;
}

template <class T>
double norm_squared(const Tensor<T>& tensor) {
    constexpr std::int64_t run = 4096;
    const auto& state = *tensor.state();
    const auto count = block_position(state.shape(), state.rank()).count();
    std::vector<double> sums(ceil_div(count, run));
    const HostElements here(state);
    const T* const x = here.of<T>();
#pragma omp parallel for schedule(static)
    for (std::int64_t begin = 0; begin < count; begin += run) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t i = begin; i < std::min(count, begin + run); ++i) sum += static_cast<double>(x[i]) * x[i];
        sums[begin / run] = sum;
    }
    double total = std::accumulate(sums.begin(), sums.end(), 0.0);
    state.world->communicator().sum(&total, 1);
    return total;
}

template <class T>
Gram mode_gram(const Tensor<T>& tensor, int mode) {
    const auto& state = *tensor.state();
    const std::size_t n = tensor.extents()[mode];
    const auto place = block_position(state.shape(), state.rank());
    Gram gram;
    std::vector<double> lower;
    state.world->agree([&] {
        lower.reserve(n * (n + 1) / 2);
        if (place.count() > 0)
            gram = gram_of_block<T>(HostElements(state).of<T>(), MiddleMode(place.sizes, mode));
        else
            gram.assign(n * n, 0);
    });
    if (state.world->size() == 1) return gram;
    const auto element = [&](std::size_t i) { return gram.begin() + i; };
    for (std::size_t c = 0; c < n; ++c) lower.insert(lower.end(), element(c * n + c), element(c * n + n));
    sum_to_first(state.world->communicator(), lower);
    auto at = lower.begin();
    for (std::size_t c = 0; c < n; ++c) {
        std::copy_n(at, n - c, element(c * n + c));
        at += static_cast<std::ptrdiff_t>(n - c);
    }
    return gram;
}

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
            std::transform(columns.column<double>(length - 1 - c), columns.column<double>(length - 1 - c) + length,
                           result.u.begin() + c * length, [](double x) { return static_cast<T>(x); });
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
    template Gram gram_of_block(const T*, const MiddleMode&, std::int64_t);                                                                \
    template double norm_squared(const Tensor<T>&);                                                                                        \
    template Gram mode_gram(const Tensor<T>&, int);                                                                                        \
    template struct Subspace<T>;                                                                                                           \
    template Subspace<T> subspace_of_gram(const World&, Gram, std::int64_t, const RankRule&);                                              \
    template Subspace<T> subspace_by_qr(const Tensor<T>&, int, const RankRule&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
