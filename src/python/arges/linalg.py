"""Linear algebra on matricizations: tensors whose labels have a bar.

``svd(T["ab|ij"])`` takes T as the matrix with rows (a, b) and columns (i, j); ``T["abij->bi|aj"]`` names the dimensions first. A tensor without
labels is a matrix, or of higher order a stack of matrices, its last two dimensions, which are taken one after the other. Tensors are dense;
integers are taken as float64; operands are not changed. All functions are collective, and raise InvalidArgument for labels that do not fit and
for elements that are infinite or NaN, OutOfMemory if the matrix does not fit.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Callable, NamedTuple, TypeVar

import numpy as np

from . import _core, _reductions
from ._creation import eye
from ._elementwise import conj, elementwise, exp
from ._making import asarray, together, world_of, zeros
from ._places import _axes, _indices, _keys_of, _raise, reshape
from ._products import matmul as matmul, tensordot as tensordot, vecdot as vecdot  # "as": names of this module, too
from ._reductions import _of_one_number
from ._shapes import _everywhere, broadcast_arrays, broadcast_to, concat, permute_dims, stack, unstack
from ._shapes import matrix_transpose as matrix_transpose
from ._tensor import Tensor
from ._types import DTYPES, float64, whole
from .statements import Indexed


Result = TypeVar("Result")


class QrResult(NamedTuple):
    """A = Q R."""

    Q: Tensor
    R: Tensor


class SvdResult(NamedTuple):
    """A = U diag(S) Vh; S is an array on every rank, U and Vh are None where they were not wanted."""

    U: Any
    S: np.ndarray
    Vh: Any


class EighResult(NamedTuple):
    """A V = V diag(eigenvalues); eigenvalues, ascending, are an array on every rank."""

    eigenvalues: np.ndarray
    eigenvectors: Any


class SlogdetResult(NamedTuple):
    """det A = sign exp(logabsdet)."""

    sign: Tensor
    logabsdet: Tensor


def _floating(a: Any) -> Tensor:
    own = asarray(a)
    return own if own.dtype.kind in "fc" else own.astype(float64)


def _matrix(a: Any, what: str) -> tuple[_core.Handle, str]:
    own = a.tensor if isinstance(a, Indexed) else _floating(a)

    def prepare() -> tuple[_core.Handle, str]:
        if isinstance(a, Indexed):
            if not isinstance(a.labels, str):
                raise _core.InvalidArgument(f'{what}: labels of a matricization are a text such as "ab|ij"')
            return own._h, a.labels
        if own.ndim != 2:
            raise _core.InvalidArgument(f'{what} of a tensor of order {own.ndim}: say which labels are rows, as in A["ab|ij"]')
        return own._h, "i|j"

    return own.world.agree(prepare)


def _is_stack(a: Any) -> bool:
    return not isinstance(a, Indexed) and np.ndim(a) > 2


def _of_each(function: Callable[..., Result], *stacks: Any) -> Result:
    """What a function gives of the matrices of stacks, which broadcast, as stacks: tensors, arrays, or a tuple of both."""
    world = world_of(stacks)
    tensors = [_floating(a) for a in together(*stacks)]
    shape = world.agree(lambda: np.broadcast_shapes(*(a.shape[:-2] for a in tensors)))
    wide = [broadcast_to(a, shape + a.shape[-2:]) for a in tensors]
    # An empty stack has the shapes of what a matrix of it would give.
    found: list[Any] = [function(*(a[index] for a in wide)) for index in np.ndindex(shape)] or [
        function(*(eye(*a.shape[-2:], dtype=a.dtype, world=world) for a in wide))
    ]

    def joined(parts: tuple[Any, ...]) -> Any:
        first = parts[0]
        if first is None:
            return None
        if not isinstance(first, Tensor):
            return np.stack(parts)[: int(np.prod(shape))].reshape(shape + np.shape(first))
        if 0 in shape:
            return zeros(shape + first.shape, first.dtype, world=world)
        return reshape(stack(parts), shape + first.shape)

    kind: Any = type(found[0])
    result: Result = kind(*map(joined, zip(*found))) if issubclass(kind, tuple) else joined(tuple(found))
    return result


_SMALL = 1 << 18  # elements of a matrix that one rank takes by itself


def _of_shares(function: Callable[..., np.ndarray], *stacks: Tensor) -> Tensor | None:
    """The same where each rank takes a share of many small matrices, by a function of arrays of them; None where they are few, or large.
    Collective."""
    world = stacks[0].world
    shape = world.agree(lambda: np.broadcast_shapes(*(a.shape[:-2] for a in stacks)))
    count = math.prod(shape)
    if world.is_dry_run or count < max(world.size, 1) or any(math.prod(a.shape[-2:]) > _SMALL for a in stacks):
        return None
    wide = [broadcast_to(a, shape + a.shape[-2:]) if a.shape[:-2] != shape else a for a in stacks]
    mine = np.arange(count * world.rank // world.size, count * (world.rank + 1) // world.size)

    def keys(extents: tuple[int, ...]) -> np.ndarray:
        inner = math.prod(extents[len(shape) :])
        return _keys_of(_indices((mine[:, np.newaxis] * inner + np.arange(inner)).ravel(), extents), extents, len(mine) * inner)

    if world.size == 1:
        arrays = [np.ascontiguousarray(a.numpy()).reshape(count, *a.shape[-2:]) for a in wide]
    else:
        arrays = [a.read(keys(a.shape)).reshape(len(mine), *a.shape[-2:]) for a in wide]

    def run() -> np.ndarray:
        if not all(np.isfinite(a).all() for a in arrays):
            raise _core.InvalidArgument(f"{function.__name__} of matrices with elements that are infinite or NaN")
        try:
            return function(*arrays)
        except np.linalg.LinAlgError as error:
            raise _core.InvalidArgument(f"{function.__name__}: {error} in a stack") from None

    found = world.agree(run, same=False)
    extents = shape + found.shape[1:]
    if world.size == 1:
        return asarray(found.reshape(extents), copy=True, world=world)
    result = zeros(extents, found.dtype, world=world)
    result.write(keys(extents), found.ravel())
    return result


def _real(dtype: np.dtype) -> np.dtype:
    return np.dtype(dtype.char.lower()) if dtype.kind == "c" else dtype


def _complement(basis: Tensor, dimension: int) -> Tensor:
    """Orthonormal columns that complete those of a matrix to `dimension` of them."""
    rows, columns = basis.shape
    start = zeros((rows, dimension - columns), basis.dtype, world=basis.world).fill_random(7)
    for _ in range(3):
        start = qr(start - basis @ (_adjoint(basis) @ start)).Q
    return start


def qr(a: Any, /, *, mode: str = "reduced") -> QrResult:
    """The QR factorization with k = min(rows, columns) columns of Q; the diagonal of R is real and not negative.

    Q has the extents of the rows of A, then k; R has k, then the extents of the columns. mode "complete": of a matrix, Q is square.
    """
    if _is_stack(a):
        return _of_each(lambda own: qr(own, mode=mode), a)
    handle, labels = _matrix(a, "qr")

    def check() -> None:
        if mode not in ("reduced", "complete"):
            raise ValueError(f'qr: mode {mode!r}; use "reduced" or "complete"')
        if mode == "complete" and isinstance(a, Indexed):
            raise _core.Unsupported('qr: mode "complete" of a labelled tensor; the factors are those of "reduced"')

    world_of((a.tensor if isinstance(a, Indexed) else a,)).agree(check)
    q, r = (Tensor._of(own) for own in _core.qr(handle, labels))
    missing = handle.shape[0] - q.shape[-1]
    if mode == "complete" and missing > 0:
        q = concat([q, _complement(q, q.shape[0])], axis=1)
        r = concat([r, zeros((missing, r.shape[1]), r.dtype, world=r.world)])
    return QrResult(q, r)


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

    full_matrices: of a matrix, U and Vh are square. Other than in the array API standard this is not so by default, for a long matrix has no
    room for it.
    rank: keep at most so many singular values. tolerance: cut as many as leave |A - U S Vh| <= tolerance |A| (Frobenius norms).
    randomized: the leading ones, from products with random vectors; needs a rank, and A may be sparse.
    U has the extents of the rows of A, then r; Vh has r, then those of the columns.
    """
    if _is_stack(a):
        options: dict[str, Any] = {"full_matrices": full_matrices, "rank": rank, "vectors": vectors, "randomized": randomized, "seed": seed}
        if tolerance:
            error = _core.Unsupported("svd with a tolerance of a stack of matrices, which would keep several numbers of values")
            world_of((a,)).agree(lambda: _raise(error))
        return _of_each(lambda own: svd(own, **options), a)
    handle, labels = _matrix(a, "svd")

    def prepare() -> tuple[int | None, float, int]:
        if full_matrices and (isinstance(a, Indexed) or rank is not None or tolerance or randomized):
            raise _core.Unsupported("svd with full_matrices of a labelled tensor, or of a part of the singular values")
        return None if rank is None else whole("rank", rank), float(tolerance), whole("seed", seed)

    number, cut, start = world_of((a.tensor if isinstance(a, Indexed) else a,)).agree(prepare)
    u, s, vh, _ = _core.svd(handle, labels, number, cut, bool(vectors), bool(randomized), start)
    u, vh = u and Tensor._of(u), vh and Tensor._of(vh)
    if full_matrices and u is not None:
        rows, columns = handle.shape
        if rows > len(s):
            u = concat([u, _complement(u, rows)], axis=1)
        if columns > len(s):
            vh = concat([vh, _adjoint(_complement(_adjoint(vh), columns))])
    return SvdResult(u, s.astype(_real(DTYPES[handle.element])), vh)


def svdvals(a: Any, /) -> np.ndarray:
    """The singular values, falling, on every rank."""
    return svd(a, vectors=False).S


def eigh(a: Any, /, *, vectors: bool = True, first: int = 0, count: int | None = None) -> EighResult:
    """Eigenvalues and eigenvectors of a symmetric (Hermitian) matrix: all, or `count` from number `first` on."""
    if _is_stack(a):
        return _of_each(lambda own: eigh(own, vectors=vectors, first=first, count=count), a)
    handle, labels = _matrix(a, "eigh")
    values, found = _core.eigh(handle, labels, bool(vectors), int(first), count)
    return EighResult(values.astype(_real(DTYPES[handle.element])), found and Tensor._of(found))


def eigvalsh(a: Any, /) -> np.ndarray:
    """The eigenvalues of a symmetric (Hermitian) matrix, ascending, on every rank."""
    return eigh(a, vectors=False).eigenvalues


def cholesky(a: Any, /, *, upper: bool = False) -> Tensor:
    """The factor L of a positive definite A = L L^H, of which the part below the diagonal is read; upper: its adjoint."""
    if _is_stack(a):
        return _of_each(lambda own: cholesky(own, upper=upper), a)
    handle, labels = _matrix(a, "cholesky")
    factor = Tensor._of(_core.cholesky(handle, labels))
    return factor if not upper else _adjoint(factor)


def _adjoint(matrix: Tensor) -> Tensor:
    """Of a matricization with as many row as column dimensions."""
    half = matrix.ndim // 2
    return conj(permute_dims(matrix, (*range(half, matrix.ndim), *range(half))))


def solve_positive(a: Any, b: Any, /) -> Tensor:
    """The X with A X = B for a positive definite A: ``solve_positive(A["ab|cd"], B["ab|k"])`` has the extents of (c, d, k)."""
    left, rows = _matrix(a, "solve_positive")
    right, columns = _matrix(b, "solve_positive")
    return Tensor._of(_core.solve_positive(left, rows, right, columns if isinstance(b, Indexed) else "i|k"))


def solve_triangular(
    a: Any,
    b: Any,
    /,
    *,
    upper: bool = False,
    right: bool = False,
    transposed: bool = False,
    adjoint: bool = False,
    unit_diagonal: bool = False,
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
    """The X with A X = B of a square matrix A, by QR. B is a vector if it is of order 1, else a matrix or a stack."""
    matrix, other = map(_floating, together(a, b))

    def prepare() -> np.dtype:
        _require_square(matrix, "solve")
        if other.ndim == 0 or other.shape[-2 if other.ndim > 1 else 0] != matrix.shape[-1]:
            raise _core.InvalidArgument(f"solve with a matrix of shape {matrix.shape} and a right-hand side of shape {other.shape}")
        return np.result_type(matrix.dtype, other.dtype)

    common = matrix.world.agree(prepare)
    matrix, other = matrix.astype(common, copy=False), other.astype(common, copy=False)
    if other.ndim == 1:
        column = solve(matrix, reshape(other, (-1, 1)))
        return reshape(column, column.shape[:-1])
    if matrix.ndim > 2 or other.ndim > 2:
        found = _of_shares(np.linalg.solve, matrix, other)
        return _of_each(solve, matrix, other) if found is None else found
    q, r = qr(matrix)
    return solve_triangular(r["i|j"], (_adjoint(q) @ other)["i|k"], upper=True)


def _require_square(matrix: Tensor, what: str) -> None:
    """Local."""
    if matrix.ndim < 2 or matrix.shape[-2] != matrix.shape[-1]:
        raise _core.InvalidArgument(f"{what} of a tensor of shape {matrix.shape}; it must be a square matrix, or a stack of them")


_PANEL = 64  # columns that every rank holds while it looks for pivots


def slogdet(x: Any, /) -> SlogdetResult:
    """Sign of the determinant of a square matrix and logarithm of its magnitude, by elimination with row pivots."""
    own = _floating(x)
    own.world.agree(lambda: _require_square(own, "slogdet"))
    if own.ndim > 2:
        return _of_each(slogdet, own)
    sign, total = own.dtype.type(1), 0.0
    while own.shape[0] > 0 and sign != 0:
        rows = own.shape[0]
        width = min(_PANEL, rows)
        panel = own[:, :width].numpy(copy=True)
        order = np.arange(rows)
        for j in range(width):
            pivot = j + int(np.argmax(np.abs(panel[j:, j])))
            if pivot != j:
                panel[[j, pivot]], order[[j, pivot]] = panel[[pivot, j]], order[[pivot, j]]
                sign = -sign
            size = np.abs(panel[j, j])
            if size == 0:
                sign, total = own.dtype.type(0), -np.inf
                break
            sign, total = sign * (panel[j, j] / size), total + np.log(size)
            panel[j + 1 :, j] /= panel[j, j]
            panel[j + 1 :, j + 1 :] -= np.outer(panel[j + 1 :, j], panel[j, j + 1 :])
        if width == rows or sign == 0:
            break
        right = own[order, width:]
        factor = asarray(np.tril(panel[:width], -1), world=own.world)
        top = solve_triangular(factor, right[:width], unit_diagonal=True)
        own = right[width:] - asarray(panel[width:], world=own.world) @ top
    world = own.world
    return SlogdetResult(asarray(np.asarray(sign, own.dtype), world=world), asarray(np.asarray(total, _real(own.dtype)), world=world))


def det(x: Any, /) -> Tensor:
    """The determinant of a square matrix."""
    sign, size = slogdet(x)
    return sign * exp(size)


def matrix_power(x: Any, n: int, /) -> Tensor:
    """The n-th power of a square matrix; a negative one is that of its inverse."""
    own = asarray(x)

    def prepare() -> int:
        _require_square(own, "matrix_power")
        return operator.index(n)

    power = own.world.agree(prepare)
    if power < 0:
        own, power = inv(own), -power
    result: Tensor | None = None
    while power > 0:
        if power % 2:
            result = own if result is None else matmul(result, own)
        power //= 2
        own = matmul(own, own) if power else own
    if result is None:
        return broadcast_to(eye(own.shape[-1], dtype=own.dtype, world=own.world), own.shape)
    return result.copy()


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """Vector products of vectors of three elements along an axis."""
    a, b = broadcast_arrays(*together(x1, x2))

    def prepare() -> int:
        place = _axes(a.ndim, operator.index(axis))[0]
        if a.shape[place] != 3:
            raise ValueError(f"cross along a dimension of {a.shape[place]} elements; vectors of three are multiplied")
        return place

    place = a.world.agree(prepare)
    left, right = unstack(a, axis=place), unstack(b, axis=place)
    return stack([left[(d + 1) % 3] * right[(d + 2) % 3] - left[(d + 2) % 3] * right[(d + 1) % 3] for d in range(3)], axis=place)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """Norms of vectors along some axes, or of all elements."""
    own = _floating(x)
    if axis is None and ord in ((2,) if own.is_sparse else (1, 2, np.inf)):
        return _of_one_number(own, own.norm(ord), _real(own.dtype), keepdims)
    size = elementwise(np.abs, own)
    if ord == np.inf:
        return _reductions.max(size, axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return _reductions.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return _reductions.count_nonzero(size, axis=axis, keepdims=keepdims).astype(size.dtype)
    power = _reductions.sum(elementwise(lambda a: a**ord, size, dtype=size.dtype), axis=axis, keepdims=keepdims)
    return elementwise(lambda a: a ** (1 / ord), power, dtype=size.dtype)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Norms of matrices: "fro" (Frobenius), "nuc" (sum of singular values), 1, -1, 2, -2, inf, -inf."""
    own = _floating(x)

    def check() -> None:
        if own.ndim < 2:
            raise _core.InvalidArgument(f"matrix_norm of a tensor of order {own.ndim}")
        if ord not in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
            raise ValueError(f'matrix_norm with ord={ord!r}; use "fro", "nuc", 1, -1, 2, -2, inf or -inf')

    own.world.agree(check)
    if ord == "fro":
        result = vector_norm(own, axis=None if own.ndim == 2 else (-2, -1))
    elif ord in ("nuc", 2, -2):
        values = svdvals(own)
        kept = values.sum(axis=-1) if ord == "nuc" else values.max(axis=-1, initial=0) if ord == 2 else values.min(axis=-1)
        result = asarray(np.asarray(kept), world=own.world)
    else:
        sums = _reductions.sum(elementwise(np.abs, own), axis=-2 if abs(ord) == 1 else -1)
        result = (_reductions.max if ord > 0 else _reductions.min)(sums, axis=-1)
    return reshape(result, (*result.shape, 1, 1)) if keepdims else result


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """Sums of diagonals of the last two dimensions."""
    return _reductions.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def diagonal(x: Any, /, *, offset: int = 0) -> Tensor:
    """Diagonals of the last two dimensions, as the last one of the result."""
    own = asarray(x)

    def prepare() -> tuple[int, int, int]:
        if own.ndim < 2:
            raise _core.InvalidArgument(f"diagonal of a tensor of order {own.ndim}")
        first, second = max(0, -operator.index(offset)), max(0, offset)
        return first, second, max(0, min(own.shape[-2] - first, own.shape[-1] - second))

    first, second, length = own.world.agree(prepare)
    part = own[(..., slice(first, first + length), slice(second, second + length))]
    names = [f"d{d}" for d in range(own.ndim - 1)]
    return Tensor._of(_core.einsum([part._h], [[*names, names[-1]]], names))


def outer(x1: Any, x2: Any, /) -> Tensor:
    """All products of the elements of two vectors."""
    a, b = together(x1, x2)
    wrong = f"outer of tensors of orders {a.ndim} and {b.ndim}; both must be vectors"
    a.world.agree(lambda: None if a.ndim == b.ndim == 1 else _raise(_core.InvalidArgument(wrong)))
    if a.is_sparse and b.is_sparse:
        return Tensor._of(_core.einsum([a._h, b._h], [["i"], ["j"]], ["i", "j"]))
    return reshape(a, (-1, 1)) * reshape(b, (1, -1))


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Tensor:
    """Number of singular values over rtol times the largest; without: round-off times the longer side."""
    own = _floating(x)
    return asarray(np.asarray(_is_large(svdvals(own), own, rtol).sum(axis=-1)), world=own.world)


def _is_large(values: np.ndarray, matrix: Tensor, rtol: Any) -> Any:
    if rtol is None:
        rtol = max(matrix.shape[-2:]) * np.finfo(matrix.dtype).eps
    bound = np.asarray(_everywhere(rtol))[..., np.newaxis] * values.max(axis=-1, initial=0, keepdims=True)
    return values > bound


def pinv(x: Any, /, *, rtol: Any = None) -> Tensor:
    """The pseudoinverse of a matrix, by SVD; rtol as in matrix_rank()."""
    own = _floating(x)
    u, s, vh = svd(own)
    inverse = np.where(_is_large(s, own, rtol), 1 / np.where(s > 0, s, 1), 0)[..., np.newaxis, :].astype(own.dtype)
    return matmul(matrix_transpose(conj(vh)) * asarray(inverse, world=own.world), matrix_transpose(conj(u)))


def inv(x: Any, /) -> Tensor:
    """The inverse of a square matrix."""
    own = _floating(x)
    own.world.agree(lambda: _require_square(own, "inv"))
    found = _of_shares(np.linalg.inv, own) if own.ndim > 2 else None
    return found if found is not None else solve(own, eye(own.shape[-1], dtype=own.dtype, world=own.world))
