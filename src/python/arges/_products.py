"""Products of matrices and tensors."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from . import _core
from ._einsum import einsum
from ._elementwise import elementwise
from ._places import _axes
from ._reductions import sum
from ._tensor import Tensor, together


def tensordot(x1: Any, x2: Any, /, *args: Any, axes: Any = 2) -> Tensor:
    """Sum of products over some axes of each, as numpy.tensordot. Collective."""
    if args:
        axes = args[0]
    a, b = together(x1, x2)

    def prepare() -> tuple[list[str], list[str], list[str]]:
        if isinstance(axes, (int, np.integer)):
            if not 0 <= axes <= builtins.min(a.ndim, b.ndim):
                raise ValueError(f"tensordot over {axes} axes of tensors of orders {a.ndim} and {b.ndim}")
            first, second = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
        else:
            first, second = (tuple(own) if isinstance(own, (list, tuple)) else (own,) for own in axes)
        first, second = _axes(a.ndim, tuple(first)), _axes(b.ndim, tuple(second))
        if len(first) != len(second):
            raise ValueError("tensordot with another number of axes on the left than on the right")
        if builtins.any(a.shape[i] != b.shape[j] for i, j in zip(first, second)):
            raise ValueError(f"tensordot of shapes {a.shape} and {b.shape} over the axes {first} and {second}")
        left = [f"a{d}" for d in range(a.ndim)]
        right = [f"b{d}" for d in range(b.ndim)]
        for i, j in zip(first, second):
            right[j] = left[i]
        return left, right, [n for n in left if n not in right] + [n for n in right if n not in left]

    left, right, output = a.world.agree(prepare)
    wide_a, wide_b = _promoted(a, b)
    return Tensor._of(_core.einsum([wide_a._h, wide_b._h], [left, right], output))


def _promoted(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    common = a.world.agree(lambda: np.result_type(a.dtype, b.dtype))
    return a.astype(common, copy=False), b.astype(common, copy=False)


def matmul(x1: Any, x2: Any, /) -> Tensor:
    """Matrix product of the last two dimensions; those before broadcast, and vectors are as in numpy.matmul. Collective."""
    a, b = together(x1, x2)

    def prepare() -> str:
        if a.ndim == 0 or b.ndim == 0:
            raise ValueError("matmul of a tensor of order 0")
        left, right = ("...ik" if a.ndim > 1 else "k"), ("...kj" if b.ndim > 1 else "k")
        if a.shape[-1] != b.shape[-2 if b.ndim > 1 else -1]:
            raise ValueError(f"matmul of shapes {a.shape} and {b.shape}")
        return f"{left},{right}->...{'i' if a.ndim > 1 else ''}{'j' if b.ndim > 1 else ''}"

    text = a.world.agree(prepare)
    return einsum(text, *_promoted(a, b))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """Sum of conj(x1) * x2 along an axis. Collective."""
    a, b = together(x1, x2)

    def prepare() -> np.dtype:
        place = operator.index(axis)
        if builtins.min(a.ndim, b.ndim) < (-place if place < 0 else place + 1) or place >= 0 and a.ndim != b.ndim:
            raise ValueError(f"vecdot along axis {place} of tensors of orders {a.ndim} and {b.ndim}")
        if a.shape[place] != b.shape[place]:
            raise ValueError(f"vecdot of shapes {a.shape} and {b.shape} along axis {place}")
        return np.result_type(a.dtype, b.dtype)

    common = a.world.agree(prepare)
    return sum(elementwise(lambda x, y: np.conj(x) * y, a, b), axis=axis, dtype=common)


__all__ = ["tensordot", "matmul", "vecdot"]
