// ADMM in the form of Huang, Sidiropoulos and Liavas (IEEE Trans. Signal Process. 64, 2016), algorithm 1.
#include "decompose/cp/admm.hpp"

#include "arges/error.hpp"
#include "linalg/small_matrices.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace arges::decompose {

namespace {

// A smaller rho and some more steps than in the paper take fewer iterations over all modes where columns are nearly collinear.
constexpr int least_steps = 5, most_steps = 50, most_column_steps = 15;  // the ranks wait for each other in each of the latter
constexpr double rho_share = 0.1;
constexpr double wanted_residual = 3e-3;   // relative, primal and dual
constexpr double smallest_typical = 1e-2;  // part of the mean square of rows below which residuals are not relative to a row
constexpr double wanted = wanted_residual * wanted_residual;

/// y = x * matrix
template <class T>
void multiply_row(const T* x, const T* matrix, int columns, T* y) {
    std::fill_n(y, columns, T(0));
    for (int r = 0; r < columns; ++r) {
        const T factor = x[r];
        const T* const line = matrix + static_cast<std::size_t>(r) * static_cast<std::size_t>(columns);
#pragma omp simd
        for (int c = 0; c < columns; ++c) y[c] += factor * line[c];
    }
}

/// y = (M + rho (H + U)) (G + rho I)^-1 of a row.
template <class T>
void solve_row(const AdmmRows<T>& rows, const AdmmMatrix<T>& matrix, std::int64_t i, T* x, T* y) {
    const int columns = rows.factor.columns;
    const T* const h = rows.factor.row(i);
    const T* const u = rows.dual.row(i);
    const T* const m = rows.product.row(i);
    const T rho = static_cast<T>(matrix.rho);
    for (int c = 0; c < columns; ++c) x[c] = m[c] + rho * (h[c] + u[c]);
    multiply_row(x, matrix.of_row(i), columns, y);
}

/// Squares of the residuals of a step, and of what it leads to.
struct StepNorms {
    double primal = 0, change = 0, size = 0;

    bool is_enough(double floor) const { return std::max(primal, change) <= wanted * (size + floor); }
};

/// U = Z - V, H = Z for a row; adds to the norms. The primal residual Z - A is the change of U.
template <class T>
void take_step(T* h, T* u, const T* v, const T* z, int columns, StepNorms& norms) {
    T primal = 0, change = 0, size = 0;
    for (int c = 0; c < columns; ++c) {
        const T dual = z[c] - v[c];
        primal += (dual - u[c]) * (dual - u[c]);
        change += (z[c] - h[c]) * (z[c] - h[c]);
        size += z[c] * z[c];
        u[c] = dual;
        h[c] = z[c];
    }
    norms.primal += static_cast<double>(primal);
    norms.change += static_cast<double>(change);
    norms.size += static_cast<double>(size);
}

/// Columns that are longer than 1 get that length. Collective.
template <class T>
void bound_columns(const Communicator& comm, sparse::RowMatrix<T> rows) {
    const std::size_t n = rows.columns;
    auto scale = sums_over_rows(rows.rows, n, [&](std::int64_t i, double* sums) {
        for (std::size_t c = 0; c < n; ++c) sums[c] += static_cast<double>(rows.row(i)[c]) * static_cast<double>(rows.row(i)[c]);
    });
    comm.sum(scale.data(), std::ssize(scale));
    for (double& s : scale) s = s > 1 ? 1 / std::sqrt(s) : 1;
    scale_columns(rows, scale);
}

/// Z = argmin of the penalty and rho / 2 |Z - V|^2, for constraints on columns; Z is V before. Collective.
template <class T>
void constrain_columns(const Communicator& comm, sparse::RowMatrix<T> z, double rho, const ColumnConstraint& given) {
    const auto& constraint = given.constraint;
    if (constraint.kind == CpConstraintKind::column_simplex) return project_columns_to_simplex(comm, z);
    if (constraint.kind == CpConstraintKind::unimodal)
        given.whole->transform<T>(z, [](int, std::vector<double>& elements) { project_to_unimodal(elements); });
    else if (constraint.kind == CpConstraintKind::smooth)
        given.whole->transform<T>(z, [&](int, std::vector<double>& elements) {
            for (double& x : elements) x *= rho;
            solve_smooth(given.whole->index(), given.length, rho, constraint.weight, elements);
        });
    else
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < z.rows; ++i)
            apply_row_constraint(constraint, rho, std::span<T>(z.row(i), static_cast<std::size_t>(z.columns)));
    if (given.bounded) bound_columns(comm, z);
}

}  // namespace

std::vector<double> sums_over_rows(std::int64_t rows, std::size_t count, const std::function<void(std::int64_t row, double* sums)>& f) {
    const int threads = static_cast<int>(std::clamp<std::int64_t>(rows / 256, 1, omp_get_max_threads()));
    std::vector<std::vector<double>> sums(threads, std::vector<double>(count, 0));
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t)
        for (std::int64_t i = rows * t / threads; i < rows * (t + 1) / threads; ++i) f(i, sums[t].data());
    for (int t = 1; t < threads; ++t)
        for (std::size_t s = 0; s < count; ++s) sums[0][s] += sums[t][s];
    return sums[0];
}

template <class T>
void multiply_rows(sparse::RowMatrix<T> rows, const std::vector<T>& matrix) {
#pragma omp parallel
    {
        std::vector<T> product(rows.columns);
#pragma omp for schedule(static)
        for (std::int64_t i = 0; i < rows.rows; ++i) {
            multiply_row(rows.row(i), matrix.data(), rows.columns, product.data());
            std::copy(product.begin(), product.end(), rows.row(i));
        }
    }
}

double admm_rho(double trace, int columns) {
    if (!std::isfinite(trace))
        throw InvalidArgument("the factors of the decomposition have grown beyond all numbers; scale the tensor's values, use a smaller "
                              "rank or a regularization");
    return trace > 0 ? rho_share * trace / static_cast<double>(columns) : 1;
}

template <class T>
AdmmMatrix<T>::AdmmMatrix(Gram gram, int columns) {
    double trace = 0;
    for (int c = 0; c < columns; ++c) trace += gram[static_cast<std::size_t>(c) * (static_cast<std::size_t>(columns) + 1)];
    rho = admm_rho(trace, columns);
    inverse.resize(gram.size());
    set(0, std::move(gram), columns);
}

template <class T>
AdmmMatrix<T>::AdmmMatrix(double common_rho, std::int64_t rows, int columns)
    : rho(common_rho), stride(static_cast<std::size_t>(columns) * static_cast<std::size_t>(columns)) {
    inverse.resize(static_cast<std::size_t>(rows) * stride);
}

template <class T>
void AdmmMatrix<T>::set(std::int64_t row, Gram gram, int columns) {
    const std::size_t n = columns;
    add_to_diagonal(gram, columns, rho);
    const auto lower = linalg::positive_inverse(std::move(gram), columns);
    if (!lower) throw Error("the decomposition has diverged: a Gram matrix is not positive; use a smaller rank or another seed");
    T* const to = inverse.data() + static_cast<std::size_t>(row) * stride;
    for (std::size_t c = 0; c < n; ++c)
        for (std::size_t r = c; r < n; ++r) to[r * n + c] = to[c * n + r] = static_cast<T>((*lower)[r + c * n]);
}

template <class T>
void improve_row(const AdmmRows<T>& rows, const AdmmMatrix<T>& matrix, const CpConstraint& constraint, std::int64_t i, T* scratch) {
    const int columns = rows.factor.columns;
    T* const x = scratch;
    T* const v = scratch + columns;
    for (int step = 1; step <= most_steps; ++step) {
        solve_row(rows, matrix, i, x, v);
        for (int c = 0; c < columns; ++c) x[c] = v[c] -= rows.dual.row(i)[c];
        apply_row_constraint(constraint, matrix.rho, std::span<T>(x, static_cast<std::size_t>(columns)));
        StepNorms norms;
        take_step(rows.factor.row(i), rows.dual.row(i), v, x, columns, norms);
        if (step >= least_steps && norms.is_enough(smallest_typical * rows.typical)) return;
    }
}

template <class T>
void improve_rows(const AdmmRows<T>& rows, const AdmmMatrix<T>& matrix, const CpConstraint& constraint) {
#pragma omp parallel
    {
        std::vector<T> scratch(2 * rows.factor.columns);
#pragma omp for schedule(dynamic, 64)
        for (std::int64_t i = 0; i < rows.factor.rows; ++i) improve_row(rows, matrix, constraint, i, scratch.data());
    }
}

template <class T>
void improve_columns(const Communicator& comm, const AdmmRows<T>& rows, const AdmmMatrix<T>& matrix, const ColumnConstraint& constraint,
                     const sparse::RowMatrix<T> (&scratch)[2]) {
    const auto& [v, z] = scratch;
    const int columns = rows.factor.columns;
    const double floor = smallest_typical * rows.typical * static_cast<double>(comm.sum(rows.factor.rows));
    for (int step = 1; step <= most_column_steps; ++step) {
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < v.rows; ++i) {
            solve_row(rows, matrix, i, z.row(i), v.row(i));
            for (int c = 0; c < columns; ++c) z.row(i)[c] = v.row(i)[c] -= rows.dual.row(i)[c];
        }
        constrain_columns(comm, z, matrix.rho, constraint);
        auto sums = sums_over_rows(v.rows, 3, [&](std::int64_t i, double* sum) {
            StepNorms norms{sum[0], sum[1], sum[2]};
            take_step(rows.factor.row(i), rows.dual.row(i), v.row(i), z.row(i), columns, norms);
            sum[0] = norms.primal;
            sum[1] = norms.change;
            sum[2] = norms.size;
        });
        comm.sum(sums.data(), std::ssize(sums));
        if (step >= least_steps && StepNorms{sums[0], sums[1], sums[2]}.is_enough(floor)) return;
    }
}

template <class T>
void project_columns_to_simplex(const Communicator& comm, sparse::RowMatrix<T> rows) {
    const std::size_t n = rows.columns;
    std::vector<double> threshold(n, -INFINITY);
    for (double before = INFINITY;;) {  // each round takes elements away, or is the last one
        auto sums = sums_over_rows(rows.rows, 2 * n, [&](std::int64_t i, double* sum) {
            for (std::size_t c = 0; c < n; ++c)
                if (const double x = rows.row(i)[c]; x > threshold[c]) {
                    sum[c] += x;
                    sum[n + c] += 1;
                }
        });
        comm.sum(sums.data(), std::ssize(sums));
        const double count = std::accumulate(sums.begin() + static_cast<std::ptrdiff_t>(n), sums.end(), 0.0);
        if (!(count < before)) break;
        before = count;
        for (std::size_t c = 0; c < n; ++c)
            if (sums[n + c] > 0) threshold[c] = (sums[c] - 1) / sums[n + c];
    }
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows.rows; ++i)
        for (std::size_t c = 0; c < n; ++c)
            rows.row(i)[c] = static_cast<T>(std::max(0.0, static_cast<double>(rows.row(i)[c]) - threshold[c]));
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template struct AdmmMatrix<T>;                                                                                                         \
    template void improve_rows(const AdmmRows<T>&, const AdmmMatrix<T>&, const CpConstraint&);                                             \
    template void improve_row(const AdmmRows<T>&, const AdmmMatrix<T>&, const CpConstraint&, std::int64_t, T*);                            \
    template void improve_columns(const Communicator&, const AdmmRows<T>&, const AdmmMatrix<T>&, const ColumnConstraint&,                  \
                                  const sparse::RowMatrix<T>(&)[2]);                                                                       \
    template void project_columns_to_simplex(const Communicator&, sparse::RowMatrix<T>);                                                   \
    template void multiply_rows(sparse::RowMatrix<T>, const std::vector<T>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
