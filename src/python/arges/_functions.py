"""All functions of tensors, those of Python's array API standard (2023.12) and others."""

from __future__ import annotations

import inspect
from typing import Any, Callable

import numpy as np

from . import _creation, _dtypes, _elementwise, _lines, _operators, _places, _products, _reductions, _shapes  # noqa: F401
from . import _einsum
from ._creation import *  # noqa: F403
from ._dtypes import *  # noqa: F403
from ._elementwise import *  # noqa: F403
from ._lines import *  # noqa: F403
from ._places import *  # noqa: F403
from ._products import *  # noqa: F403
from ._reductions import *  # noqa: F403
from ._shapes import *  # noqa: F403
from ._tensor import without_tensors

__all__: list[str] = []
__all__ += _creation.__all__
__all__ += _dtypes.__all__
__all__ += _elementwise.__all__
__all__ += _lines.__all__
__all__ += _places.__all__
__all__ += _products.__all__
__all__ += _reductions.__all__
__all__ += _shapes.__all__

# NumPy's functions of arrays (ufuncs apart) that have a namesake here, of the same meaning.
_NAMESAKES: dict[Any, Callable[..., Any]] = {
    getattr(np, name): getattr(module, name)
    for module in (_creation, _elementwise, _lines, _places, _products, _reductions, _shapes)
    for name in module.__all__
    if hasattr(np, name) and not isinstance(getattr(np, name), (np.ufunc, type)) and name != "linspace"
} | {np.einsum: _einsum.einsum}
# Those that ask for no elements.
_OF_SHAPES_AND_TYPES = {np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.common_type}


def in_place_of_numpy(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a function of NumPy gives for tensors: that of its namesake, if it takes these arguments, else NumPy's own, for the full arrays,
    which are gathered on every rank. Collective."""
    own = _NAMESAKES.get(function)
    if own is not None and not isinstance(options.get("out"), np.ndarray):
        try:
            inspect.signature(own).bind(*arguments, **options)
        except TypeError:
            pass
        else:
            return own(*arguments, **options)
    if function in _OF_SHAPES_AND_TYPES:
        arguments, options = without_tensors((arguments, options), lambda a: np.broadcast_to(np.zeros((), a.dtype), a.shape))
    else:
        arguments, options = without_tensors((arguments, options))
    return function(*arguments, **options)
