// QR of matricizations: TSQR for tall ones (Demmel, Grigori, Hoemmen, Langou, SIAM J. Sci. Comput. 34, 2012), ScaLAPACK for others.
#include "base/instantiate.hpp"
#include "comm/collective_call.hpp"
#include "linalg/checks.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"
#include "linalg/tall_qr.hpp"

#include <algorithm>

namespace arges {

using namespace linalg;

namespace {

template <class T>
QrResult<T> by_tall_qr(const TensorState& tensor, const Matricization& labels, const MatrixLayout& layout) {
    const auto m = labels.rows.size, n = labels.columns.size, k = std::min(m, n);
    auto matrix = load<T>(tensor, labels, layout, false, Part::all, TallQr<T>::least_rows(n, layout));
    TallQr<T> tall(matrix);
    QrResult<T> result;
    DistributedMatrix<T> R(tensor.world, on_one_rank(k, n, layout.ranks[0]), tall.take_r(), labels.text);
    result.R = store(tensor.world_handle, std::move(R), {k}, labels.columns.extents, "R");
    DistributedMatrix<T> Q(tensor.world, layout.resized(m, k), labels.text);
    tall.form(Q);
    result.Q = store(tensor.world_handle, std::move(Q), labels.rows.extents, {k}, "Q");
    return result;
}

template <class T>
QrResult<T> by_scalapack(const TensorState& tensor, const Matricization& labels, const MatrixLayout& layout) {
    const auto m = labels.rows.size, n = labels.columns.size, k = std::min(m, n);
    auto A = load<T>(tensor, labels, layout);
    DistributedMatrix<T> R(tensor.world, layout.resized(k, n), labels.text);
    qr_on_grid(A, R);
    QrResult<T> result;
    result.R = store(tensor.world_handle, std::move(R), {k}, labels.columns.extents, "R");
    DistributedMatrix<T> Q(tensor.world, layout.resized(m, k), A.data(), A.distance());
    result.Q = store(tensor.world_handle, std::move(Q), labels.rows.extents, {k}, "Q");
    return result;
}

}  // namespace

template <class T>
QrResult<T> qr(const IndexedTensor<T>& A, const QrOptions& options) {
    const CollectiveCall call(ranks_of(A), "qr", digest_of(A), options.checks, digest_of(options.grid));
    Operand<T> a(A, "qr");
    const auto placement = choose_placement(a.plain().shape(), a.labels, a.world().size(), options.grid, Purpose::qr);
    auto result =
        placement.tall ? by_tall_qr<T>(a.plain(), a.labels, placement.layout) : by_scalapack<T>(a.plain(), a.labels, placement.layout);
    if (options.checks) {
        result.checks.residual = residual<T>(A, a.labels, result.Q, nullptr, result.R);
        result.checks.orthogonality = orthogonality(result.Q);
    }
    return result;
}

#define ARGES_INSTANTIATE(T) template QrResult<T> qr(const IndexedTensor<T>&, const QrOptions&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges
