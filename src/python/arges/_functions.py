"""All functions of tensors, those of Python's array API standard (2023.12) and others."""

from . import _creation, _dtypes, _elementwise, _lines, _operators, _places, _products, _reductions, _shapes  # noqa: F401
from ._creation import *  # noqa: F403
from ._dtypes import *  # noqa: F403
from ._elementwise import *  # noqa: F403
from ._lines import *  # noqa: F403
from ._places import *  # noqa: F403
from ._products import *  # noqa: F403
from ._reductions import *  # noqa: F403
from ._shapes import *  # noqa: F403

_MODULES = (_creation, _dtypes, _elementwise, _lines, _places, _products, _reductions, _shapes)
__all__ = [name for module in _MODULES for name in module.__all__]
