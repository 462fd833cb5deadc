#include "linalg/tall_qr.hpp"

#include "base/instantiate.hpp"
#include "linalg/fortran.hpp"
#include "local/scalar.hpp"

#include <algorithm>
#include <cmath>

namespace arges::linalg {

namespace {

/// Columns that are factorized and applied at a time: more where there are many, as the products with them are then the larger part.
std::int64_t panel(std::int64_t width) { return std::min<std::int64_t>(width, width < 256 ? 32 : 64); }
/// Bytes of a leaf, which is passed over many times.
constexpr std::int64_t leaf_bytes = 1 << 20;

template <class T>
constexpr const char* adjoint_letter = local::is_complex<T> ? "C" : "T";

int narrow(std::int64_t n) { return static_cast<int>(n); }

/// Copies the upper triangle (trapezoid) of a block into a dense array, zero below.
template <class T>
Buffer<T> triangle(const T* from, std::int64_t distance, std::int64_t rows, std::int64_t columns) {
    auto result = Buffer<T>::zeros(rows * columns);
    for (std::int64_t j = 0; j < columns; ++j) std::copy_n(from + j * distance, std::min(rows, j + 1), result.data() + j * rows);
    return result;
}

}  // namespace

template <class T>
TallQr<T>::TallQr(DistributedMatrix<T>& matrix) : matrix_(matrix), width_(std::min(matrix.rows(), matrix.columns())) {
    if (width_ == 0) return;
    matrix.world().agree([&] {
        if (matrix.takes_part()) factorize_leaves();
    });
    if (!matrix.takes_part()) return;
    merge_over_ranks();
    if (matrix.is_first()) make_diagonal_real();
}

template <class T>
void TallQr<T>::factorize_leaves() {
    const auto n = matrix_.columns();
    auto rows = matrix_.local_rows();
    if (!matrix_.layout().single() && rows < n) {  // fill up, so that each rank has a square triangle
        for (std::int64_t j = 0; j < n; ++j) std::fill(matrix_.column(j) + rows, matrix_.column(j) + n, T(0));
        rows = n;
    }
    const auto block = std::max<std::int64_t>(4 * n, leaf_bytes / (n * static_cast<std::int64_t>(sizeof(T))));
    const auto count = std::max<std::int64_t>(1, rows / block);
    const int nb = narrow(panel(width_)), columns = narrow(n), distance = narrow(matrix_.distance());
    Buffer<T> work(nb * n);
    for (std::int64_t l = 0; l < count; ++l) {
        Leaf leaf{rows * l / count, 0, Buffer<T>(nb * width_)};
        leaf.rows = rows * (l + 1) / count - leaf.first_row;
        const int m = narrow(leaf.rows);
        int info = 0;
        T* const first = matrix_.data() + leaf.first_row;
        Fortran<T>::geqrt(&m, &columns, &nb, first, &distance, leaf.factors.data(), &nb, work.data(), &info);
        auto own = triangle(first, matrix_.distance(), width_, n);
        if (l == 0)
            r_ = std::move(own);
        else
            local_merges_.push_back(merge(std::move(own)));
        leaves_.push_back(std::move(leaf));
    }
}

template <class T>
typename TallQr<T>::Merge TallQr<T>::merge(Buffer<T> lower) {
    const int n = narrow(width_), nb = narrow(panel(width_));
    Merge result{std::move(lower), Buffer<T>(nb * width_)};
    Buffer<T> work(nb * width_);
    int info = 0;
    Fortran<T>::tpqrt(&n, &n, &n, &nb, r_.data(), &n, result.reflectors.data(), &n, result.factors.data(), &nb, work.data(), &info);
    return result;
}

template <class T>
void TallQr<T>::merge_over_ranks() {
    const auto places = matrix_.layout().rows.places, here = matrix_.layout().position(matrix_.world().rank());
    const auto bytes = width_ * width_ * static_cast<std::int64_t>(sizeof(T));
    const auto& ranks = matrix_.layout().ranks;
    for (std::int64_t step = 1; step < places; step *= 2) {
        const auto& comm = matrix_.world().communicator();
        if (here % (2 * step) != 0) {
            parent_ = here - step;
            comm.exchange({{ranks[static_cast<std::size_t>(parent_)], reinterpret_cast<std::byte*>(r_.data()), bytes}}, {});
            return;
        }
        const auto child = here + step;
        if (child >= places) continue;
        Buffer<T> lower(width_ * width_);
        comm.exchange({}, {{ranks[static_cast<std::size_t>(child)], reinterpret_cast<std::byte*>(lower.data()), bytes}});
        rank_merges_.emplace_back(child, merge(std::move(lower)));
    }
}

template <class T>
void TallQr<T>::make_diagonal_real() {
    phase_.assign(static_cast<std::size_t>(width_), T(1));
    for (std::int64_t i = 0; i < width_; ++i) {
        const T diagonal = r_[i + i * width_];
        const auto size = std::abs(diagonal);
        if (size == 0) continue;
        const T phase = diagonal / size;
        phase_[static_cast<std::size_t>(i)] = phase;
        if (phase == T(1)) continue;
        for (std::int64_t j = i; j < matrix_.columns(); ++j) r_[i + j * width_] *= local::conjugate(phase);
        r_[i + i * width_] = size;
    }
}

template <class T>
void TallQr<T>::split(const Merge& merge, T* upper, T* lower, std::int64_t columns) const {
    const int n = narrow(width_), nb = narrow(panel(width_)), count = narrow(columns);
    std::fill_n(lower, width_ * columns, T(0));
    Buffer<T> work(nb * columns);
    int info = 0;
    Fortran<T>::tpmqrt("L", "N", &n, &count, &n, &n, &nb, merge.reflectors.data(), &n, merge.factors.data(), &nb, upper, &n, lower, &n, work.data(), &info,
                       1, 1);
}

/// columns = Q_leaf columns, block reflector by block reflector from the last; on a triangle the leading columns are zero where a reflector acts.
template <class T>
void TallQr<T>::apply_leaf(const Leaf& leaf, T* columns, std::int64_t distance, std::int64_t count, bool triangular) const {
    const auto nb = panel(width_);
    const int ldv = narrow(matrix_.distance()), ldt = narrow(nb), ldc = narrow(distance);
    Buffer<T> work(nb * std::max<std::int64_t>(1, count));
    const int ldwork = narrow(std::max<std::int64_t>(1, count));
    for (auto i = (width_ - 1) / nb * nb; i >= 0; i -= nb) {
        const auto skipped = triangular ? std::min(i, count) : 0;
        const int m = narrow(leaf.rows - i), n = narrow(count - skipped), k = narrow(std::min(nb, width_ - i));
        if (n == 0) continue;
        const T* const v = matrix_.data() + leaf.first_row + i + i * matrix_.distance();
        Fortran<T>::larfb("L", "N", "F", "C", &m, &n, &k, v, &ldv, leaf.factors.data() + i * nb, &ldt, columns + i + skipped * distance, &ldc, work.data(),
                          &ldwork, 1, 1, 1, 1);
    }
}

/// Takes a width x columns array at the first place down the tree, and applies the leaves.
template <class T>
void TallQr<T>::expand(Buffer<T> top, std::int64_t columns, bool triangular, DistributedMatrix<T>& result) const {
    const auto& comm = matrix_.world().communicator();
    const auto& ranks = matrix_.layout().ranks;
    const auto bytes = width_ * columns * static_cast<std::int64_t>(sizeof(T));
    const auto piece = [&](std::int64_t place, Buffer<T>& data) { return Piece{ranks[static_cast<std::size_t>(place)], reinterpret_cast<std::byte*>(data.data()), bytes}; };
    if (parent_ >= 0) comm.exchange({}, {piece(parent_, top)});
    Buffer<T> lower(width_ * columns);
    for (auto m = rank_merges_.rbegin(); m != rank_merges_.rend(); ++m) {
        split(m->second, top.data(), lower.data(), columns);
        comm.exchange({piece(m->first, lower)}, {});
    }
    triangular = triangular && rank_merges_.empty() && local_merges_.empty() && parent_ < 0;
    const auto rows = leaves_.back().first_row + leaves_.back().rows;
    Buffer<T> padded;  // where a rank has fewer rows than its triangle
    T* target = result.data();
    auto distance = result.distance();
    if (rows > result.distance()) {
        padded = Buffer<T>(rows * columns);
        target = padded.data();
        distance = rows;
    }
    for (std::size_t l = leaves_.size(); l-- > 0;) {
        const T* part = top.data();
        if (l > 0) {
            split(local_merges_[l - 1], top.data(), lower.data(), columns);
            part = lower.data();
        }
        const auto& leaf = leaves_[l];
        T* const first = target + leaf.first_row;
        for (std::int64_t j = 0; j < columns; ++j) {
            std::copy_n(part + j * width_, width_, first + j * distance);
            std::fill_n(first + j * distance + width_, leaf.rows - width_, T(0));
        }
        apply_leaf(leaf, first, distance, columns, triangular);
    }
    if (padded.size() > 0)
        for (std::int64_t j = 0; j < columns; ++j) std::copy_n(target + j * distance, result.local_rows(), result.column(j));
}

template <class T>
void TallQr<T>::multiply(const T* right, DistributedMatrix<T>& result) const {
    if (!matrix_.takes_part() || width_ == 0) return;
    const auto columns = result.columns();
    Buffer<T> top(width_ * columns);
    if (matrix_.is_first())
        for (std::int64_t j = 0; j < columns; ++j)
            for (std::int64_t i = 0; i < width_; ++i) top[i + j * width_] = local::multiply(phase_[static_cast<std::size_t>(i)], right[i + j * width_]);
    expand(std::move(top), columns, false, result);
}

template <class T>
void TallQr<T>::form(DistributedMatrix<T>& result) const {
    if (!matrix_.takes_part() || width_ == 0) return;
    auto top = Buffer<T>::zeros(width_ * width_);
    if (matrix_.is_first())
        for (std::int64_t i = 0; i < width_; ++i) top[i + i * width_] = phase_[static_cast<std::size_t>(i)];
    expand(std::move(top), width_, true, result);
}

template class TallQr<float>;
template class TallQr<double>;
template class TallQr<std::complex<float>>;
template class TallQr<std::complex<double>>;

}  // namespace arges::linalg
