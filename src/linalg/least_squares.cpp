// Least squares by QR; by SVD where inverse iteration on the triangle finds a singular value near zero.
#include "base/instantiate.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "linalg/checks.hpp"
#include "linalg/operand.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace arges {

using namespace linalg;

namespace {

using Names = std::vector<std::string>;

/// Labels of our own, as those of A and B may have names in common: r0, r1, ... for rows, c0, ... for columns of A, d0, ... for
/// columns of B.
Names numbered(char letter, std::size_t count) {
    Names result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(letter + std::to_string(i));
    return result;
}

Names joined_names(Names first, const Names& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

Names with_bar(const Names& rows, const Names& columns) { return joined_names(with_label(rows, "|"), columns); }

/// Names by dimension of the tensor.
Names by_dimension(const Matricization& matrix, const Names& rows, const Names& columns) {
    auto named = matrix;
    named.rows.labels = rows;
    named.columns.labels = columns;
    return labels_by_dimension(named);
}

/// Smallest singular value of a triangle R["k|c..."], estimated by a few steps of inverse iteration on random vectors.
/// Collective.
template <class T>
double smallest_singular_value(const Tensor<T>& R, const Names& columns, const MatrixGrid& grid) {
    constexpr std::int64_t vectors = 4;
    constexpr int steps = 3;
    TriangularOptions forward;
    forward.triangle = Triangle::upper;
    forward.grid = grid;
    auto backward = forward;
    backward.operation = Operation::adjoint;
    std::vector<std::int64_t> extents(R.extents().begin() + 1, R.extents().end());
    extents.push_back(vectors);
    Tensor<T> X(R.world(), extents, "X");
    X.fill_random(1);
    const auto triangle = with_bar({joint}, columns), right = with_bar(columns, {"x"});
    double growth = 1;
    for (int step = 0; step < steps; ++step) {
        const double before = X.norm();
        X = solve_triangular(R[triangle], solve_triangular(R[triangle], X[right], backward)[{joint.c_str(), "|", "x"}], forward);
        const double after = X.norm();
        if (!std::isfinite(after)) return 0;
        growth = after / before;
        X[with_label(columns, "x")] *= static_cast<T>(static_cast<real_of<T>>(1 / after));
    }
    return 1 / std::sqrt(growth);
}

/// True if a triangle is far from singular. Collective.
template <class T>
bool has_full_rank(const Tensor<T>& R, const Names& columns, double tolerance, const MatrixGrid& grid) {
    double least = std::numeric_limits<double>::infinity();
    const auto width = R.extents()[0];
    R.for_each_local([&](Index x, const T& value) {
        std::int64_t column = 0;
        for (std::size_t d = x.size(); d-- > 1;) column = column * R.extents()[d] + x[d];
        if (x[0] == column) least = std::min(least, static_cast<double>(std::abs(value)));
    });
    const auto& comm = R.world().state()->communicator();
    for (auto value : gathered(comm, std::vector<double>{least})) least = std::min(least, value);
    const double norm = R.norm();
    // The diagonal bounds the smallest singular value from above; an inverse that overflows is left alone.
    if (width > 0 && !(least > tolerance * norm)) return false;
    return width == 0 || smallest_singular_value(R, columns, grid) > 10 * tolerance * norm;
}

/// A problem with its labels.
template <class T>
class Problem {
public:
    Problem(Operand<T>& a, Operand<T>& b, const LeastSquaresOptions& options)
        : a_(a), b_(b), options_(options), rows_(numbered('r', a.labels.rows.labels.size())),
          columns_(numbered('c', a.labels.columns.labels.size())), others_(numbered('d', b.labels.columns.labels.size())), A_(a.tensor()),
          B_(b.tensor()), a_names_(by_dimension(a.labels, rows_, columns_)), b_names_(by_dimension(b.labels, rows_, others_)) {
        const double longer = std::max(a.labels.rows.size, a.labels.columns.size);
        tolerance_ = options.tolerance >= 0 ? options.tolerance : longer * static_cast<double>(std::numeric_limits<real_of<T>>::epsilon());
    }

    LeastSquaresResult<T> solve() {
        LeastSquaresResult<T> result;
        const auto m = a_.labels.rows.size, n = a_.labels.columns.size;
        if (std::min(m, n) == 0)
            result.X = empty({});
        else if (m >= n ? by_rows(result) : by_columns(result))
            result.rank = std::min(m, n);
        else
            by_svd(result);
        auto rest = Tensor<T>(b_.world(), joined(a_.labels.rows.extents, b_.labels.columns.extents), "rest");
        const auto rest_names = joined_names(rows_, others_);
        rest[rest_names] = B_[b_names_];
        rest[rest_names] -= A_[a_names_] * result.X[joined_names(columns_, others_)];
        result.residual = rest.norm();
        return result;
    }

private:
    using Extents = std::vector<std::int64_t>;
    /// Zeros with the extents of X, or with others in place of those of A's columns.
    Tensor<T> empty(const Extents& first) const {
        return Tensor<T>(b_.world(), joined(first.empty() ? a_.labels.columns.extents : first, b_.labels.columns.extents), "X");
    }
    /// Q^H B with Q[r..., k].
    Tensor<T> projected(const Tensor<T>& Q) const {
        auto result = empty({Q.extents().back()});
        result[label_first(joint, others_)] = conj(Q[with_label(rows_, joint)]) * B_[b_names_];
        return result;
    }

    /// At least as many rows as columns: A = Q R, R X = Q^H B. False if R is close to singular.
    bool by_rows(LeastSquaresResult<T>& result) {
        const auto factors = qr(A_[arrow(rows_, columns_)], {false, options_.grid});
        if (!has_full_rank(factors.R, columns_, tolerance_, options_.grid)) return false;
        TriangularOptions upper;
        upper.triangle = Triangle::upper;
        upper.grid = options_.grid;
        result.X = solve_triangular(factors.R[with_bar({joint}, columns_)], projected(factors.Q)[with_bar({joint}, others_)], upper);
        return true;
    }
    /// More columns than rows: A^H = Q R, R^H Y = B, X = Q Y.
    bool by_columns(LeastSquaresResult<T>& result) {
        const auto adjoint = conj(A_);
        const auto factors = qr(adjoint[arrow(columns_, rows_)], {false, options_.grid});
        if (!has_full_rank(factors.R, rows_, tolerance_, options_.grid)) return false;
        TriangularOptions lower;
        lower.triangle = Triangle::upper;
        lower.operation = Operation::adjoint;
        lower.grid = options_.grid;
        const auto right = with_bar(rows_, others_);
        const auto Y = solve_triangular(factors.R[with_bar({joint}, rows_)], B_[joined_names(with_label(b_names_, "->"), right)], lower);
        result.X = empty({});
        result.X[joined_names(columns_, others_)] = factors.Q[with_label(columns_, joint)] * Y[label_first(joint, others_)];
        return true;
    }
    /// X = V diag(1 / s) U^H B over the singular values that are not zero.
    void by_svd(LeastSquaresResult<T>& result) {
        SvdOptions wanted;
        wanted.grid = options_.grid;
        const auto factors = svd(A_[arrow(rows_, columns_)], wanted);
        auto inverse = factors.s;
        for (auto& s : inverse) {
            const bool counts = static_cast<double>(s) > tolerance_ * static_cast<double>(factors.s[0]);
            result.rank += counts ? 1 : 0;
            s = counts ? 1 / s : 0;
        }
        result.X = empty({});
        result.X[joined_names(columns_, others_)] = conj(factors.Vh[label_first(joint, columns_)]) *
                                                    as_tensor<T>(b_.world(), inverse)[{joint.c_str()}] *
                                                    projected(factors.U)[label_first(joint, others_)];
    }
    Names arrow(const Names& rows, const Names& columns) const { return joined_names(with_label(a_names_, "->"), with_bar(rows, columns)); }

    Operand<T>&a_, &b_;
    const LeastSquaresOptions& options_;
    Names rows_, columns_, others_;
    Tensor<T> A_, B_;
    Names a_names_, b_names_;
    double tolerance_ = 0;
};

}  // namespace

template <class T>
LeastSquaresResult<T> least_squares(const IndexedTensor<T>& A, const IndexedTensor<T>& B, const LeastSquaresOptions& options) {
    const CollectiveCall call(ranks_of(A), "least_squares", digest_of(A), digest_of(B), options.tolerance, digest_of(options.grid));
    Operand<T> a(A, "least_squares"), b(B, "least_squares");
    check_same_world(a, b, "least_squares");
    if (std::isnan(options.tolerance) || options.tolerance >= 1)
        throw InvalidArgument("least_squares of " + a.labels.text + ": tolerance " + std::to_string(options.tolerance) +
                              "; it must be below 1, or negative for the default");
    b.labels.rows = matched(b.labels.rows, a.labels.rows, b.labels.text, a.labels.text);
    if (!std::isfinite(static_cast<double>(b.tensor().norm())))
        throw InvalidArgument(b.labels.text + ": an element is infinite or not a number");
    return Problem<T>(a, b, options).solve();
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template LeastSquaresResult<T> least_squares(const IndexedTensor<T>&, const IndexedTensor<T>&, const LeastSquaresOptions&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges
