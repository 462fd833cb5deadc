// Eigenvalues of a matricization: symmetry from the tensor's tree or by comparison with the adjoint, then tridiagonal form and divide and
// conquer (Tisseur and Dongarra, SIAM J. Sci. Comput. 20, 1999).
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"
#include "linalg/scalapack.hpp"
#include "symmetry/permutation_group.hpp"

#include <algorithm>
#include <bit>

namespace arges {

using namespace linalg;

namespace {

/// Working arrays of a divide-and-conquer driver; that of reals is for complex types.
struct DriverWork {
    void *elements, *reals;
    int* integers;
    int size, real_size, integer_size;  ///< -1 to ask for them
};

/// Calls f(work, info) of a driver for the sizes of its arrays, and again with them. `more` elements are added to what is asked
/// for. Collective.
template <class F>
void with_driver_work(const DistributedMatrix& A, const BlacsGrid* grid, std::int64_t more, F&& f) {
    const std::string what = "eigenvalues";
    const auto &kernels = A.kernels(), &real_kernels = *kernels.reals;
    std::int64_t elements = 0, reals = 0, integers = 0;
    on_grid(A, [&] {
        ElementValue size(kernels.size), real_size(real_kernels.size);
        int integer_size = 0, info = 0;
        f(DriverWork{size.data(), real_size.data(), &integer_size, -1, -1, -1}, &info);
        check_outcome(info, what);
        elements = queried(kernels.real_parts(size.data(), 1)[0] + static_cast<double>(more), what);
        reals = queried(real_kernels.real_parts(real_size.data(), 1)[0], what);
        integers = integer_size + 1;
    });
    const auto held = hold_workspace(A, elements * kernels.size + reals * real_kernels.size + integers * std::int64_t{sizeof(int)}, what);
    on_grid(A, [&] {
        Buffer<std::byte> for_elements, for_reals;
        Buffer<int> for_integers;
        allocate_on(grid, [&] {
            for_elements = Buffer<std::byte>(elements * kernels.size);
            for_reals = Buffer<std::byte>(reals * real_kernels.size);
            for_integers = Buffer<int>(integers);
        });
        int info = 0;
        f(DriverWork{for_elements.data(), for_reals.data(), for_integers.data(), to_int(elements), to_int(reals), to_int(integers)}, &info);
        check_outcome(info, what);
    });
}

/// All eigenvalues (and vectors, in place of A) on one rank.
void solve_on_one_rank(DistributedMatrix& A, void* values, bool vectors) {
    const int n = to_int(A.rows()), distance = to_int(A.distance());
    with_driver_work(A, nullptr, 0, [&](const DriverWork& w, int* info) {
        A.kernels().heevd(vectors ? "V" : "N", "L", &n, A.data(), &distance, values, w.elements, &w.size, w.reals, &w.real_size, w.integers,
                          &w.integer_size, info, 1, 1);
    });
}

void solve_on_grid(DistributedMatrix& A, void* values, DistributedMatrix& vectors) {
    const auto grid = make_grid(A.world(), A.layout());
    const int n = to_int(A.rows()), one = 1;
    const auto a = grid->describe(A.layout(), A.distance()), z = grid->describe(vectors.layout(), vectors.distance());
    // For small matrices and large blocks the driver asks for less than P?ORMTR, which it calls, needs.
    const auto block = A.layout().rows.block;
    const auto more = block * (A.layout().rows.max_count() + A.layout().columns.max_count() + 2 * block);
    with_driver_work(A, grid.get(), more, [&](const DriverWork& w, int* info) {
        A.kernels().pheevd("V", "L", &n, A.data(), &one, &one, a.data(), values, vectors.data(), &one, &one, z.data(), w.elements, &w.size,
                           w.reals, &w.real_size, w.integers, &w.integer_size, info, 1, 1);
    });
}

/// Tridiagonal form on the grid; its eigenvalues are found by each rank, as they need little time. (ScaLAPACK's driver has no
/// such mode.)
void values_on_grid(DistributedMatrix& A, void* values) {
    const auto &kernels = A.kernels(), &reals = *kernels.reals;
    const auto order = A.rows(), count = A.local_columns() + 1;
    const auto grid = make_grid(A.world(), A.layout());
    const int size = to_int(order), one = 1;
    const auto a = grid->describe(A.layout(), A.distance());
    auto d = Buffer<std::byte>::zeros(count * reals.size), e = d.copy(), tau = Buffer<std::byte>::zeros(count * kernels.size);
    with_workspace(A, grid.get(), "eigenvalues", [&](void* work, const int* lwork, int* info) {
        kernels.psytrd("L", &size, A.data(), &one, &one, a.data(), d.data(), e.data(), tau.data(), work, lwork, info, 1);
    });
    std::vector<double> tridiagonal(2 * order, 0.0);                               // the diagonal, then what is below it
    const bool counts = A.takes_part() && A.layout().grid_row(A.position()) == 0;  // each grid row has the same
    const auto diagonal = reals.real_parts(d.data(), count), below = reals.real_parts(e.data(), count);
    for (std::int64_t l = 0; counts && l < A.local_columns(); ++l) {
        const auto j = A.column_index(l);
        tridiagonal[j] = diagonal[l];
        if (j + 1 < order) tridiagonal[order + j] = below[l];
    }
    A.world().communicator().sum(tridiagonal.data(), 2 * order);
    Buffer<std::byte> all_below(order * reals.size);
    reals.set(tridiagonal.data(), order, values);
    reals.set(tridiagonal.data() + order, order, all_below.data());
    A.world().agree([&] {
        int info = 0;
        kernels.sterf(&size, values, all_below.data(), &info);
        check_outcome(info, "eigenvalues");
    });
}

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

double eigen_residual(const AnyTensor& A, const Matricization& labels, const AnyEigh& result) {
    const auto& vectors = result.vectors;
    const auto rest = vectors;
    const auto columns = joined(labels.rows.labels, {joint});
    rest[columns] = A[labels_by_dimension(labels)] * vectors[joined(labels.columns.labels, {joint})];
    rest[columns] += std::int64_t{-1} * (vectors[columns] * as_tensor(A, result.values)[{joint.c_str()}]);
    return ratio(rest.norm(), A.norm());
}

}  // namespace

std::vector<double> linalg::eigh_dense(DistributedMatrix& A, DistributedMatrix* vectors) {
    const auto n = A.rows();
    if (n == 0) return {};
    const auto& reals = *A.kernels().reals;
    auto values = Buffer<std::byte>::zeros(n * reals.size);
    if (A.layout().single()) {
        solve_on_one_rank(A, values.data(), vectors != nullptr);
        if (vectors != nullptr) vectors->copy_from(A);
    } else if (vectors != nullptr) {
        solve_on_grid(A, values.data(), *vectors);
    } else {
        values_on_grid(A, values.data());
    }
    A.world().communicator().broadcast(values.data(), n * reals.size, A.layout().ranks[0]);
    return reals.real_parts(values.data(), n);
}

AnyEigh eigh(const AnyIndexedTensor& A, const EighOptions& options) {
    const CollectiveCall call(ranks_of(A), "eigh", A, options.vectors, options.first, options.count.value_or(-1), options.symmetric,
                              options.checks, options.grid);
    MatrixOperand a(A, "eigh");
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
        if (count < n) result.vectors = result.vectors.slice(begin, joined(labels.rows.extents, {options.first + count}));
    } else {
        result.values = eigh_dense(matrix, nullptr);
    }
    const auto first = result.values.begin() + options.first;
    result.values = std::vector<double>(first, first + count);
    if (options.checks && options.vectors) result.checks = {eigen_residual(a.tensor, labels, result), orthogonality(result.vectors)};
    return result;
}

}  // namespace arges
