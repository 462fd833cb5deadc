"""Tables as sparse tensors, and predictions at their ids."""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping, Sequence, Union

import numpy as np

from . import _core
from ._decompose import CpModel
from ._keys import policy_number
from ._tensor import Tensor
from ._types import float64, type_number
from ._world import World, default_world

Model = Union[CpModel, str, "os.PathLike[str]"]
Ids = Union[str, "os.PathLike[str]", Sequence[Sequence[str]], Mapping[str, Sequence[str]], None]


def _table_options(
    columns: Sequence[str | int], value: str | int | None, delimiter: str, header: bool | None, quotes: bool, skip_empty: bool
) -> dict[str, Any]:
    return dict(
        columns=[str(column) for column in columns], value="" if value is None else str(value), delimiter=delimiter,
        header={None: 0, True: 1, False: 2}[header], quotes=bool(quotes), skip_empty=bool(skip_empty),
    )  # fmt: skip


def read_table(
    path: str | os.PathLike[str],
    columns: Sequence[str | int],
    value: str | int | None = None,
    *,
    duplicates: str = "sum",
    delimiter: str = "",
    header: bool | None = None,
    quotes: bool = True,
    skip_empty: bool = False,
    dtype: Any = float64,
    world: World | None = None,
) -> tuple[Tensor, list[list[str]]]:
    """Reads a table, CSV or with another delimiter, also .gz, as a sparse tensor: it, and by mode what its indices stand for. Collective.

    columns: a mode each, by name or number from 1; behind a colon what is made of times: bins of 30s, 15min, 1h, 1d, 1w, 1mo or 1y, or
    one of hour, weekday, day, month and minute. value: the column of the values; without, each row counts 1. duplicates: as of read().
    delimiter: one character, or "tab"; found without. header: whether the first line has the names; found without. quotes: fields may
    stand between quotes. skip_empty: rows with empty fields are left out. dtype: float32, float64 or int64. Ids are in ascending order, by
    value where all are numbers, the same on every rank.
    ``T, (users, items, hours) = arges.read_table("events.csv", ["user", "item", "time:hour"], "amount")``
    Raises InvalidArgument with the line for a row that is wrong.
    """
    own = world or default_world()

    options = own.agree(
        lambda: dict(_table_options(columns, value, delimiter, header, quotes, skip_empty), duplicates=policy_number(duplicates, in_file=True))
    )
    handle, ids, joined = _core.read_table(own._w, os.fspath(path), own.agree(lambda: type_number(dtype)), options)
    return Tensor._of(handle, joined=joined if duplicates == "sum" else 0), ids


def _model(model: Model) -> CpModel | str:
    if isinstance(model, CpModel):
        return model
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    raise TypeError(f"a {type(model).__name__} for a model; give an arges.CpModel, or the folder of one")


def _ids_of(row: Any, number: int) -> list[str]:
    if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
        raise TypeError(f"row {number} is {row!r}; give a tuple with an id for each mode, as [('anna', 'film 7'), ...]")
    return [str(part) for part in row]


def _ids_file(model: CpModel | str, ids: str | os.PathLike[str] | None) -> str:
    if ids is not None:
        return os.fspath(ids)
    if isinstance(model, CpModel):
        raise ValueError("ids are missing; give those of arges.read_table(), or the name of a file of ids, for a model that has no folder")
    return str(_core.ids_path(model))


def _ids(model: CpModel | str, ids: Ids) -> str | list[list[str]]:
    if ids is None or isinstance(ids, (str, os.PathLike)):
        return _ids_file(model, ids)
    return [[str(part) for part in mode] for mode in (ids.values() if isinstance(ids, Mapping) else ids)]


def _output(output: str | os.PathLike[str], path: str | os.PathLike[str]) -> str:
    name = os.fspath(output)
    if name and os.path.exists(name) and os.path.exists(path) and os.path.samefile(name, path):
        raise ValueError(f"{name}: the output is the table that is read; give another name")
    return name


def predict(model: Model, rows: Iterable[Sequence[Any]], ids: Ids = None, *, world: World | None = None) -> tuple[np.ndarray, dict[str, Any]]:
    """What a CP model predicts for rows of ids: an array of the elements, whole on every rank, and a report. Collective.

    model: an arges.CpModel, or the folder of one that `arges complete`, `arges cpd` or save_model() wrote. rows: for each element a tuple with
    an id for each mode, the same on every rank. ids: by mode what the indices stand for, as read_table() gives them, or a file of them, as
    `arges convert` writes it; of a folder those in it. Where a mode of such a file has a unit of time, rows have times. In an unknown slice, of
    an id that is not there or one without fitted elements, the model is its mean and the biases of the other slices; without biases it is zero.
    CpModel.at() predicts by indices.
    report has predictions, in_unknown_slices (how many of them) and unknown_ids (by mode: rows whose id is not there).
    ``stars, report = arges.predict("ratings", [("anna", "film 7"), ("ben", "film 2")])``
    Raises InvalidArgument for a row with another number of ids, for ids of another tensor, or where there are none.
    """
    own = world or default_world()
    made = own.agree(lambda: _model(model))
    texts = own.agree(lambda: [_ids_of(row, number) for number, row in enumerate(rows, 1)])
    elements, report = _core.predict_ids(own._w, made, texts, own.agree(lambda: _ids(made, ids)))
    del report["skipped"]
    return elements, report


def predict_table(
    model: Model,
    path: str | os.PathLike[str],
    output: str | os.PathLike[str] = "",
    *,
    ids: str | os.PathLike[str] | None = None,
    columns: Sequence[str | int] = (),
    value: str | int | None = None,
    delimiter: str = "",
    header: bool | None = None,
    quotes: bool = True,
    skip_empty: bool = False,
    world: World | None = None,
) -> tuple[np.ndarray, dict[str, Any]]:
    """What a CP model predicts for the rows of a table, as `arges predict`: an array in their order, whole on every rank, and a report. Collective.

    model: as of predict(). path: the table. output: a table that is written, or replaced, with the columns of the ids, that of the value, and
    `predicted`. ids: a file of ids; without it that in the folder of the model. columns: that of each mode, where they have other names than in
    the table of the model; times are put into the model's bins. value: a column that predictions are compared with. Others as of read_table().
    report has predictions, in_unknown_slices, unknown_ids, skipped (rows with empty fields that were left out), and with a value rmse.
    Raises InvalidArgument as read_table(), if there are no ids or those of another tensor, or if the output cannot be written.
    """
    own = world or default_world()
    made = own.agree(lambda: _model(model))
    file = own.agree(lambda: _ids_file(made, ids))
    options = own.agree(lambda: _table_options(columns, value, delimiter, header, quotes, skip_empty))
    elements, report = _core.predict_table(own._w, made, os.fspath(path), file, own.agree(lambda: _output(output, path)), options)
    return elements, report


def save_model(
    model: CpModel,
    folder: str | os.PathLike[str],
    ids: Sequence[Sequence[str]] | Mapping[str, Sequence[str]] = (),
    *,
    overwrite: bool = False,
    world: World | None = None,
) -> None:
    """Writes a CP model to a folder, as `arges cpd --output` does, for predict(), `arges show`, `arges report` and `arges predict`. Collective.

    ids: what indices stand for, by mode, as read_table() gives them; with the names of the modes as a dict, {"user": users, "time:1h": hours}.
    overwrite: replaces a model that is there. Raises InvalidArgument if the folder cannot be written, ValueError where a model is there.
    """
    own = world or default_world()

    def given() -> tuple[str, list[str], list[list[str]]]:
        name = os.fspath(folder)
        if not overwrite and os.path.exists(os.path.join(name, "description.json")):
            raise ValueError(f"{name}: there is a model; give another name, or overwrite=True")
        lists = _ids(model, ids)
        assert isinstance(lists, list)
        if lists and tuple(map(len, lists)) != model.shape:
            raise ValueError(f"ids of a tensor of shape {tuple(map(len, lists))} for a model of shape {model.shape}; give those of its tensor")
        names = [str(key) for key in ids] if isinstance(ids, Mapping) else [f"mode {mode + 1}" for mode in range(len(lists))]
        return name, names, lists

    name, names, lists = own.agree(given)
    _core.save_cp_model(own._w, model, name, names, lists)


def load_model(folder: str | os.PathLike[str], *, world: World | None = None) -> CpModel:
    """Reads a CP model from a folder that save_model(), `arges cpd` or `arges complete` has written; its report is empty. Collective.

    Raises InvalidArgument if there is no model, or if its files do not fit.
    """
    own = world or default_world()
    found = _core.load_cp_model(own._w, os.fspath(folder))
    return CpModel(found["weights"], found["factors"], {}, found["mean"], list(found["biases"]))
