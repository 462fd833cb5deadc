// QR by ScaLAPACK, and what the factorizations share.
#include "base/instantiate.hpp"
#include "linalg/dense.hpp"
#include "linalg/fortran.hpp"
#include "linalg/scalapack.hpp"
#include "local/scalar.hpp"

#include <algorithm>
#include <cmath>

namespace arges::linalg {

std::unique_ptr<BlacsGrid> make_grid(const WorldState& world, const MatrixLayout& layout) {
    return layout.single() ? nullptr : std::make_unique<BlacsGrid>(world.communicator(), layout);
}

template <class T>
std::vector<T> diagonal_values(const DistributedMatrix<T>& matrix, std::int64_t count, std::int64_t shift) {
    std::vector<double> parts(2 * std::max<std::int64_t>(0, count), 0.0);
    const bool here = matrix.takes_part();
    for (std::int64_t l = 0; here && l < matrix.local_columns(); ++l) {
        const auto i = matrix.column_index(l) - shift;
        if (i < 0 || i >= count) continue;
        const auto row = matrix.rows_below(i);
        if (row == matrix.local_rows() || matrix.row(row) != i) continue;
        const T value = matrix.column(l)[row];
        parts[2 * i] = std::real(value);
        parts[2 * i + 1] = std::imag(value);
    }
    const auto& comm = matrix.world().communicator();
    if (matrix.layout().single())
        comm.broadcast(parts, matrix.layout().ranks[0]);
    else
        comm.sum(parts.data(), std::ssize(parts));
    std::vector<T> result;
    for (std::size_t i = 0; i < parts.size(); i += 2) {
        const auto re = static_cast<real_of<T>>(parts[i]);
        if constexpr (local::is_complex<T>)
            result.emplace_back(re, static_cast<real_of<T>>(parts[i + 1]));
        else
            result.push_back(re);
    }
    return result;
}

namespace {

/// R from the upper triangle of A, each row times a factor: those that make its diagonal real and not negative.
template <class T>
void copy_triangle(const DistributedMatrix<T>& A, const std::vector<T>& factors, DistributedMatrix<T>& R) {
    const auto k = std::ssize(factors);
    std::vector<T> by_row;
    for (std::int64_t i = 0; i < R.local_rows(); ++i) by_row.push_back(factors[R.row(i)]);
    for (std::int64_t l = 0; l < R.local_columns(); ++l) {
        const auto j = R.column_index(l);
        const auto end = std::min(R.local_rows(), R.rows_below(j + 1));
        const T* const from = A.column(l);
        T* const to = R.column(l);
        for (std::int64_t i = 0; i < end; ++i) to[i] = local::multiply(by_row[i], from[i]);
        std::fill(to + end, to + R.local_rows(), T(0));
        if (j < k && end > 0 && R.row(end - 1) == j) to[end - 1] = std::real(to[end - 1]);
    }
}

template <class T>
void scale_columns(DistributedMatrix<T>& Q, const std::vector<T>& factors) {
    const auto count = Q.columns_below(std::ssize(factors));
    for (std::int64_t l = 0; l < count; ++l) {
        const T factor = factors[Q.column_index(l)];
        if (factor != T(1))
            for (std::int64_t i = 0; i < Q.local_rows(); ++i) Q.column(l)[i] = local::multiply(factor, Q.column(l)[i]);
    }
}

}  // namespace

template <class T>
void qr_on_grid(DistributedMatrix<T>& A, DistributedMatrix<T>& R) {
    const auto k = std::min(A.rows(), A.columns());
    if (k == 0) return;
    const auto grid = make_grid(A.world(), A.layout());
    const auto a = grid->describe(A.layout(), A.distance());
    const int m = to_int(A.rows()), n = to_int(A.columns()), width = to_int(k), one = 1;
    std::vector<T> tau(A.local_columns() + 1);
    with_workspace(A, grid.get(), "QR", [&](T* work, const int* size, int* info) {
        Fortran<T>::pgeqrf(&m, &n, A.data(), &one, &one, a.data(), tau.data(), work, size, info);
    });
    auto phases = diagonal_values(A, k);
    for (auto& d : phases) {
        const auto size = std::abs(d);
        d = size == 0 ? T(1) : d / size;
    }
    auto conjugates = phases;
    for (auto& phase : conjugates) phase = local::conjugate(phase);
    if (A.takes_part()) copy_triangle(A, conjugates, R);
    with_workspace(A, grid.get(), "QR", [&](T* work, const int* size, int* info) {
        Fortran<T>::porgqr(&m, &width, &width, A.data(), &one, &one, a.data(), tau.data(), work, size, info);
    });
    if (A.takes_part()) scale_columns(A, phases);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template std::vector<T> diagonal_values(const DistributedMatrix<T>&, std::int64_t, std::int64_t);                                      \
    template void qr_on_grid(DistributedMatrix<T>&, DistributedMatrix<T>&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::linalg
