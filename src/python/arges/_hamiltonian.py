"""Integrals of a Hamiltonian in memory: their forms, and what of them goes into tensors. All of this is local."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence, Union

import numpy as np

from . import _core


@dataclass
class Integrals:
    """A Hamiltonian over real orthonormal orbitals, occupied ones first. Energies in hartree.

    h: (n, n). eri: (pq|rs) in chemists' notation, of any of the forms n x n x n x n, pairs x pairs, or packed (8-fold).
    Unrestricted: h_beta, eri_beta (all beta), and eri_mixed with pq alpha and rs beta (pairs x pairs or n x n x n x n).
    """

    core_energy: float
    h: np.ndarray
    eri: np.ndarray
    electrons: int
    ms2: int = 0
    h_beta: np.ndarray | None = None
    eri_beta: np.ndarray | None = None
    eri_mixed: np.ndarray | None = None

    @property
    def orbitals(self) -> int:
        """Number of orbitals of a spin."""
        return int(np.asarray(self.h).shape[0])

    @property
    def is_unrestricted(self) -> bool:
        """True if beta orbitals are not the alpha orbitals."""
        return self.h_beta is not None

    def energy(self) -> float:
        """Energy of the determinant of the first orbitals of each spin, nuclei included."""
        return determinant_energy(self)


def _pair(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Number of a pair, the same for (q, p)."""
    high, low = np.maximum(p, q), np.minimum(p, q)
    return np.asarray(high * (high + 1) // 2 + low)


def _elements(eri: np.ndarray, n: int, index: Sequence[np.ndarray]) -> np.ndarray:
    """(pq|rs) of any form at arrays of indices."""
    p, q, r, s = index
    if eri.ndim == 4:
        return np.asarray(eri[p, q, r, s])
    first, second = _pair(p, q), _pair(r, s)
    return np.asarray(eri[first, second] if eri.ndim == 2 else eri[_pair(first, second)])


def _real(array: Any, what: str) -> np.ndarray:
    own = np.asarray(array)
    if own.dtype.kind == "c":
        raise _core.Unsupported(f"{what}: complex numbers; coupled cluster is over real orbitals")
    if own.dtype.kind not in "fiu":
        raise TypeError(f"{what}: elements of type {own.dtype}; give real numbers")
    return own


def _two(eri: Any, n: int, what: str, is_joint: bool) -> np.ndarray:
    """Integrals of a form that is known. Raises InvalidArgument for others."""
    own, pairs = _real(eri, what), n * (n + 1) // 2
    forms = [(n,) * 4, (pairs, pairs)] + ([(pairs * (pairs + 1) // 2,)] if is_joint else [])
    if own.shape not in forms:
        raise _core.InvalidArgument(f"{what}: two-electron integrals of shape {own.shape} over {n} orbitals; {' or '.join(map(str, forms))} fits")
    return own


def _blocks(given: Integrals) -> dict[str, tuple[np.ndarray, bool]]:
    """All integrals by name, and whether both pairs count the same orbitals."""
    names = ["h", "eri"] + (["h_beta", "eri_beta", "eri_mixed"] if given.is_unrestricted else [])
    n, blocks = given.orbitals, {}
    for name in names:
        array = getattr(given, name)
        if array is None:
            raise _core.InvalidArgument(f"{name} is missing; unrestricted orbitals need h_beta, eri_beta and eri_mixed")
        if name.startswith("eri"):
            blocks[name] = (_two(array, n, name, name != "eri_mixed"), name != "eri_mixed")
            continue
        h = _real(array, name)
        if h.shape != (n, n):
            raise _core.InvalidArgument(f"{name}: one-electron integrals of shape {h.shape} over {n} orbitals; {(n, n)} fits")
        blocks[name] = (h, True)
    return blocks


def determinant_energy(given: Integrals) -> float:
    """Energy of the determinant in which the first orbitals of each spin are occupied."""
    blocks, n = _blocks(given), given.orbitals
    occupied = [np.arange((given.electrons + sign * given.ms2) // 2) for sign in (1, -1)]
    if (given.electrons + given.ms2) % 2 or any(len(o) > n for o in occupied) or abs(given.ms2) > given.electrons:
        raise _core.InvalidArgument(f"{given.electrons} electrons, {given.ms2} of them unpaired (ms2), do not fit into {n} orbitals")
    energy = float(given.core_energy)
    for o, end in zip(occupied, ("", "_beta") if given.is_unrestricted else ("", "")):
        i, j = o[:, None], o[None, :]
        h, eri = blocks["h" + end][0], blocks["eri" + end][0]
        energy += float(h[o, o].sum())
        energy += 0.5 * float((_elements(eri, n, (i, i, j, j)) - _elements(eri, n, (i, j, i, j))).sum())
    i, j = occupied[0][:, None], occupied[1][None, :]
    mixed = blocks["eri_mixed" if given.is_unrestricted else "eri"][0]
    return energy + float(_elements(mixed, n, (i, i, j, j)).sum())


def _is_identity(order: np.ndarray) -> bool:
    return bool((order == np.arange(len(order))).all())


def _require_equal(values: np.ndarray, others: np.ndarray, what: str) -> None:
    """Raises InvalidArgument unless elements that a permutation turns into each other are equal up to round-off."""
    difference = np.abs(values - others)
    if not (difference <= 1e-8 * (1 + np.abs(values))).all():
        if not np.isfinite(difference).all():
            raise _core.InvalidArgument(f"{what}: there are integrals that are not finite numbers")
        raise _core.InvalidArgument(
            f"{what}: integrals that are equal by symmetry differ by up to {difference.max():.1e}; over real orbitals h is symmetric, and in "
            "chemists' notation (pq|rs) = (qp|rs) = (pq|sr) = (rs|pq)"
        )


def _pairs(array: np.ndarray, orders: Sequence[np.ndarray], what: str) -> np.ndarray:
    """(pq|rs) as pairs x pairs over the orbitals in their orders, from one of the two larger forms."""
    (p, q), (r, s) = ([order[index] for index in np.tril_indices(len(order))] for order in orders)
    if array.ndim == 4:
        for x in range(len(array)):
            _require_equal(array[x], array[:, x], what)
            _require_equal(array[x], array[x].swapaxes(1, 2), what)
        return np.asarray(array[p, q][:, r, s])
    return array if all(map(_is_identity, orders)) else array[np.ix_(_pair(p, q), _pair(r, s))]


def _packed_two(array: np.ndarray, orders: Sequence[np.ndarray], is_joint: bool, what: str) -> np.ndarray:
    """One element of each orbit: of pairs p >= q row by row, of joint pairs of pairs the lower triangle."""
    if array.ndim == 1 and _is_identity(orders[0]):
        return array
    if array.ndim == 1:
        p, q = (orders[0][index] for index in np.tril_indices(len(orders[0])))
        pair = _pair(p, q)
        return np.concatenate([array[_pair(pair[row], pair[: row + 1])] for row in range(len(pair))])
    matrix = _pairs(array, orders, what)
    if not is_joint:
        return matrix.ravel()
    count, step = len(matrix), 256
    for begin in range(0, count, step):
        rows = slice(begin, begin + step)
        _require_equal(matrix[rows, : begin + step], matrix[: begin + step, rows].T, what)
    result = np.empty(count * (count + 1) // 2)
    for row in range(count):
        result[row * (row + 1) // 2 : (row + 1) * (row + 2) // 2] = matrix[row, : row + 1]
    return result


def packed_integrals(given: Integrals, orders: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """One element of each orbit of all integrals, as the module _core takes them. orders: of alpha and beta orbitals."""
    result = {}
    for name, (array, is_joint) in _blocks(given).items():
        first = orders[1] if name.endswith("_beta") else orders[0]
        second = orders[1] if name == "eri_mixed" else first
        if array.shape == (len(first),) * 2 and name.startswith("h"):
            _require_equal(array, array.T, name)
            p, q = (first[index] for index in np.tril_indices(len(first)))
            packed = array[p, q]
        else:
            packed = _packed_two(array, (first, second), is_joint, name)
        if not np.isfinite(packed).all():
            raise _core.InvalidArgument(f"{name}: there are integrals that are not finite numbers")
        result[name] = np.ascontiguousarray(packed, dtype=np.float64)
    return result


Frozen = Union[int, str, Sequence[int]]


def frozen_of(value: Any, what: str) -> int | str | list[int]:
    """A number of orbitals, "auto", or a list of orbitals. Raises TypeError for others, InvalidArgument for negative or repeated ones."""
    cure = 'give a number of orbitals, a list of orbitals, or "auto"' if what == "frozen_core" else "give a number of orbitals, or a list of them"
    if isinstance(value, str):
        if value != "auto" or what != "frozen_core":
            raise _core.InvalidArgument(f"{what}: {value!r}; {cure}")
        return value
    many = [value] if np.ndim(value) == 0 else list(value)
    if any(isinstance(v, (bool, np.bool_)) or not isinstance(v, (int, np.integer)) for v in many):
        raise TypeError(f"{what}: {value!r}; {cure}")
    numbers = [int(v) for v in many]
    if min(numbers, default=0) < 0 or len(set(numbers)) != len(numbers):
        raise _core.InvalidArgument(f"{what}: {value!r}; orbitals count from 0, each once")
    return numbers[0] if np.ndim(value) == 0 else numbers


def orders_with_frozen(given: Integrals, core: Any, virtuals: Any, columns: Sequence[np.ndarray] | None) -> list[np.ndarray]:
    """Orders of alpha and beta orbitals in which listed core orbitals are the first and listed virtual ones the last.

    columns: what orbitals are called in the lists, in their order here, for each set of orbitals; none: by their places.
    """
    n = given.orbitals
    names = [np.arange(n)] if columns is None else list(columns)
    counts = [(given.electrons + sign * given.ms2) // 2 for sign in (1, -1)]
    fewest, most = min(counts), max(counts)
    result = []
    for spin in (0, 1):
        own = names[min(spin, len(names) - 1)]
        if given.is_unrestricted:
            fewest = most = counts[spin]
        lists = []
        for value, what, first, end in ((core, "frozen_core", 0, fewest), (virtuals, "frozen_virtuals", most, n)):
            listed = value if isinstance(value, list) else []
            places = [int(p) for p in np.flatnonzero(np.isin(own, listed))]
            wrong = sorted(set(listed) - {int(own[p]) for p in places if first <= p < end})
            if wrong:
                kind = "occupied by two electrons" if first == 0 else "empty"
                raise _core.InvalidArgument(f"{what}: orbitals {wrong} are not {kind}; there are {n} orbitals, counted from 0")
            lists.append(places)
        rest = [p for p in range(n) if p not in lists[0] and p not in lists[1]]
        result.append(np.array(lists[0] + rest + lists[1], dtype=np.intp))
    return result
