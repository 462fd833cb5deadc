/// Factorizations of distributed matrices, in place: by LAPACK where one rank has the matrix, else by ScaLAPACK, or by TSQR. All
/// are collective over the ranks of the world, also over those that have no part of the matrix, and throw the same exception on
/// every rank.
#pragma once

#include "linalg/blacs_grid.hpp"
#include "linalg/distributed_matrix.hpp"

#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace arges::linalg {

/// The grid of a layout for ScaLAPACK; null where one rank has the matrix. Collective.
std::unique_ptr<BlacsGrid> make_grid(const WorldState& world, const MatrixLayout& layout);

/// Elements (i, i + shift) for 0 <= i < count, on every rank. Collective.
std::vector<std::complex<double>> diagonal_values(const DistributedMatrix& matrix, std::int64_t count, std::int64_t shift = 0);

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
