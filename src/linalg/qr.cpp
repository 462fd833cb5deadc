// QR of matricizations: TSQR for tall ones (Demmel, Grigori, Hoemmen, Langou, SIAM J. Sci. Comput. 34, 2012), ScaLAPACK for others.
#include "base/element_at.hpp"
#include "comm/collective_call.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"
#include "linalg/scalapack.hpp"

#include <algorithm>

namespace arges {

using namespace linalg;

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

AnyQr by_tall_qr(const TensorState& tensor, const Matricization& labels, const MatrixLayout& layout) {
    const auto m = labels.rows.size, n = labels.columns.size, k = std::min(m, n);
    auto matrix = load(tensor, labels, layout, false, Part::all, TallQr::least_rows(n, layout));
    TallQr tall(matrix);
    DistributedMatrix R(matrix.kernels(), tensor.world, on_one_rank(k, n, layout.ranks[0]), tall.take_r(), labels.text);
    auto own_r = store(tensor.world_handle, std::move(R), {k}, labels.columns.extents, "R");
    DistributedMatrix Q(matrix.kernels(), tensor.world, layout.resized(m, k), labels.text);
    tall.form(Q);
    return {store(tensor.world_handle, std::move(Q), labels.rows.extents, {k}, "Q"), std::move(own_r)};
}

AnyQr by_scalapack(const TensorState& tensor, const Matricization& labels, const MatrixLayout& layout) {
    const auto m = labels.rows.size, n = labels.columns.size, k = std::min(m, n);
    auto A = load(tensor, labels, layout);
    DistributedMatrix R(A.kernels(), tensor.world, layout.resized(k, n), labels.text);
    qr_on_grid(A, R);
    auto own_r = store(tensor.world_handle, std::move(R), {k}, labels.columns.extents, "R");
    DistributedMatrix Q(A.kernels(), tensor.world, layout.resized(m, k), A.data(), A.distance());
    return {store(tensor.world_handle, std::move(Q), labels.rows.extents, {k}, "Q"), std::move(own_r)};
}

}  // namespace

void linalg::qr_on_grid(DistributedMatrix& A, DistributedMatrix& R) {
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

AnyQr qr(const AnyIndexedTensor& A, const QrOptions& options) {
    const CollectiveCall call(ranks_of(A), "qr", A, options.checks, options.grid);
    MatrixOperand a(A, "qr");
    const auto& plain = a.plain();
    const auto placement = choose_placement(plain.shape(), a.labels, a.world().size(), options.grid, Purpose::qr);
    auto result = placement.tall ? by_tall_qr(plain, a.labels, placement.layout) : by_scalapack(plain, a.labels, placement.layout);
    if (options.checks) result.checks = {residual(a.tensor, a.labels, result.Q, nullptr, result.R), orthogonality(result.Q)};
    return result;
}

}  // namespace arges
