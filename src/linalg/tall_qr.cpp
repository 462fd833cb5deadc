// TSQR (Demmel, Grigori, Hoemmen, Langou, SIAM J. Sci. Comput. 34, 2012, section 4): blocks of rows that fit into a cache in sequence on
// each rank, then triangles in pairs along a binary tree over the ranks.
#include "linalg/tall_qr.hpp"

#include "base/math.hpp"
#include "linalg/fortran.hpp"
#include "local/scalar.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace arges::linalg {

namespace {

/// Columns that are factorized and applied at a time: more where there are many, as the products with them are then the larger
/// part.
std::int64_t panel(std::int64_t width) { return std::min<std::int64_t>(width, width < 256 ? 32 : 64); }
/// Bytes of a leaf, which is passed over many times.
constexpr std::int64_t leaf_bytes = 1 << 20;

template <class T>
constexpr const char* adjoint_letter = local::is_complex<T> ? "C" : "T";

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
    constexpr std::int64_t bytes = sizeof(T);
    held_r_.emplace(matrix.shared_world(), width_ * matrix.columns() * bytes, "QR", "R");
    held_.emplace(matrix.shared_world(), most_factor_elements() * bytes, "QR", "working arrays");
    Buffer<T> work;
    matrix.world().agree([&] {
        if (!matrix.takes_part()) return;
        work = Buffer<T>(panel(width_) * matrix.columns());
        factorize_leaves(work);
        allocate_rank_merges();
    });
    if (!matrix.takes_part()) return;
    merge_over_ranks(work);
    if (matrix.is_first()) make_diagonal_real();
}

/// Number of leaves of a rank.
template <class T>
std::int64_t TallQr<T>::leaf_count(std::int64_t rows) const {
    const auto n = matrix_.columns();
    const auto block = std::max<std::int64_t>(4 * n, leaf_bytes / (n * std::int64_t{sizeof(T)}));
    return std::max<std::int64_t>(1, rows / block);
}

/// Elements of reflectors, their factors and workspace on the rank with most of them, the same on every rank.
template <class T>
std::int64_t TallQr<T>::most_factor_elements() const {
    const auto grid_length = matrix_.layout().rows.grid_length, n = matrix_.columns();
    const auto leaves = leaf_count(std::max(matrix_.layout().rows.max_count(), grid_length > 1 ? n : 0));
    const auto merges = leaves - 1 + std::bit_width(static_cast<std::uint64_t>(grid_length - 1));
    const auto factors = panel(width_) * width_;
    return leaves * factors + merges * (width_ * width_ + factors) + panel(width_) * n;
}

template <class T>
void TallQr<T>::factorize_leaves(Buffer<T>& work) {
    const auto n = matrix_.columns();
    auto rows = matrix_.local_rows();
    if (!matrix_.layout().single() && rows < n) {  // fill up, so that each rank has a square triangle
        for (std::int64_t j = 0; j < n; ++j) std::fill(matrix_.column(j) + rows, matrix_.column(j) + n, T(0));
        rows = n;
    }
    const auto count = leaf_count(rows);
    const int nb = to_int(panel(width_)), columns = to_int(n), distance = to_int(matrix_.distance());
    for (std::int64_t l = 0; l < count; ++l) {
        Leaf leaf{rows * l / count, 0, Buffer<T>(nb * width_)};
        leaf.rows = rows * (l + 1) / count - leaf.first_row;
        const int m = to_int(leaf.rows);
        int info = 0;
        T* const first = matrix_.data() + leaf.first_row;
        Fortran<T>::geqrt(&m, &columns, &nb, first, &distance, leaf.factors.data(), &nb, work.data(), &info);
        auto own = triangle(first, matrix_.distance(), width_, n);
        if (l == 0) {
            r_ = std::move(own);
        } else {
            local_merges_.push_back({std::move(own), Buffer<T>(nb * width_)});
            merge(local_merges_.back(), work);
        }
        leaves_.push_back(std::move(leaf));
    }
}

/// The binary tree: a grid row with k low bits of zero takes the triangles of k others.
template <class T>
void TallQr<T>::allocate_rank_merges() {
    const auto grid_length = matrix_.layout().rows.grid_length, here = matrix_.position();
    for (std::int64_t step = 1; step < grid_length; step *= 2) {
        if (here % (2 * step) != 0) {
            parent_ = here - step;
            return;
        }
        if (here + step < grid_length)
            rank_merges_.emplace_back(here + step, Merge{Buffer<T>(width_ * width_), Buffer<T>(panel(width_) * width_)});
    }
}

template <class T>
void TallQr<T>::merge(Merge& lower, Buffer<T>& work) {
    const int n = to_int(width_), nb = to_int(panel(width_));
    int info = 0;
    Fortran<T>::tpqrt(&n, &n, &n, &nb, r_.data(), &n, lower.reflectors.data(), &n, lower.factors.data(), &nb, work.data(), &info);
}

template <class T>
void TallQr<T>::merge_over_ranks(Buffer<T>& work) {
    const auto& comm = matrix_.world().communicator();
    const auto piece = [&](std::int64_t row, Buffer<T>& triangle) {
        return Piece{matrix_.layout().ranks[row], reinterpret_cast<std::byte*>(triangle.data()),
                     static_cast<std::int64_t>(triangle.bytes())};
    };
    for (auto& [child, lower] : rank_merges_) {
        comm.exchange({}, {piece(child, lower.reflectors)});
        merge(lower, work);
    }
    if (parent_ >= 0) comm.exchange({piece(parent_, r_)}, {});
}

template <class T>
void TallQr<T>::make_diagonal_real() {
    phase_.assign(width_, T(1));
    for (std::int64_t i = 0; i < width_; ++i) {
        const T diagonal = r_[i + i * width_];
        const auto size = std::abs(diagonal);
        if (size == 0) continue;
        const T phase = diagonal / size;
        phase_[i] = phase;
        if (phase == T(1)) continue;
        for (std::int64_t j = i; j < matrix_.columns(); ++j) r_[i + j * width_] *= local::conjugate(phase);
        r_[i + i * width_] = size;
    }
}

template <class T>
Buffer<T> TallQr<T>::take_r() {
    held_r_.reset();
    auto result = std::move(r_);
    return matrix_.is_first() ? std::move(result) : Buffer<T>();  // elsewhere it is what was sent to the parent
}

template <class T>
void TallQr<T>::split(const Merge& merge, Columns& columns) const {
    const int n = to_int(width_), nb = to_int(panel(width_)), count = to_int(columns.count);
    columns.lower.zero();
    int info = 0;
    Fortran<T>::tpmqrt("L", "N", &n, &count, &n, &n, &nb, merge.reflectors.data(), &n, merge.factors.data(), &nb, columns.top.data(), &n,
                       columns.lower.data(), &n, columns.work.data(), &info, 1, 1);
}

/// target = Q_leaf target, block reflector by block reflector from the last; on a triangle the leading columns are zero where a
/// reflector acts.
template <class T>
void TallQr<T>::apply_leaf(const Leaf& leaf, T* target, std::int64_t distance, bool triangular, Columns& columns) const {
    const auto nb = panel(width_), count = columns.count;
    const int ldv = to_int(matrix_.distance()), ldt = to_int(nb), ldc = to_int(distance), ldwork = to_int(std::max<std::int64_t>(1, count));
    for (auto i = (width_ - 1) / nb * nb; i >= 0; i -= nb) {
        const auto skipped = triangular ? std::min(i, count) : 0;
        const int m = to_int(leaf.rows - i), n = to_int(count - skipped), k = to_int(std::min(nb, width_ - i));
        if (n == 0) continue;
        const T* const v = matrix_.data() + leaf.first_row + i + i * matrix_.distance();
        Fortran<T>::larfb("L", "N", "F", "C", &m, &n, &k, v, &ldv, leaf.factors.data() + i * nb, &ldt, target + i + skipped * distance,
                          &ldc, columns.work.data(), &ldwork, 1, 1, 1, 1);
    }
}

/// Takes the top at the first grid row down the tree, and applies the leaves.
template <class T>
void TallQr<T>::expand(Columns& columns, DistributedMatrix<T>& result) const {
    const auto& comm = matrix_.world().communicator();
    const auto piece = [&](std::int64_t row, Buffer<T>& data) {
        return Piece{matrix_.layout().ranks[row], reinterpret_cast<std::byte*>(data.data()), static_cast<std::int64_t>(data.bytes())};
    };
    if (parent_ >= 0) comm.exchange({}, {piece(parent_, columns.top)});
    for (auto m = rank_merges_.rbegin(); m != rank_merges_.rend(); ++m) {
        split(m->second, columns);
        comm.exchange({piece(m->first, columns.lower)}, {});
    }
    const bool triangular = columns.triangular && rank_merges_.empty() && local_merges_.empty() && parent_ < 0;
    const bool is_padded = columns.padded.size() > 0;
    const auto distance = is_padded ? leaves_.back().first_row + leaves_.back().rows : result.distance();
    T* const target = is_padded ? columns.padded.data() : result.data();
    for (std::size_t l = leaves_.size(); l-- > 0;) {
        if (l > 0) split(local_merges_[l - 1], columns);
        const T* const part = l > 0 ? columns.lower.data() : columns.top.data();
        const auto& leaf = leaves_[l];
        T* const first = target + leaf.first_row;
        for (std::int64_t j = 0; j < columns.count; ++j) {
            std::copy_n(part + j * width_, width_, first + j * distance);
            std::fill_n(first + j * distance + width_, leaf.rows - width_, T(0));
        }
        apply_leaf(leaf, first, distance, triangular, columns);
    }
    if (is_padded)
        for (std::int64_t j = 0; j < columns.count; ++j) std::copy_n(target + j * distance, result.local_rows(), result.column(j));
}

/// Q times what `fill_top` writes on the first rank. Collective.
template <class T>
template <class F>
void TallQr<T>::apply(DistributedMatrix<T>& result, bool triangular, F&& fill_top) const {
    if (width_ == 0) return;
    const auto count = result.columns(), n = matrix_.columns();
    const auto& rows = matrix_.layout().rows;
    bool pads = false;  // on some rank
    for (std::int64_t r = 0; r < rows.grid_length; ++r) pads = pads || (rows.grid_length > 1 && rows.count(r) < n);
    const auto elements = (2 * width_ + panel(width_) + (pads ? n : 0)) * count;
    const HeldMemory held(matrix_.shared_world(), elements * std::int64_t{sizeof(T)}, "QR", "working arrays");
    Columns columns{count, triangular, {}, {}, {}, {}};
    matrix_.world().agree([&] {
        if (!matrix_.takes_part()) return;
        columns.top = Buffer<T>::zeros(width_ * count);
        columns.lower = Buffer<T>(width_ * count);
        columns.work = Buffer<T>(panel(width_) * count);
        const auto last = leaves_.back().first_row + leaves_.back().rows;
        if (last > result.distance()) columns.padded = Buffer<T>(last * count);
        if (matrix_.is_first()) fill_top(columns.top);
    });
    if (matrix_.takes_part()) expand(columns, result);
}

template <class T>
void TallQr<T>::multiply(const T* right, DistributedMatrix<T>& result) const {
    apply(result, false, [&](Buffer<T>& top) {
        for (std::int64_t j = 0; j < result.columns(); ++j)
            for (std::int64_t i = 0; i < width_; ++i) top[i + j * width_] = local::multiply(phase_[i], right[i + j * width_]);
    });
}

template <class T>
void TallQr<T>::form(DistributedMatrix<T>& result) const {
    apply(result, true, [&](Buffer<T>& top) {
        for (std::int64_t i = 0; i < width_; ++i) top[i + i * width_] = phase_[i];
    });
}

template class TallQr<float>;
template class TallQr<double>;
template class TallQr<std::complex<float>>;
template class TallQr<std::complex<double>>;

}  // namespace arges::linalg
