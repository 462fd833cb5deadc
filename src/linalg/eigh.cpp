// Eigenvalues of a matricization: symmetry from the tensor's tree or by comparison with the adjoint, then divide and conquer (Tisseur and
// Dongarra, SIAM J. Sci. Comput. 20, 1999).
#include "base/instantiate.hpp"
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "linalg/checks.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"
#include "local/scalar.hpp"
#include "symmetry/permutation_group.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace arges {

using namespace linalg;

namespace {

/// A matrix counts as symmetric if it differs from its adjoint by at most this many units of round-off of its largest element.
constexpr double allowed_asymmetry = 1000;

/// Does the tensor's tree make the matrix equal to its adjoint?
template <class T>
bool symmetric_by_structure(const Symmetry& symmetry, const Matricization& labels) {
    SignedPermutation exchange;
    exchange.image.resize(symmetry.order());
    for (std::size_t i = 0; i < labels.rows.dimensions.size(); ++i) {
        const int r = labels.rows.dimensions[i], c = labels.columns.dimensions[i];
        exchange.image[r] = c;
        exchange.image[c] = r;
    }
    return contains(symmetry, exchange) && !exchange.negative && (exchange.conjugate || !local::is_complex<T>);
}

/// Largest value over all ranks; values are not negative.
double largest(const WorldState& world, double value) {
    return std::bit_cast<double>(world.communicator().maximum(std::bit_cast<std::int64_t>(value)));
}

template <class T>
void check_symmetric(const DistributedMatrix<T>& A, const DistributedMatrix<T>& adjoint, const std::string& text) {
    double difference = 0, size = 0;
    for (std::int64_t j = 0; j < A.local_columns(); ++j)
        for (std::int64_t i = 0; i < A.local_rows(); ++i) {
            difference = std::max(difference, static_cast<double>(std::abs(A.column(j)[i] - adjoint.column(j)[i])));
            size = std::max(size, static_cast<double>(std::abs(A.column(j)[i])));
        }
    difference = largest(A.world(), difference);
    size = largest(A.world(), size);
    if (difference <= allowed_asymmetry * static_cast<double>(std::numeric_limits<real_of<T>>::epsilon()) * size) return;
    throw InvalidArgument("eigh of " + text + ": the matrix differs from its adjoint by up to " + std::to_string(difference / size) +
                          " of its largest element; give the tensor a symmetry, symmetrize it, or set EighOptions::symmetric to "
                          "use the part below the diagonal");
}

void check_range(const EighOptions& options, std::int64_t n, const std::string& text) {
    const auto count = options.count.value_or(n - options.first);
    if (options.first < 0 || options.first > n || count < 0 || count > n - options.first)
        throw InvalidArgument("eigh of " + text + ": eigenvalues " + std::to_string(options.first) + " to " +
                              std::to_string(saturated_sum(options.first, saturated_sum(count, -1))) + " of " + std::to_string(n) +
                              "; numbers run from 0");
}

template <class T>
double eigen_residual(const IndexedTensor<T>& A, const Matricization& labels, const EighResult<T>& result) {
    const Tensor<T> whole(A.factor().tensor);
    auto rest = result.vectors;
    const auto columns = with_label(labels.rows.labels, joint);
    rest[columns] = whole[labels_by_dimension(labels)] * result.vectors[with_label(labels.columns.labels, joint)] -
                    result.vectors[columns] * as_tensor<T>(whole.world(), result.values)[{joint.c_str()}];
    return ratio(static_cast<double>(rest.norm()), static_cast<double>(whole.norm()));
}

}  // namespace

template <class T>
EighResult<T> eigh(const IndexedTensor<T>& A, const EighOptions& options) {
    const CollectiveCall call(ranks_of(A), "eigh", digest_of(A), options.vectors, options.first, options.count.value_or(-1),
                              options.symmetric, options.checks, digest_of(options.grid));
    Operand<T> a(A, "eigh");
    const auto& labels = a.labels;
    check_square(labels, "eigh");
    if (labels.rows.extents != labels.columns.extents)
        throw InvalidArgument("eigh of " + labels.text +
                              ": rows and columns need equal extents, label by label; order the labels alike on both sides");
    const auto n = labels.rows.size;
    check_range(options, n, labels.text);
    const bool known = options.symmetric || symmetric_by_structure<T>(a.state.shape().symmetry(), labels);
    const auto& tensor = a.plain();
    auto layout = choose_layout(n, n, a.world().size(), options.grid);
    if (layout.single()) layout = on_one_rank(n, n);
    auto matrix = load<T>(tensor, labels, layout, false, known ? Part::lower : Part::all);
    if (!known) check_symmetric(matrix, load<T>(tensor, labels, layout, true), labels.text);
    EighResult<T> result;
    const auto count = options.count.value_or(n - options.first);
    if (options.vectors) {
        DistributedMatrix<T> vectors(a.state.world, layout, labels.text);
        result.values = eigh_dense(matrix, &vectors);
        result.vectors = store(a.world(), std::move(vectors), labels.rows.extents, {n}, "vectors");
        auto begin = std::vector<std::int64_t>(labels.rows.extents.size() + 1, 0);
        begin.back() = options.first;
        if (count < n) result.vectors = result.vectors.slice(begin, joined(labels.rows.extents, {options.first + count}));
    } else {
        result.values = eigh_dense<T>(matrix, nullptr);
    }
    const auto first = result.values.begin() + options.first;
    result.values = std::vector<real_of<T>>(first, first + count);
    if (options.checks && options.vectors) {
        result.checks.residual = eigen_residual(A, labels, result);
        result.checks.orthogonality = orthogonality(result.vectors);
    }
    return result;
}

#define ARGES_INSTANTIATE(T) template EighResult<T> eigh(const IndexedTensor<T>&, const EighOptions&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges
