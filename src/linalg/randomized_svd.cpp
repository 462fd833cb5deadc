// Randomized SVD: Halko, Martinsson, Tropp, SIAM Review 53 (2011), algorithms 4.4 (range) and 5.1 (SVD of the projected matrix).
#include "linalg/operand.hpp"

#include <algorithm>
#include <cmath>

namespace arges::linalg {

namespace {

class RangeFinder {
public:
    RangeFinder(const AnyTensor& A, const Matricization& labels)
        : A_(A), matrix_(A[labels_by_dimension(labels)]), rows_(labels.rows), columns_(labels.columns) {}

    /// Orthonormal vectors, rows x `width`, whose span is close to that of the leading left singular vectors.
    AnyTensor operator()(std::int64_t width, int powers, std::uint64_t seed) const {
        auto vectors = zeros_like(A_, joined(columns_.extents, {width}), "random");
        vectors.fill_random(seed, -1, 1);
        auto range = orthonormal(times(matrix_, vectors, columns_, rows_), rows_);
        for (int i = 0; i < powers; ++i) {
            const auto back = orthonormal(times(conj(matrix_), range, rows_, columns_), columns_);
            range = orthonormal(times(matrix_, back, columns_, rows_), rows_);
        }
        return range;
    }
    /// Q^H A, width x columns.
    AnyTensor project(const AnyTensor& Q) const {
        auto result = zeros_like(A_, joined({Q.extents().back()}, columns_.extents), "projected");
        result[joined({joint}, columns_.labels)] = conj(Q[joined(rows_.labels, {joint})]) * matrix_;
        return result;
    }

private:
    /// The matrix, or its adjoint, times vectors of the side `summed`.
    AnyTensor times(const AnyExpression& matrix, const AnyTensor& vectors, const MatrixSide& summed, const MatrixSide& kept) const {
        auto result = zeros_like(A_, joined(kept.extents, {vectors.extents().back()}), "range");
        result[joined(kept.labels, {joint})] = matrix * vectors[joined(summed.labels, {joint})];
        return result;
    }
    static AnyTensor orthonormal(const AnyTensor& vectors, const MatrixSide& side) { return qr(vectors[barred(side.labels, {joint})]).Q; }

    const AnyTensor& A_;
    AnyExpression matrix_;
    const MatrixSide &rows_, &columns_;
};

/// How many of the singular values found are kept, and what is then missing of a matrix with this norm.
std::pair<std::int64_t, double> cut(const std::vector<double>& s, double norm, const SvdOptions& options) {
    const double bound = std::max(options.absolute_tolerance, options.tolerance * norm);
    const auto most = std::min(std::ssize(s), *options.rank);
    double left = norm == 0 ? 0 : 1;  // in units of the squared norm
    std::int64_t kept = 0;
    while (kept < most && (kept == 0 || !(bound > 0 && norm * std::sqrt(left) <= bound))) {
        const double x = ratio(s[kept++], norm);
        left = std::max(0.0, left - x * x);
    }
    return {kept, norm * std::sqrt(left)};
}

}  // namespace

AnySvd randomized_svd(const AnyTensor& A, double norm, const Matricization& labels, const SvdOptions& options) {
    const auto smaller = std::min(labels.rows.size, labels.columns.size);
    const auto rank = std::min(*options.rank, smaller);
    const auto width = std::min(smaller - rank, options.oversampling) + rank;
    if (!std::isfinite(norm)) throw InvalidArgument(labels.text + ": an element of the matrix is infinite or not a number");
    const RangeFinder finder(A, labels);
    const auto Q = finder(width, options.power_iterations, options.seed);
    const auto projected = finder.project(Q);
    const SvdOptions small{.rank = rank, .left = options.left, .right = options.right, .grid = options.grid};
    auto result = svd(projected[barred({joint}, labels.columns.labels)], small);
    const auto [kept, missing] = cut(result.s, norm, options);
    result.discarded = missing;
    result.s.resize(kept);
    if (options.left) {
        const auto inner = result.U.slice({0, 0}, {width, kept});
        result.U = zeros_like(A, joined(labels.rows.extents, {kept}), "U");
        result.U[joined(labels.rows.labels, {"_r"})] = Q[joined(labels.rows.labels, {joint})] * inner[{joint.c_str(), "_r"}];
    }
    if (options.right) {
        auto end = result.Vh.extents();
        end[0] = kept;
        if (end != result.Vh.extents()) result.Vh = result.Vh.slice(std::vector<std::int64_t>(end.size(), 0), end);
    }
    return result;
}

}  // namespace arges::linalg
