"""Questions about types."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._tensor import Tensor
from ._types import DTYPES, complex128, float64, int64


def can_cast(from_: Any, to: Any, /) -> bool:
    """True if a type has all numbers of another, as NumPy counts."""
    return np.can_cast(from_.dtype if isinstance(from_, Tensor) else from_, to)


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """The type of results, as NumPy's."""
    return np.result_type(*(x.dtype if isinstance(x, Tensor) else x for x in arrays_and_dtypes))


def isdtype(dtype: Any, kind: Any) -> bool:
    """True if a type is of a kind: "bool", "signed integer", "integral", "real floating", "complex floating", "numeric", or a type."""
    return np.isdtype(dtype, kind)


class FloatingType(NamedTuple):
    """What finfo() gives."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


def finfo(type: Any, /) -> FloatingType:
    """Limits of a floating-point type, of a complex one those of its parts."""
    own = np.finfo(type.dtype if isinstance(type, Tensor) else type)
    return FloatingType(own.bits, float(own.eps), float(own.max), float(own.min), float(own.smallest_normal), np.dtype(own.dtype))


def iinfo(type: Any, /) -> Any:
    """Limits of an integer type."""
    return np.iinfo(type.dtype if isinstance(type, Tensor) else type)


class _Info:
    """What __array_namespace_info__() gives."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        return "cpu"

    def devices(self) -> list[str]:
        return ["cpu"]

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype]:
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: str | None = None, kind: Any = None) -> dict[str, np.dtype]:
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {str(d): d for d in DTYPES if kind is None or np.isdtype(d, tuple(k for k in kinds))}


def __array_namespace_info__() -> _Info:
    """What the namespace can do, as the array API standard asks."""
    return _Info()


__all__ = ["can_cast", "result_type", "isdtype", "finfo", "iinfo", "__array_namespace_info__"]
