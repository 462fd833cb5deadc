// SVD of matricizations: tall and wide ones by QR first (Chan, ACM Trans. Math. Softw. 8, 1982), with TSQR; then by bidiagonal form.
#include "comm/collective_call.hpp"
#include "linalg/checks.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"
#include "linalg/tall_qr.hpp"

#include <algorithm>
#include <cmath>

namespace arges::linalg {

namespace {

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
    const auto number = [](std::int64_t n) { return std::to_string(n); };
    if (options.rank && *options.rank < 1)
        throw InvalidArgument("svd of " + text + ": rank " + number(*options.rank) + "; it must be at least 1");
    if (!(options.tolerance >= 0) || !(options.absolute_tolerance >= 0) || std::isinf(options.tolerance) ||
        std::isinf(options.absolute_tolerance))
        throw InvalidArgument("svd of " + text + ": tolerances " + std::to_string(options.tolerance) + " and " +
                              std::to_string(options.absolute_tolerance) + "; they must not be negative, and finite");
    if (options.method != SvdMethod::randomized) return;
    if (!options.rank) throw InvalidArgument("svd of " + text + ": a randomized SVD needs a rank; set SvdOptions::rank");
    if (options.oversampling < 0 || options.power_iterations < 0)
        throw InvalidArgument("svd of " + text + ": oversampling " + number(options.oversampling) + " and " +
                              number(options.power_iterations) + " power iterations; they must not be negative");
}

/// Largest deviation of the factors that are there from orthonormal ones. Collective.
double largest_deviation(const AnySvd& result) {
    const double left = result.U ? orthogonality(DenseTensor(result.U)) : 0;
    return std::max(left, result.Vh ? orthogonality(DenseTensor(result.Vh), true) : 0);
}

/// Nothing as large as the matrix is made, but with checks one element after another of the product of the factors.
AnySvd of_sparse(const Factor& A, const SvdOptions& options) {
    const auto& state = *A.sparse;
    const auto& kernels = matrix_kernels(*state.kernels);
    const auto labels = parse_matricization(A.labels, state.lengths(), state.title());
    check_options(options, labels.text);
    if (options.method != SvdMethod::randomized)
        throw InvalidArgument("svd of " + labels.text +
                              ", which is sparse, by its exact method; set SvdOptions::method to SvdMethod::randomized, or "
                              "take to_dense()");
    if (std::min(labels.rows.size, labels.columns.size) == 0)
        throw InvalidArgument("svd of " + labels.text + ": the matrix has no elements");
    const auto norm = kernels.norm(A);
    auto result = randomized_svd(kernels, state.world_handle, A, norm, labels, options);
    if (options.checks) result.checks.orthogonality = largest_deviation(result);
    if (!options.checks || !options.left || !options.right || norm == 0) return result;
    // |A - U S Vh|^2 = |A|^2 - 2 Re <U S Vh, A> + |S|^2.
    double squares = norm * norm;
    for (auto x : result.s) squares += x * x;
    const auto& elements = kernels.elements();
    ElementValue inner(elements.size);
    const Term product{.factors = {Factor{nullptr, labels_by_dimension(labels), false, A.sparse},
                                   conjugate(DenseTensor(result.U)[with_label(labels.rows.labels, joint)]),
                                   conjugate(as_tensor(kernels, state.world_handle, result.s)[{joint.c_str()}]),
                                   conjugate(DenseTensor(result.Vh)[label_first(joint, labels.columns.labels)])}};
    statements::total({product}, elements, inner.data());
    result.checks.residual = std::sqrt(std::max(0.0, squares - 2 * elements.as_number(inner.data()).real())) / norm;
    return result;
}

}  // namespace

AnySvd svd(const Factor& A, const SvdOptions& options) {
    const CollectiveCall call(ranks_of(A), "svd", A, options.rank.value_or(0), options.tolerance, options.absolute_tolerance, options.left,
                              options.right, options.method, options.oversampling, options.power_iterations, options.seed, options.checks,
                              options.grid);
    if (A.sparse) return of_sparse(A, options);
    Operand a(A, "svd");
    const auto& labels = a.labels;
    check_options(options, labels.text);
    const bool randomized = options.method == SvdMethod::randomized && std::min(labels.rows.size, labels.columns.size) > 0;
    auto result =
        randomized ? randomized_svd(a.kernels, a.world(), A, a.tensor().norm(), labels, options) : exact(a.plain(), labels, options);
    if (options.checks && options.left && options.right)
        result.checks.residual = residual(a.tensor(), labels, DenseTensor(result.U), &result.s, DenseTensor(result.Vh));
    if (options.checks) result.checks.orthogonality = largest_deviation(result);
    return result;
}

}  // namespace arges::linalg
