// Eigenvalues by tridiagonal form and divide and conquer (Tisseur and Dongarra, SIAM J. Sci. Comput. 20, 1999).
#include "linalg/dense.hpp"
#include "linalg/scalapack.hpp"

#include <algorithm>

namespace arges::linalg {

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

}  // namespace

std::vector<double> eigh_dense(DistributedMatrix& A, DistributedMatrix* vectors) {
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

}  // namespace arges::linalg
