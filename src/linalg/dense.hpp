/// Factorizations of distributed matrices, in place: by LAPACK where one rank has the matrix, else by ScaLAPACK, or by TSQR. All
/// are collective over the ranks of the world, also over those that have no part of the matrix, and throw the same exception on
/// every rank.
#pragma once

#include "linalg/distributed_matrix.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace arges::linalg {

/// Where a matrix is factorized.
struct Placement {
    MatrixLayout layout;
    bool tall = false;  ///< rows are spread over ranks and columns are not, for TallQr
};

/// What is computed of a matrix.
enum class Purpose : std::uint8_t { qr, svd };

/// Chooses between TSQR, ScaLAPACK and one rank. For TSQR rows stay on the ranks that have them, if the tensor is spread along
/// its rows only.
/// @param labels rows are the longer side for TSQR to be chosen
Placement choose_placement(const Layout& tensor, const Matricization& labels, std::int64_t ranks, const MatrixGrid& wanted,
                           Purpose purpose);

/// A layout with everything on one rank.
MatrixLayout on_one_rank(std::int64_t rows, std::int64_t columns, std::int64_t rank = 0);

/// A matrix in another layout. Collective.
DistributedMatrix moved(DistributedMatrix&& matrix, const World& world, const MatrixLayout& layout);

/// QR of a tall matrix whose rows are spread over ranks: TSQR (Demmel, Grigori, Hoemmen, Langou, SIAM J. Sci. Comput. 34, 2012, section 4).
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
    std::optional<MatrixMemory> held_, held_r_;
    Buffer<std::byte> r_;
    Buffer<std::byte> phase_;  ///< Q of the reflectors times these is Q; on the first rank
};

/// QR on a grid: the first k = min(rows, columns) columns of A become Q, and R (k x columns, same blocks and grid as A) is
/// written. The diagonal of R is real and not negative.
void qr_on_grid(DistributedMatrix& A, DistributedMatrix& R);

/// Which singular values and vectors are wanted.
struct SvdCut {
    std::optional<std::int64_t> rank;
    double tolerance = 0, absolute_tolerance = 0;

    /// Number of singular values that are kept.
    std::int64_t operator()(const std::vector<double>& s) const;
};

/// Root of the sum of squares of values from `first` on.
double tail_norm(const std::vector<double>& values, std::int64_t first);

/// A singular value decomposition; U and Vh are there where they were wanted.
struct DenseSvd {
    std::vector<double> s;  ///< all of them, on every rank
    std::int64_t kept = 0;  ///< columns of U and rows of Vh
    std::optional<DistributedMatrix> U, Vh;
};

/// SVD of a matrix with at least as many rows as columns, on one rank or a grid; A is destroyed. `U` and `Vh` say what is wanted.
DenseSvd svd_by_bidiagonal(DistributedMatrix& A, const SvdCut& cut, bool U, bool Vh);

/// Eigenvalues, ascending, on every rank, of the Hermitian matrix whose lower part is in A, which is destroyed; `vectors` (same
/// layout) is written if it is not null.
std::vector<double> eigh_dense(DistributedMatrix& A, DistributedMatrix* vectors);

/// Cholesky factor of the Hermitian matrix whose lower part is in A, in its place. @throws InvalidArgument naming the leading
/// minor that is not positive
void cholesky_dense(DistributedMatrix& A, const std::string& text);

/// B becomes the solution of a triangular system. @throws InvalidArgument if the diagonal has a zero
void solve_triangular_dense(const DistributedMatrix& A, DistributedMatrix& B, const TriangularOptions& options, const std::string& text);

}  // namespace arges::linalg
