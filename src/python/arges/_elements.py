"""The elements of a tensor: as arrays, by key, as numbers, in other types and forms."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _core
from ._keys import keys_of, own_share, policy_number
from ._stored import Stored
from ._types import DTYPES, number, type_number

if TYPE_CHECKING:
    from typing_extensions import Self


class Elements(Stored):
    """What tensors can do by themselves."""

    __slots__ = ()

    def _with_known_number(self) -> Self:
        """A tensor of order 0 whose number every rank knows. Collective."""
        own = self.world
        return self if own.is_dry_run or self._number is not None else self._of_number(self._h.read(np.zeros(1, np.int64))[0], own)

    def numpy(self, copy: bool | None = None) -> np.ndarray:
        """The full tensor as an array on every rank, of a symmetric or sparse one unpacked.

        On a world of one rank, without symmetry, it is a view of the tensor's own elements unless copy is True: what is written to either is
        seen in the other. Else elements are gathered, which takes their memory on every rank; copy=False then raises ValueError.
        """
        if self._number is not None and not self.world._is_single and copy is not False:
            return np.array(self._number)
        source = self._h.to_dense() if self.is_sparse else self._h
        is_view = not self.is_sparse and not self._h.has_symmetry and self.world._is_single and not self.world.is_dry_run
        if copy is False and not is_view:
            raise ValueError("this tensor has no array of all its elements in one place, so that they must be copied")
        array = _core.to_array(source)
        return array.copy(order="F") if copy and is_view else array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy(copy=copy)
        return array if dtype is None or dtype == array.dtype else array.astype(dtype)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
        there = _core.device_array(self._h) if not copy and dl_device in (None, self.__dlpack_device__()) else None
        if there is not None:
            return there.__dlpack__()
        return self.numpy(copy=copy).__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device)

    def __dlpack_device__(self) -> tuple[int, int]:
        place = _core.device_address(self._h)
        return (1, 0) if place is None else (2, place[1])

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The elements of a dense tensor on a device, where one rank has them all, for CuPy, torch, Numba; they stay there."""
        place = _core.device_address(self._h)
        if place is None:
            raise AttributeError("__cuda_array_interface__: the elements do not lie as an array on a device")
        steps = [self.dtype.itemsize]
        for n in self.shape:
            steps.append(steps[-1] * max(n, 1))
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (place[0], False), "version": 3, "strides": tuple(steps[:-1])}

    def tolist(self) -> Any:
        """The elements as nested lists of numbers."""
        return self.numpy().tolist()

    def item(self) -> Any:
        """The only element as a number."""
        if self.size != 1:
            raise ValueError(f"item() of a tensor with {self.size} elements")
        return self.read([0]).item() if self._number is None else self._number.item()

    def write(
        self,
        keys: Any,
        values: Any,
        duplicates: str = "sum",
        tolerance: float = 0,
        order: str | None = None,
        *,
        distributed: bool | None = None,
    ) -> None:
        """Writes elements by key; every rank may give any number of pairs, also none.

        keys: linear indices with the first index fastest, with order="C" the last, as argmax() and NumPy count; or indices, a tuple of
        an array for each dimension. Tensors of keys, which functions make, are taken with an order only.
        duplicates: what to do with several values for an element of a sparse tensor: "refuse", "sum" or "keep_first"; dense tensors
        refuse values that differ by more than round-off plus tolerance. distributed: as in sparse(), of a sparse tensor.
        Raises InvalidArgument for keys out of range and values that contradict each other or the symmetry.
        """
        own, numbers, policy = self.world.agree(
            lambda: (keys_of(keys, self.shape, order), self._values(values), policy_number(duplicates)), same=False
        )
        if self.is_sparse:
            (own,), numbers = own_share(self.world, "write", [own], numbers, distributed, duplicates)
        self._h.write(own, numbers, policy, float(tolerance))

    def accumulate(
        self, keys: Any, values: Any, alpha: Any = 1, beta: Any = 1, order: str | None = None, *, distributed: bool | None = None
    ) -> None:
        """element = beta * element + alpha * (sum of the values given for it), for the elements with keys; see write()."""
        own, numbers, a, b = self.world.agree(
            lambda: (keys_of(keys, self.shape, order), self._values(values), number(alpha), number(beta)), same=False
        )
        (own,), numbers = own_share(self.world, "accumulate", [own], numbers, distributed, "sum")
        self._h.accumulate(own, numbers, a, b)

    def read(self, keys: Any, order: str | None = None) -> np.ndarray:
        """Values of any elements, in the order of the keys given on this rank; keys as for write()."""
        return self._h.read(self.world.agree(lambda: keys_of(keys, self.shape, order), same=False))

    def local_pairs(self) -> tuple[Any, np.ndarray]:
        """What this rank stores: keys, first index fastest (of a sparse tensor: a list of arrays of indices, one for each mode) and values. Local."""
        return self._h.local_pairs()

    def coo(self) -> tuple[list[np.ndarray], np.ndarray]:
        """All elements of a sparse tensor on every rank: arrays of indices, one for each mode, and values, the last index fastest."""
        indices, values = self._h.gather_sparse()
        return list(indices), values

    def fill(self, value: Any) -> Self:
        """Sets every element, of a sparse tensor every stored one."""
        self._h.fill(self.world.agree(lambda: number(value)))
        return self

    def fill_random(self, seed: int, low: float = -0.5, high: float = 0.5) -> Self:
        """Uniform random values in [low, high), the same on any number of ranks."""
        own = self.world.agree(lambda: (operator.index(seed), float(low), float(high)))
        self._h.fill_random(*own)
        self._seed = own[0]
        return self

    def drop(self, cutoff: float = 0) -> Self:
        """Removes the stored elements of a sparse tensor whose magnitude is at most cutoff."""
        self._h.drop(float(cutoff))
        return self

    # Other forms.

    def copy(self) -> Self:
        """A tensor with elements of its own."""
        return self._of(self._h.copy()) if self._number is None else self._of_number(self._number, self.world)

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a tensor is spread over ranks and cannot be pickled; use arges.save() and arges.load(), or numpy()")

    def astype(self, dtype: Any, copy: bool = True) -> Self:
        """The elements in another type, rounded where it holds less. Raises InvalidArgument for complex elements as real ones."""
        wanted = self.world.agree(lambda: type_number(dtype))
        if DTYPES[wanted] == self.dtype and not copy:
            return self
        if self._number is not None and (self.dtype.kind != "c" or DTYPES[wanted].kind == "c") and DTYPES[wanted].kind != "i":
            return self._of_number(self._number.astype(DTYPES[wanted]), self.world)
        return self._of(self._h.converted(wanted))

    def to_dense(self) -> Self:
        """All elements of a sparse tensor."""
        return self._of(self._h.to_dense())

    def to_sparse(self, cutoff: float | None = None, *, nan: str = "refuse") -> Self:
        """The elements that are not zero, or those whose magnitude is over cutoff.

        nan: what elements that are not a number mean. "refuse": InvalidArgument if there are such; "keep": they are stored;
        "missing": they are not known: all others are stored, zeros too unless there is a cutoff, for complete().
        """
        policies = {"refuse": 0, "keep": 1, "missing": 2}
        if nan not in policies:
            raise ValueError(f"nan={nan!r}; use one of " + ", ".join(f'"{name}"' for name in policies))
        return self._of(self._h.to_sparse(-1.0 if cutoff is None else float(cutoff), policies[nan]))

    def with_symmetry(self, symmetry: str | None, letters: str | None = None) -> Self:
        """The same elements with another symmetry tree; None unpacks all. Of a dense tensor one element of each orbit is taken."""
        return self._of(self._h.with_symmetry(letters, symmetry))

    def _without(self, dimensions: Sequence[int]) -> Self:
        """Without dimensions of one element."""
        names = [f"d{d}" for d in range(self.ndim)]
        return self._of(_core.einsum([self._h], [names], [name for d, name in enumerate(names) if d not in dimensions]))

    def _values(self, values: Any) -> np.ndarray:
        array = np.asarray(values)
        if array.dtype != self.dtype and not np.can_cast(array.dtype, self.dtype, "same_kind") and array.size > 0:
            raise TypeError(f"values of type {array.dtype} for a tensor of {self.dtype}")
        return np.ascontiguousarray(array.ravel(), dtype=self.dtype)

    # Numbers.

    def norm(self, order: float = 2) -> float:
        """Root of the sum of squared magnitudes; order 1: their sum, order infinity: the largest."""
        return self._h.norm(self.world.agree(lambda: _norm_number(order)))

    def largest_magnitude(self) -> tuple[Any, tuple[int, ...]]:
        """The element of largest magnitude, and its index."""
        value, index = self._h.extremum(0)
        return value, tuple(index)

    def __str__(self) -> str:
        """A number where every rank knows it, else as repr(). Local."""
        if self._number is not None:
            return str(self._number)
        return str(self.item()) if self.ndim == 0 and self.world._is_single and not self.world.is_dry_run else repr(self)

    def __format__(self, spec: str) -> str:
        """Of a tensor with one element its number, which is collective where that is not known."""
        if not spec:
            return str(self)
        if self.ndim > 0:
            raise TypeError(f"the format {spec!r} of a tensor of shape {self.shape}; only tensors of order 0 have one")
        return format(self.item(), spec)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.item(), digits) if digits is not None else round(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.dtype.kind != "i":
            raise TypeError(f"a tensor of {self.dtype} as an index")
        return operator.index(self.item())

    def to_device(self, device: str, /, *, stream: Any = None) -> Self:
        """Itself: there is the device "cpu"."""
        if device != "cpu":
            raise ValueError(f'there is the device "cpu", not {device!r}')
        return self


def _norm_number(order: Any) -> int:
    for known, which in ((1, 1), (2, 2), (np.inf, 0)):
        if order == known:
            return which
    raise _core.InvalidArgument(f"norm of order {order!r}; there are 1, 2 and infinity, and any in arges.linalg.vector_norm()")
