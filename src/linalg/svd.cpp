// SVD of matricizations: tall and wide ones by QR first (Chan, ACM Trans. Math. Softw. 8, 1982), with TSQR; then by bidiagonal form and
// divide and conquer (Gu and Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995).
#include "base/element_at.hpp"
#include "comm/collective_call.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"
#include "linalg/scalapack.hpp"

#include <algorithm>
#include <cmath>

namespace arges {

using namespace linalg;

double linalg::tail_norm(const std::vector<double>& values, std::int64_t first) {
    // Relative to the largest, so that squares do not underflow.
    const auto count = std::ssize(values);
    const double largest = first < count ? values[first] : 0.0;
    if (largest == 0) return 0;
    double sum = 0;
    for (auto i = count; i-- > first;) {
        const double x = values[i] / largest;
        sum += x * x;
    }
    return largest * std::sqrt(sum);
}

std::int64_t linalg::SvdCut::operator()(const std::vector<double>& s) const {
    auto kept = std::ssize(s);
    const double bound = std::max(absolute_tolerance, tolerance * tail_norm(s, 0));
    while (bound > 0 && kept > 1 && tail_norm(s, kept - 1) <= bound) --kept;
    return rank ? std::min(kept, *rank) : kept;
}

namespace {

/// A = Q B P^H with an upper bidiagonal B.
struct Bidiagonal {
    Buffer<std::byte> d, e;          ///< reals: the diagonal, and what is above it with a zero behind, on every rank
    Buffer<std::byte> tau_q, tau_p;  ///< of the reflectors in A
};

Bidiagonal reduce(DistributedMatrix& A, const BlacsGrid* grid) {
    const auto& kernels = A.kernels();
    const auto& reals = *kernels.reals;
    const auto n = A.columns();
    const int rows = to_int(A.rows()), columns = to_int(n), distance = to_int(A.distance()), one = 1;
    const auto zeros = [&](const MatrixKernels& of) { return Buffer<std::byte>::zeros((n + 1) * of.size); };
    Bidiagonal result{zeros(reals), zeros(reals), zeros(kernels), zeros(kernels)};
    with_workspace(A, grid, "SVD", [&](void* work, const int* lwork, int* info) {
        if (grid == nullptr)
            kernels.gebrd(&rows, &columns, A.data(), &distance, result.d.data(), result.e.data(), result.tau_q.data(), result.tau_p.data(),
                          work, lwork, info);
        else
            kernels.pgebrd(&rows, &columns, A.data(), &one, &one, grid->describe(A.layout(), A.distance()).data(), result.d.data(),
                           result.e.data(), result.tau_q.data(), result.tau_p.data(), work, lwork, info);
    });
    const auto fill = [&](Buffer<std::byte>& to, const std::vector<std::complex<double>>& from) {
        to.zero();
        for (std::size_t i = 0; i < from.size(); ++i) {
            const double value = from[i].real();
            reals.set(&value, 1, element_at(to.data(), i, reals.size));
        }
    };
    fill(result.d, diagonal_values(A, n));
    fill(result.e, diagonal_values(A, n - 1, 1));
    return result;
}

/// Singular vectors of a bidiagonal matrix, on the first rank; the account of every rank has them.
struct SmallSvd {
    MatrixMemory held;
    Buffer<std::byte> U, Vh;
};

/// The SVD of a bidiagonal matrix, computed on the first rank: d becomes the singular values there. Collective.
SmallSvd divide_and_conquer(const DistributedMatrix& A, Bidiagonal& form, bool vectors) {
    const auto n = A.columns(), side = vectors ? n : 1;
    const auto count = vectors ? 3 * n * n + 4 * n : 8 * n;
    const auto bytes = [&](std::int64_t reals) { return reals * A.kernels().reals->size; };
    SmallSvd result{MatrixMemory(A.shared_world(), bytes(2 * side * side), "SVD", "workspace"), {}, {}};
    const MatrixMemory held(A.shared_world(), bytes(count) + 8 * n * std::int64_t{sizeof(int)}, "SVD", "workspace");
    A.world().agree([&] {
        if (!A.is_first()) return;
        result.U = Buffer<std::byte>(bytes(side * side));
        result.Vh = Buffer<std::byte>(bytes(side * side));
        Buffer<std::byte> work(bytes(count));
        Buffer<int> indices(8 * n);
        const int size = to_int(n), distance = to_int(side);
        int info = 0, unused_index = 0;
        double unused = 0;
        A.kernels().bdsdc("U", vectors ? "I" : "N", &size, form.d.data(), form.e.data(), result.U.data(), &distance, result.Vh.data(),
                          &distance, &unused, &unused_index, work.data(), indices.data(), &info, 1, 1);
        check_outcome(info, "SVD");
    });
    return result;
}

/// The leading rows x columns of a real array of the first rank into a matrix, which is zero elsewhere. Collective.
void spread(const Buffer<std::byte>& from, std::int64_t distance, std::int64_t rows, std::int64_t columns, DistributedMatrix& to,
            BlacsGrid* grid) {
    const auto& kernels = to.kernels();
    const auto copy = [&](void* target, std::int64_t target_distance) {
        for (std::int64_t j = 0; j < columns; ++j)
            kernels.set_reals(element_at(from.data(), j * distance, kernels.reals->size), rows,
                              element_at(target, j * target_distance, kernels.size));
    };
    to.clear();
    if (grid == nullptr) {
        if (to.takes_part()) copy(to.data(), to.distance());
        return;
    }
    // The elements, and the messages that P?GEMR2D makes of them.
    const MatrixMemory held(to.shared_world(), 2 * rows * columns * kernels.size, "SVD", "workspace");
    on_grid(to, [&] {
        Buffer<std::byte> whole;
        allocate_on(grid, [&] { whole = Buffer<std::byte>(to.is_first() ? rows * columns * kernels.size : 0); });
        if (to.is_first()) copy(whole.data(), rows);
        const int m = to_int(rows), n = to_int(columns), one = 1, context = grid->context();
        const auto source = grid->describe_on_first(rows, columns), target = grid->describe(to.layout(), to.distance());
        kernels.pgemr2d(&m, &n, whole.data(), &one, &one, source.data(), to.data(), &one, &one, target.data(), &context);
    });
}

/// C = Q C (from the left) or C P^H (from the right) with the reflectors in A. Collective.
void apply_reflectors(const DistributedMatrix& A, const Buffer<std::byte>& tau, bool left, DistributedMatrix& C, const BlacsGrid* grid) {
    const auto& kernels = A.kernels();
    const int rows = to_int(C.rows()), columns = to_int(C.columns()), k = to_int(left ? A.columns() : A.rows()), one = 1;
    const int lda = to_int(A.distance()), ldc = to_int(C.distance());
    const char *vect = left ? "Q" : "P", *side = left ? "L" : "R", *trans = left ? "N" : kernels.adjoint;
    with_workspace(A, grid, "SVD", [&](void* work, const int* lwork, int* info) {
        if (grid == nullptr)
            kernels.ormbr(vect, side, trans, &rows, &columns, &k, A.data(), &lda, tau.data(), C.data(), &ldc, work, lwork, info, 1, 1, 1);
        else
            kernels.pormbr(vect, side, trans, &rows, &columns, &k, A.data(), &one, &one, grid->describe(A.layout(), A.distance()).data(),
                           tau.data(), C.data(), &one, &one, grid->describe(C.layout(), C.distance()).data(), work, lwork, info, 1, 1, 1);
    });
}

/// From so many rows per column on, QR first saves work.
constexpr double tall_ratio = 1.6;

/// SVD of a matrix whose rows are spread, or that is on one rank: of R, times Q.
DenseSvd by_tall_qr(const World& world, DistributedMatrix& A, const SvdCut& cut, bool U, bool Vh) {
    const auto shared = A.shared_world();
    const auto n = A.columns();
    TallQr tall(A);
    const auto on_first = on_one_rank(n, n, A.layout().ranks[0]);
    DistributedMatrix R(A.kernels(), shared, on_first, tall.take_r(), "SVD");
    const auto grid = choose_layout(n, n, shared->size(), {});
    if (!grid.single()) R = moved(std::move(R), world, grid);
    auto result = svd_by_bidiagonal(R, cut, U, Vh);
    if (!U) return result;
    auto right = grid.single() ? std::move(*result.U) : moved(std::move(*result.U), world, on_first.resized(n, result.kept));
    result.U.emplace(A.kernels(), shared, A.layout().resized(A.rows(), result.kept), "SVD");
    tall.multiply(right.data(), *result.U);
    return result;
}

AnySvd exact(const TensorState& tensor, const Matricization& labels, const SvdOptions& options) {
    const auto m = labels.rows.size, n = labels.columns.size;
    const bool wide = m < n;  // then of the adjoint: A^H = V S U^H
    const auto& world = tensor.world_handle;
    const auto placement = choose_placement(tensor.shape(), wide ? labels.flipped() : labels, world.size(), options.grid, Purpose::svd);
    const bool tall =
        placement.tall && static_cast<double>(std::max(m, n)) >= tall_ratio * static_cast<double>(std::min(m, n)) && std::min(m, n) > 0;
    auto A = load(tensor, labels, placement.layout, wide, Part::all, tall ? TallQr::least_rows(std::min(m, n), placement.layout) : 0);
    const SvdCut cut{options.rank, options.tolerance, options.absolute_tolerance};
    const bool U = wide ? options.right : options.left, Vh = wide ? options.left : options.right;
    auto dense = tall ? by_tall_qr(world, A, cut, U, Vh) : svd_by_bidiagonal(A, cut, U, Vh);
    AnySvd result;
    result.discarded = tail_norm(dense.s, dense.kept);
    dense.s.resize(dense.kept);
    result.s = std::move(dense.s);
    auto &left = wide ? dense.Vh : dense.U, &right = wide ? dense.U : dense.Vh;
    if (left) result.U = store(world, std::move(*left), labels.rows.extents, {dense.kept}, "U", wide);
    left.reset();
    if (right) result.Vh = store(world, std::move(*right), {dense.kept}, labels.columns.extents, "Vh", wide);
    return result;
}

void check_options(const SvdOptions& options, const std::string& text) {
    if (options.rank && *options.rank < 1)
        throw InvalidArgument("svd of " + text + ": rank " + std::to_string(*options.rank) + "; it must be at least 1");
    if (!(options.tolerance >= 0) || !(options.absolute_tolerance >= 0) || std::isinf(options.tolerance) ||
        std::isinf(options.absolute_tolerance))
        throw InvalidArgument("svd of " + text + ": tolerances " + std::to_string(options.tolerance) + " and " +
                              std::to_string(options.absolute_tolerance) + "; they must not be negative, and finite");
    if (options.method != SvdMethod::randomized) return;
    if (!options.rank) throw InvalidArgument("svd of " + text + ": a randomized SVD needs a rank; set SvdOptions::rank");
    if (options.oversampling < 0 || options.power_iterations < 0)
        throw InvalidArgument("svd of " + text + ": oversampling " + std::to_string(options.oversampling) + " and " +
                              std::to_string(options.power_iterations) + " power iterations; they must not be negative");
}

/// Largest deviation of the factors that are there from orthonormal ones. Collective.
double largest_deviation(const AnySvd& result) {
    const double left = result.U.any_state() ? orthogonality(result.U) : 0;
    return std::max(left, result.Vh.any_state() ? orthogonality(result.Vh, true) : 0);
}

/// Nothing as large as the matrix is made, but with checks one element after another of the product of the factors.
AnySvd of_sparse(const AnyTensor& A, const Labels& given, const SvdOptions& options) {
    matrix_kernels(A.kernels());  // refuses other types
    const auto labels = parse_matricization(given, A.extents(), A.title());
    check_options(options, labels.text);
    if (options.method != SvdMethod::randomized)
        throw InvalidArgument("svd of " + labels.text +
                              ", which is sparse, by its exact method; set SvdOptions::method to SvdMethod::randomized, or "
                              "take to_dense()");
    if (std::min(labels.rows.size, labels.columns.size) == 0)
        throw InvalidArgument("svd of " + labels.text + ": the matrix has no elements");
    const auto norm = A.norm();
    auto result = randomized_svd(A, norm, labels, options);
    if (options.checks) result.checks.orthogonality = largest_deviation(result);
    if (!options.checks || !options.left || !options.right || norm == 0) return result;
    // |A - U S Vh|^2 = |A|^2 - 2 Re <U S Vh, A> + |S|^2.
    double squares = norm * norm;
    for (auto x : result.s) squares += x * x;
    ElementValue inner(A.kernels().size);
    const auto product = result.U[joined(labels.rows.labels, {joint})] * as_tensor(A, result.s)[{joint.c_str()}] *
                         result.Vh[joined({joint}, labels.columns.labels)];
    statements::total((A[labels_by_dimension(labels)] * conj(product)).terms(), A.kernels(), inner.data());
    result.checks.residual = std::sqrt(std::max(0.0, squares - 2 * A.kernels().as_number(inner.data()).real())) / norm;
    return result;
}

}  // namespace

DenseSvd linalg::svd_by_bidiagonal(DistributedMatrix& A, const SvdCut& cut, bool U, bool Vh) {
    DenseSvd result;
    const auto& kernels = A.kernels();
    const auto n = A.columns();
    if (n > 0) {
        const auto grid = make_grid(A.world(), A.layout());
        auto form = reduce(A, grid.get());
        const auto small = divide_and_conquer(A, form, U || Vh);
        A.world().communicator().broadcast(form.d.data(), n * kernels.reals->size, A.layout().ranks[0]);
        result.s = kernels.reals->real_parts(form.d.data(), n);
        result.kept = cut(result.s);
        if (U) {
            result.U.emplace(kernels, A.shared_world(), A.layout().resized(A.rows(), result.kept), "SVD");
            spread(small.U, n, n, result.kept, *result.U, grid.get());
            apply_reflectors(A, form.tau_q, true, *result.U, grid.get());
        }
        if (Vh) {
            result.Vh.emplace(kernels, A.shared_world(), A.layout().resized(result.kept, n), "SVD");
            spread(small.Vh, n, result.kept, n, *result.Vh, grid.get());
            apply_reflectors(A, form.tau_p, false, *result.Vh, grid.get());
        }
        return result;
    }
    if (U) result.U.emplace(kernels, A.shared_world(), A.layout().resized(A.rows(), 0), "SVD");
    if (Vh) result.Vh.emplace(kernels, A.shared_world(), A.layout().resized(0, n), "SVD");
    return result;
}

AnySvd svd(const AnyIndexedTensor& A, const SvdOptions& options) {
    const CollectiveCall call(ranks_of(A), "svd", A, options.rank.value_or(0), options.tolerance, options.absolute_tolerance, options.left,
                              options.right, options.method, options.oversampling, options.power_iterations, options.seed, options.checks,
                              options.grid);
    if (const auto& sparse = A.factor().sparse) return of_sparse(AnyTensor(sparse), A.factor().labels, options);
    MatrixOperand a(A, "svd");
    const auto& labels = a.labels;
    check_options(options, labels.text);
    const bool randomized = options.method == SvdMethod::randomized && std::min(labels.rows.size, labels.columns.size) > 0;
    auto result = randomized ? randomized_svd(a.tensor, a.tensor.norm(), labels, options) : exact(a.plain(), labels, options);
    if (options.checks && options.left && options.right)
        result.checks.residual = residual(a.tensor, labels, result.U, &result.s, result.Vh);
    if (options.checks) result.checks.orthogonality = largest_deviation(result);
    return result;
}

}  // namespace arges
