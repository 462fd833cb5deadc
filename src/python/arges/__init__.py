"""Distributed tensors with permutational symmetry: statements, einsum, decompositions, coupled cluster, on any number of MPI ranks.

>>> import arges
>>> A = arges.random((4, 5)); B = arges.random((5, 6))
>>> C = arges.zeros((4, 6))
>>> C["ij"] += 2 * A["ik"] * B["kj"]

One process needs no mpiexec; with mpiexec every process runs the same script. The module is also the namespace of Python's array API standard.
"""

from __future__ import annotations

import math as _math

from . import _creation, _dtypes, _elementwise, _extrema, _lines, _places, _products, _reductions, _shapes, cc, linalg, statements
from ._creation import *  # noqa: F403  (type checkers follow one such import, not two)
from ._dtypes import *  # noqa: F403
from ._elementwise import *  # noqa: F403
from ._extrema import *  # noqa: F403
from ._lines import *  # noqa: F403
from ._places import *  # noqa: F403
from ._products import *  # noqa: F403
from ._reductions import *  # noqa: F403
from ._shapes import *  # noqa: F403
from ._core import Error, InvalidArgument, MpiError, NotConverged, OutOfMemory, Unsupported
from ._core import version as _version
from ._decompose import CpModel, TuckerModel, compare_ranks, complete, cpd, masked, tucker
from ._files import load, read, save, write
from ._making import asarray, from_function, random, sparse, tensor, transfer, zeros
from ._numpy import GatherWarning
from ._plan import Plan
from ._tables import load_model, predict, predict_table, read_table, save_model
from ._tensor import Tensor
from ._types import bool_ as bool
from ._types import complex64, complex128, float32, float64, int16, int32, int64
from ._world import World, default_world, set_default_world
from .statements import antisymmetrized, canonical, over, symmetrized

__version__ = _version
__array_api_version__ = "2023.12"
e, inf, nan, newaxis, pi = _math.e, _math.inf, _math.nan, None, _math.pi
del _math

__all__ = [
    "Error", "InvalidArgument", "MpiError", "NotConverged", "OutOfMemory", "Unsupported", "CpModel", "TuckerModel", "compare_ranks", "complete", "cpd", "masked", "tucker",
    "GatherWarning", "load", "load_model", "predict", "predict_table", "read", "read_table", "save", "save_model", "write", "Plan", "Tensor", "asarray", "from_function", "random", "sparse", "tensor", "transfer", "zeros", "bool",
    "complex64", "complex128", "float32", "float64", "int16", "int32", "int64", "World", "default_world", "set_default_world", "antisymmetrized",
    "canonical", "over", "symmetrized", "cc", "linalg", "statements",
]  # fmt: skip
for _module in (_creation, _dtypes, _elementwise, _extrema, _lines, _places, _products, _reductions, _shapes):
    __all__ += _module.__all__
