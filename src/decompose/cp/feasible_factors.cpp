#include "decompose/cp/feasible_factors.hpp"

#include "arges/error.hpp"
#include "decompose/cp/admm.hpp"
#include "decompose/cp/factors.hpp"
#include "linalg/small_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>

namespace arges::decompose {

template <class T>
std::vector<std::int64_t> rows_over_ranks(const CpData<T>& data, const std::vector<CpConstraint>& constraints) {
    std::vector<std::int64_t> totals;
    for (int m = 0; m < data.order(); ++m) {
        totals.push_back(data.comm().sum(data.rows(m).owned));
        if (constraints[m].kind == CpConstraintKind::orthogonal && totals.back() < data.columns())
            throw InvalidArgument("CP decomposition: " + std::to_string(data.columns()) +
                                  " orthogonal columns need as many rows, but mode " + std::to_string(m + 1) + " has " +
                                  std::to_string(totals.back()) +
                                  " slices that are not zero; use fewer components, or no such constraint for this mode");
    }
    return totals;
}

template <class T>
void make_feasible(const Communicator& comm, sparse::RowMatrix<T> rows, CpConstraintKind kind, const FactorPlace& place) {
    if (kind == CpConstraintKind::orthogonal) return make_orthogonal(comm, rows, place);
    const auto n = static_cast<std::size_t>(rows.columns);
    const auto positive = [](T x) { return std::max(0.0, static_cast<double>(x)); };
    auto sums = sums_over_rows(rows.rows, n, [&](std::int64_t i, double* sum) {
        for (std::size_t c = 0; c < n; ++c) sum[c] += positive(rows.row(i)[c]);
    });
    comm.sum(sums.data(), std::ssize(sums));
    const bool by_row = kind == CpConstraintKind::row_simplex;
    for (std::int64_t i = 0; i < rows.rows; ++i) {
        T* const row = rows.row(i);
        const double of_row = std::accumulate(row, row + n, 0.0, [&](double sum, T x) { return sum + positive(x); });
        for (std::size_t c = 0; c < n; ++c) {
            const double sum = by_row ? of_row : sums[c];
            row[c] = static_cast<T>(sum > 0 ? positive(row[c]) / sum : 1 / static_cast<double>(by_row ? rows.columns : place.total));
        }
    }
}

template <class T>
void make_orthogonal(const Communicator& comm, sparse::RowMatrix<T> rows, const FactorPlace& place) {
    constexpr int most_rounds = 10;
    constexpr double rounding = std::numeric_limits<T>::epsilon(), noise = std::is_same_v<T, float> ? 1e-2 : 1e-4, cut = 100 * rounding;
    const std::size_t n = rows.columns;
    for (int round = 0; round < most_rounds; ++round) {
        Gram gram;
        comm.agree([&] { gram = gram_of<T>(rows); });
        sum_over_ranks(comm, gram);
        double distance = 0;
        for (std::size_t i = 0; i < gram.size(); ++i) distance = std::max(distance, std::abs(gram[i] - (i % (n + 1) == 0 ? 1 : 0)));
        if (distance <= 20 * rounding) return;
        const auto [values, vectors] = linalg::symmetric_eigen(gram, rows.columns);
        const double largest = values.back();
        if (round == 0 && !(values.front() > cut * largest)) {
            const double scale = largest > 0 ? noise * std::sqrt(largest / static_cast<double>(place.total)) : 1;
            for (std::int64_t i = 0; i < rows.rows; ++i)
                for (int c = 0; c < rows.columns; ++c)
                    rows.row(i)[c] += static_cast<T>(scale * (start_value(1, place.mode, place.rows.index[i], c) - 0.5));
            continue;
        }
        std::vector<T> root(n * n, T(0));
        for (std::size_t r = 0; r < n; ++r)
            for (std::size_t c = 0; c < n; ++c) {
                double sum = 0;
                for (std::size_t e = 0; e < n; ++e)
                    sum += vectors[r + e * n] * vectors[c + e * n] / std::sqrt(std::max(values[e], cut * cut * largest));
                root[r * n + c] = static_cast<T>(sum);
            }
        multiply_rows(rows, root);
    }
}

template <class T>
void move_lengths_to_lambda(CpState<T>& state, const std::vector<CpConstraint>& constraints) {
    for (int m = 0; m < state.factors.order(); ++m)
        if (!fixes_scale(constraints[m].kind)) multiply_into(state.lambda, state.factors.unit_columns(m));
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template std::vector<std::int64_t> rows_over_ranks(const CpData<T>&, const std::vector<CpConstraint>&);                                \
    template void make_feasible(const Communicator&, sparse::RowMatrix<T>, CpConstraintKind, const FactorPlace&);                          \
    template void make_orthogonal(const Communicator&, sparse::RowMatrix<T>, const FactorPlace&);                                          \
    template void move_lengths_to_lambda(CpState<T>&, const std::vector<CpConstraint>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
