/// QR of tall matrices whose rows are spread over ranks: TSQR (Demmel, Grigori, Hoemmen, Langou, SIAM J. Sci. Comput. 34, 2012,
/// section 4).
#pragma once

#include "linalg/distributed_matrix.hpp"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace arges::linalg {

/// Blocks of rows that fit into a cache are factorized, and their triangles are merged in pairs: in sequence on a rank, along a
/// binary tree over the ranks. Which rows are where does not matter. The world's account has the factors as long as this lives.
class TallQr {
public:
    /// Factorizes. The grid has one column; on several ranks the local array has room for at least as many rows as columns (see
    /// least_rows()), and the matrix at least as many rows as columns. The matrix must stay where it is. Collective over all
    /// ranks.
    /// @throws OutOfMemory on every rank
    explicit TallQr(DistributedMatrix& matrix);

    /// The `least_rows` that the matrix needs.
    static std::int64_t least_rows(std::int64_t columns, const MatrixLayout& layout) { return layout.single() ? 0 : columns; }
    /// k = min(rows, columns).
    std::int64_t width() const { return width_; }
    /// R, k x columns, with a real diagonal that is not negative; on the first rank of the grid, column-major.
    const Buffer<std::byte>& r() const { return r_; }
    /// Gives R away, with its account; empty but on the first rank. On all ranks.
    Buffer<std::byte> take_r();
    /// Q times a k x columns matrix that the first rank gives, column-major (elsewhere null). The result has the layout of the
    /// matrix. Collective. @throws OutOfMemory on every rank
    void multiply(const void* right, DistributedMatrix& result) const;
    /// Q. Collective. @throws OutOfMemory on every rank
    void form(DistributedMatrix& result) const;

private:
    /// Q as block reflectors below the diagonal of a block of the matrix, and their triangular factors.
    struct Leaf {
        std::int64_t first_row = 0, rows = 0;
        Buffer<std::byte> factors;
    };
    /// Two triangles that became one; the lower one has been replaced by reflectors.
    struct Merge {
        Buffer<std::byte> reflectors, factors;
    };
    /// What expand() works on.
    struct Columns {
        std::int64_t count;
        bool triangular;               ///< `top` is an upper triangle
        Buffer<std::byte> top, lower;  ///< width x count, for the triangles that merges split
        Buffer<std::byte> padded;      ///< where a rank has fewer rows than its triangle
        Buffer<std::byte> work;
    };
    std::int64_t leaf_count(std::int64_t rows) const;
    std::int64_t most_factor_elements() const;
    void factorize_leaves(Buffer<std::byte>& work);
    void allocate_rank_merges();
    void merge(Merge& lower, Buffer<std::byte>& work);
    void merge_over_ranks(Buffer<std::byte>& work);
    void apply(DistributedMatrix& result, bool triangular, const std::function<void(std::byte*)>& fill_top) const;
    void split(const Merge& merge, Columns& columns) const;
    void expand(Columns& columns, DistributedMatrix& result) const;
    void apply_leaf(const Leaf& leaf, void* target, std::int64_t distance, bool triangular, Columns& columns) const;

    Buffer<std::byte> array(std::int64_t count) const { return Buffer<std::byte>(count * kernels_.size); }

    DistributedMatrix& matrix_;
    const MatrixKernels& kernels_;
    std::int64_t width_ = 0;
    std::vector<Leaf> leaves_;
    std::vector<Merge> local_merges_;                          ///< of the triangles of leaf 1, 2, ... into that of leaf 0
    std::vector<std::pair<std::int64_t, Merge>> rank_merges_;  ///< with the grid row that the lower triangle came from
    std::int64_t parent_ = -1;                                 ///< grid row that this rank's triangle went to
    std::optional<HeldMemory> held_, held_r_;
    Buffer<std::byte> r_;
    Buffer<std::byte> phase_;  ///< Q of the reflectors times these is Q; on the first rank
};

}  // namespace arges::linalg
