// Randomized SVD: Halko, Martinsson, Tropp, SIAM Review 53 (2011), algorithms 4.4 (range) and 5.1 (SVD of the projected matrix).
#include "linalg/checks.hpp"

#include "base/instantiate.hpp"
#include "interface/tensor_state.hpp"
#include "linalg/distributed_matrix.hpp"

#include <algorithm>
#include <cmath>

namespace arges::linalg {

namespace {

/// Labels with a bar between those of rows and columns.
std::vector<std::string> barred(std::vector<std::string> rows, const std::vector<std::string>& columns) {
    rows.push_back("|");
    rows.insert(rows.end(), columns.begin(), columns.end());
    return rows;
}

template <class T>
class RangeFinder {
public:
    RangeFinder(const World& world, const Factor& A, const Matricization& labels)
        : world_(world), A_(Factor{A.tensor, labels_by_dimension(labels), false, A.sparse}), rows_(labels.rows), columns_(labels.columns) {}

    /// Orthonormal vectors, rows x `width`, whose span is close to that of the leading left singular vectors.
    Tensor<T> operator()(std::int64_t width, int powers, std::uint64_t seed) const {
        Tensor<T> vectors(world_, joined(columns_.extents, {width}), "random");
        vectors.fill_random(seed, -1, 1);
        auto range = orthonormal(times(vectors), rows_);
        for (int i = 0; i < powers; ++i) range = orthonormal(times(orthonormal(adjoint_times(range), columns_)), rows_);
        return range;
    }
    /// Q^H A, width x columns.
    Tensor<T> project(const Tensor<T>& Q) const {
        Tensor<T> result(world_, joined({Q.extents().back()}, columns_.extents), "projected");
        result[label_first(joint, columns_.labels)] = conj(Q[with_label(rows_.labels, joint)]) * A_;
        return result;
    }

private:
    Tensor<T> times(const Tensor<T>& vectors) const {
        Tensor<T> result(world_, joined(rows_.extents, {vectors.extents().back()}), "range");
        result[with_label(rows_.labels, joint)] = A_ * vectors[with_label(columns_.labels, joint)];
        return result;
    }
    Tensor<T> adjoint_times(const Tensor<T>& vectors) const {
        Tensor<T> result(world_, joined(columns_.extents, {vectors.extents().back()}), "range");
        result[with_label(columns_.labels, joint)] = conj(A_) * vectors[with_label(rows_.labels, joint)];
        return result;
    }
    static Tensor<T> orthonormal(const Tensor<T>& vectors, const MatrixSide& side) { return qr(vectors[barred(side.labels, {joint})]).Q; }

    const World& world_;
    IndexedTensor<T> A_;
    const MatrixSide &rows_, &columns_;
};

/// How many of the singular values found are kept, and what is then missing of a matrix with this norm.
template <class R>
std::pair<std::int64_t, double> cut(const std::vector<R>& s, double norm, const SvdOptions& options) {
    const double bound = std::max(options.absolute_tolerance, options.tolerance * norm);
    const auto most = std::min(std::ssize(s), *options.rank);
    double left = norm == 0 ? 0 : 1;  // in units of the squared norm
    std::int64_t kept = 0;
    while (kept < most && (kept == 0 || !(bound > 0 && norm * std::sqrt(left) <= bound))) {
        const double x = ratio(static_cast<double>(s[kept++]), norm);
        left = std::max(0.0, left - x * x);
    }
    return {kept, norm * std::sqrt(left)};
}

}  // namespace

template <class T>
SvdResult<T> randomized_svd(const World& world, const Factor& A, double norm, const Matricization& labels, const SvdOptions& options) {
    const auto smaller = std::min(labels.rows.size, labels.columns.size);
    const auto rank = std::min(*options.rank, smaller);
    const auto width = std::min(smaller - rank, options.oversampling) + rank;
    if (!std::isfinite(norm)) throw InvalidArgument(labels.text + ": an element of the matrix is infinite or not a number");
    const RangeFinder<T> finder(world, A, labels);
    const auto Q = finder(width, options.power_iterations, options.seed);
    const auto projected = finder.project(Q);
    SvdOptions small;
    small.rank = rank;
    small.left = options.left;
    small.right = options.right;
    small.grid = options.grid;
    auto result = svd(projected[barred({joint}, labels.columns.labels)], small);
    const auto [kept, missing] = cut(result.s, norm, options);
    result.discarded = missing;
    result.s.resize(kept);
    if (options.left) {
        const auto inner = result.U.slice({0, 0}, {width, kept});
        result.U = Tensor<T>(world, joined(labels.rows.extents, {kept}), "U");
        result.U[with_label(labels.rows.labels, "_r")] = Q[with_label(labels.rows.labels, joint)] * inner[{joint.c_str(), "_r"}];
    }
    if (options.right) {
        auto end = result.Vh.extents();
        if (end[0] != kept) {
            end[0] = kept;
            result.Vh = result.Vh.slice(std::vector<std::int64_t>(end.size(), 0), end);
        }
    }
    return result;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template SvdResult<T> randomized_svd(const World&, const Factor&, double, const Matricization&, const SvdOptions&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::linalg
