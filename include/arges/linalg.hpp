/// @file linalg.hpp
/// Linear algebra on matricizations of tensors: QR, SVD, eigenvalues, Cholesky, triangular and least-squares solves.
///
/// A matricization is a tensor whose labels have a bar: `T["ab|ij"]` is the matrix with rows (a, b) and columns (i, j), the first
/// label of each side fastest. Labels name the dimensions in their order; where the matrix has them in another order, an arrow
/// says so: `T["abij->bi|aj"]` has rows (b, i) and columns (a, j). With names of several letters: `T[{"a1", "a2", "|", "i1"}]`.
/// Symmetric tensors stand for the full matrix.
///
/// All functions are collective over the tensor's world and work on any number of ranks, for extents 0 and 1 too; where a matrix
/// is too small for all ranks, some of them wait. Operands are not changed. All functions throw InvalidArgument for labels
/// without a bar, with two of them, with an empty side, or that do not fit the tensor, and for matrices with elements that are
/// infinite or not a number; OutOfMemory if the matrix does not fit into the memory limit; and Unsupported if a local part has
/// more than 2^31 - 1 elements, or in a dry run. They are built for float, double, std::complex<float> and std::complex<double>; those
/// that take AnyTensor and AnyBlockCyclic refuse elements of other types.
#pragma once

#include "arges/tensor.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace arges {

/// Element types of matrices.
template <class T>
concept MatrixElement = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::complex<float>> ||
    std::is_same_v<T, std::complex<double>>;

/// How a factorization is spread. The defaults are chosen from shape and ranks.
struct MatrixGrid {
    std::int64_t rows = 0;     ///< rows of the grid of ranks; 0: chosen
    std::int64_t columns = 0;  ///< columns of the grid of ranks; 0: chosen
    std::int64_t block = 0;    ///< blocks of so many rows and columns are distributed; 0: chosen
};

/// Numbers that tell how good a factorization is; they cost about as much as forming the product of the factors.
struct MatrixChecks {
    /// |A - product of the factors| / |A|, Frobenius norms; for a truncated SVD this contains what was cut off.
    double residual = 0;
    double orthogonality = 0;  ///< largest |Q^H Q - 1| of the orthogonal factors that were computed, Frobenius norm
};

/// What qr() computes besides.
struct QrOptions {
    bool checks = false;   ///< fill QrResult::checks
    MatrixGrid grid = {};  ///< how the work is spread
};

/// A = Q R.
template <class TensorType>
struct QrOf {
    TensorType Q;           ///< extents of the rows of A, then k; Q^H Q = 1
    TensorType R;           ///< k, then the extents of the columns of A; zero below the diagonal
    MatrixChecks checks{};  ///< where they were asked for
};
using AnyQr = QrOf<AnyTensor>;  ///< Of elements whose type is known at run time.
template <class T>
using QrResult = QrOf<Tensor<T>>;  ///< Of elements of a type.

/// The QR factorization of a matricization, with k = min(rows, columns). The diagonal of R is real and not negative, which makes
/// the factors of a matrix of full rank unique. Tall matrices are factorized by TSQR (Demmel, Grigori, Hoemmen, Langou, SIAM J.
/// Sci. Comput. 34, 2012), others by ScaLAPACK, or by LAPACK where one rank is enough. Collective.
AnyQr qr(const AnyIndexedTensor& A, const QrOptions& options = {});
/// Likewise with a type.
template <MatrixElement T>
QrResult<T> qr(const IndexedTensor<T>& A, const QrOptions& options = {}) {
    auto [Q, R, checks] = qr(AnyIndexedTensor(A), options);
    return {Tensor<T>(std::move(Q)), Tensor<T>(std::move(R)), checks};
}

/// How an SVD is computed.
enum class SvdMethod : std::uint8_t {
    exact,      ///< all singular values and vectors, then cut
    randomized  ///< the leading ones, from products with random vectors; needs SvdOptions::rank
};

/// How much of an SVD is kept, and how it is computed.
struct SvdOptions {
    std::optional<std::int64_t> rank = {};  ///< keep at most so many singular values, at least 1
    double tolerance = 0;                   ///< cut as many as leave |A - U S Vh| <= tolerance |A| (Frobenius norms)
    double absolute_tolerance = 0;          ///< likewise with |A - U S Vh| <= absolute_tolerance; the larger bound counts
    bool left = true;                       ///< compute U; without it, less work
    bool right = true;                      ///< compute Vh; without it, less work
    SvdMethod method = SvdMethod::exact;    ///< how
    std::int64_t oversampling = 10;         ///< randomized: random vectors beyond the rank
    int power_iterations = 2;               ///< randomized: products with A^H and A; more make slowly falling values accurate
    std::uint64_t seed = 1;                 ///< randomized: of the random vectors; the same on any number of ranks
    bool checks = false;                    ///< fill SvdResult::checks
    MatrixGrid grid = {};                   ///< how the work is spread
};

/// A = U diag(s) Vh.
template <class TensorType, class Real>
struct SvdOf {
    TensorType U;           ///< extents of the rows of A, then r; U^H U = 1. No tensor where it was not wanted
    std::vector<Real> s;    ///< r singular values, falling, on every rank
    TensorType Vh;          ///< r, then the extents of the columns of A; Vh Vh^H = 1. No tensor where it was not wanted
    double discarded = 0;   ///< |A - U S Vh|, Frobenius norm: root of the sum of the squares of the singular values that were cut
    MatrixChecks checks{};  ///< where they were asked for
};
using AnySvd = SvdOf<AnyTensor, double>;  ///< Of elements whose type is known at run time.
template <class T>
using SvdResult = SvdOf<Tensor<T>, real_of<T>>;  ///< Of elements of a type.

/// The singular value decomposition of a matricization, whole or truncated; r is min(rows, columns), or less by rank and
/// tolerance (but at least 1 where there is a singular value). The vectors' phases are arbitrary. Tall and wide matrices are
/// reduced by TSQR first. Then: bidiagonal form, divide and conquer (Gu and Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995), and
/// back; absolute errors of singular values are of the order of round-off times the largest one. Randomized: Halko, Martinsson,
/// Tropp, SIAM Review 53 (2011), algorithms 4.4 and 5.1; A may then be sparse, and nothing as large as the matrix is made (its residual is
/// a difference of squares, and is not seen below the root of round-off). Collective.
/// @throws InvalidArgument for a rank below 1, a negative tolerance, a randomized SVD without a rank, or an exact one of a sparse tensor
AnySvd svd(const AnyIndexedTensor& A, const SvdOptions& options = {});
/// Likewise with a type.
template <MatrixElement T>
SvdResult<T> svd(const IndexedTensor<T>& A, const SvdOptions& options = {}) {
    auto [U, s, Vh, discarded, checks] = svd(AnyIndexedTensor(A), options);
    return {Tensor<T>(std::move(U)), {s.begin(), s.end()}, Tensor<T>(std::move(Vh)), discarded, checks};
}

/// Which eigenvalues eigh() returns, and what besides.
struct EighOptions {
    bool vectors = true;                     ///< compute eigenvectors
    std::int64_t first = 0;                  ///< number of the first eigenvalue to return, counted from the smallest, from 0
    std::optional<std::int64_t> count = {};  ///< how many to return; all that follow
    bool symmetric = false;  ///< the caller's word that A = A^H: the part below the diagonal is read, and nothing is checked
    bool checks = false;     ///< fill EighResult::checks
    MatrixGrid grid = {};    ///< how the work is spread
};

/// A V = V diag(values).
template <class TensorType, class Real>
struct EighOf {
    std::vector<Real> values;  ///< n eigenvalues, ascending, on every rank
    TensorType vectors;        ///< extents of the rows of A, then n; column k belongs to values[k]. No tensor where they were not wanted
    MatrixChecks checks{};     ///< where they were asked for; the residual is |A V - V diag(values)| / |A|
};
using AnyEigh = EighOf<AnyTensor, double>;  ///< Of elements whose type is known at run time.
template <class T>
using EighResult = EighOf<Tensor<T>, real_of<T>>;  ///< Of elements of a type.

/// Eigenvalues and eigenvectors of a symmetric (complex: Hermitian) matricization. Rows and columns have equal extents, label by
/// label. Without the caller's word, a matrix whose symmetry does not follow from the tensor's is compared with its adjoint. By
/// tridiagonal form and divide and conquer (Tisseur and Dongarra, SIAM J. Sci. Comput. 20, 1999); all eigenvalues are computed,
/// whatever the range. Collective.
/// @throws InvalidArgument if the matrix is not square or not symmetric to round-off, or the range is not within it
AnyEigh eigh(const AnyIndexedTensor& A, const EighOptions& options = {});
/// Likewise with a type.
template <MatrixElement T>
EighResult<T> eigh(const IndexedTensor<T>& A, const EighOptions& options = {}) {
    auto [values, vectors, checks] = eigh(AnyIndexedTensor(A), options);
    return {{values.begin(), values.end()}, Tensor<T>(std::move(vectors)), checks};
}

/// The Cholesky factor L of a symmetric (Hermitian) positive definite matricization A = L L^H, with the extents of A's rows and
/// columns; zero above the diagonal. Only the part of A below the diagonal is read. Collective.
/// @throws InvalidArgument if the matrix is not square, or not positive definite; the message names the leading minor
AnyTensor cholesky(const AnyIndexedTensor& A, const MatrixGrid& grid = {});
/// Likewise with a type.
template <MatrixElement T>
Tensor<T> cholesky(const IndexedTensor<T>& A, const MatrixGrid& grid = {}) {
    return Tensor<T>(cholesky(AnyIndexedTensor(A), grid));
}

/// Solves A X = B for a symmetric (Hermitian) positive definite A, by Cholesky: `solve_positive(A["ab|cd"], B["ab|k"])` has the
/// extents of (c, d, k). The rows of B have the labels of the rows of A, in any order. Only the part of A below the diagonal is
/// read. Collective.
/// @throws InvalidArgument as cholesky(), or if the labels of the rows of A and B differ, or their element types
AnyTensor solve_positive(const AnyIndexedTensor& A, const AnyIndexedTensor& B, const MatrixGrid& grid = {});
/// Likewise with a type.
template <MatrixElement T>
Tensor<T> solve_positive(const IndexedTensor<T>& A, const IndexedTensor<T>& B, const MatrixGrid& grid = {}) {
    return Tensor<T>(solve_positive(AnyIndexedTensor(A), AnyIndexedTensor(B), grid));
}

/// On which side of the unknown a matrix stands.
enum class Side : std::uint8_t { left, right };
/// Which triangle of a matrix is read.
enum class Triangle : std::uint8_t { lower, upper };
/// What a matrix is taken as.
enum class Operation : std::uint8_t { none, transposed, adjoint };

/// Which triangular system is solved.
struct TriangularOptions {
    Side side = Side::left;                 ///< left: op(A) X = B; right: X op(A) = B
    Triangle triangle = Triangle::lower;    ///< the other one is not read
    Operation operation = Operation::none;  ///< op
    bool unit_diagonal = false;             ///< the diagonal is not read, and taken to be 1
    MatrixGrid grid = {};                   ///< how the work is spread
};

/// Solves op(A) X = B or X op(A) = B with a triangular matricization A. From the left B is `B["ab|k"]` with the labels of the
/// rows of op(A), and X has the extents of op(A)'s columns in their place; from the right B is `B["k|ab"]` with the labels of the
/// columns of op(A). Collective.
/// @throws InvalidArgument if A is not square, labels or element types differ, or the diagonal has a zero, whose place the message gives
AnyTensor solve_triangular(const AnyIndexedTensor& A, const AnyIndexedTensor& B, const TriangularOptions& options = {});
/// Likewise with a type.
template <MatrixElement T>
Tensor<T> solve_triangular(const IndexedTensor<T>& A, const IndexedTensor<T>& B, const TriangularOptions& options = {}) {
    return Tensor<T>(solve_triangular(AnyIndexedTensor(A), AnyIndexedTensor(B), options));
}

/// How least squares are solved.
struct LeastSquaresOptions {
    /// Singular values up to this times the largest count as zero; negative: round-off times the longer side.
    double tolerance = -1;
    MatrixGrid grid = {};  ///< how the work is spread
};

/// The solution of a least-squares problem.
template <class TensorType>
struct LeastSquaresOf {
    TensorType X;           ///< extents of A's columns, then those of B's columns
    std::int64_t rank = 0;  ///< of A
    double residual = 0;    ///< |A X - B|, Frobenius norm
};
using AnyLeastSquares = LeastSquaresOf<AnyTensor>;  ///< Of elements whose type is known at run time.
template <class T>
using LeastSquaresResult = LeastSquaresOf<Tensor<T>>;  ///< Of elements of a type.

/// The X of least norm that makes |A X - B| least: `least_squares(A["ab|ij"], B["ab|k"])`; the rows of B have the labels of the
/// rows of A. By QR (for wide matrices of the adjoint) where R shows full rank, else by SVD. Collective.
/// @throws InvalidArgument if labels or element types differ
AnyLeastSquares least_squares(const AnyIndexedTensor& A, const AnyIndexedTensor& B, const LeastSquaresOptions& options = {});
/// Likewise with a type.
template <MatrixElement T>
LeastSquaresResult<T> least_squares(const IndexedTensor<T>& A, const IndexedTensor<T>& B, const LeastSquaresOptions& options = {}) {
    auto [X, rank, residual] = least_squares(AnyIndexedTensor(A), AnyIndexedTensor(B), options);
    return {Tensor<T>(std::move(X)), rank, residual};
}

/// How the ranks of a world are numbered on a grid.
enum class GridOrder : std::uint8_t {
    row_major,    ///< rank = row * columns + column
    column_major  ///< rank = row + rows * column
};

/// @cond
template <class T>
inline constexpr ElementType element_of_view = element_type_of<T>();
template <>
inline constexpr ElementType element_of_view<void> = ElementType::float64;
template <class T>
struct BlockCyclic;
namespace linalg {
std::array<std::int64_t, 2> local_shape(const BlockCyclic<void>& view);
}
/// @endcond

/// A view of the caller's matrix, distributed in blocks over a grid of ranks as ScaLAPACK does; nothing is copied. Element (i, j)
/// is with the rank in grid row (i / row_block + row_source) mod grid_rows and grid column (j / column_block + column_source) mod
/// grid_columns, in an array with the first index fastest. A whole matrix on one rank: leave everything but data, rows and
/// columns as it is. A cyclic matrix: blocks of 1. Shape and grid must be the same on all ranks; ranks beyond the grid have no
/// data.
///
/// Functions that take a view work directly on its array. They need square blocks and sources 0, and where several views
/// take part, the same blocks, grid and element type.
template <class T>
struct BlockCyclic {
    World world;                                                    ///< the first grid_rows * grid_columns ranks have the matrix
    T* data = nullptr;                                              ///< this rank's part; may be null where that is empty
    std::int64_t rows = 0;                                          ///< of the whole matrix
    std::int64_t columns = 0;                                       ///< of the whole matrix
    std::int64_t row_block = 64;                                    ///< rows of a block
    std::int64_t column_block = 64;                                 ///< columns of a block
    std::int64_t grid_rows = 1;                                     ///< of the grid of ranks
    std::int64_t grid_columns = 1;                                  ///< of the grid of ranks
    GridOrder order = GridOrder::row_major;                         ///< how ranks are numbered on it
    std::int64_t row_source = 0;                                    ///< grid row of the first block
    std::int64_t column_source = 0;                                 ///< grid column of the first block
    std::int64_t leading_dimension = 0;                             ///< distance of columns in the array; 0: the number of local rows
    ElementType element = element_of_view<std::remove_const_t<T>>;  ///< to be set where T is void, and there only

    /// Rows that this rank has. Local.
    std::int64_t local_rows() const { return linalg::local_shape(BlockCyclic<void>(*this))[0]; }
    /// Columns that this rank has. Local.
    std::int64_t local_columns() const { return linalg::local_shape(BlockCyclic<void>(*this))[1]; }
    /// The same view, as functions take it; that of elements which may not be changed where that is asked for.
    explicit(std::is_const_v<T>) operator BlockCyclic<void>() const requires MatrixElement<std::remove_const_t<T>> {
        return {world,         const_cast<std::remove_const_t<T>*>(data),
                rows,          columns,
                row_block,     column_block,
                grid_rows,     grid_columns,
                order,         row_source,
                column_source, leading_dimension,
                element};
    }
};
/// A view of elements whose type is known at run time.
using AnyBlockCyclic = BlockCyclic<void>;

/// A matrix of the caller as a tensor of order 2. On one rank one copy is made, else elements move once. Collective.
/// @throws InvalidArgument for a null pointer, a leading dimension below the number of local rows, a block below 1, a grid that
///         is larger than the world, a source outside of the grid
AnyTensor from_block_cyclic(const AnyBlockCyclic& matrix, const std::string& name = "");
/// Likewise with a type.
template <class T>
requires MatrixElement<std::remove_const_t<T>> Tensor<std::remove_const_t<T>> from_block_cyclic(const BlockCyclic<T>& matrix,
                                                                                                const std::string& name = "") {
    return Tensor<std::remove_const_t<T>>(from_block_cyclic(AnyBlockCyclic(matrix), name));
}
/// Writes a matrix of the caller into a matricization of equal shape, for example `from_block_cyclic(matrix, T["ab|ij"])`. The
/// tensor has no symmetry. Collective.
/// @throws InvalidArgument as above, or if shapes, element types or worlds differ, or the tensor has symmetry
void from_block_cyclic(const AnyBlockCyclic& matrix, const AnyIndexedTensor& target);
/// Likewise with a type.
template <class T>
requires MatrixElement<std::remove_const_t<T>>
void from_block_cyclic(const BlockCyclic<T>& matrix, const IndexedTensor<std::remove_const_t<T>>& target) {
    from_block_cyclic(AnyBlockCyclic(matrix), AnyIndexedTensor(target));
}
/// Writes a matricization into the caller's array. Collective.
/// @throws InvalidArgument as from_block_cyclic()
void to_block_cyclic(const AnyIndexedTensor& source, const AnyBlockCyclic& matrix);
/// Likewise with a type.
template <MatrixElement T>
void to_block_cyclic(const IndexedTensor<T>& source, const BlockCyclic<T>& matrix) {
    to_block_cyclic(AnyIndexedTensor(source), AnyBlockCyclic(matrix));
}
/// A tensor from an array that every rank has, whole, first index fastest; no communication (Tensor::gather() is the way back).
/// @throws InvalidArgument if the number of values is not the product of the extents
AnyTensor from_replicated(ElementType element, const World& world, std::vector<std::int64_t> extents, const void* values,
                          std::int64_t count, const std::string& name = "");
/// Likewise with a type.
template <MatrixElement T>
Tensor<T> from_replicated(const World& world, std::vector<std::int64_t> extents, std::span<const T> values, const std::string& name = "") {
    return Tensor<T>(from_replicated(element_type_of<T>(), world, std::move(extents), values.data(), std::ssize(values), name));
}

/// QR in place: `A` becomes Q (its first min(rows, columns) columns) and `R` is written, min(rows, columns) x columns.
/// Collective.
void qr(const AnyBlockCyclic& A, const AnyBlockCyclic& R);
/// SVD: `U` (rows x k) and `Vh` (k x columns) are written, with k = min(rows, columns); `A` is destroyed. Returns the singular
/// values. Collective.
std::vector<double> svd(const AnyBlockCyclic& A, const AnyBlockCyclic& U, const AnyBlockCyclic& Vh);
/// Likewise with a type.
template <MatrixElement T>
std::vector<real_of<T>> svd(const BlockCyclic<T>& A, const BlockCyclic<T>& U, const BlockCyclic<T>& Vh) {
    const auto s = svd(AnyBlockCyclic(A), AnyBlockCyclic(U), AnyBlockCyclic(Vh));
    return {s.begin(), s.end()};
}
/// Eigenvalues, ascending; `vectors` is written and `A`, of which the part below the diagonal is read, is destroyed. Collective.
std::vector<double> eigh(const AnyBlockCyclic& A, const AnyBlockCyclic& vectors);
/// Likewise with a type.
template <MatrixElement T>
std::vector<real_of<T>> eigh(const BlockCyclic<T>& A, const BlockCyclic<T>& vectors) {
    const auto values = eigh(AnyBlockCyclic(A), AnyBlockCyclic(vectors));
    return {values.begin(), values.end()};
}
/// Cholesky in place: the part of `A` below the diagonal, with it, becomes L; the rest is left as it is. Collective.
/// @throws InvalidArgument if `A` is not positive definite; the message names the leading minor
void cholesky(const AnyBlockCyclic& A);
/// Solves a positive definite system in place: `B` becomes X, and `A` its Cholesky factor. Collective.
void solve_positive(const AnyBlockCyclic& A, const AnyBlockCyclic& B);
/// Solves a triangular system in place: `B` becomes X. Collective. TriangularOptions::grid is that of the views.
void solve_triangular(const AnyBlockCyclic& A, const AnyBlockCyclic& B, const TriangularOptions& options = {});

}  // namespace arges
