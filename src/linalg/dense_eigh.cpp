// Eigenvalues by tridiagonal form.
#include "base/instantiate.hpp"
#include "linalg/dense.hpp"
#include "linalg/fortran.hpp"
#include "linalg/scalapack.hpp"
#include "local/scalar.hpp"

#include <algorithm>

namespace arges::linalg {

namespace {

/// Calls f(work, lwork, rwork, lrwork, iwork, liwork, info) of a divide-and-conquer driver for the sizes of its arrays, and again with them;
/// those of reals are for complex types. `more` elements are added to what is asked for.
template <class T, class F>
void with_driver_work(const BlacsGrid* grid, std::int64_t more, F&& f) {
    T size = 0;
    real_of<T> real_size = 0;
    int integer_size = 0, all = -1, info = 0;
    f(&size, &all, &real_size, &all, &integer_size, &all, &info);
    check_outcome(info, "eigenvalues");
    auto elements = workspace<T>(grid, queried(size) + more);
    auto reals = workspace<real_of<T>>(grid, queried(real_size));
    auto integers = workspace<int>(grid, integer_size + 1);
    const int lwork = to_int(elements.size()), lreals = to_int(reals.size()), lintegers = to_int(integers.size());
    f(elements.data(), &lwork, reals.data(), &lreals, integers.data(), &lintegers, &info);
    check_outcome(info, "eigenvalues");
}

/// All eigenvalues (and vectors, in place of A) on one rank.
template <class T>
void solve_on_one_rank(DistributedMatrix<T>& A, std::vector<real_of<T>>& values, bool vectors) {
    const int n = to_int(A.rows()), distance = to_int(A.distance());
    const char* job = vectors ? "V" : "N";
    with_driver_work<T>(nullptr, 0, [&](T* work, const int* lwork, [[maybe_unused]] real_of<T>* reals, [[maybe_unused]] const int* lreals, int* integers, const int* lintegers, int* info) {
        if constexpr (local::is_complex<T>)
            Fortran<T>::syevd(job, "L", &n, A.data(), &distance, values.data(), work, lwork, reals, lreals, integers, lintegers, info, 1, 1);
        else
            Fortran<T>::syevd(job, "L", &n, A.data(), &distance, values.data(), work, lwork, integers, lintegers, info, 1, 1);
    });
}

template <class T>
void solve_on_grid(const BlacsGrid& grid, DistributedMatrix<T>& A, std::vector<real_of<T>>& values, DistributedMatrix<T>& vectors) {
    const int n = to_int(A.rows()), one = 1;
    const auto a = grid.describe(A.layout(), A.distance()), z = grid.describe(vectors.layout(), vectors.distance());
    // For small matrices and large blocks the driver asks for less than P?ORMTR, which it calls, needs.
    const auto block = A.layout().rows.block;
    const auto more = block * (A.layout().rows.max_count() + A.layout().columns.max_count() + 2 * block);
    with_driver_work<T>(&grid, more, [&](T* work, const int* lwork, [[maybe_unused]] real_of<T>* reals, [[maybe_unused]] const int* lreals, int* integers, const int* lintegers, int* info) {
        if constexpr (local::is_complex<T>)
            Fortran<T>::psyevd("V", "L", &n, A.data(), &one, &one, a.data(), values.data(), vectors.data(), &one, &one, z.data(), work, lwork, reals, lreals,
                               integers, lintegers, info, 1, 1);
        else
            Fortran<T>::psyevd("V", "L", &n, A.data(), &one, &one, a.data(), values.data(), vectors.data(), &one, &one, z.data(), work, lwork, integers,
                               lintegers, info, 1, 1);
    });
}

/// Tridiagonal form on the grid; its eigenvalues are found by each rank, as they need little time. (ScaLAPACK's driver has no such mode.)
template <class T>
std::vector<real_of<T>> values_on_grid(DistributedMatrix<T>& A) {
    using R = real_of<T>;
    const auto order = A.rows();
    std::vector<double> tridiagonal(static_cast<std::size_t>(2 * order), 0.0);  // the diagonal, then what is below it
    const auto grid = make_grid(A.world(), A.layout());
    on_grid(A, [&] {
        const int n = to_int(order), one = 1;
        const auto a = grid->describe(A.layout(), A.distance());
        const auto size = static_cast<std::size_t>(A.local_columns() + 1);
        std::vector<R> d(size), e(size);
        std::vector<T> tau(size);
        with_workspace<T>(grid.get(), "eigenvalues", [&](T* work, const int* lwork, int* info) {
            Fortran<T>::psytrd("L", &n, A.data(), &one, &one, a.data(), d.data(), e.data(), tau.data(), work, lwork, info, 1);
        });
        if (A.layout().grid_row(A.position()) != 0) return;  // each grid row has the same
        for (std::int64_t l = 0; l < A.local_columns(); ++l) {
            const auto j = A.column_index(l);
            tridiagonal[static_cast<std::size_t>(j)] = static_cast<double>(d[static_cast<std::size_t>(l)]);
            if (j + 1 < order) tridiagonal[static_cast<std::size_t>(order + j)] = static_cast<double>(e[static_cast<std::size_t>(l)]);
        }
    });
    A.world().communicator().sum(tridiagonal.data(), 2 * order);
    std::vector<R> values(tridiagonal.begin(), tridiagonal.begin() + order), below(tridiagonal.begin() + order, tridiagonal.end());
    A.world().agree([&] {
        const int n = to_int(order);
        int info = 0;
        FortranReal<R>::sterf(&n, values.data(), below.data(), &info);
        check_outcome(info, "eigenvalues");
    });
    return values;
}

}  // namespace

template <class T>
std::vector<real_of<T>> eigh_dense(DistributedMatrix<T>& A, DistributedMatrix<T>* vectors) {
    std::vector<real_of<T>> values(static_cast<std::size_t>(A.rows()));
    if (values.empty()) return values;
    if (A.layout().single()) {
        on_grid(A, [&] {
            solve_on_one_rank(A, values, vectors != nullptr);
            if (vectors != nullptr)
                for (std::int64_t j = 0; j < A.columns(); ++j) std::copy_n(A.column(j), A.rows(), vectors->column(j));
        });
    } else if (vectors != nullptr) {
        const auto grid = make_grid(A.world(), A.layout());
        on_grid(A, [&] { solve_on_grid(*grid, A, values, *vectors); });
    } else {
        values = values_on_grid(A);
    }
    A.world().communicator().broadcast(values.data(), static_cast<std::int64_t>(values.size() * sizeof(real_of<T>)), A.layout().ranks[0]);
    return values;
}

#define ARGES_INSTANTIATE(T) template std::vector<real_of<T>> eigh_dense(DistributedMatrix<T>&, DistributedMatrix<T>*);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)

}  // namespace arges::linalg
