// Least squares by QR; by SVD where inverse iteration on the triangle finds a singular value near zero.
#include "base/element_at.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "linalg/checks.hpp"
#include "linalg/operand.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace arges::linalg {

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

/// Names by dimension of the tensor.
Names by_dimension(const Matricization& matrix, const Names& rows, const Names& columns) {
    auto named = matrix;
    named.rows.labels = rows;
    named.columns.labels = columns;
    return labels_by_dimension(named);
}

/// Smallest singular value of a triangle R["k|c..."], estimated by a few steps of inverse iteration on random vectors.
/// Collective.
double smallest_singular_value(const DenseTensor& R, const Names& columns, const MatrixGrid& grid) {
    constexpr std::int64_t vectors = 4;
    constexpr int steps = 3;
    const TriangularOptions forward{.triangle = Triangle::upper, .grid = grid};
    const TriangularOptions backward{.triangle = Triangle::upper, .operation = Operation::adjoint, .grid = grid};
    const auto& kernels = R.kernels();
    std::vector<std::int64_t> extents(R.extents().begin() + 1, R.extents().end());
    extents.push_back(vectors);
    DenseTensor X(kernels, R.world(), extents, "X");
    kernels.fill_random(X.state(), 1, -0.5, 0.5);
    const auto triangle = R[barred({joint}, columns)];
    double growth = 1;
    for (int step = 0; step < steps; ++step) {
        const double before = X.norm();
        const DenseTensor middle(solve_triangular(triangle, X[barred(columns, {"x"})], backward));
        X = DenseTensor(solve_triangular(triangle, middle[{joint.c_str(), "|", "x"}], forward));
        const double after = X.norm();
        if (!std::isfinite(after)) return 0;
        growth = after / before;
        ElementValue scale(kernels.size);
        const double inverse = 1 / after;
        kernels.set(&inverse, 1, scale.data());
        statements::assign(X[with_label(columns, "x")], {}, scale.data(), *X.state()->kernels);
    }
    return 1 / std::sqrt(growth);
}

/// True if a triangle is far from singular. Collective.
bool has_full_rank(const DenseTensor& R, const Names& columns, double tolerance, const MatrixGrid& grid) {
    double least = std::numeric_limits<double>::infinity();
    const auto width = R.extents()[0];
    const auto& state = *R.state();
    const HostElements here(state);
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        std::int64_t column = 0;
        for (std::size_t d = x.size(); d-- > 1;) column = column * R.extents()[d] + x[d];
        const auto size = R.kernels().size;
        if (x[0] == column) least = std::min(least, R.kernels().magnitude(element_at(here.data(), offset, size)));
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
    Problem(Operand& a, Operand& b, const LeastSquaresOptions& options)
        : a_(a), b_(b), options_(options), rows_(numbered('r', a.labels.rows.labels.size())),
          columns_(numbered('c', a.labels.columns.labels.size())), others_(numbered('d', b.labels.columns.labels.size())), A_(a.tensor()),
          B_(b.tensor()), a_names_(by_dimension(a.labels, rows_, columns_)), b_names_(by_dimension(b.labels, rows_, others_)) {
        const double longer = std::max(a.labels.rows.size, a.labels.columns.size);
        tolerance_ = options.tolerance >= 0 ? options.tolerance : longer * a.kernels.epsilon;
    }

    AnyLeastSquares solve() {
        AnyLeastSquares result;
        const auto m = a_.labels.rows.size, n = a_.labels.columns.size;
        if (std::min(m, n) == 0)
            result.X = empty({}).state();
        else if (m >= n ? by_rows(result) : by_columns(result))
            result.rank = std::min(m, n);
        else
            by_svd(result);
        const DenseTensor rest(a_.kernels, b_.world(), joined(a_.labels.rows.extents, b_.labels.columns.extents), "rest");
        const auto rest_names = joined_names(rows_, others_);
        assign(rest[rest_names], {B_[b_names_]});
        subtract(rest[rest_names], {A_[a_names_], DenseTensor(result.X)[joined_names(columns_, others_)]});
        result.residual = rest.norm();
        return result;
    }

private:
    using Extents = std::vector<std::int64_t>;
    /// Zeros with the extents of X, or with others in place of those of A's columns.
    DenseTensor empty(const Extents& first) const {
        return DenseTensor(a_.kernels, b_.world(), joined(first.empty() ? a_.labels.columns.extents : first, b_.labels.columns.extents),
                           "X");
    }
    /// The X that is a product.
    Result product(std::vector<Factor> factors) const {
        const auto result = empty({});
        assign(result[joined_names(columns_, others_)], std::move(factors));
        return result.state();
    }
    /// Q^H B with Q[r..., k].
    DenseTensor projected(const DenseTensor& Q) const {
        auto result = empty({Q.extents().back()});
        assign(result[label_first(joint, others_)], {conjugate(Q[with_label(rows_, joint)]), B_[b_names_]});
        return result;
    }

    /// At least as many rows as columns: A = Q R, R X = Q^H B. False if R is close to singular.
    bool by_rows(AnyLeastSquares& result) {
        const auto factors = qr(A_[arrow(rows_, columns_)], {false, options_.grid});
        const DenseTensor R(factors.R);
        if (!has_full_rank(R, columns_, tolerance_, options_.grid)) return false;
        result.X = solve_triangular(R[barred({joint}, columns_)], projected(DenseTensor(factors.Q))[barred({joint}, others_)],
                                    {.triangle = Triangle::upper, .grid = options_.grid});
        return true;
    }
    /// More columns than rows: A^H = Q R, R^H Y = B, X = Q Y.
    bool by_columns(AnyLeastSquares& result) {
        const auto factors = qr(A_.conjugated()[arrow(columns_, rows_)], {false, options_.grid});
        const DenseTensor R(factors.R);
        if (!has_full_rank(R, rows_, tolerance_, options_.grid)) return false;
        const DenseTensor Y(solve_triangular(R[barred({joint}, rows_)],
                                             B_[joined_names(with_label(b_names_, "->"), barred(rows_, others_))],
                                             {.triangle = Triangle::upper, .operation = Operation::adjoint, .grid = options_.grid}));
        result.X = product({DenseTensor(factors.Q)[with_label(columns_, joint)], Y[label_first(joint, others_)]});
        return true;
    }
    /// X = V diag(1 / s) U^H B over the singular values that are not zero.
    void by_svd(AnyLeastSquares& result) {
        const auto factors = svd(A_[arrow(rows_, columns_)], {.grid = options_.grid});
        auto inverse = factors.s;
        for (auto& s : inverse) {
            const bool counts = s > tolerance_ * factors.s[0];
            result.rank += counts ? 1 : 0;
            s = counts ? 1 / s : 0;
        }
        result.X = product({conjugate(DenseTensor(factors.Vh)[label_first(joint, columns_)]),
                            as_tensor(a_.kernels, b_.world(), inverse)[{joint.c_str()}],
                            projected(DenseTensor(factors.U))[label_first(joint, others_)]});
    }
    Names arrow(const Names& rows, const Names& columns) const { return joined_names(with_label(a_names_, "->"), barred(rows, columns)); }

    Operand &a_, &b_;
    const LeastSquaresOptions& options_;
    Names rows_, columns_, others_;
    DenseTensor A_, B_;
    Names a_names_, b_names_;
    double tolerance_ = 0;
};

}  // namespace

AnyLeastSquares least_squares(const Factor& A, const Factor& B, const LeastSquaresOptions& options) {
    const CollectiveCall call(ranks_of(A), "least_squares", A, B, options.tolerance, options.grid);
    Operand a(A, "least_squares"), b(B, "least_squares");
    check_same_world(a, b, "least_squares");
    if (std::isnan(options.tolerance) || options.tolerance >= 1)
        throw InvalidArgument("least_squares of " + a.labels.text + ": tolerance " + std::to_string(options.tolerance) +
                              "; it must be below 1, or negative for the default");
    b.labels.rows = matched(b.labels.rows, a.labels.rows, b.labels.text, a.labels.text);
    if (!std::isfinite(static_cast<double>(b.tensor().norm())))
        throw InvalidArgument(b.labels.text + ": an element is infinite or not a number");
    return Problem(a, b, options).solve();
}

}  // namespace arges::linalg
