// QR by ScaLAPACK, and what the factorizations share.
#include "base/element_at.hpp"
#include "linalg/dense.hpp"
#include "linalg/scalapack.hpp"

#include <algorithm>

namespace arges::linalg {

std::unique_ptr<BlacsGrid> make_grid(const WorldState& world, const MatrixLayout& layout) {
    return layout.single() ? nullptr : std::make_unique<BlacsGrid>(world.communicator(), layout);
}

std::vector<std::complex<double>> diagonal_values(const DistributedMatrix& matrix, std::int64_t count, std::int64_t shift) {
    std::vector<std::complex<double>> values(std::max<std::int64_t>(0, count));
    const auto as_number = matrix.kernels().elements().as_number;
    const bool here = matrix.takes_part();
    for (std::int64_t l = 0; here && l < matrix.local_columns(); ++l) {
        const auto i = matrix.column_index(l) - shift;
        if (i < 0 || i >= count) continue;
        const auto row = matrix.rows_below(i);
        if (row < matrix.local_rows() && matrix.row(row) == i) values[i] = as_number(matrix.at(row, l));
    }
    const auto& comm = matrix.world().communicator();
    auto* const parts = reinterpret_cast<double*>(values.data());
    if (matrix.layout().single())
        comm.broadcast(parts, 2 * std::ssize(values) * std::int64_t{sizeof(double)}, matrix.layout().ranks[0]);
    else
        comm.sum(parts, 2 * std::ssize(values));
    return values;
}

namespace {

/// R from the upper triangle of A, each row times the conjugate of its phase: this makes its diagonal real and not negative.
void copy_triangle(const DistributedMatrix& A, const Buffer<std::byte>& phases, DistributedMatrix& R) {
    const auto& kernels = A.kernels();
    const auto& elements = kernels.elements();
    const auto k = phases.size() / kernels.size;
    Buffer<std::byte> by_row(R.local_rows() * kernels.size);
    for (std::int64_t i = 0; i < R.local_rows(); ++i)
        copy_element(element_at(by_row.data(), i, kernels.size), element_at(phases.data(), R.row(i), kernels.size), kernels.size);
    for (std::int64_t l = 0; l < R.local_columns(); ++l) {
        const auto j = R.column_index(l);
        const auto end = std::min(R.local_rows(), R.rows_below(j + 1));
        kernels.multiply(by_row.data(), true, A.at(0, l), R.at(0, l), end);
        R.clear(end, l, R.local_rows() - end);
        if (elements.is_complex && j < k && end > 0 && R.row(end - 1) == j) elements.make_real(R.at(end - 1, l), 1);
    }
}

}  // namespace

void qr_on_grid(DistributedMatrix& A, DistributedMatrix& R) {
    const auto k = std::min(A.rows(), A.columns());
    if (k == 0) return;
    const auto& kernels = A.kernels();
    const auto grid = make_grid(A.world(), A.layout());
    const auto a = grid->describe(A.layout(), A.distance());
    const int m = to_int(A.rows()), n = to_int(A.columns()), width = to_int(k), one = 1;
    auto tau = Buffer<std::byte>::zeros((A.local_columns() + 1) * kernels.size);
    with_workspace(A, grid.get(), "QR", [&](void* work, const int* size, int* info) {
        kernels.pgeqrf(&m, &n, A.data(), &one, &one, a.data(), tau.data(), work, size, info);
    });
    Buffer<std::byte> phases(k * kernels.size);
    kernels.phases(diagonal_values(A, k).data(), k, phases.data());
    if (A.takes_part()) copy_triangle(A, phases, R);
    with_workspace(A, grid.get(), "QR", [&](void* work, const int* size, int* info) {
        kernels.porgqr(&m, &width, &width, A.data(), &one, &one, a.data(), tau.data(), work, size, info);
    });
    const auto count = A.takes_part() ? A.columns_below(k) : 0;
    for (std::int64_t l = 0; l < count; ++l)
        kernels.scale(element_at(phases.data(), A.column_index(l), kernels.size), A.at(0, l), A.local_rows());
}

}  // namespace arges::linalg
