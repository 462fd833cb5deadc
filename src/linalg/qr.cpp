// QR of matricizations: TSQR for tall ones (Demmel, Grigori, Hoemmen, Langou, SIAM J. Sci. Comput. 34, 2012), ScaLAPACK for others.
#include "comm/collective_call.hpp"
#include "linalg/checks.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"
#include "linalg/tall_qr.hpp"

#include <algorithm>

namespace arges::linalg {

namespace {

AnyQr by_tall_qr(const TensorState& tensor, const Matricization& labels, const MatrixLayout& layout) {
    const auto m = labels.rows.size, n = labels.columns.size, k = std::min(m, n);
    auto matrix = load(tensor, labels, layout, false, Part::all, TallQr::least_rows(n, layout));
    const auto& kernels = matrix.kernels();
    TallQr tall(matrix);
    AnyQr result;
    DistributedMatrix R(kernels, tensor.world, on_one_rank(k, n, layout.ranks[0]), tall.take_r(), labels.text);
    result.R = store(tensor.world_handle, std::move(R), {k}, labels.columns.extents, "R");
    DistributedMatrix Q(kernels, tensor.world, layout.resized(m, k), labels.text);
    tall.form(Q);
    result.Q = store(tensor.world_handle, std::move(Q), labels.rows.extents, {k}, "Q");
    return result;
}

AnyQr by_scalapack(const TensorState& tensor, const Matricization& labels, const MatrixLayout& layout) {
    const auto m = labels.rows.size, n = labels.columns.size, k = std::min(m, n);
    auto A = load(tensor, labels, layout);
    DistributedMatrix R(A.kernels(), tensor.world, layout.resized(k, n), labels.text);
    qr_on_grid(A, R);
    AnyQr result;
    result.R = store(tensor.world_handle, std::move(R), {k}, labels.columns.extents, "R");
    DistributedMatrix Q(A.kernels(), tensor.world, layout.resized(m, k), A.data(), A.distance());
    result.Q = store(tensor.world_handle, std::move(Q), labels.rows.extents, {k}, "Q");
    return result;
}

}  // namespace

AnyQr qr(const Factor& A, const QrOptions& options) {
    const CollectiveCall call(ranks_of(A), "qr", A, options.checks, options.grid);
    Operand a(A, "qr");
    const auto& plain = a.plain();
    const auto placement = choose_placement(plain.shape(), a.labels, a.world().size(), options.grid, Purpose::qr);
    auto result = placement.tall ? by_tall_qr(plain, a.labels, placement.layout) : by_scalapack(plain, a.labels, placement.layout);
    if (options.checks) {
        const DenseTensor Q(result.Q);
        result.checks.residual = residual(a.tensor(), a.labels, Q, nullptr, DenseTensor(result.R));
        result.checks.orthogonality = orthogonality(Q);
    }
    return result;
}

}  // namespace arges::linalg
