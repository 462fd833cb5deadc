"""Selection of elements by indices, slices, lists and masks."""

from __future__ import annotations

import builtins
import operator
from typing import Any, Callable, NamedTuple

import numpy as np

from ._elementwise import elementwise
from ._lines import _joined, _true_places
from ._making import asarray
from ._places import _indices, _keys_of, _raise, _rearranged, _require_dense, _without, reshape
from ._shapes import _outer, broadcast_to
from ._tensor import Tensor
from ._types import bool_
from ._writing import set_elements


class _Selection(NamedTuple):
    """What x[key] selects."""

    shape: tuple[int, ...]
    key: tuple[Any, ...]
    ranges: tuple[list[int], list[int]] | None  # begins and ends, where each dimension is cut to a range
    gone: list[int]  # dimensions that integers select from
    lists: Callable[[], list[np.ndarray | None]] | None  # indices in each dimension (None: all), where lists do not go together
    source: Callable[..., list[Any]]  # the indices in x for indices in the selection


def _is_mask(key: Any) -> bool:
    if isinstance(key, list):
        return len(key) > 0 and np.asarray(key).dtype == bool_
    return isinstance(key, (bool, np.bool_)) or isinstance(key, (Tensor, np.ndarray)) and key.dtype == bool_


def _local(key: Any) -> Any:
    """A key without tensors. Collective."""
    if isinstance(key, tuple):
        return tuple(_local(k) for k in key)
    if isinstance(key, slice) and builtins.any(isinstance(n, Tensor) for n in (key.start, key.stop, key.step)):
        return slice(_local(key.start), _local(key.stop), _local(key.step))
    return key.numpy() if isinstance(key, Tensor) else key


def _entries(extents: tuple[int, ...], key: Any) -> list[Any]:
    """A key's slices, integers, None and arrays of integers, without ellipses and masks."""
    given = []
    for k in key if isinstance(key, tuple) else (key,):
        if isinstance(k, (list, np.ndarray)):
            k = np.asarray(k, np.int64 if len(k) == 0 else None) if isinstance(k, list) else k
            if k.dtype.kind not in "iub" or k.dtype == bool_ and k.ndim == 0:
                raise IndexError(f"an index of type {k.dtype}; use integers")
            k = int(k) if k.ndim == 0 else k if k.dtype == bool_ else k.astype(np.int64)
        given.append(k)
    used = [0 if k is None or k is Ellipsis else k.ndim if isinstance(k, np.ndarray) and k.dtype == bool_ else 1 for k in given]
    total = builtins.sum(used)
    if total > len(extents):
        raise IndexError(f"{total} indices for a tensor of order {len(extents)}")
    ellipses = [i for i, k in enumerate(given) if k is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can have one ellipsis only")
    if not ellipses:
        given.append(Ellipsis)
        used.append(0)
    result: list[Any] = []
    d = 0
    for k, dimensions in zip(given, used):
        if k is Ellipsis:
            result.extend([slice(None)] * (len(extents) - total))
            dimensions = len(extents) - total
        elif isinstance(k, np.ndarray) and k.dtype == bool_:
            if k.shape != extents[d : d + dimensions]:
                raise IndexError(f"a mask of shape {k.shape} for dimensions of {extents[d : d + dimensions]} elements")
            result.extend(np.nonzero(k))
        else:
            result.append(k)
        d += dimensions
    return result


def _rules(extents: tuple[int, ...], keys: list[Any]) -> tuple[list[int], list[Any], list[int], int]:
    """Lengths of ranges and None; by dimension of a range its start, step, length and dimension in the selection, else the indices, which keys
    then has, too; where keys has indices; and how many lengths are before the first."""
    shape: list[int] = []
    rules: list[Any] = []
    listed: list[int] = []
    front = 0
    for position, k in enumerate(keys):
        length = extents[len(rules)] if k is not None else 0
        if k is None:
            shape.append(1)
        elif isinstance(k, slice):
            start, stop, step = k.indices(length)
            rules.append((start, step, len(range(start, stop, step)), len(shape)))
            shape.append(rules[-1][2])
        elif isinstance(k, np.ndarray) or isinstance(k, (int, np.integer)) and not isinstance(k, bool):
            if k.size and (k.min() < -length or k.max() >= length) if isinstance(k, np.ndarray) else not -length <= k < length:
                raise IndexError(f"index {k if np.ndim(k) == 0 else ''} in dimension {len(rules)} is not within its extent {length}")
            front = front if listed else len(shape)
            listed.append(position)
            keys[position] = np.where(k < 0, k + length, k) if isinstance(k, np.ndarray) else operator.index(k) % length
            rules.append(keys[position])
        else:
            raise IndexError(f"{type(k).__name__} as an index; use integers, slices, lists of integers, masks, ..., None, or labels")
    return shape, rules, listed, front


def _selection(extents: tuple[int, ...], key: Any) -> _Selection:
    keys = _entries(extents, key)
    shape, rules, listed, front = _rules(extents, keys)
    gone = [d for d, rule in enumerate(rules) if isinstance(rule, int)]
    if not builtins.any(isinstance(rule, np.ndarray) for rule in rules):
        cuts = [(rule, 1, 1) if isinstance(rule, int) else rule[:3] for rule in rules]
        is_range = builtins.all(step == 1 for _, step, _ in cuts)
        ranges = ([begin for begin, _, _ in cuts], [begin + count for begin, _, count in cuts]) if is_range else None
        wide: tuple[int, ...] = ()
        is_outer = True
    else:
        # Lists of indices go together, as in NumPy: in the place of the first, or in front where others lie between them.
        ranges = None
        wide = np.broadcast_shapes(*(rule.shape for rule in rules if isinstance(rule, np.ndarray)))
        is_adjacent = listed[-1] - listed[0] == len(listed) - 1
        is_outer = is_adjacent and builtins.sum(isinstance(rule, np.ndarray) for rule in rules) == 1
        front = front if is_adjacent else 0
        shape[front:front] = wide

    def lists() -> list[np.ndarray | None]:
        result: list[np.ndarray | None] = []
        for rule, length in zip(rules, extents):
            if isinstance(rule, tuple):
                start, step, count, _ = rule
                result.append(None if (start, step, count) == (0, 1, length) else start + step * np.arange(count))
            else:
                result.append(np.atleast_1d(rule).ravel())
        return result

    def source(*indices: np.ndarray) -> list[Any]:
        result = []
        for rule in rules:
            if isinstance(rule, tuple):
                start, step, _, d = rule
                result.append(start + step * indices[d + len(wide) * (d >= front)])
            elif isinstance(rule, int):
                result.append(rule)
            else:
                result.append(np.broadcast_to(rule, wide)[tuple(indices[front : front + len(wide)])])
        return result

    return _Selection(tuple(shape), tuple(keys), ranges, gone, lists if is_outer else None, source)


def _agreed_selection(x: Tensor, key: Any) -> _Selection:
    key = _local(key)
    return x.world.agree(lambda: _selection(x.shape, key))


class _Masked(NamedTuple):
    """The elements for which a mask is true, which tells of the first dimensions."""

    mask: Tensor
    shape: tuple[int, ...]
    source: Callable[..., list[Any]]  # collective


def _masked(x: Tensor, key: Any) -> _Masked:
    mask = asarray(key, world=x.world)
    wrong = f"a mask of shape {mask.shape} for a tensor of shape {x.shape}"
    x.world.agree(lambda: None if mask.shape == x.shape[: mask.ndim] else _raise(IndexError(wrong)))
    places = _joined(x.world, _true_places(mask))
    return _Masked(mask, places.shape + x.shape[mask.ndim :], lambda i, *rest: [*_indices(places.read(i), mask.shape), *rest])


def selected(x: Tensor, key: Any) -> Tensor:
    """x[key] for integers, slices, lists of integers, None and ellipses, or for a mask. Collective."""
    if _is_mask(key):
        _require_dense(x, "elements under a mask")
        part = _masked(x, key)
        return _rearranged(x, part.shape, lambda array: array[part.mask.numpy()], part.source)
    wanted = _agreed_selection(x, key)
    if len(wanted.gone) == x.ndim > 0 and wanted.shape == () and not x.world.is_dry_run and x.size < 2**63:
        return Tensor._of_number(x._h.read(_keys_of(wanted.source(), x.shape, 1))[0], x.world)
    if x.is_sparse and wanted.lists is not None and (wanted.ranges is None or builtins.any(k is None for k in wanted.key)):
        result = _outer(x, wanted.lists())
        return result if result.shape == wanted.shape else reshape(result, wanted.shape)
    if wanted.ranges is None or x.ndim == 0:
        return _rearranged(x, wanted.shape, lambda array: array[wanted.key], wanted.source)
    result = Tensor._of(x._h.slice(*wanted.ranges))
    if result.shape == wanted.shape:
        return result
    return _without(result, wanted.gone) if wanted.gone and result.is_sparse else reshape(result, wanted.shape)


def set_selected(x: Tensor, key: Any, value: Any) -> None:
    """x[key] = value for integers, slices, lists of integers, None and ellipses, or for a mask. An element that is named twice, or that the
    symmetry relates to another, gets one value, else InvalidArgument; see set_elements(). Collective."""
    own = asarray(value, world=x.world)
    x.world.agree(lambda: _check_type(own, x))
    is_plain = not x.is_sparse and not x._h.has_symmetry
    if _is_mask(key):
        if own.ndim == 0 and is_plain:
            mask = asarray(key, world=x.world)
            wide = reshape(mask, mask.shape + (1,) * (x.ndim - mask.ndim))
            elementwise(lambda keep, new, old: np.where(keep, new.astype(old.dtype), old), wide, own, x, out=x)
            return
        part: Any = _masked(x, key)
    else:
        part = _agreed_selection(x, key)
    x.world.agree(lambda: _check_shape(own, part.shape))
    own = own.astype(x.dtype, copy=False)
    ranges = part.ranges if isinstance(part, _Selection) and x.ndim > 0 else None
    if ranges is not None and own.shape == x.shape == part.shape and x._h.has_symmetry and (x.is_sparse or own._h.has_symmetry):
        _set_whole(x, own)
        return
    own = broadcast_to(own, part.shape) if own.shape != part.shape else own.with_symmetry(None)
    if ranges is not None and not x._h.has_symmetry:
        begins, ends = ranges
        extents = tuple(end - begin for begin, end in zip(begins, ends))
        if own.size:
            own = own if own.shape == extents else reshape(own, extents)
            x._h.set_slice(begins, _in_form_of(x, own)._h)
        return
    own = own.to_dense() if own.is_sparse else own
    keys, values = own.local_pairs()
    set_elements(x, _keys_of(part.source(*_indices(keys, own.shape, "F")), x.shape, len(keys)), values)


def _in_form_of(x: Tensor, value: Tensor) -> Tensor:
    """A value sparse where x is, dense where it is."""
    return value if value.is_sparse == x.is_sparse else value.to_sparse(nan="keep") if x.is_sparse else value.to_dense()


def _set_whole(x: Tensor, value: Tensor) -> None:
    """All elements of a symmetric tensor from a tensor, which must have its symmetry."""
    own = _in_form_of(x, value)
    if own.symmetry() != x.symmetry():
        own = own.with_symmetry(None)
        if not x.is_sparse:
            keys, values = own.local_pairs()
            set_elements(x, keys, values)
            return
        own = own.with_symmetry(x.symmetry())
    labels = [f"d{d}" for d in range(x.ndim)]
    x[labels] = own[labels]


def _check_type(value: Tensor, x: Tensor) -> None:
    if not np.can_cast(value.dtype, x.dtype, "same_kind"):
        raise TypeError(f"elements of type {value.dtype} in a tensor of {x.dtype}")


def _check_shape(value: Tensor, shape: tuple[int, ...]) -> None:
    if np.broadcast_shapes(value.shape, shape) != shape:
        raise ValueError(f"a value of shape {value.shape} for a selection of shape {shape}")
