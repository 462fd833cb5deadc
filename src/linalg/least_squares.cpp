// Least squares by QR; by SVD where inverse iteration on the triangle finds a singular value near zero.
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
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

/// Names by dimension of the tensor.
Names by_dimension(const Matricization& matrix, const Names& rows, const Names& columns) {
    auto named = matrix;
    named.rows.labels = rows;
    named.columns.labels = columns;
    return labels_by_dimension(named);
}

/// Smallest singular value of a triangle R["k|c..."], estimated by a few steps of inverse iteration on random vectors.
/// Collective.
double smallest_singular_value(const AnyTensor& R, const Names& columns, const MatrixGrid& grid) {
    constexpr std::int64_t vectors = 4;
    constexpr int steps = 3;
    const TriangularOptions forward{.triangle = Triangle::upper, .grid = grid};
    const TriangularOptions backward{.triangle = Triangle::upper, .operation = Operation::adjoint, .grid = grid};
    std::vector<std::int64_t> extents(R.extents().begin() + 1, R.extents().end());
    extents.push_back(vectors);
    auto X = zeros_like(R, extents, "X");
    X.fill_random(1);
    const auto triangle = R[barred({joint}, columns)];
    double growth = 1;
    for (int step = 0; step < steps; ++step) {
        const double before = X.norm();
        const auto middle = solve_triangular(triangle, X[barred(columns, {"x"})], backward);
        X = solve_triangular(triangle, middle[{joint.c_str(), "|", "x"}], forward);
        const double after = X.norm();
        if (!std::isfinite(after)) return 0;
        growth = after / before;
        X[joined(columns, {"x"})] *= 1 / after;
    }
    return 1 / std::sqrt(growth);
}

/// True if a triangle is far from singular. Collective.
bool has_full_rank(const AnyTensor& R, const Names& columns, double tolerance, const MatrixGrid& grid) {
    double least = std::numeric_limits<double>::infinity();
    const auto width = R.extents()[0];
    R.for_each_element_here("least_squares", [&](Index x, const void* element) {
        std::int64_t column = 0;
        for (std::size_t d = x.size(); d-- > 1;) column = column * R.extents()[d] + x[d];
        if (x[0] == column) least = std::min(least, R.kernels().as_number(element).real());
    });
    const auto& comm = R.world().state()->communicator();
    for (auto value : gathered(comm, std::vector<double>{least})) least = std::min(least, value);
    const double norm = R.norm();
    // The diagonal bounds the smallest singular value from above; an inverse that overflows is left alone.
    if (width > 0 && !(least > tolerance * norm)) return false;
    return width == 0 || smallest_singular_value(R, columns, grid) > 10 * tolerance * norm;
}

/// A problem with its labels.
class Problem {
public:
    Problem(MatrixOperand& a, MatrixOperand& b, const LeastSquaresOptions& options)
        : a_(a), b_(b), options_(options), rows_(numbered('r', a.labels.rows.labels.size())),
          columns_(numbered('c', a.labels.columns.labels.size())), others_(numbered('d', b.labels.columns.labels.size())),
          a_names_(by_dimension(a.labels, rows_, columns_)), b_names_(by_dimension(b.labels, rows_, others_)) {
        const double longer = std::max(a.labels.rows.size, a.labels.columns.size);
        tolerance_ = options.tolerance >= 0 ? options.tolerance : longer * a.kernels.epsilon;
    }

    AnyLeastSquares solve() {
        AnyLeastSquares result;
        const auto m = a_.labels.rows.size, n = a_.labels.columns.size;
        if (std::min(m, n) == 0)
            result.X = empty(a_.labels.columns.extents);
        else if (m >= n ? by_rows(result) : by_columns(result))
            result.rank = std::min(m, n);
        else
            by_svd(result);
        const auto rest = zeros_like(b_.tensor, joined(a_.labels.rows.extents, b_.labels.columns.extents), "rest");
        const auto rest_names = joined(rows_, others_);
        rest[rest_names] = b_.tensor[b_names_];
        rest[rest_names] += std::int64_t{-1} * (a_.tensor[a_names_] * result.X[joined(columns_, others_)]);
        result.residual = rest.norm();
        return result;
    }

private:
    /// Zeros with the extents of X, those of A's columns given.
    AnyTensor empty(const std::vector<std::int64_t>& first) const {
        return zeros_like(b_.tensor, joined(first, b_.labels.columns.extents), "X");
    }
    /// The X that is a product.
    AnyTensor product(const AnyExpression& factors) const {
        auto result = empty(a_.labels.columns.extents);
        result[joined(columns_, others_)] = factors;
        return result;
    }
    /// Q^H B with Q[r..., k].
    AnyTensor projected(const AnyTensor& Q) const {
        auto result = empty({Q.extents().back()});
        result[joined({joint}, others_)] = conj(Q[joined(rows_, {joint})]) * b_.tensor[b_names_];
        return result;
    }

    /// At least as many rows as columns: A = Q R, R X = Q^H B. False if R is close to singular.
    bool by_rows(AnyLeastSquares& result) {
        const auto [Q, R, checks] = qr(a_.tensor[arrow(rows_, columns_)], {false, options_.grid});
        if (!has_full_rank(R, columns_, tolerance_, options_.grid)) return false;
        result.X = solve_triangular(R[barred({joint}, columns_)], projected(Q)[barred({joint}, others_)],
                                    {.triangle = Triangle::upper, .grid = options_.grid});
        return true;
    }
    /// More columns than rows: A^H = Q R, R^H Y = B, X = Q Y.
    bool by_columns(AnyLeastSquares& result) {
        const auto [Q, R, checks] = qr(a_.tensor.conjugated()[arrow(columns_, rows_)], {false, options_.grid});
        if (!has_full_rank(R, rows_, tolerance_, options_.grid)) return false;
        const auto Y = solve_triangular(R[barred({joint}, rows_)], b_.tensor[joined(joined(b_names_, {"->"}), barred(rows_, others_))],
                                        {.triangle = Triangle::upper, .operation = Operation::adjoint, .grid = options_.grid});
        result.X = product(Q[joined(columns_, {joint})] * Y[joined({joint}, others_)]);
        return true;
    }
    /// X = V diag(1 / s) U^H B over the singular values that are not zero.
    void by_svd(AnyLeastSquares& result) {
        auto [U, s, Vh, discarded, checks] = svd(a_.tensor[arrow(rows_, columns_)], {.grid = options_.grid});
        const double least = tolerance_ * s[0];
        for (auto& value : s) {
            result.rank += value > least ? 1 : 0;
            value = value > least ? 1 / value : 0;
        }
        result.X = product(conj(Vh[joined({joint}, columns_)]) * as_tensor(b_.tensor, s)[{joint.c_str()}] *
                           projected(U)[joined({joint}, others_)]);
    }
    Names arrow(const Names& rows, const Names& columns) const { return joined(joined(a_names_, {"->"}), barred(rows, columns)); }

    MatrixOperand &a_, &b_;
    const LeastSquaresOptions& options_;
    Names rows_, columns_, others_, a_names_, b_names_;
    double tolerance_ = 0;
};

}  // namespace

AnyLeastSquares least_squares(const AnyIndexedTensor& A, const AnyIndexedTensor& B, const LeastSquaresOptions& options) {
    const CollectiveCall call(ranks_of(A), "least_squares", A, B, options.tolerance, options.grid);
    MatrixOperand a(A, "least_squares"), b(B, "least_squares");
    check_alike(a, b, "least_squares");
    if (std::isnan(options.tolerance) || options.tolerance >= 1)
        throw InvalidArgument("least_squares of " + a.labels.text + ": tolerance " + std::to_string(options.tolerance) +
                              "; it must be below 1, or negative for the default");
    b.labels.rows = matched(b.labels.rows, a.labels.rows, b.labels.text, a.labels.text);
    if (!std::isfinite(b.tensor.norm())) throw InvalidArgument(b.labels.text + ": an element is infinite or not a number");
    return Problem(a, b, options).solve();
}

}  // namespace arges
