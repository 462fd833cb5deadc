"""What a tensor is: its handle in the library, and what is known of it. Local."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._types import DTYPES, number, type_number
from ._world import World

if TYPE_CHECKING:
    from typing_extensions import Self


class Stored:
    """The handle of a tensor, or the number of one of order 0, and its attributes. Tensor is made of it."""


    __slots__ = ("_h", "_world", "_number", "_seed", "_joined", "__weakref__")
    _h: _core.Handle
    _world: World | None
    _number: Any  # the element, where only that is known, else None
    _joined: int  # values that were added to others of the same element when it was made of them
    __array_priority__ = 100

    def __init__(self) -> None:
        raise TypeError("make tensors by arges.tensor(), arges.zeros(), arges.sparse(), ...")

    @classmethod
    def _of(cls, handle: _core.Handle, world: World | None = None, joined: int = 0) -> Self:
        self = cls.__new__(cls)
        self._h = handle
        self._world = world
        self._number = None
        self._joined = joined
        return self

    @classmethod
    def _of_number(cls, value: np.generic, world: World) -> Self:
        """A tensor of order 0 of a number that every rank has: its element is stored when somebody asks for the handle. Local."""
        self = cls.__new__(cls)
        self._world = world
        self._number = value
        self._joined = 0
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == "_h":  # a slot that is empty as long as only the number is known
                own = self._world
                handle = _core.make(type_number(self._number.dtype), False, own._w, [], None, None, "")
                handle.fill(number(self._number))
                self._h, self._number = handle, None
                return handle
            raise AttributeError(f"a tensor has no attribute {name!r}", name=name, obj=self)

    # What it is. Local.

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension. Local."""
        return self._h.shape if self._number is None else ()

    @property
    def ndim(self) -> int:
        """Number of dimensions. Local."""
        return self._h.ndim if self._number is None else 0

    @property
    def size(self) -> int:
        """Elements of the full tensor. Local."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the full tensor. Local."""
        return self.size * self.dtype.itemsize

    @property
    def dtype(self) -> np.dtype:
        """Element type, as NumPy's. Local."""
        return DTYPES[self._h.element] if self._number is None else self._number.dtype

    @property
    def device(self) -> str:
        """Where the elements are: "cpu". Local."""
        return "cpu"

    @property
    def world(self) -> World:
        """The ranks that it lives on. Local."""
        if self._world is None:
            self._world = World._of(self._h.world)
        return self._world

    @property
    def is_sparse(self) -> bool:
        """True for a sparse tensor. Local."""
        return self._number is None and self._h.is_sparse

    @property
    def name(self) -> str:
        """For messages. Local."""
        return self._h.name if self._number is None else ""

    @name.setter
    def name(self, name: str) -> None:
        self._h.set_name(name)

    @property
    def seed(self) -> int | None:
        """The seed of the random elements that random() or fill_random() gave it; else None. Local."""
        return getattr(self, "_seed", None)

    def symmetry(self, letters: str = "abcdefghijklmnopqrstuvwxyz") -> str:
        """The symmetry tree as text over letters, e.g. "antisym(a,b) antisym(c,d)"; "none". Local."""
        return self._h.symmetry(letters[: self.ndim]) if self.ndim <= len(letters) else self._h.symmetry("")

    @property
    def stored(self) -> int:
        """Elements stored over all ranks: one of each orbit of the symmetry; of a sparse tensor its nonzeros. Local."""
        return self._h.stored() if self._number is None else 1

    def layout(self) -> str:
        """How the dimensions of a dense tensor lie on the torus, as text. Local."""
        return self._h.layout()

    def __repr__(self) -> str:
        if self._number is not None:
            return f"arges.Tensor({self._number}, {self.dtype})"
        parts = [f"{self.shape}", str(self.dtype)]
        if self.is_sparse:
            parts.append("sparse")
        if self._h.has_symmetry:
            parts.append(self.symmetry())
        if self.name:
            parts.append(f"name={self.name!r}")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"arges.Tensor({', '.join(parts)})"

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of a tensor of order 0")
        return self.shape[0]
