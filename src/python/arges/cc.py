"""Coupled cluster from mean-field objects of PySCF, from integrals in memory, or from files.

``arges.cc.rccsd(mf)`` after ``mf = pyscf.scf.RHF(mol).run()``. All ranks call it. The mean field, or the integrals, of the first rank are used:
other ranks may have others of the same energy, as every rank's own SCF gives them (signs, orbitals of a degenerate pair), or None. Energies
are in hartree.
"""

from __future__ import annotations

import inspect
import os
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Mapping, Protocol, TypedDict

import numpy as np

from . import _core
from ._cc_pieces import Blocks, Diis, Solution, divide_by_denominators, solve_amplitudes, tensors_of
from ._decompose import progress_shown, table
from ._hamiltonian import Frozen, Integrals, frozen_of, orders_with_frozen, packed_integrals
from ._making import tensor
from ._mean_field import ENERGY_TOLERANCE, check_mean_field, integrals_of, occupations, orbital_order
from ._tensor import Tensor
from ._world import World, default_world

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "Energies", "Forecast", "Integrals", "integrals_of", "run", "plan", "write_integrals", "mp2", "rccsd", "rccsd_t", "ccsd", "ccsd_t", "ccsdt",
    "ccsdtq", "Blocks", "spin_integrals", "spatial_integrals", "Diis", "divide_by_denominators", "Solution", "solve_amplitudes",
]  # fmt: skip


@dataclass
class Energies:
    """What a calculation has found."""

    e_hf: float  #: total energy of the reference
    e_corr: float  #: correlation energy of the method that was asked for
    correlation: dict[str, float]  #: correlation energies by method, those on the way too: "mp2", "ccsd", "ccsd(t)", ...
    report: dict[str, Any] = field(default_factory=dict, repr=False)  #: iterations, seconds, memory, their forecasts, frozen orbitals
    #: T1, T2, ... with keep_amplitudes=True: virtual, then occupied indices, T2(abij). An index over spin orbitals (of methods other than rccsd)
    #: counts all alpha orbitals, then all beta ones.
    amplitudes: dict[str, Tensor] = field(default_factory=dict, repr=False)

    @property
    def e_tot(self) -> float:
        """Total energy."""
        return self.e_hf + self.e_corr

    @property
    def t1(self) -> np.ndarray:
        """T1 as an array t1[i, a], occupied indices first as in PySCF's closed-shell methods. Collective."""
        return self._array("T1", (1, 0))

    @property
    def t2(self) -> np.ndarray:
        """T2 as an array t2[i, j, a, b]. Collective."""
        return self._array("T2", (2, 3, 0, 1))

    def _array(self, name: str, axes: tuple[int, ...]) -> np.ndarray:
        if name not in self.amplitudes:
            raise _core.InvalidArgument(f"{name} was not kept; call the method, which must be an iterative one, with keep_amplitudes=True")
        return np.array(self.amplitudes[name].numpy().transpose(axes), order="C")

    def _repr_html_(self) -> str:
        rows = {"reference": self.e_hf, **{f"{name} correlation": e for name, e in self.correlation.items()}, "total": self.e_tot}
        return table({name: f"{energy:.10f}" for name, energy in rows.items()})


@dataclass
class Forecast:
    """What a calculation will take, per rank."""

    method: str
    ranks: int
    memory_bytes: int  #: the most that a rank holds at once
    seconds: dict[str, float]  #: of "preparation", an "iteration", "triples"

    def _repr_html_(self) -> str:
        rows = {"method": self.method, "ranks": self.ranks, "memory of a rank": f"{self.memory_bytes:,} bytes"}
        return table(rows | {name: f"{seconds:.3g} s" for name, seconds in self.seconds.items() if seconds > 0})


class Options(TypedDict, total=False):
    """Arguments by name of run() and of the methods."""

    frozen_core: Frozen
    frozen_virtuals: Frozen
    max_iterations: int
    tolerance: float
    diis_vectors: int
    checkpoint: str | os.PathLike[str]
    restart: bool
    start: Energies | Mapping[str, Any] | None
    keep_amplitudes: bool
    allow_unconverged: bool
    progress: Callable[[dict[str, Any]], None] | bool | None
    world: World | None


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


def _number(value: Any, what: str) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{what}: {value!r} where a whole number is expected")
    return int(value)


def _summary(source: Any, allow_unconverged: bool) -> dict[str, Any] | None:
    """What a source must have in common with that of the first rank; None for a rank that hands in nothing. Local."""
    if source is None or getattr(source, "mo_coeff", source) is None:
        return None
    if _is_path(source):
        return {"path": os.fspath(source)}
    if isinstance(source, Integrals):
        n, electrons, ms2, energy = source.orbitals, source.electrons, source.ms2, source.energy()
    else:
        check_mean_field(source, allow_unconverged)
        alpha, beta = (int(own.sum()) for own in occupations(source))
        n, electrons, ms2, energy = np.shape(source.mo_coeff)[-1], alpha + beta, alpha - beta, float(source.e_tot)
    return {"orbitals": int(n), "electrons": int(electrons), "ms2": int(ms2), "energy": energy}


def _require_same_source(mine: dict[str, Any] | None, first: dict[str, Any]) -> None:
    if mine is None:
        return
    own, energies = dict(mine), [part.get("energy", 0.0) for part in (mine, first)]
    own["energy"] = first.get("energy")
    shared = {key: first.get(key) for key in own}
    if own != shared or not abs(energies[0] - energies[1]) <= ENERGY_TOLERANCE:
        raise _core.InvalidArgument(
            f"the first rank gives {shared}, another one {mine}: all ranks compute one molecule together; give the same on every rank, or None "
            "on all but the first. For a calculation on each rank give world=arges.World(mpi4py.MPI.COMM_SELF)"
        )


def _count(frozen: int | str | list[int]) -> int | str:
    return len(frozen) if isinstance(frozen, list) else frozen


def _hamiltonian(own: World, source: Any, core: Any, virtuals: Any, allow_unconverged: bool) -> dict[str, Any]:
    """The first rank's source: a path, or what _core.coupled_cluster() takes. The arrays are on the first rank only. Collective."""
    arrays: dict[str, np.ndarray] = {}

    def first() -> dict[str, Any]:
        if source is None:
            raise _core.InvalidArgument("the first rank gives None; give it a mean field, arges.cc.Integrals or the name of a file")
        if _is_path(source):
            lists = [value for value in (core, virtuals) if isinstance(value, list) and value != list(range(len(value)))]
            if lists or isinstance(virtuals, list):
                raise _core.InvalidArgument("frozen orbitals of a file are the first and the last ones; give their numbers, not lists")
            return {"path": os.fspath(source)}
        is_mean_field = not isinstance(source, Integrals)
        found = integrals_of(source, allow_unconverged=allow_unconverged) if is_mean_field else source
        energy = found.energy()
        arrays.update(packed_integrals(found, orders_with_frozen(found, core, virtuals, orbital_order(source) if is_mean_field else None)))
        return dict(
            orbitals=found.orbitals, electrons=int(found.electrons), ms2=int(found.ms2), unrestricted=found.is_unrestricted,
            core_energy=float(found.core_energy), energy=energy,
        )  # fmt: skip

    header = own.from_first(first)
    own.agree(lambda: _require_same_source(None if own.rank == 0 else _summary(source, allow_unconverged), header), same=False)
    return header | arrays


def _start(own: World, start: Energies | Mapping[str, Any] | None) -> dict[str, Any]:
    """Handles of amplitudes to start from. Collective."""
    given = start.amplitudes if isinstance(start, Energies) else dict(start or {})
    names = own.from_first(lambda: list(given))

    def checked() -> None:
        if start is not None and not given:
            raise _core.InvalidArgument("start: a result without amplitudes; make it with keep_amplitudes=True")
        if list(given) != names or not all(isinstance(name, str) for name in names):
            raise _core.InvalidArgument(f"start: amplitudes {list(given)}, on the first rank {names}; give the same T1, T2, ... on every rank")

    own.agree(checked, same=False)
    return {name: tensor(given[name], dtype=np.float64, world=own, copy=None)._h for name in names}


def _checked_options(given: dict[str, Any], restarts: bool) -> dict[str, Any]:
    """The options as _core takes them. Local."""
    if restarts and not given["checkpoint"]:
        raise _core.InvalidArgument("restart=True without checkpoint=, the name of the file to go on from")
    return dict(
        method=str(given["method"]), max_iterations=_number(given["max_iterations"], "max_iterations"), tolerance=float(given["tolerance"]),
        diis_vectors=_number(given["diis_vectors"], "diis_vectors"), frozen_core=frozen_of(given["frozen_core"], "frozen_core"),
        frozen_virtuals=frozen_of(given["frozen_virtuals"], "frozen_virtuals"), checkpoint=os.fspath(given["checkpoint"]), restart=restarts,
        keep_amplitudes=bool(given["keep_amplitudes"]), allow_unconverged=bool(given["allow_unconverged"]),
        core_energy=None if given["core_energy"] is None else float(given["core_energy"]),
    )  # fmt: skip


def _agreed(own: World, options: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Options that all ranks have in common. Collective. Raises InvalidArgument where they differ."""
    mine = own.agree(options, same=False)
    first = own.from_first(lambda: mine)

    def compare() -> None:
        for name, value in mine.items():
            if value != first[name]:
                raise _core.InvalidArgument(f"{name} is {first[name]!r} on the first rank, {value!r} on another; give the same on every rank")

    own.agree(compare, same=False)
    return mine


def run(
    method: str,
    source: Any,
    *,
    frozen_core: Frozen = 0,
    frozen_virtuals: Frozen = 0,
    max_iterations: int = 100,
    tolerance: float = 1e-8,
    diis_vectors: int = 8,
    checkpoint: str | os.PathLike[str] = "",
    restart: bool = False,
    core_energy: float | None = None,
    start: Energies | Mapping[str, Any] | None = None,
    keep_amplitudes: bool = False,
    allow_unconverged: bool = False,
    progress: Callable[[dict[str, Any]], None] | bool | None = None,
    world: World | None = None,
) -> Energies:
    """Correlation energies by a method: "mp2", "ccsd", "ccsd(t)", "rccsd", "rccsd(t)", "ccsdt" or "ccsdtq". Collective.

    source: a mean-field object of PySCF (RHF, ROHF, UHF; integrals_of() says what is taken from it), Integrals, or the name of a file (FCIDUMP,
    TREXIO). The first rank's counts; others give one of the same energy, electrons and orbitals, or None. Methods that begin with r are for
    closed shells, over spatial orbitals; others take any reference.
    frozen_core: doubly occupied orbitals to leave out: how many of the lowest energies, or a list of orbitals (columns of mo_coeff, from 0), or
    "auto", those below -2 hartree. frozen_virtuals: virtual ones likewise, a number (the highest) or a list.
    tolerance: for the norm of the residuals, and the change of the energy. checkpoint: a file for amplitudes; restart: go on from it, or with a
    warning afresh where it is not there yet. start: amplitudes to start from, a result with keep_amplitudes=True, of another geometry for example,
    or a dict of tensors or arrays of the shapes and names that Energies.amplitudes has; only the way to the solution depends on them.
    core_energy: of a file without one, as of a model without nuclei: 0; else such a file is refused as truncated.
    keep_amplitudes: the result has them, and their memory is taken for as long. allow_unconverged: takes a mean field that has not converged.
    progress: called on every rank after each iteration with a dict of number, energy, residual and seconds; None: a line on a terminal.
    Ctrl-C on any rank ends it on all.
    Raises InvalidArgument for integrals or orbitals that do not fit the method, or options that differ between ranks; Unsupported for other kinds
    of states than these mean fields; NotConverged; OutOfMemory before the start.
    """
    own = world or default_world()
    given = dict(
        method=method, frozen_core=frozen_core, frozen_virtuals=frozen_virtuals, max_iterations=max_iterations, tolerance=tolerance,
        diis_vectors=diis_vectors, checkpoint=checkpoint, keep_amplitudes=keep_amplitudes, allow_unconverged=allow_unconverged, core_energy=core_energy,
    )  # fmt: skip
    options = _agreed(own, lambda: _checked_options(given, bool(restart)))
    hamiltonian = _hamiltonian(own, source, options["frozen_core"], options["frozen_virtuals"], options.pop("allow_unconverged"))
    counts = {name: _count(options[name]) for name in ("frozen_core", "frozen_virtuals")}
    if options["restart"] and own.rank == 0 and not os.path.exists(options["checkpoint"]):
        warnings.warn(f"{options['checkpoint']} is not there yet; the calculation starts afresh", stacklevel=2)
    guess = _start(own, start)
    with progress_shown(progress, method, own.rank) as shown:
        found = _core.coupled_cluster(own._w, hamiltonian.get("path", hamiltonian), options | counts, guess, shown)
    energies = found.pop("energies")
    amplitudes = tensors_of(found.pop("amplitudes"), own)
    return Energies(found.pop("scf"), energies[method.lower()], energies, found, amplitudes)


def plan(
    method: str,
    orbitals: int,
    electrons: int,
    *,
    ms2: int = 0,
    unrestricted: bool = False,
    frozen_core: int = 0,
    frozen_virtuals: int = 0,
    ranks: int = 1,
    world: World | None = None,
) -> Forecast:
    """Memory and time that a calculation takes on any number of ranks, without integrals. Collective."""
    own = world or default_world()
    given = dict(
        method=method, frozen_core=frozen_core, frozen_virtuals=frozen_virtuals, max_iterations=100, tolerance=1e-8, diis_vectors=8, checkpoint="",
        keep_amplitudes=False, allow_unconverged=False, core_energy=None,
    )  # fmt: skip
    options = _agreed(own, lambda: _checked_options(given, False))

    def header() -> dict[str, Any]:
        numbers = dict(orbitals=orbitals, electrons=electrons, ms2=ms2, frozen_core=frozen_core, frozen_virtuals=frozen_virtuals, ranks=ranks)
        return {name: _number(value, name) for name, value in numbers.items()} | {"unrestricted": bool(unrestricted)}

    head = _agreed(own, header)
    found = _core.plan_coupled_cluster(own._w, head, options, head["ranks"])
    return Forecast(method, found["ranks"], found["forecast_memory_bytes"], found["forecast_seconds"])


def write_integrals(source: Any, path: str | os.PathLike[str], *, allow_unconverged: bool = False, world: World | None = None) -> None:
    """Writes the integrals of a mean field, or Integrals, to a file: .fcidump is FCIDUMP text, .h5, .hdf5 and .trexio are TREXIO. Collective.

    source: as in run(). Raises InvalidArgument if the name tells no form, or the file cannot be written.
    """
    own = world or default_world()
    options = _agreed(own, lambda: {"path": os.fspath(path), "allow_unconverged": bool(allow_unconverged)})
    hamiltonian = _hamiltonian(own, source, 0, 0, options["allow_unconverged"])
    if "path" in hamiltonian:
        raise _core.InvalidArgument("write_integrals: the integrals are in a file already; `arges convert` writes another form of it")
    _core.write_integrals(own._w, options["path"], hamiltonian)


def _blocks(kind: Callable[..., Any], source: Any, frozen_core: Frozen, frozen_virtuals: Frozen, world: World | None) -> Blocks:
    own = world or default_world()
    frozen = {"frozen_core": frozen_core, "frozen_virtuals": frozen_virtuals}
    core, virtuals = _agreed(own, lambda: {name: frozen_of(value, name) for name, value in frozen.items()}).values()
    hamiltonian = _hamiltonian(own, source, core, virtuals, False)
    find_core = isinstance(core, str)
    found = kind(own._w, hamiltonian.get("path", hamiltonian), 0 if find_core else _count(core), _count(virtuals), find_core)
    blocks, occupied, empty, energy, first = found
    return Blocks(energy, occupied, empty, tensors_of(blocks, own), tensors_of(first, own))


def spin_integrals(source: Any, *, frozen_core: Frozen = 0, frozen_virtuals: Frozen = 0, world: World | None = None) -> Blocks:
    """Antisymmetrised integrals over spin orbitals, any reference, for methods of one's own; arguments of run(). Collective."""
    return _blocks(_core.spin_integrals, source, frozen_core, frozen_virtuals, world)


def spatial_integrals(source: Any, *, frozen_core: Frozen = 0, frozen_virtuals: Frozen = 0, world: World | None = None) -> Blocks:
    """Integrals over the spatial orbitals of a closed shell, for methods of one's own; arguments of run(). Collective."""
    return _blocks(_core.spatial_integrals, source, frozen_core, frozen_virtuals, world)


class _Method(Protocol):
    def __call__(self, source: Any, **options: Unpack[Options]) -> Energies: ...


def _method(name: str, what: str) -> _Method:
    """run() of a method, with the arguments of run() in its signature."""

    def method(source: Any, **options: Unpack[Options]) -> Energies:
        return run(name, source, **options)

    method.__name__ = method.__qualname__ = name.replace("(t)", "_t")
    method.__doc__ = f"{what}; arguments of run(). Collective."
    own = inspect.signature(run)
    method.__signature__ = own.replace(parameters=list(own.parameters.values())[1:])  # type: ignore[attr-defined]
    return method


mp2 = _method("mp2", "MP2")
rccsd = _method("rccsd", "Closed-shell CCSD over spatial orbitals")
rccsd_t = _method("rccsd(t)", "Closed-shell CCSD(T) over spatial orbitals")
ccsd = _method("ccsd", "CCSD over spin orbitals, any reference")
ccsd_t = _method("ccsd(t)", "CCSD(T) over spin orbitals, any reference")
ccsdt = _method("ccsdt", "CCSDT over spin orbitals")
ccsdtq = _method("ccsdtq", "CCSDTQ over spin orbitals")
