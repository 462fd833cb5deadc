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
    std::vector<double> parts(static_cast<std::size_t>(2 * std::max<std::int64_t>(0, count)), 0.0);
    const bool here = matrix.takes_part();
    for (std::int64_t l = 0; here && l < matrix.local_columns(); ++l) {
        const auto i = matrix.column_index(l) - shift;
        if (i < 0 || i >= count) continue;
        const auto row = matrix.rows_below(i);
        if (row == matrix.local_rows() || matrix.row(row) != i) continue;
        const T value = matrix.column(l)[row];
        parts[static_cast<std::size_t>(2 * i)] = static_cast<double>(std::real(value));
        parts[static_cast<std::size_t>(2 * i + 1)] = static_cast<double>(std::imag(value));
    }
    matrix.world().communicator().sum(parts.data(), static_cast<std::int64_t>(parts.size()));
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

/// Q and R with a real diagonal of R: row i of R times the conjugate of a phase, column i of Q times the phase.
template <class T>
void make_diagonal_real(DistributedMatrix<T>& Q, DistributedMatrix<T>& R, std::int64_t k) {
    auto phases = diagonal_values(R, k);
    if (!R.takes_part()) return;
    for (auto& d : phases) {
        const auto size = std::abs(d);
        d = size == 0 ? T(1) : d / size;
    }
    const auto columns = Q.columns_below(k);
    for (std::int64_t l = 0; l < columns; ++l) {
        const T phase = phases[static_cast<std::size_t>(Q.column_index(l))];
        if (phase != T(1))
            for (std::int64_t i = 0; i < Q.local_rows(); ++i) Q.column(l)[i] = local::multiply(phase, Q.column(l)[i]);
    }
    std::vector<T> local_phases;
    for (std::int64_t i = 0; i < R.local_rows(); ++i) local_phases.push_back(local::conjugate(phases[static_cast<std::size_t>(R.row(i))]));
    for (std::int64_t l = 0; l < R.local_columns(); ++l) {
        T* const column = R.column(l);
        for (std::int64_t i = 0; i < R.local_rows(); ++i) column[i] = local::multiply(local_phases[static_cast<std::size_t>(i)], column[i]);
        const auto j = R.column_index(l);
        const auto i = R.rows_below(j);
        if (j < k && i < R.local_rows() && R.row(i) == j) column[i] = std::real(column[i]);
    }
}

}  // namespace

template <class T>
void qr_on_grid(DistributedMatrix<T>& A, DistributedMatrix<T>& R) {
    const auto k = std::min(A.rows(), A.columns());
    if (k == 0) return;
    const auto grid = make_grid(A.world(), A.layout());
    on_grid(A, [&] {
        const auto a = grid->describe(A.layout(), A.distance());
        const int m = to_int(A.rows()), n = to_int(A.columns()), width = to_int(k), one = 1;
        std::vector<T> tau(static_cast<std::size_t>(A.local_columns() + 1));
        with_workspace<T>(grid.get(), "QR", [&](T* work, const int* size, int* info) {
            Fortran<T>::pgeqrf(&m, &n, A.data(), &one, &one, a.data(), tau.data(), work, size, info);
        });
        for (std::int64_t l = 0; l < R.local_columns(); ++l) std::copy_n(A.column(l), R.local_rows(), R.column(l));
        R.clear_below_diagonal();
        with_workspace<T>(grid.get(), "QR", [&](T* work, const int* size, int* info) {
            Fortran<T>::porgqr(&m, &width, &width, A.data(), &one, &one, a.data(), tau.data(), work, size, info);
        });
    });
    make_diagonal_real(A, R, k);
}

#define ARGES_INSTANTIATE(T)                                                                                     \
    template std::vector<T> diagonal_values(const DistributedMatrix<T>&, std::int64_t, std::int64_t);            \
    template void qr_on_grid(DistributedMatrix<T>&, DistributedMatrix<T>&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)

}  // namespace arges::linalg
