"""Worlds: the ranks that tensors are spread over."""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import sys
import threading
import time
from typing import Any, Callable, Iterable, TypeVar

from . import _core

Result = TypeVar("Result")

_default: World | None = None


class World:
    """The ranks of a communicator, as a torus, with a memory limit. Collective.

    comm: a communicator of mpi4py, or its Fortran handle (an int); None: all processes. MPI is initialised if nobody has done so; a
        script that was not started by ``mpiexec`` is one process.
    torus: shape of the machine, e.g. (4, 4, 2); None: detected.
    device: "cuda" puts the elements of dense tensors of float32, float64, complex64 and complex128 into the memory of an NVIDIA device,
        "none" into that of the host; None: what ARGES_DEVICE says.
    device_memory: limit in bytes on what one rank holds on the device; 0: its part of what is free there.
    Raises InvalidArgument if the torus does not hold the ranks, if there is no such device, its memory is given without it, or ranks give
    different ones.
    """

    __slots__ = ("_w", "_is_single", "_is_dry_run", "__weakref__")

    def __init__(
        self, comm: Any = None, torus: Iterable[int] | None = None, *, device: str | None = None, device_memory: int = 0
    ) -> None:
        self._set(_core.World.make(_handle_of(comm), list(torus or ()), device, int(device_memory)))
        if _core.mpi_is_ours() and not self._is_single:
            _end_job_on_errors()

    def _set(self, world: _core.World) -> None:
        self._w = world
        self._is_dry_run = world.is_dry_run
        self._is_single = self._is_dry_run or world.size == 1

    @classmethod
    def _of(cls, world: _core.World) -> World:
        self = cls.__new__(cls)
        self._set(world)
        return self

    @classmethod
    def dry_run(
        cls,
        ranks: int | None = None,
        torus: Iterable[int] | None = None,
        *,
        ranks_per_node: int | None = None,
        machine: str | os.PathLike[str] | None = None,
        coordinates: str | os.PathLike[str] | None = None,
    ) -> World:
        """Imaginary ranks for planning: no MPI, no data; statements are planned and accounted for but not run.

        ranks: None: as many as torus or coordinates hold. machine: file of constants as ``arges calibrate`` writes; None: that of
        ARGES_MACHINE. coordinates: file with the coordinates of each rank, whose torus it is.
        Raises InvalidArgument if these do not fit together, or a file cannot be read.
        """
        files = ["" if name is None else os.fspath(name) for name in (machine, coordinates)]
        return cls._of(_core.World.dry_run(ranks, list(torus or ()), ranks_per_node or 0, *files))

    @property
    def size(self) -> int:
        """Number of ranks."""
        return self._w.size

    @property
    def rank(self) -> int:
        """The calling rank."""
        return self._w.rank

    @property
    def torus(self) -> tuple[int, ...]:
        """Shape of the machine."""
        return tuple(self._w.torus)

    @property
    def is_dry_run(self) -> bool:
        """True for a world made by dry_run()."""
        return self._is_dry_run

    @property
    def memory_limit(self) -> int:
        """Limit in bytes on what tensors and operations hold on one rank. Setting it is collective; the smallest value counts."""
        return self._w.memory_limit

    @memory_limit.setter
    def memory_limit(self, limit: int) -> None:
        self._w.set_memory_limit(int(limit))

    @property
    def device(self) -> str:
        """Where dense tensors of floating-point numbers have their elements: "none" or "cuda"."""
        return self._w.device

    @property
    def device_memory_limit(self) -> int:
        """Limit in bytes on what tensors and operations hold on the device on one rank; 0 without one."""
        return self._w.device_memory_limit

    @property
    def device_memory_in_use(self) -> int:
        """Bytes that tensors hold on the device on this rank."""
        return self._w.device_memory_in_use

    @property
    def memory_in_use(self) -> int:
        """Bytes that tensors hold on this rank."""
        return self._w.memory_in_use

    @property
    def memory_peak(self) -> int:
        """Most that tensors and planned work have taken on this rank, in bytes, since reset_peak()."""
        return self._w.memory_peak

    def reset_peak(self) -> None:
        """Starts a new measurement of memory_peak."""
        self._w.reset_peak()

    def last_report(self) -> dict[str, Any]:
        """What the latest statement moved and took on this rank: bytes_sent, bytes_planned, messages_sent, seconds, ..."""
        return self._w.last_report()

    def total_report(self) -> dict[str, Any]:
        """The same of all ranks: sums of bytes and messages, the largest peak and time. Collective."""
        return self._w.total_report()

    def agree(self, work: Callable[[], Result], same: bool = True) -> Result:
        """Runs local work on every rank; if it raises on one, every rank raises the exception of the lowest such rank. Collective.

        same: what it returns (numbers, texts, arrays, tensors, and lists, tuples and dicts of such) must be the same on every rank, else every
        rank raises InvalidArgument; False: each rank may have its own.
        """
        return work() if self._is_single else self._w.agree(work, same)

    def from_first(self, work: Callable[[], Result]) -> Result:
        """What local work finds on the first rank, on every rank; what it raises there, every rank raises. Collective.

        It finds None, numbers, texts, and lists and dicts of such.
        """
        if self._is_single:
            return work()
        text = self.agree(lambda: json.dumps(work()) if self.rank == 0 else "", same=False)
        found: Result = json.loads(self._w.broadcast(text))
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, World) and self._w == other._w

    def __hash__(self) -> int:
        return hash(self._w)

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.torus))
        return f"World({'dry run, ' if self.is_dry_run else ''}{self.size} rank{'s' if self.size != 1 else ''}, torus {shape})"


def _handle_of(comm: Any) -> int | None:
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized() and not _core.mpi_is_running():
        raise _core.MpiError(
            f"mpi4py uses another MPI library ({mpi.Get_library_version().splitlines()[0].strip()}) than arges, so that their "
            "communicators do not fit; build mpi4py with the compiler wrapper that arges was built with, e.g. "
            "MPICC=mpicc.mpich pip install --no-binary=mpi4py mpi4py"
        )
    if comm is None or isinstance(comm, int):
        return comm
    if hasattr(comm, "py2f"):
        return int(comm.py2f())
    raise TypeError(f"comm: {type(comm).__name__}; give a communicator of mpi4py, its Fortran handle, or None")


_is_watched = False


def _end_job_on_errors() -> None:
    """An exception that nobody catches on one rank would leave the others waiting for it: it ends the job, with its text. Not at a prompt,
    where the work goes on."""
    global _is_watched
    if _is_watched:
        return
    _is_watched = True

    def ending(report: Callable[..., Any]) -> Callable[..., Any]:
        def hook(*arguments: Any) -> None:
            report(*arguments)
            kind = getattr(arguments[0], "exc_type", arguments[0])
            if hasattr(sys, "ps1") or sys.flags.interactive or issubclass(kind, SystemExit):
                return
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
            time.sleep(0.3)  # launchers lose what they have not read yet
            _core.abort()

        return hook

    sys.excepthook = ending(sys.excepthook)
    threading.excepthook = ending(threading.excepthook)


def default_world() -> World:
    """The world of tensors that are made without one: all processes, unless set_default_world() has named another."""
    global _default
    if _default is None:
        _default = World()
    return _default


def set_default_world(world: World) -> None:
    """Names the world of tensors that are made without one. The same on all ranks."""
    global _default
    _default = world


@atexit.register
def _end() -> None:
    global _default
    _default = None
    gc.collect()
    _core.finalize()
