// Eigenvalues by tridiagonal form and divide and conquer (Tisseur and Dongarra, SIAM J. Sci. Comput. 20, 1999).
#include "base/instantiate.hpp"
#include "linalg/dense.hpp"
#include "linalg/fortran.hpp"
#include "linalg/scalapack.hpp"
#include "local/scalar.hpp"

#include <algorithm>

namespace arges::linalg {

namespace {

/// Working arrays of a divide-and-conquer driver; that of reals is for complex types.
template <class T>
struct DriverWork {
    T* elements;
    real_of<T>* reals;
    int* integers;
    int size, real_size, integer_size;  ///< -1 to ask for them
};

/// Calls f(work, info) of a driver for the sizes of its arrays, and again with them. `more` elements are added to what is asked
/// for. Collective.
template <class T, class F>
void with_driver_work(const DistributedMatrix<T>& A, const BlacsGrid* grid, std::int64_t more, F&& f) {
    const std::string what = "eigenvalues";
    std::int64_t elements = 0, reals = 0, integers = 0;
    on_grid(A, [&] {
        T size = 0;
        real_of<T> real_size = 0;
        int integer_size = 0, info = 0;
        f(DriverWork<T>{&size, &real_size, &integer_size, -1, -1, -1}, &info);
        check_outcome(info, what);
        elements = queried(static_cast<double>(std::real(size)) + static_cast<double>(more), what);
        reals = queried(real_size, what);
        integers = integer_size + 1;
    });
    const auto bytes = [](std::int64_t count, std::size_t size) { return count * static_cast<std::int64_t>(size); };
    const auto all = bytes(elements, sizeof(T)) + bytes(reals, sizeof(real_of<T>)) + bytes(integers, sizeof(int));
    const auto held = hold_workspace(A, all, what);
    on_grid(A, [&] {
        Buffer<T> for_elements;
        Buffer<real_of<T>> for_reals;
        Buffer<int> for_integers;
        allocate_on(grid, [&] {
            for_elements = Buffer<T>(elements);
            for_reals = Buffer<real_of<T>>(reals);
            for_integers = Buffer<int>(integers);
        });
        int info = 0;
        f(DriverWork<T>{for_elements.data(), for_reals.data(), for_integers.data(), to_int(elements), to_int(reals), to_int(integers)},
          &info);
        check_outcome(info, what);
    });
}

/// All eigenvalues (and vectors, in place of A) on one rank.
template <class T>
void solve_on_one_rank(DistributedMatrix<T>& A, std::vector<real_of<T>>& values, bool vectors) {
    const int n = to_int(A.rows()), distance = to_int(A.distance());
    const char* job = vectors ? "V" : "N";
    with_driver_work(A, nullptr, 0, [&](const DriverWork<T>& w, int* info) {
        if constexpr (local::is_complex<T>)
            Fortran<T>::syevd(job, "L", &n, A.data(), &distance, values.data(), w.elements, &w.size, w.reals, &w.real_size, w.integers,
                              &w.integer_size, info, 1, 1);
        else
            Fortran<T>::syevd(job, "L", &n, A.data(), &distance, values.data(), w.elements, &w.size, w.integers, &w.integer_size, info, 1,
                              1);
    });
}

template <class T>
void solve_on_grid(const BlacsGrid& grid, DistributedMatrix<T>& A, std::vector<real_of<T>>& values, DistributedMatrix<T>& vectors) {
    const int n = to_int(A.rows()), one = 1;
    const auto a = grid.describe(A.layout(), A.distance()), z = grid.describe(vectors.layout(), vectors.distance());
    // For small matrices and large blocks the driver asks for less than P?ORMTR, which it calls, needs.
    const auto block = A.layout().rows.block;
    const auto more = block * (A.layout().rows.max_count() + A.layout().columns.max_count() + 2 * block);
    with_driver_work(A, &grid, more, [&](const DriverWork<T>& w, int* info) {
        if constexpr (local::is_complex<T>)
            Fortran<T>::psyevd("V", "L", &n, A.data(), &one, &one, a.data(), values.data(), vectors.data(), &one, &one, z.data(),
                               w.elements, &w.size, w.reals, &w.real_size, w.integers, &w.integer_size, info, 1, 1);
        else
            Fortran<T>::psyevd("V", "L", &n, A.data(), &one, &one, a.data(), values.data(), vectors.data(), &one, &one, z.data(),
                               w.elements, &w.size, w.integers, &w.integer_size, info, 1, 1);
    });
}

/// Tridiagonal form on the grid; its eigenvalues are found by each rank, as they need little time. (ScaLAPACK's driver has no
/// such mode.)
template <class T>
std::vector<real_of<T>> values_on_grid(DistributedMatrix<T>& A) {
    using R = real_of<T>;
    const auto order = A.rows();
    const auto grid = make_grid(A.world(), A.layout());
    const int size = to_int(order), one = 1;
    const auto a = grid->describe(A.layout(), A.distance());
    const std::size_t count = A.local_columns() + 1;
    std::vector<R> d(count), e(count);
    std::vector<T> tau(count);
    with_workspace(A, grid.get(), "eigenvalues", [&](T* work, const int* lwork, int* info) {
        Fortran<T>::psytrd("L", &size, A.data(), &one, &one, a.data(), d.data(), e.data(), tau.data(), work, lwork, info, 1);
    });
    std::vector<double> tridiagonal(2 * order, 0.0);                               // the diagonal, then what is below it
    const bool counts = A.takes_part() && A.layout().grid_row(A.position()) == 0;  // each grid row has the same
    for (std::int64_t l = 0; counts && l < A.local_columns(); ++l) {
        const auto j = A.column_index(l);
        tridiagonal[j] = d[l];
        if (j + 1 < order) tridiagonal[order + j] = e[l];
    }
    A.world().communicator().sum(tridiagonal.data(), 2 * order);
    std::vector<R> values(tridiagonal.begin(), tridiagonal.begin() + order), below(tridiagonal.begin() + order, tridiagonal.end());
    A.world().agree([&] {
        int info = 0;
        FortranReal<R>::sterf(&size, values.data(), below.data(), &info);
        check_outcome(info, "eigenvalues");
    });
    return values;
}

}  // namespace

template <class T>
std::vector<real_of<T>> eigh_dense(DistributedMatrix<T>& A, DistributedMatrix<T>* vectors) {
    std::vector<real_of<T>> values(A.rows());
    if (values.empty()) return values;
    if (A.layout().single()) {
        solve_on_one_rank(A, values, vectors != nullptr);
        if (vectors != nullptr)
            for (std::int64_t j = 0; j < A.local_columns(); ++j) std::copy_n(A.column(j), A.local_rows(), vectors->column(j));
    } else if (vectors != nullptr) {
        const auto grid = make_grid(A.world(), A.layout());
        solve_on_grid(*grid, A, values, *vectors);
    } else {
        values = values_on_grid(A);
    }
    A.world().communicator().broadcast(values.data(), values.size() * sizeof(real_of<T>), A.layout().ranks[0]);
    return values;
}

#define ARGES_INSTANTIATE(T) template std::vector<real_of<T>> eigh_dense(DistributedMatrix<T>&, DistributedMatrix<T>*);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::linalg
