"""Linear algebra on matricizations: tensors whose labels have a bar.

``svd(T["ab|ij"])`` takes T as the matrix with rows (a, b) and columns (i, j); ``T["abij->bi|aj"]`` names the dimensions first. A tensor of order
2 is its own matrix, and need not be labelled. Tensors are dense, of floating-point types; operands are not changed. All functions are
collective, and raise InvalidArgument for labels that do not fit and for elements that are infinite or NaN, OutOfMemory if the matrix does not fit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._tensor import Tensor, asarray, world_of
from .statements import Indexed


class QrResult(NamedTuple):
    """A = Q R."""

    Q: Tensor
    R: Tensor


class SvdResult(NamedTuple):
    """A = U diag(S) Vh; S is an array on every rank, U and Vh are None where they were not wanted."""

    U: Any
    S: Any
    Vh: Any


class EighResult(NamedTuple):
    """A V = V diag(eigenvalues); eigenvalues, ascending, are an array on every rank."""

    eigenvalues: Any
    eigenvectors: Any


def _matrix(a: Any, what: str) -> tuple[_core.Handle, str]:
    world = a.tensor.world if isinstance(a, Indexed) else world_of((a,))

    def prepare() -> tuple[_core.Handle, str]:
        if isinstance(a, Indexed):
            if not isinstance(a.labels, str):
                raise _core.InvalidArgument(f'{what}: labels of a matricization are a text such as "ab|ij"')
            return a.tensor._h, a.labels
        own = asarray(a, world=world)
        if own.ndim != 2:
            raise _core.InvalidArgument(f'{what} of a tensor of order {own.ndim}: say which labels are rows, as in A["ab|ij"]')
        return own._h, "i|j"

    return world.agree(prepare)


def qr(a: Any, /, *, mode: str = "reduced") -> QrResult:
    """The QR factorization with k = min(rows, columns) columns of Q; the diagonal of R is real and not negative.

    Q has the extents of the rows of A, then k; R has k, then the extents of the columns.
    """
    handle, labels = _matrix(a, "qr")
    if mode != "reduced":
        raise _core.Unsupported(f'qr: mode {mode!r}; the factors are those of "reduced"')
    q, r = _core.qr(handle, labels)
    return QrResult(Tensor._of(q), Tensor._of(r))


def svd(
    a: Any,
    /,
    *,
    full_matrices: bool = False,
    rank: int | None = None,
    tolerance: float = 0,
    vectors: bool = True,
    randomized: bool = False,
    seed: int = 1,
) -> SvdResult:
    """The singular value decomposition, whole or truncated.

    rank: keep at most so many singular values. tolerance: cut as many as leave |A - U S Vh| <= tolerance |A| (Frobenius norms).
    randomized: the leading ones, from products with random vectors; needs a rank, and A may be sparse.
    U has the extents of the rows of A, then r; Vh has r, then those of the columns.
    """
    handle, labels = _matrix(a, "svd")
    if full_matrices and len(set(handle.shape)) > 1:
        raise _core.Unsupported("svd with full_matrices of a matrix that is not square; the vectors of singular values are computed")
    u, s, vh, _ = _core.svd(handle, labels, rank, float(tolerance), bool(vectors), bool(randomized), int(seed))
    return SvdResult(u and Tensor._of(u), s, vh and Tensor._of(vh))


def svdvals(a: Any, /) -> np.ndarray:
    """The singular values, falling, on every rank."""
    return svd(a, vectors=False).S


def eigh(a: Any, /, *, vectors: bool = True, first: int = 0, count: int | None = None) -> EighResult:
    """Eigenvalues and eigenvectors of a symmetric (Hermitian) matrix: all, or `count` from number `first` on."""
    handle, labels = _matrix(a, "eigh")
    values, found = _core.eigh(handle, labels, bool(vectors), int(first), count)
    return EighResult(values, found and Tensor._of(found))


def eigvalsh(a: Any, /) -> np.ndarray:
    """The eigenvalues of a symmetric (Hermitian) matrix, ascending, on every rank."""
    return eigh(a, vectors=False).eigenvalues


def cholesky(a: Any, /, *, upper: bool = False) -> Tensor:
    """The factor L of a positive definite A = L L^H, of which the part below the diagonal is read; upper: its adjoint."""
    handle, labels = _matrix(a, "cholesky")
    factor = Tensor._of(_core.cholesky(handle, labels))
    return factor if not upper else _adjoint(factor)


def _adjoint(matrix: Tensor) -> Tensor:
    from ._functions import conj, permute_dims

    half = matrix.ndim // 2
    return conj(permute_dims(matrix, (*range(half, matrix.ndim), *range(half))))


def solve_positive(a: Any, b: Any, /) -> Tensor:
    """The X with A X = B for a positive definite A: ``solve_positive(A["ab|cd"], B["ab|k"])`` has the extents of (c, d, k)."""
    left, rows = _matrix(a, "solve_positive")
    right, columns = _matrix(b, "solve_positive")
    return Tensor._of(_core.solve_positive(left, rows, right, columns if isinstance(b, Indexed) else "i|k"))


def solve_triangular(
    a: Any, b: Any, /, *, upper: bool = False, right: bool = False, transposed: bool = False, adjoint: bool = False, unit_diagonal: bool = False
) -> Tensor:
    """The X with op(A) X = B, or X op(A) = B (right), for a triangular A of which only that triangle is read."""
    left, rows = _matrix(a, "solve_triangular")
    other, columns = _matrix(b, "solve_triangular")
    if not isinstance(b, Indexed):
        flipped = transposed or adjoint
        columns = ("k|i" if flipped else "k|j") if right else ("j|k" if flipped else "i|k")
    operation = 2 if adjoint else 1 if transposed else 0
    return Tensor._of(_core.solve_triangular(left, rows, other, columns, right, upper, operation, unit_diagonal))


def lstsq(a: Any, b: Any, /, *, tolerance: float = -1) -> tuple[Tensor, int, float]:
    """The X of least norm that makes |A X - B| least, the rank of A, and |A X - B|.

    tolerance: singular values up to this times the largest count as zero; negative: round-off times the longer side.
    """
    left, rows = _matrix(a, "lstsq")
    right, columns = _matrix(b, "lstsq")
    x, rank, residual = _core.least_squares(left, rows, right, columns if isinstance(b, Indexed) else "i|k", float(tolerance))
    return Tensor._of(x), rank, residual


def solve(a: Any, b: Any, /) -> Tensor:
    """The X with A X = B of a square matrix A, by QR."""
    from ._functions import reshape

    matrix = asarray(a)
    other = asarray(b, world=matrix.world)

    def check() -> None:
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise _core.InvalidArgument(f"solve with a matrix of shape {matrix.shape}; it must be square")

    matrix.world.agree(check)
    columns = reshape(other, (other.shape[0], 1)) if other.ndim == 1 else other
    q, r = qr(matrix)
    found = solve_triangular(r["i|j"], (_adjoint(q) @ columns)["i|k"], upper=True)
    return reshape(found, (found.shape[0],)) if other.ndim == 1 else found


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """Norms of vectors along some axes, or of all elements."""
    from . import _functions as f

    own = asarray(x)
    size = f.apply(np.abs, own)
    if ord == np.inf:
        return f.max(size, axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return f.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return f.count_nonzero(size, axis=axis, keepdims=keepdims).astype(size.dtype)
    power = f.sum(f.apply(lambda a: a**ord, size, dtype=size.dtype), axis=axis, keepdims=keepdims)
    return f.apply(lambda a: a ** (1 / ord), power, dtype=size.dtype)


def matrix_norm(x: Any, /) -> float:
    """The Frobenius norm."""
    return asarray(x).norm()


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """Sums of diagonals of the last two dimensions."""
    from . import _functions as f

    return f.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def diagonal(x: Any, /, *, offset: int = 0) -> Tensor:
    """Diagonals of the last two dimensions, as the last one of the result."""
    own = asarray(x)
    rows, columns = own.shape[-2:]
    first, second = max(0, -offset), max(0, offset)
    length = max(0, min(rows - first, columns - second))
    part = own[(..., slice(first, first + length), slice(second, second + length))]
    names = [f"d{d}" for d in range(own.ndim - 1)]
    return Tensor._of(_core.einsum([part._h], [[*names, names[-1]]], names))


def outer(x1: Any, x2: Any, /) -> Tensor:
    """All products of the elements of two vectors."""
    from ._einsum import einsum

    return einsum("i,j->ij", x1, x2)


def matmul(x1: Any, x2: Any, /) -> Tensor:
    """arges.matmul()."""
    from ._functions import matmul as product

    return product(x1, x2)


def matrix_transpose(x: Any, /) -> Tensor:
    """The last two dimensions exchanged."""
    from ._functions import matrix_transpose as transposed

    return transposed(asarray(x))


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Tensor:
    """arges.tensordot()."""
    from ._functions import tensordot as product

    return product(x1, x2, axes=axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """arges.vecdot()."""
    from ._functions import vecdot as product

    return product(x1, x2, axis=axis)


def matrix_rank(x: Any, /, *, rtol: float | None = None) -> int:
    """Number of singular values over rtol times the largest; without: round-off times the longer side."""
    own = asarray(x)
    values = svdvals(own)
    if rtol is None:
        rtol = max(own.shape) * float(np.finfo(own.dtype).eps)
    return int((values > rtol * values.max(initial=0)).sum())


def pinv(x: Any, /, *, rtol: float | None = None) -> Tensor:
    """The pseudoinverse of a matrix, by SVD."""
    own = asarray(x)
    u, s, vh = svd(own)
    if rtol is None:
        rtol = max(own.shape) * float(np.finfo(own.dtype).eps)
    inverse = np.where(s > rtol * s.max(initial=0), 1 / np.where(s > 0, s, 1), 0)
    return (_adjoint(vh) * asarray(inverse.astype(own.dtype), world=own.world)) @ _adjoint(u)


def inv(x: Any, /) -> Tensor:
    """The inverse of a square matrix."""
    from ._functions import eye

    own = asarray(x)
    return solve(own, eye(own.shape[0], dtype=own.dtype, world=own.world))

