// Singular values by bidiagonal form and divide and conquer (Gu and Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995).
#include "base/instantiate.hpp"
#include "linalg/dense.hpp"
#include "linalg/fortran.hpp"
#include "linalg/scalapack.hpp"
#include "local/scalar.hpp"

#include <algorithm>
#include <cmath>

namespace arges::linalg {

template <class R>
double tail_norm(const std::vector<R>& values, std::int64_t first) {
    // Relative to the largest, so that squares do not underflow.
    const auto count = std::ssize(values);
    const double largest = first < count ? static_cast<double>(values[first]) : 0.0;
    if (largest == 0) return 0;
    double sum = 0;
    for (auto i = count; i-- > first;) {
        const double x = static_cast<double>(values[i]) / largest;
        sum += x * x;
    }
    return largest * std::sqrt(sum);
}

template <class R>
std::int64_t SvdCut::operator()(const std::vector<R>& s) const {
    auto kept = std::ssize(s);
    const double bound = std::max(absolute_tolerance, tolerance * tail_norm(s, 0));
    while (bound > 0 && kept > 1 && tail_norm(s, kept - 1) <= bound) --kept;
    return rank ? std::min(kept, *rank) : kept;
}

namespace {

/// A = Q B P^H with an upper bidiagonal B.
template <class T>
struct Bidiagonal {
    std::vector<real_of<T>> d, e;  ///< diagonal and what is above it, on every rank
    std::vector<T> tau_q, tau_p;   ///< of the reflectors in A
};

template <class T>
Bidiagonal<T> reduce(DistributedMatrix<T>& A, const BlacsGrid* grid) {
    Bidiagonal<T> result;
    const auto n = A.columns();
    const int rows = to_int(A.rows()), columns = to_int(n), distance = to_int(A.distance()), one = 1;
    const std::size_t size = n + 1;
    std::vector<real_of<T>> d(size), e(size);
    result.tau_q.resize(size);
    result.tau_p.resize(size);
    with_workspace(A, grid, "SVD", [&](T* work, const int* lwork, int* info) {
        if (grid == nullptr)
            Fortran<T>::gebrd(&rows, &columns, A.data(), &distance, d.data(), e.data(), result.tau_q.data(), result.tau_p.data(), work,
                              lwork, info);
        else
            Fortran<T>::pgebrd(&rows, &columns, A.data(), &one, &one, grid->describe(A.layout(), A.distance()).data(), d.data(), e.data(),
                               result.tau_q.data(), result.tau_p.data(), work, lwork, info);
    });
    for (auto value : diagonal_values(A, n)) result.d.push_back(std::real(value));
    for (auto value : diagonal_values(A, n - 1, 1)) result.e.push_back(std::real(value));
    return result;
}

/// Singular vectors of a bidiagonal matrix, on the first rank; the account of every rank has them.
template <class R>
struct SmallSvd {
    HeldMemory held;
    Buffer<R> U, Vh;
};

/// The SVD of a bidiagonal matrix, computed on the first rank: d becomes the singular values there. Collective.
template <class T>
SmallSvd<real_of<T>> divide_and_conquer(const DistributedMatrix<T>& A, Bidiagonal<T>& form, bool vectors) {
    using R = real_of<T>;
    const auto n = A.columns(), side = vectors ? n : 1;
    const auto count = vectors ? 3 * n * n + 4 * n : 8 * n;
    const auto bytes = [](std::int64_t reals) { return reals * std::int64_t{sizeof(R)}; };
    SmallSvd<R> result{HeldMemory(A.shared_world(), bytes(2 * side * side), "SVD", "working arrays"), {}, {}};
    const HeldMemory held(A.shared_world(), bytes(count) + 8 * n * std::int64_t{sizeof(int)}, "SVD", "working arrays");
    A.world().agree([&] {
        if (!A.is_first()) return;
        result.U = Buffer<R>(side * side);
        result.Vh = Buffer<R>(side * side);
        Buffer<R> work(count);
        Buffer<int> indices(8 * n);
        form.e.resize(form.d.size());
        const int size = to_int(n), distance = to_int(side);
        int info = 0, unused_index = 0;
        R unused = 0;
        FortranReal<R>::bdsdc("U", vectors ? "I" : "N", &size, form.d.data(), form.e.data(), result.U.data(), &distance, result.Vh.data(),
                              &distance, &unused, &unused_index, work.data(), indices.data(), &info, 1, 1);
        check_outcome(info, "SVD");
    });
    return result;
}

/// The leading rows x columns of a real array of the first rank into a matrix, which is zero elsewhere. Collective.
template <class T>
void spread(const Buffer<real_of<T>>& from, std::int64_t distance, std::int64_t rows, std::int64_t columns, DistributedMatrix<T>& to,
            BlacsGrid* grid) {
    const auto copy = [&](T* target, std::int64_t target_distance) {
        for (std::int64_t j = 0; j < columns; ++j) std::copy_n(from.data() + j * distance, rows, target + j * target_distance);
    };
    to.clear();
    if (grid == nullptr) {
        if (to.takes_part()) copy(to.data(), to.distance());
        return;
    }
    // The elements, and the messages that P?GEMR2D makes of them.
    const HeldMemory held(to.shared_world(), 2 * rows * columns * std::int64_t{sizeof(T)}, "SVD", "working arrays");
    on_grid(to, [&] {
        Buffer<T> whole;
        allocate_on(grid, [&] { whole = Buffer<T>(to.is_first() ? rows * columns : 0); });
        if (to.is_first()) copy(whole.data(), rows);
        const int m = to_int(rows), n = to_int(columns), one = 1, context = grid->context();
        const auto source = grid->describe_on_first(rows, columns), target = grid->describe(to.layout(), to.distance());
        Fortran<T>::pgemr2d(&m, &n, whole.data(), &one, &one, source.data(), to.data(), &one, &one, target.data(), &context);
    });
}

/// C = Q C (from the left) or C P^H (from the right) with the reflectors in A. Collective.
template <class T>
void apply_reflectors(const DistributedMatrix<T>& A, const std::vector<T>& tau, bool left, DistributedMatrix<T>& C, const BlacsGrid* grid) {
    const int rows = to_int(C.rows()), columns = to_int(C.columns()), k = to_int(left ? A.columns() : A.rows()), one = 1;
    const int lda = to_int(A.distance()), ldc = to_int(C.distance());
    const char *vect = left ? "Q" : "P", *side = left ? "L" : "R", *trans = left ? "N" : local::is_complex<T> ? "C" : "T";
    with_workspace(A, grid, "SVD", [&](T* work, const int* lwork, int* info) {
        if (grid == nullptr)
            Fortran<T>::ormbr(vect, side, trans, &rows, &columns, &k, A.data(), &lda, tau.data(), C.data(), &ldc, work, lwork, info, 1, 1,
                              1);
        else
            Fortran<T>::pormbr(vect, side, trans, &rows, &columns, &k, A.data(), &one, &one,
                               grid->describe(A.layout(), A.distance()).data(), tau.data(), C.data(), &one, &one,
                               grid->describe(C.layout(), C.distance()).data(), work, lwork, info, 1, 1, 1);
    });
}

}  // namespace

template <class T>
DenseSvd<T> svd_by_bidiagonal(DistributedMatrix<T>& A, const SvdCut& cut, bool U, bool Vh) {
    using R = real_of<T>;
    DenseSvd<T> result;
    const auto n = A.columns();
    if (n > 0) {
        const auto grid = make_grid(A.world(), A.layout());
        auto form = reduce(A, grid.get());
        const auto small = divide_and_conquer(A, form, U || Vh);
        A.world().communicator().broadcast(form.d.data(), n * std::int64_t{sizeof(R)}, A.layout().ranks[0]);
        result.s = std::move(form.d);
        result.kept = cut(result.s);
        if (U) {
            result.U.emplace(A.shared_world(), A.layout().resized(A.rows(), result.kept), "SVD");
            spread(small.U, n, n, result.kept, *result.U, grid.get());
            apply_reflectors(A, form.tau_q, true, *result.U, grid.get());
        }
        if (Vh) {
            result.Vh.emplace(A.shared_world(), A.layout().resized(result.kept, n), "SVD");
            spread(small.Vh, n, result.kept, n, *result.Vh, grid.get());
            apply_reflectors(A, form.tau_p, false, *result.Vh, grid.get());
        }
        return result;
    }
    if (U) result.U.emplace(A.shared_world(), A.layout().resized(A.rows(), 0), "SVD");
    if (Vh) result.Vh.emplace(A.shared_world(), A.layout().resized(0, n), "SVD");
    return result;
}

#define ARGES_INSTANTIATE(T) template DenseSvd<T> svd_by_bidiagonal(DistributedMatrix<T>&, const SvdCut&, bool, bool);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE
template std::int64_t SvdCut::operator()(const std::vector<float>&) const;
template std::int64_t SvdCut::operator()(const std::vector<double>&) const;
template double tail_norm(const std::vector<float>&, std::int64_t);
template double tail_norm(const std::vector<double>&, std::int64_t);

}  // namespace arges::linalg
