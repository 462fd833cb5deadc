"""All functions of tensors, those of Python's array API standard (2023.12) and others."""

from __future__ import annotations

import inspect
from typing import Any, Callable

import numpy as np

from . import _creation, _dtypes, _elementwise, _extrema, _lines, _operators, _places, _products, _reductions, _shapes  # noqa: F401
from . import _einsum
from ._creation import *  # noqa: F403
from ._dtypes import *  # noqa: F403
from ._elementwise import *  # noqa: F403
from ._extrema import *  # noqa: F403
from ._lines import *  # noqa: F403
from ._places import *  # noqa: F403
from ._products import *  # noqa: F403
from ._reductions import *  # noqa: F403
from ._shapes import *  # noqa: F403
from ._numpy import OTHERS, GatherWarning as GatherWarning, say_gathered
from ._tensor import Tensor, without_tensors
from ._writing import WRITING, written

__all__: list[str] = []
__all__ += _creation.__all__
__all__ += _dtypes.__all__
__all__ += _elementwise.__all__
__all__ += _extrema.__all__
__all__ += _lines.__all__
__all__ += _places.__all__
__all__ += _products.__all__
__all__ += _reductions.__all__
__all__ += _shapes.__all__



def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.linalg.norm: of a vector, a matrix, or all elements. Collective."""
    from . import linalg

    axes = (axis,) if axis is not None and not isinstance(axis, tuple) else axis
    if axes is None and ord is None:
        return linalg.vector_norm(x, keepdims=keepdims)
    if len(axes or x.shape) == 2:
        names = {None: "fro", "fro": "fro", "nuc": "nuc"}
        if axes in (None, (0, 1), (-2, -1)) and x.ndim == 2:
            return linalg.matrix_norm(x, ord=names.get(ord, ord), keepdims=keepdims)
        moved = _shapes.moveaxis(x, axes, (-2, -1))
        result = linalg.matrix_norm(moved, ord=names.get(ord, ord), keepdims=keepdims)
        return _shapes.moveaxis(result, (-2, -1), axes) if keepdims else result
    return linalg.vector_norm(x, axis=axis, ord=2 if ord is None else ord, keepdims=keepdims)


# NumPy's functions of arrays (ufuncs apart) that have a namesake here, of the same meaning.
_NAMESAKES: dict[Any, Callable[..., Any]] = {
    getattr(np, name): getattr(module, name)
    for module in (_creation, _elementwise, _extrema, _lines, _places, _products, _reductions, _shapes)
    for name in module.__all__
    if hasattr(np, name) and not isinstance(getattr(np, name), (np.ufunc, type)) and name != "linspace"
} | {np.einsum: _einsum.einsum, np.linalg.norm: _norm} | OTHERS
# Those that ask for no elements.
_OF_SHAPES_AND_TYPES = {np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.common_type}


def in_place_of_numpy(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a function of NumPy gives for tensors: that of its namesake, if it takes these arguments, else NumPy's own, for the full arrays,
    which are gathered on every rank, and cannot be written to. A tensor as out=, or as the first argument of a function that writes to it,
    gets the elements. Collective."""
    if isinstance(options.get("out"), Tensor):
        rest = {name: value for name, value in options.items() if name != "out"}
        return written(options["out"], function(*arguments, **rest))
    own = _NAMESAKES.get(function)
    writing = WRITING.get(function)
    if writing is not None:
        target = arguments[0] if arguments else next(iter(options.values()), None)
        own = writing if isinstance(target, Tensor) else None
    if own is not None and not isinstance(options.get("out"), np.ndarray):
        try:
            inspect.signature(own).bind(*arguments, **options)
        except TypeError:
            pass
        else:
            return own(*arguments, **options)
    if function in _OF_SHAPES_AND_TYPES:
        arguments, options = without_tensors((arguments, options), lambda a: np.broadcast_to(np.zeros((), a.dtype), a.shape))
        return function(*arguments, **options)
    gathered: list[Tensor] = []
    arguments, options = without_tensors((arguments, options), lambda a: _unwritable(a, gathered))
    say_gathered(function, gathered)
    try:
        return function(*arguments, **options)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise TypeError(
            f"numpy.{function.__name__}() writes to an array, and a tensor is not one; write A[...] = numpy.{function.__name__}(A.numpy(), ...)"
        ) from None


def _unwritable(x: Tensor, gathered: list[Tensor]) -> np.ndarray:
    """All elements as an array that nobody may write to: it could be a copy, and what is written to it be lost. Collective."""
    gathered.append(x)
    array = x.numpy().view()
    array.flags.writeable = False
    return array
