"""CP and Tucker decompositions, tensor completion."""

from __future__ import annotations

import contextlib
import difflib
import html
import sys
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping, Sequence, Union

import numpy as np

from . import _core
from ._making import asarray
from ._products import einsum
from ._tensor import Tensor
from ._types import float64, whole

Progress = Callable[[dict[str, Any]], None]
Constraint = Union[str, tuple[str, float], None]


@dataclass(repr=False)
class CpModel:
    """X(i, j, k, ...) is close to the sum over r of weights[r] A(i, r) B(j, r) C(k, r) ..., and where there are biases mean + a(i) + b(j) + ..."""

    weights: np.ndarray  #: of the components, falling
    factors: list[np.ndarray]  #: for each mode a matrix of rows by components, with columns of length 1; whole on every rank
    report: dict[str, Any] = field(default_factory=dict, repr=False)  #: how it was found
    mean: float = 0.0  #: of the fitted elements, where there are biases
    biases: list[np.ndarray] = field(default_factory=list)  #: of complete(): for each mode a bias for each row; none: there are none

    @property
    def rank(self) -> int:
        """Number of components."""
        return len(self.weights)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the modes."""
        return tuple(factor.shape[0] for factor in self.factors)

    @property
    def fit(self) -> float:
        """1 - |X - model| / |X| (cpd)."""
        return float(self.report.get("fit", float("nan")))

    def at(self, *indices: Any) -> np.ndarray:
        """What the model predicts for the elements at arrays of indices, one for each mode. Local. Raises IndexError for an index outside."""
        places = [np.asarray(own) for own in indices]
        if len(places) != len(self.factors):
            raise IndexError(f"indices of {len(places)} modes for a model of {len(self.factors)}; give an array for each mode")
        for mode, (own, length) in enumerate(zip(places, self.shape)):
            if own.size and (own.min() < 0 or own.max() >= length):
                raise IndexError(f"an index of mode {mode} is outside of 0 to {length - 1}")
        product: Any = np.asarray(self.weights)
        for factor, own in zip(self.factors, places):
            product = product * factor[own]
        elements: np.ndarray = product.sum(axis=-1)
        for bias, own in zip(self.biases, places):
            elements = elements + bias[own]
        return elements + self.mean

    def full(self) -> np.ndarray:
        """All elements of the model. Local."""
        letters = "abcdefghijklmnop"[: len(self.factors)]
        text = ",".join(f"{c}z" for c in letters) + ",z->" + letters
        elements = np.asarray(np.einsum(text, *self.factors, self.weights, optimize=True))
        for mode, bias in enumerate(self.biases):
            elements = elements + bias.reshape([-1 if m == mode else 1 for m in range(len(self.factors))])
        return elements + self.mean if self.biases else elements

    def __repr__(self) -> str:
        return f"arges.CpModel(shape {self.shape}, rank {self.rank}, {_line(self.report)})"

    def _repr_html_(self) -> str:
        return table({"modes": " x ".join(map(str, self.shape)), "components": self.rank} | _short(self.report))


@dataclass(repr=False)
class TuckerModel:
    """X(i, j, k, ...) is close to the sum over (a, b, c, ...) of core(a, b, c, ...) A(i, a) B(j, b) C(k, c) ..."""

    core: Tensor  #: distributed
    factors: list[np.ndarray]  #: for each mode a matrix with orthonormal columns (nonnegative: of length 1); whole on every rank
    report: dict[str, Any] = field(default_factory=dict, repr=False)  #: how it was found

    @property
    def ranks(self) -> tuple[int, ...]:
        """Shape of the core."""
        return self.core.shape

    @property
    def fit(self) -> float:
        """1 - |X - model| / |X|, estimated."""
        return float(self.report.get("fit", float("nan")))

    def full(self) -> Tensor:
        """All elements of the model, as a tensor. Collective."""
        inner, outer = "abcdefghijklm"[: self.core.ndim], "nopqrstuvwxyz"[: self.core.ndim]
        text = inner + "," + ",".join(o + i for i, o in zip(inner, outer)) + "->" + outer
        return einsum(text, self.core, *(f.astype(self.core.dtype) for f in self.factors))

    def __repr__(self) -> str:
        return f"arges.TuckerModel(shape {tuple(len(f) for f in self.factors)}, ranks {self.ranks}, {_line(self.report)})"

    def _repr_html_(self) -> str:
        return table({"core": " x ".join(map(str, self.ranks))} | _short(self.report))


def _short(report: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if isinstance(value, (int, float, str, bool))}


def _line(report: dict[str, Any]) -> str:
    shown = {key: value for key, value in _short(report).items() if key in ("fit", "rmse", "iterations")}
    return ", ".join(f"{key} {value:.6g}" for key, value in shown.items())


def table(rows: dict[str, Any]) -> str:
    cells = (
        f"<tr><th style='text-align:left'>{html.escape(str(k))}</th><td>{html.escape(f'{v:.6g}' if isinstance(v, float) else str(v))}</td></tr>"
        for k, v in rows.items()
    )
    return "<table>" + "".join(cells) + "</table>"


_CP_ALGORITHMS = {"als": 0, "nonnegative": 1, "opt": 2, "sgd": 3}
_COMPLETION_ALGORITHMS = {"als": 0, "ccd": 1, "sgd": 2}
_INITS = {"random": 0, "sketched": 1, "hosvd": 2}
_BIASES = {"auto": 0, "on": 1, "off": 2}
_TUCKER_METHODS = {"auto": 0, "hosvd": 1, "st_hosvd": 2, "hooi": 3, "nonnegative": 4}


_OTHER_NAMES = {"nn": "nonnegative", "st-hosvd": "st_hosvd"}  # as `arges` has them


def _chosen(table: dict[str, int], name: str) -> int:
    own = _OTHER_NAMES.get(name, name)
    if own not in table:
        near = difflib.get_close_matches(str(name), table, 1)
        raise ValueError(f"{name!r}; there are {', '.join(table)}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return table[own]


def _seconds(limit: float | None) -> float:
    """For the library, where zero is no limit."""
    if limit is None:
        return 0.0
    if not float(limit) > 0:
        raise ValueError(f"seconds={limit!r}; give a positive number, or None for no limit")
    return float(limit)


def _starts(starts: int | None, seed: int | None) -> int:
    """For the library, where zero is as many as are short."""
    if starts is None:
        return 0 if seed is None else 1
    count = whole("starts", starts)
    if count < 1:
        raise ValueError(f"starts={starts!r}; give a positive number, or None for as many as are short")
    return count


def _groups(groups: int | None) -> int:
    """For the library, where zero is as many as there can be."""
    if groups is None:
        return 0
    count = whole("groups", groups)
    if count < 1:
        raise ValueError(f"groups={groups!r}; give a positive number, or None for as many as there are starts, ranks and memory for")
    return count


def _algorithm_for(loss: str, missing: bool, tensor: Tensor) -> str:
    if loss == "gaussian":
        return "als"
    return "sgd" if tensor.is_sparse and not missing and loss != "poisson" else "opt"


def _cp_options(
    own: Tensor,
    rank: int,
    algorithm: str | None,
    loss: str,
    missing: bool,
    max_iterations: int,
    tolerance: float,
    seed: int | None,
    starts: int | None,
    groups: int | None,
    init: str,
    regularization: float,
    seconds: float | None,
    constraints: Constraint | Mapping[int, Constraint] | Sequence[Constraint] | None,
) -> dict[str, Any]:
    return dict(
        rank=whole("rank", rank), algorithm=_chosen(_CP_ALGORITHMS, algorithm or _algorithm_for(loss, missing, own)), loss=str(loss), missing=bool(missing),
        max_iterations=whole("max_iterations", max_iterations), tolerance=float(tolerance), seed=whole("seed", 1 if seed is None else seed),
        starts=_starts(starts, seed), groups=_groups(groups), init=_chosen(_INITS, init), regularization=float(regularization), seconds=_seconds(seconds),
        constraints=_constraints(constraints, own.ndim),
    )  # fmt: skip


@contextlib.contextmanager
def progress_shown(progress: Progress | bool | None, what: str, rank: int) -> Iterator[Progress | None]:
    """The function to call after each iteration: the caller's own, or on a terminal one that writes a line, which goes at the end."""
    if callable(progress):
        yield progress
        return
    if progress is None:
        progress = sys.stderr.isatty() and "ipykernel" not in sys.modules
    if not progress:
        yield None
        return

    def show(now: dict[str, Any]) -> None:
        if rank == 0:
            numbers = "  ".join(f"{k} {now[k]:.6g}" for k in ("fit", "rmse", "loss") if k in now)
            sys.stderr.write(f"\r{what} {now['number']:5d}  {numbers}\x1b[K")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if rank == 0:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _constraint_text(given: Constraint) -> str:
    """A constraint as the command line has it."""
    if given is None:
        return "none"
    if isinstance(given, str):
        return given
    kind, weight = given
    return f"{kind}={float(weight)!r}"


def _constraints(given: Constraint | Mapping[int, Constraint] | Sequence[Constraint] | None, order: int) -> list[str]:
    """One text for all modes, or for each mode; none: no constraints."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        texts = ["none"] * order
        for mode, constraint in given.items():
            place = whole("a mode of constraints", mode)
            if not 0 <= place < order:
                raise _core.InvalidArgument(f"constraints: there is no mode {place}; use one from 0 to {order - 1}")
            texts[place] = _constraint_text(constraint)
        return texts
    if isinstance(given, str) or (isinstance(given, tuple) and len(given) == 2 and not isinstance(given[1], (str, tuple)) and given[1] is not None):
        return [_constraint_text(given)]
    return [_constraint_text(constraint) for constraint in given]


def cpd(
    tensor: Any,
    rank: int,
    *,
    algorithm: str | None = None,
    loss: str = "gaussian",
    missing: bool = False,
    weights: Any = None,
    max_iterations: int = 50,
    tolerance: float = 1e-4,
    seed: int | None = None,
    starts: int | None = None,
    groups: int | None = 1,
    init: str = "random",
    regularization: float = 0,
    seconds: float | None = None,
    start: CpModel | None = None,
    distribution: str = "auto",
    partition_file: str = "",
    save_partition: str = "",
    grid: str = "",
    format: str = "auto",
    pairwise_perturbation: bool = False,
    constraints: Constraint | Mapping[int, Constraint] | Sequence[Constraint] | None = None,
    progress: Progress | bool | None = None,
) -> CpModel:
    """A CP decomposition of a dense or sparse tensor of float32 or float64. Collective.

    rank: number of components. algorithm: "als", "nonnegative", "opt" or "sgd" (sparse tensors, by samples); None: "als", of other losses than
    "gaussian" "opt", or "sgd" of sparse tensors whose zeros count and whose loss is not "poisson". loss: what is minimized over the elements: "gaussian", "poisson", "poisson-log", "bernoulli-odds",
    "bernoulli-logit", "gamma", "rayleigh", "huber=DELTA", "negative-binomial=R", "beta=B". missing: elements that are not stored, of dense tensors NaN, are unknown; else they are
    zeros, and NaN is refused. weights: of the elements' squared residuals or losses, a tensor of the same shape with numbers that are not negative: elements without a
    weight, or with 0, are unknown, others are known, zeros of sparse tensors too. tolerance: stops when the fit will change by less than this times
    itself and times what is left, 1 - fit, by its last changes. init: what iterations begin with: "random", "sketched" (bases of random products of the
    tensor with its factors) or "hosvd" (leading singular vectors; of the first start); the latter for squared residuals of tensors without missing elements. starts: so many starts are made, from seed, seed + 1, ..., and the best is kept; None: one where there is a seed or a start, else up to
    10 where these are short. groups: the ranks form so many groups, each with a copy of the tensor, that make starts side by side, with the same result but for rounding; progress is then called when each
    has made a start; None: as many as there are starts, ranks and memory for. start: a model to start from. distribution, grid, format: of sparse tensors, as `arges cpd` has them. save_partition: a
    file to which the distribution of a sparse tensor is saved, for partition_file of another run on as many ranks. pairwise_perturbation: for
    dense tensors. seconds: no further iteration begins when the iterations have taken so long. progress: called on every rank after each iteration with a dict of number, fit, change and seconds; None: a line on a terminal.
    constraints: of the factors, for algorithm "als", which is AO-ADMM with them: one for all modes, a list with one for each mode (None: none), or a
    dict of modes, from 0. A constraint is "nonnegative", "unimodal" (rises, then falls), "orthogonal" (A.T @ A is the unit matrix), "row-simplex" or
    "column-simplex" (no negative elements, rows or columns sum to 1); or a penalty with a weight w that is added to half the squared residual:
    ("l1", w): w times the sum of abs(A), ("nonnegative-l1", w): the same without negative elements, ("l2", w): w / 2 times the sum of A**2,
    ("smooth", w): w / 2 times the sum of np.diff(A, axis=0)**2. Columns of a mode with a simplex keep the scale in which the sums are 1; where a mode
    has a penalty, those of modes without one have length 1 at most while it is minimized.
    report has starts (a dict of seed, fit, iterations, stop_reason, seconds and score, how like the best its components are), best_start, stability (of each component: its mean score in the other starts), groups, fit, fits, iterations, converged, stop_reason, seconds_per_iteration, format (of the nonzeros; "device" where its sums over them ran on the device of the world), forecast_bytes; with a loss or missing elements loss, its sum over the known elements, and known, their number. Ctrl-C on any rank ends it on all.
    Raises InvalidArgument for options that do not fit, OutOfMemory, Error where the iteration diverges.
    """
    own = _real(tensor)
    options = own.world.agree(
        lambda: dict(
            _cp_options(own, rank, algorithm, loss, missing, max_iterations, tolerance, seed, starts, groups, init, regularization, seconds, constraints),
            distribution=distribution, grid=grid, format=format, partition_file=str(partition_file), save_partition=str(save_partition),
            pairwise_perturbation=bool(pairwise_perturbation),
        )
    )  # fmt: skip
    return _cp_model("cpd", own, options, progress, start, _weights_of(own, weights))


def compare_ranks(
    tensor: Any,
    ranks: Sequence[int],
    *,
    holdout: float = 0,
    algorithm: str | None = None,
    loss: str = "gaussian",
    missing: bool = False,
    max_iterations: int = 50,
    tolerance: float = 1e-4,
    seed: int | None = None,
    starts: int | None = None,
    groups: int | None = 1,
    init: str = "random",
    regularization: float = 0,
    seconds: float | None = None,
    constraints: Constraint | Mapping[int, Constraint] | Sequence[Constraint] | None = None,
    progress: Progress | bool | None = None,
) -> list[dict[str, Any]]:
    """CP decompositions with each rank from the smallest to the largest of `ranks`, to choose one. Collective.

    Returns for each a dict of rank, fit, starts, near_best (starts whose fit is within 0.001 of the best), agreement (mean score of the best start with
    these), core_consistency (in percent), held_out_rmse, held_out_spread, seconds and recommended, which is True of one rank at most: the largest whose
    core is consistent to 50 % and whose starts agree to 0.8; where elements are held out, at most the smallest whose error of them is the least but for
    its spread. Numbers that there are not are NaN. holdout: part of the known elements that is held out of one more decomposition, of dense tensors, and
    of sparse ones with missing=True. Others as for cpd(). Raises InvalidArgument for options that do not fit.
    """
    own = _real(tensor)
    given = own.world.agree(
        lambda: (
            min(whole("ranks", r) for r in ranks),
            max(whole("ranks", r) for r in ranks),
            _cp_options(own, 1, algorithm, loss, missing, max_iterations, tolerance, seed, starts, groups, init, regularization, seconds, constraints),
            float(holdout),
        )
    )
    with progress_shown(progress, "compare_ranks", own.world.rank) as shown:
        return list(_core.compare_ranks(own._h, *given, shown))


def complete(
    tensor: Any,
    rank: int,
    *,
    algorithm: str = "als",
    max_iterations: int = 50,
    tolerance: float = 1e-5,
    regularization: float = 0.1,
    biases: str = "auto",
    nonnegative: bool = False,
    seed: int = 1,
    holdout: float = 0,
    validation: Any = None,
    weights: Any = None,
    patience: int = 15,
    learning_rate: float = 1,
    decay: float = 0,
    batches: int = 8,
    duplicates: str = "refuse",
    seconds: float | None = None,
    start: CpModel | None = None,
    distribution: str = "auto",
    partition_file: str = "",
    save_partition: str = "",
    progress: Progress | bool | None = None,
) -> CpModel:
    """A CP model of the stored elements of a sparse tensor; those that are not stored are unknown. Collective.

    The tensor has one value for each element. Where read() or sparse() added several observations of one up, which their duplicates="sum"
    means, InvalidArgument is raised: give them "refuse", "keep_first", "keep_last", or "mean" of a file; or duplicates="sum" here.

    algorithm: "als", "ccd" (CCD++) or "sgd". regularization: a penalty for each element, in any unit; 0 for exact data. biases: whether an element of
    the model is the mean, a bias for each row and the part of the components: "on", "off", or "auto": for ratings, or as start has it. nonnegative:
    factors have no negative element, and there are no biases.
    holdout: part of the elements that is held out of the fit; the model is then that which fits them best. validation: a sparse tensor whose elements
    are held out instead. weights: of the elements' squared residuals, a tensor of the same shape with numbers that are not negative: stored elements
    without one, or with 0, are unknown, too; means, biases, errors and penalties have them. Others as for cpd(). report has rmse, rmses, held_out_rmse, losses, iterations, converged, stop_reason, forecast_bytes, device_ranks (whose sums over elements ran on a device),
    duplicates, has_biases; fitted_deviation, the RMSE of fitted_mean, the mean of the fitted elements, on these, held_out_mean_rmse, on held-out ones, and
    held_out_bias_rmse, that of mean and biases: a warning says where the model does no better. CpModel.at() predicts elements.
    """
    given = asarray(tensor)
    given.world.agree(lambda: _refuse_sums(given, duplicates))
    own = _real(given)
    options = own.world.agree(
        lambda: dict(
            rank=whole("rank", rank), algorithm=_chosen(_COMPLETION_ALGORITHMS, algorithm), max_iterations=whole("max_iterations", max_iterations), tolerance=float(tolerance),
            regularization=float(regularization), biases=_chosen(_BIASES, biases), nonnegative=bool(nonnegative), seed=whole("seed", seed), holdout=float(holdout), patience=whole("patience", patience),
            learning_rate=float(learning_rate), decay=float(decay), batches=whole("batches", batches), distribution=distribution,
            partition_file=str(partition_file), save_partition=str(save_partition), seconds=_seconds(seconds),
        )
    )  # fmt: skip
    held: Tensor | None = None
    if validation is not None:
        judged = asarray(validation)
        own.world.agree(lambda: _refuse_sums(judged, duplicates))
        held = judged.astype(own.dtype)
    found = _cp_model("complete", own, options, progress, start, held, _weights_of(own, weights))
    found.report["duplicates"] = given._joined
    _warn_of_predictions(found.report, own.world.rank)
    return found


def _warn_of_predictions(report: dict[str, Any], rank: int) -> None:
    fitted, deviation = report["rmse"], report["fitted_deviation"]
    if rank == 0 and not report["has_biases"] and 0 < deviation <= fitted / 0.999:
        warnings.warn(
            f"the model fits elements no better than their mean does (RMSE {fitted:.6g}, mean {deviation:.6g}): its components are nearly zero; "
            "use a smaller regularization (0 for exact data), or another seed",
            stacklevel=3,
        )
        return
    error, of_mean, of_biases = report["held_out_rmse"], report["held_out_mean_rmse"], report["held_out_bias_rmse"]
    if report["held_out"] == 0 or error < min(of_mean, of_biases) or rank != 0:
        return
    simpler = f"than the mean of the fitted ones does (RMSE {error:.6g}, mean {of_mean:.6g})"
    if of_biases < of_mean:
        simpler = f"than the mean and a bias for each row do (RMSE {error:.6g}, biases {of_biases:.6g})"
    warnings.warn(
        f"the model predicts held-out elements no better {simpler}; use "
        + ("" if report["has_biases"] or of_mean <= of_biases else 'biases="on", ')
        + "fewer components, a larger regularization, or more elements",
        stacklevel=3,
    )


def tucker(
    tensor: Any,
    ranks: int | Sequence[int] | None = None,
    *,
    relative_error: float = 0,
    method: str = "auto",
    max_iterations: int = 50,
    tolerance: float = 1e-5,
    seed: int = 1,
    missing: bool = False,
    weights: Any = None,
    seconds: float | None = None,
    progress: Progress | bool | None = None,
) -> TuckerModel:
    """A Tucker decomposition of a dense or sparse tensor of float32 or float64. Collective.

    ranks: shape of the core, or one length of all its dimensions; without, as small as relative_error allows:
    |X - model| <= relative_error |X|. missing: elements that are NaN, or not stored in a sparse tensor,
    are unknown; with ranks, by "hooi". weights: of the elements' squared residuals, a tensor of the same shape with numbers that are not negative:
    elements without one, or with 0, are unknown, others are known.
    method: "auto", "hosvd", "st_hosvd", "hooi" or "nonnegative" (factors and core, with ranks). report has fit, iterations, converged, stop_reason, compression, device_ranks (whose sums over nonzeros ran on a device), forecast_bytes.
    """
    own = _real(tensor)
    wanted = [ranks] * own.ndim if isinstance(ranks, (int, np.integer)) else ranks or ()
    options = own.world.agree(
        lambda: dict(
            ranks=[whole("ranks", r) for r in wanted], relative_error=float(relative_error), method=_chosen(_TUCKER_METHODS, method), missing=bool(missing),
            max_iterations=whole("max_iterations", max_iterations), tolerance=float(tolerance), seed=whole("seed", seed), seconds=_seconds(seconds),
        )
    )  # fmt: skip
    of_elements = _weights_of(own, weights)
    with progress_shown(progress, "tucker", own.world.rank) as shown:
        found = _core.tucker(own._h, options, shown, None if of_elements is None else of_elements._h)
    return TuckerModel(Tensor._of(found.pop("core")), found.pop("factors"), found)


def _cp_model(
    what: str, own: Tensor, options: dict[str, Any], progress: Progress | bool | None, start: CpModel | None, *beside: Tensor | None
) -> CpModel:
    tensors = [None if tensor is None else tensor._h for tensor in beside]
    with progress_shown(progress, what, own.world.rank) as shown:
        found = (_core.cpd if what == "cpd" else _core.complete)(own._h, options, shown, start, *tensors)
    weights, factors, mean, biases = found.pop("weights"), found.pop("factors"), found.pop("mean", 0.0), found.pop("biases", [])
    return CpModel(weights, factors, found, mean, list(biases))


def _refuse_sums(tensor: Tensor, duplicates: str) -> None:
    if duplicates not in ("refuse", "sum"):
        raise ValueError(f'duplicates={duplicates!r}; use "refuse" or "sum"')
    if tensor._joined > 0 and duplicates == "refuse":
        raise _core.InvalidArgument(
            f"complete: {tensor._joined} values were added to others of the same element when the tensor was made, and sums are no observations; "
            'give read() or sparse() duplicates="refuse", "keep_first", "keep_last", or "mean" of a file, or complete() duplicates="sum"'
        )


def masked(tensor: Any, mask: Any) -> Tensor:
    """The elements for which a mask of the same shape is not zero: others are NaN, of a sparse tensor not stored, and known zeros are. Collective.

    What cpd() and tucker() take with missing=True, and complete() if it is sparse. mask: bool, or numbers that are not negative.
    Raises InvalidArgument for other shapes and other numbers.
    """
    own = _real(tensor)
    return Tensor._of(_core.masked(own._h, _like(own, mask)._h))


def _weights_of(own: Tensor, given: Any) -> Tensor | None:
    return None if given is None else _like(own, given)


def _like(own: Tensor, given: Any) -> Tensor:
    """Another tensor with the storage and the type of elements of this one."""
    other = asarray(given, world=own.world)
    return (other.to_sparse() if own.is_sparse else other.to_dense()).astype(own.dtype)


def _real(tensor: Any) -> Tensor:
    """Arrays of integers as float64."""
    own = asarray(tensor)
    return own.astype(float64) if own.dtype.kind in "ib" else own
