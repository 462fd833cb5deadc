// Eigenvalues of a matricization: symmetry from the tensor's tree or by comparison with the adjoint, then divide and conquer (Tisseur and
// Dongarra, SIAM J. Sci. Comput. 20, 1999).
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "linalg/checks.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"
#include "symmetry/permutation_group.hpp"

#include <algorithm>
#include <bit>

namespace arges::linalg {

namespace {

/// A matrix counts as symmetric if it differs from its adjoint by at most this many units of round-off of its largest element.
constexpr double allowed_asymmetry = 1000;

/// Does the tensor's tree make the matrix equal to its adjoint?
bool symmetric_by_structure(const Symmetry& symmetry, const Matricization& labels, bool is_complex) {
    SignedPermutation exchange;
    exchange.image.resize(symmetry.order());
    for (std::size_t i = 0; i < labels.rows.dimensions.size(); ++i) {
        const int r = labels.rows.dimensions[i], c = labels.columns.dimensions[i];
        exchange.image[r] = c;
        exchange.image[c] = r;
    }
    return contains(symmetry, exchange) && !exchange.negative && (exchange.conjugate || !is_complex);
}

/// Largest value over all ranks; values are not negative.
double largest(const WorldState& world, double value) {
    return std::bit_cast<double>(world.communicator().maximum(std::bit_cast<std::int64_t>(value)));
}

void check_symmetric(const DistributedMatrix& A, const DistributedMatrix& adjoint, const std::string& text) {
    double difference = 0, size = 0;
    for (std::int64_t j = 0; j < A.local_columns(); ++j)
        A.kernels().compare(A.at(0, j), adjoint.at(0, j), A.local_rows(), difference, size);
    difference = largest(A.world(), difference);
    size = largest(A.world(), size);
    if (difference <= allowed_asymmetry * A.kernels().epsilon * size) return;
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

double eigen_residual(const DenseTensor& A, const Matricization& labels, const AnyEigh& result) {
    const DenseTensor vectors(result.vectors);
    const auto rest = vectors;
    const auto columns = with_label(labels.rows.labels, joint);
    assign(rest[columns], {A[labels_by_dimension(labels)], vectors[with_label(labels.columns.labels, joint)]});
    subtract(rest[columns], {vectors[columns], as_tensor(A.kernels(), A.world(), result.values)[{joint.c_str()}]});
    return ratio(rest.norm(), A.norm());
}

}  // namespace

AnyEigh eigh(const Factor& A, const EighOptions& options) {
    const CollectiveCall call(ranks_of(A), "eigh", A, options.vectors, options.first, options.count.value_or(-1), options.symmetric,
                              options.checks, options.grid);
    Operand a(A, "eigh");
    const auto& labels = a.labels;
    check_square(labels, "eigh");
    if (labels.rows.extents != labels.columns.extents)
        throw InvalidArgument("eigh of " + labels.text +
                              ": rows and columns need equal extents, label by label; order the labels alike on both sides");
    const auto n = labels.rows.size;
    check_range(options, n, labels.text);
    const bool known = options.symmetric || symmetric_by_structure(a.state.shape().symmetry(), labels, a.state.kernels->is_complex);
    auto layout = choose_layout(n, n, a.world().size(), options.grid);
    if (layout.single()) layout = on_one_rank(n, n);
    auto matrix = a.loaded(layout, false, known ? Part::lower : Part::all);
    if (!known) check_symmetric(matrix, a.loaded(layout, true), labels.text);
    AnyEigh result;
    const auto count = options.count.value_or(n - options.first);
    if (options.vectors) {
        DistributedMatrix vectors(a.kernels, a.state.world, layout, labels.text);
        result.values = eigh_dense(matrix, &vectors);
        result.vectors = store(a.world(), std::move(vectors), labels.rows.extents, {n}, "vectors");
        auto begin = std::vector<std::int64_t>(labels.rows.extents.size() + 1, 0);
        begin.back() = options.first;
        if (count < n)
            result.vectors = DenseTensor(result.vectors).slice(begin, joined(labels.rows.extents, {options.first + count})).state();
    } else {
        result.values = eigh_dense(matrix, nullptr);
    }
    const auto first = result.values.begin() + options.first;
    result.values = std::vector<double>(first, first + count);
    if (options.checks && options.vectors) {
        result.checks.residual = eigen_residual(a.tensor(), labels, result);
        result.checks.orthogonality = orthogonality(DenseTensor(result.vectors));
    }
    return result;
}

}  // namespace arges::linalg
