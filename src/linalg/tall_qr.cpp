// TSQR (Demmel, Grigori, Hoemmen, Langou, SIAM J. Sci. Comput. 34, 2012, section 4): blocks of rows that fit into a cache in sequence on
// each rank, then triangles in pairs along a binary tree over the ranks.
#include "base/element_at.hpp"
#include "base/math.hpp"
#include "linalg/dense.hpp"

#include <algorithm>
#include <bit>

namespace arges::linalg {

namespace {

/// Columns that are factorized and applied at a time: more where there are many, as the products with them are then the larger
/// part.
std::int64_t panel(std::int64_t width) { return std::min<std::int64_t>(width, width < 256 ? 32 : 64); }
/// Bytes of a leaf, which is passed over many times.
constexpr std::int64_t leaf_bytes = 1 << 20;

/// Copies the upper triangle (trapezoid) of a block into a dense array, zero below.
Buffer<std::byte> triangle(const void* from, std::int64_t distance, std::int64_t rows, std::int64_t columns, std::int64_t bytes) {
    auto result = Buffer<std::byte>::zeros(rows * columns * bytes);
    for (std::int64_t j = 0; j < columns; ++j)
        copy_array(element_at(result.data(), j * rows, bytes), element_at(from, j * distance, bytes), std::min(rows, j + 1) * bytes,
                   nullptr);
    return result;
}

}  // namespace

TallQr::TallQr(DistributedMatrix& matrix) : matrix_(matrix), kernels_(matrix.kernels()), width_(std::min(matrix.rows(), matrix.columns())) {
    if (width_ == 0) return;
    const auto bytes = kernels_.size;
    held_r_.emplace(matrix.shared_world(), width_ * matrix.columns() * bytes, "QR", "R");
    held_.emplace(matrix.shared_world(), most_factor_elements() * bytes, "QR", "workspace");
    Buffer<std::byte> work;
    matrix.world().agree([&] {
        if (!matrix.takes_part()) return;
        work = array(panel(width_) * matrix.columns());
        factorize_leaves(work);
        allocate_rank_merges();
    });
    if (!matrix.takes_part()) return;
    merge_over_ranks(work);
    if (!matrix.is_first()) return;
    phase_ = array(width_);
    kernels_.make_diagonal_real(r_.data(), width_, matrix.columns(), phase_.data());
}

/// Number of leaves of a rank.
std::int64_t TallQr::leaf_count(std::int64_t rows) const {
    const auto n = matrix_.columns();
    const auto block = std::max<std::int64_t>(4 * n, leaf_bytes / (n * kernels_.size));
    return std::max<std::int64_t>(1, rows / block);
}

/// Elements of reflectors, their factors and workspace on the rank with most of them, the same on every rank.
std::int64_t TallQr::most_factor_elements() const {
    const auto grid_length = matrix_.layout().rows.grid_length, n = matrix_.columns();
    const auto leaves = leaf_count(std::max(matrix_.layout().rows.max_count(), grid_length > 1 ? n : 0));
    const auto merges = leaves - 1 + std::bit_width(static_cast<std::uint64_t>(grid_length - 1));
    const auto factors = panel(width_) * width_;
    return leaves * factors + merges * (width_ * width_ + factors) + panel(width_) * n;
}

void TallQr::factorize_leaves(Buffer<std::byte>& work) {
    const auto n = matrix_.columns();
    auto rows = matrix_.local_rows();
    if (!matrix_.layout().single() && rows < n) {  // fill up, so that each rank has a square triangle
        for (std::int64_t j = 0; j < n; ++j) matrix_.clear(rows, j, n - rows);
        rows = n;
    }
    const auto count = leaf_count(rows);
    const int nb = to_int(panel(width_)), columns = to_int(n), distance = to_int(matrix_.distance());
    for (std::int64_t l = 0; l < count; ++l) {
        Leaf leaf{rows * l / count, 0, array(nb * width_)};
        leaf.rows = rows * (l + 1) / count - leaf.first_row;
        const int m = to_int(leaf.rows);
        int info = 0;
        void* const first = matrix_.at(leaf.first_row, 0);
        kernels_.geqrt(&m, &columns, &nb, first, &distance, leaf.factors.data(), &nb, work.data(), &info);
        auto own = triangle(first, matrix_.distance(), width_, n, kernels_.size);
        if (l == 0) {
            r_ = std::move(own);
        } else {
            local_merges_.push_back({std::move(own), array(nb * width_)});
            merge(local_merges_.back(), work);
        }
        leaves_.push_back(std::move(leaf));
    }
}

/// The binary tree: a grid row with k low bits of zero takes the triangles of k others.
void TallQr::allocate_rank_merges() {
    const auto grid_length = matrix_.layout().rows.grid_length, here = matrix_.position();
    for (std::int64_t step = 1; step < grid_length; step *= 2) {
        if (here % (2 * step) != 0) {
            parent_ = here - step;
            return;
        }
        if (here + step < grid_length) rank_merges_.emplace_back(here + step, Merge{array(width_ * width_), array(panel(width_) * width_)});
    }
}

void TallQr::merge(Merge& lower, Buffer<std::byte>& work) {
    const int n = to_int(width_), nb = to_int(panel(width_));
    int info = 0;
    kernels_.tpqrt(&n, &n, &n, &nb, r_.data(), &n, lower.reflectors.data(), &n, lower.factors.data(), &nb, work.data(), &info);
}

void TallQr::merge_over_ranks(Buffer<std::byte>& work) {
    const auto& comm = matrix_.world().communicator();
    const auto piece = [&](std::int64_t row, Buffer<std::byte>& triangle) {
        return Piece{matrix_.layout().ranks[row], triangle.data(), triangle.size()};
    };
    for (auto& [child, lower] : rank_merges_) {
        comm.exchange({}, {piece(child, lower.reflectors)});
        merge(lower, work);
    }
    if (parent_ >= 0) comm.exchange({piece(parent_, r_)}, {});
}

Buffer<std::byte> TallQr::take_r() {
    held_r_.reset();
    auto result = std::move(r_);
    return matrix_.is_first() ? std::move(result) : Buffer<std::byte>();  // elsewhere it is what was sent to the parent
}

void TallQr::split(const Merge& merge, Columns& columns) const {
    const int n = to_int(width_), nb = to_int(panel(width_)), count = to_int(columns.count);
    columns.lower.zero();
    int info = 0;
    kernels_.tpmqrt("L", "N", &n, &count, &n, &n, &nb, merge.reflectors.data(), &n, merge.factors.data(), &nb, columns.top.data(), &n,
                    columns.lower.data(), &n, columns.work.data(), &info, 1, 1);
}

/// target = Q_leaf target, block reflector by block reflector from the last; on a triangle the leading columns are zero where a
/// reflector acts.
void TallQr::apply_leaf(const Leaf& leaf, void* target, std::int64_t distance, bool triangular, Columns& columns) const {
    const auto nb = panel(width_), count = columns.count;
    const int ldv = to_int(matrix_.distance()), ldt = to_int(nb), ldc = to_int(distance), ldwork = to_int(std::max<std::int64_t>(1, count));
    for (auto i = (width_ - 1) / nb * nb; i >= 0; i -= nb) {
        const auto skipped = triangular ? std::min(i, count) : 0;
        const int m = to_int(leaf.rows - i), n = to_int(count - skipped), k = to_int(std::min(nb, width_ - i));
        if (n == 0) continue;
        const void* const v = matrix_.at(leaf.first_row + i, i);
        kernels_.larfb("L", "N", "F", "C", &m, &n, &k, v, &ldv, element_at(leaf.factors.data(), i * nb, kernels_.size), &ldt,
                       element_at(target, i + skipped * distance, kernels_.size), &ldc, columns.work.data(), &ldwork, 1, 1, 1, 1);
    }
}

/// Takes the top at the first grid row down the tree, and applies the leaves.
void TallQr::expand(Columns& columns, DistributedMatrix& result) const {
    const auto& comm = matrix_.world().communicator();
    const auto piece = [&](std::int64_t row, Buffer<std::byte>& data) {
        return Piece{matrix_.layout().ranks[row], data.data(), data.size()};
    };
    if (parent_ >= 0) comm.exchange({}, {piece(parent_, columns.top)});
    for (auto m = rank_merges_.rbegin(); m != rank_merges_.rend(); ++m) {
        split(m->second, columns);
        comm.exchange({piece(m->first, columns.lower)}, {});
    }
    const bool triangular = columns.triangular && rank_merges_.empty() && local_merges_.empty() && parent_ < 0;
    const bool is_padded = columns.padded.size() > 0;
    const auto distance = is_padded ? leaves_.back().first_row + leaves_.back().rows : result.distance();
    const auto bytes = kernels_.size;
    auto* const target = is_padded ? columns.padded.data() : result.data();
    for (std::size_t l = leaves_.size(); l-- > 0;) {
        if (l > 0) split(local_merges_[l - 1], columns);
        const auto* const part = l > 0 ? columns.lower.data() : columns.top.data();
        const auto& leaf = leaves_[l];
        auto* const first = target + leaf.first_row * bytes;
        for (std::int64_t j = 0; j < columns.count; ++j) {
            auto* const column = first + j * distance * bytes;
            copy_array(column, part + j * width_ * bytes, width_ * bytes, nullptr);
            std::fill_n(column + width_ * bytes, (leaf.rows - width_) * bytes, std::byte{0});
        }
        apply_leaf(leaf, first, distance, triangular, columns);
    }
    if (is_padded)
        for (std::int64_t j = 0; j < columns.count; ++j)
            copy_array(result.at(0, j), target + j * distance * bytes, result.local_rows() * bytes, nullptr);
}

/// Q times what `fill_top` writes on the first rank. Collective.
void TallQr::apply(DistributedMatrix& result, bool triangular, const std::function<void(std::byte*)>& fill_top) const {
    if (width_ == 0) return;
    const auto count = result.columns(), n = matrix_.columns();
    const auto& rows = matrix_.layout().rows;
    bool pads = false;  // on some rank
    for (std::int64_t r = 0; r < rows.grid_length; ++r) pads = pads || (rows.grid_length > 1 && rows.count(r) < n);
    const auto elements = (2 * width_ + panel(width_) + (pads ? n : 0)) * count;
    const MatrixMemory held(matrix_.shared_world(), elements * kernels_.size, "QR", "workspace");
    Columns columns{count, triangular, {}, {}, {}, {}};
    matrix_.world().agree([&] {
        if (!matrix_.takes_part()) return;
        columns.top = Buffer<std::byte>::zeros(width_ * count * kernels_.size);
        columns.lower = array(width_ * count);
        columns.work = array(panel(width_) * count);
        const auto last = leaves_.back().first_row + leaves_.back().rows;
        if (last > result.distance()) columns.padded = array(last * count);
        if (matrix_.is_first()) fill_top(columns.top.data());
    });
    if (matrix_.takes_part()) expand(columns, result);
}

void TallQr::multiply(const void* right, DistributedMatrix& result) const {
    apply(result, false, [&](std::byte* top) {
        for (std::int64_t j = 0; j < result.columns(); ++j)
            kernels_.multiply(phase_.data(), false, element_at(right, j * width_, kernels_.size),
                              element_at(top, j * width_, kernels_.size), width_);
    });
}

void TallQr::form(DistributedMatrix& result) const {
    apply(result, true, [&](std::byte* top) {
        for (std::int64_t i = 0; i < width_; ++i)
            copy_element(element_at(top, i + i * width_, kernels_.size), element_at(phase_.data(), i, kernels_.size), kernels_.size);
    });
}

}  // namespace arges::linalg
