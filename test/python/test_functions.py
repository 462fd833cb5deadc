"""Functions of tensors against NumPy, on any number of ranks: every rank makes the same random arrays, and must see the same results."""

import contextlib
import hashlib
import itertools

import numpy as np
import pytest

import arges

TYPES = ["float32", "float64", "complex64", "complex128", "int16", "int32", "int64", "bool"]
REAL = [t for t in TYPES if not t.startswith("complex")]
FLOATING = TYPES[:4]
SHAPES = [(), (0,), (1,), (7,), (3, 4), (1, 5), (4, 0), (2, 3, 4), (5, 1, 2), (23,), (2, 1, 3, 2)]
WORLD = arges.default_world()
SEEN = hashlib.sha256()  # of all results so far


def data(shape, dtype, seed=0, low=-4, high=5):
    rng = np.random.default_rng([seed, len(shape), *shape])
    parts = rng.integers(low, high, (2, *shape))
    return np.asarray(parts[0] + 1j * parts[1] if dtype.startswith("complex") else parts[0]).astype(dtype)


def tensor(array):
    return arges.asarray(array, copy=True)


def check(found, wanted, exact=True):
    wanted = np.asarray(wanted)
    assert isinstance(found, arges.Tensor)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype, (found.dtype, wanted.dtype)
    array = found.numpy()
    if exact:
        np.testing.assert_array_equal(array, wanted)
    else:
        single = wanted.dtype.char in "fF"
        np.testing.assert_allclose(array, wanted, rtol=2e-5 if single else 1e-12, atol=2e-5 if single else 1e-12)
    SEEN.update(array.tobytes())


@pytest.fixture(autouse=True)
def ranks_see_the_same():
    yield
    assert len({row.tobytes() for row in gathered(np.frombuffer(SEEN.digest(), np.uint8))}) == 1, "ranks see different results"


def gathered(array):
    """The bytes that each rank has."""
    rows = array.astype(np.int16)
    table = arges.zeros((rows.size, WORLD.size), "int16")
    table.write(WORLD.rank * rows.size + np.arange(rows.size), rows)
    return table.numpy().T


@contextlib.contextmanager
def raises_everywhere(*classes):
    """The same error on every rank."""
    with pytest.raises(classes) as caught:
        yield
    text = np.frombuffer(str(caught.value).encode().ljust(200)[:200], np.uint8)
    assert len({row.tobytes() for row in gathered(text)}) == 1
    assert str(caught.value)


def wide(dtype):
    return {"b": "int64", "i": "int64"}.get(np.dtype(dtype).kind, dtype)


# Element by element.

UNARY = {
    "abs": (np.abs, TYPES), "acos": (np.arccos, FLOATING), "acosh": (np.arccosh, FLOATING), "asin": (np.arcsin, FLOATING),
    "asinh": (np.arcsinh, FLOATING), "atan": (np.arctan, FLOATING), "atanh": (np.arctanh, FLOATING),
    "bitwise_invert": (np.invert, TYPES[4:]),
    "ceil": (np.ceil, REAL[:2]), "cos": (np.cos, FLOATING), "cosh": (np.cosh, FLOATING), "exp": (np.exp, FLOATING),
    "expm1": (np.expm1, FLOATING),
    "floor": (np.floor, REAL[:2]), "isfinite": (np.isfinite, TYPES), "isinf": (np.isinf, TYPES), "isnan": (np.isnan, TYPES),
    "log": (np.log, FLOATING), "log1p": (np.log1p, FLOATING), "log2": (np.log2, FLOATING), "log10": (np.log10, FLOATING),
    "logical_not": (np.logical_not, TYPES), "negative": (np.negative, TYPES[:7]), "positive": (np.positive, TYPES[:7]),
    "reciprocal": (np.reciprocal, FLOATING), "round": (np.round, TYPES[:7]), "sign": (np.sign, TYPES[:7]),
    "signbit": (np.signbit, REAL[:2]),
    "sin": (np.sin, FLOATING), "sinh": (np.sinh, FLOATING), "square": (np.square, TYPES[:7]), "sqrt": (np.sqrt, FLOATING),
    "tan": (np.tan, FLOATING), "tanh": (np.tanh, FLOATING), "trunc": (np.trunc, REAL[:2]), "conj": (np.conj, TYPES[:7]),
    "real": (np.real, TYPES),
    "imag": (np.imag, TYPES[2:4]),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    f, types = UNARY[name]
    for dtype, shape in zip(itertools.cycle(types), [*SHAPES[:6], (3, 4), (2, 3, 4)]):
        x = data(shape, dtype)
        with np.errstate(all="ignore"):
            wanted = f(x)
            check(getattr(arges, name)(tensor(x)), wanted, np.dtype(dtype).kind in "ib" or name in ("abs", "conj", "negative"))


BINARY = {
    "add": (np.add, TYPES), "atan2": (np.arctan2, REAL[:2]), "bitwise_and": (np.bitwise_and, TYPES[4:]),
    "bitwise_or": (np.bitwise_or, TYPES[4:]),
    "bitwise_xor": (np.bitwise_xor, TYPES[4:]), "copysign": (np.copysign, REAL[:2]), "divide": (np.divide, FLOATING),
    "equal": (np.equal, TYPES),
    "floor_divide": (np.floor_divide, REAL[:5]), "greater": (np.greater, REAL), "greater_equal": (np.greater_equal, REAL),
    "hypot": (np.hypot, REAL[:2]), "less": (np.less, REAL), "less_equal": (np.less_equal, REAL), "logaddexp": (np.logaddexp, REAL[:2]),
    "logical_and": (np.logical_and, TYPES), "logical_or": (np.logical_or, TYPES), "logical_xor": (np.logical_xor, TYPES),
    "maximum": (np.maximum, REAL), "minimum": (np.minimum, REAL), "multiply": (np.multiply, TYPES), "nextafter": (np.nextafter, REAL[:2]),
    "not_equal": (np.not_equal, TYPES), "pow": (np.power, FLOATING), "remainder": (np.remainder, REAL[:5]),
    "subtract": (np.subtract, TYPES[:7]),
    "bitwise_left_shift": (np.left_shift, TYPES[4:7]), "bitwise_right_shift": (np.right_shift, TYPES[4:7]),
}  # fmt: skip
PAIRS = [((), ()), ((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 1, 3), (4, 1)), ((0, 2), (1, 2)), ((5,), ()), ((2, 3), (2, 3)), ((1,), (1, 1))]


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    f, types = BINARY[name]
    is_shift = name.endswith("shift")
    for dtype, (left, right) in zip(itertools.cycle(types), PAIRS):
        a, b = data(left, dtype, 1), data(right, dtype, 2, *((0, 5) if is_shift else ()))
        with np.errstate(all="ignore"):
            check(getattr(arges, name)(tensor(a), tensor(b)), f(a, b), np.dtype(dtype).kind in "ib" or name in ("copysign", "maximum"))


def test_types_are_promoted():
    arrays = [data((3,), t, 1) for t in TYPES]
    tensors = [tensor(a) for a in arrays]
    for (x, a), (y, b) in itertools.combinations_with_replacement(zip(tensors, arrays), 2):
        check(x + y, a + b)


def test_operators():
    a, b = data((3, 4), "int64", 1), data((4,), "int64", 2, 1, 4)
    x, y = tensor(a), tensor(b)
    for f in (
        lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p / q, lambda p, q: p // q, lambda p, q: p % q,
        lambda p, q: p**q,
        lambda p, q: p & q, lambda p, q: p | q, lambda p, q: p ^ q, lambda p, q: p << q, lambda p, q: p >> q, lambda p, q: p == q,
        lambda p, q: p != q, lambda p, q: p < q, lambda p, q: p <= q, lambda p, q: p > q, lambda p, q: p >= q, lambda p, q: 7 - p,
        lambda p, q: 7 / q,
        lambda p, q: -p, lambda p, q: +p, lambda p, q: abs(p), lambda p, q: ~p,
    ):  # fmt: skip
        check(f(x, y), f(a, b), False)
    check(x @ y, a @ b)
    check(b @ x.T, b @ a.T)
    x += y
    a += b
    x *= 3
    a *= 3
    check(x, a)
    check(np.multiply(a, y), a * b)


def test_functions_of_numpy_take_tensors():
    a, b = data((4, 5), "float64", 1), data((5, 3), "float64", 2)
    A, B = tensor(a), tensor(b)
    for found, wanted in [  # those that have a namesake give tensors
        (np.sum(A), np.sum(a)), (np.sum(A, axis=1), np.sum(a, axis=1)), (np.mean(A, 0), np.mean(a, 0)), (np.max(A), np.max(a)),
        (np.einsum("ij,jk", A, B, optimize=True), np.einsum("ij,jk", a, b)), (np.einsum("ij,jk->k", a, B), np.einsum("ij,jk->k", a, b)),
        (np.tensordot(A, B, 1), np.tensordot(a, b, 1)), (np.concatenate([A, a]), np.concatenate([a, a])), (np.stack((a, A)), np.stack((a, a))),
        (np.where(A > 0, A, 1.0), np.where(a > 0, a, 1.0)), (np.transpose(A), a.T), (np.reshape(A, (2, -1)), np.reshape(a, (2, -1))),
        (np.zeros_like(A), np.zeros_like(a)), (np.argmax(A, axis=0), np.argmax(a, axis=0)), (np.sort(A), np.sort(a)), (np.round(A), np.round(a)),
        (np.linalg.norm(A), np.linalg.norm(a)), (np.linalg.norm(A, 1), np.linalg.norm(a, 1)), (np.linalg.norm(A, axis=1), np.linalg.norm(a, axis=1)),
        (np.std(A, ddof=1), np.std(a, ddof=1)), (np.amax(A), np.amax(a)), (np.cumsum(A), np.cumsum(a)), (np.dot(A, b), a @ b),
        (np.round(A, 2), np.round(a, 2)), (np.var(A, 0, keepdims=True), np.var(a, 0, keepdims=True)),
    ]:  # fmt: skip
        check(found, wanted, exact=False)
    for found, wanted in [  # others, and other arguments, NumPy's results
        (np.where(A > 0), np.where(a > 0)),
        (np.reshape(A, (2, 10), order="F"), np.reshape(a, (2, 10), order="F")),
        (np.shape(A), (4, 5)), (np.ndim(A), 2), (np.size(A), 20), (np.allclose(A, a, equal_nan=True), True), (np.array_equal(A, a), True),
        (np.einsum("ij,jk", A, B, out=np.empty((4, 3))), a @ b),
    ]:  # fmt: skip
        assert not isinstance(found, arges.Tensor)
        np.testing.assert_allclose(found, wanted)
    assert np.result_type(A, 1j) == np.complex128 and not np.iscomplexobj(A)
    check(tensor(a + 1j).imag, np.ones_like(a))
    assert A.nbytes == a.nbytes


def test_zeros_keep_their_sign():
    x = tensor(np.full((2, 1), -0.0))
    for found in (arges.squeeze(x), arges.broadcast_to(x, (2, 3)), x * arges.ones((2, 3)), arges.permute_dims(x), x[:, 0]):
        assert np.signbit(found.numpy()).all()


def test_where_clip_isclose():
    a, b = data((3, 4), "float64", 1), data((4,), "float64", 2)
    check(arges.where(tensor(a > 0), tensor(a), tensor(b)), np.where(a > 0, a, b))
    check(arges.where(tensor(a > 0), 1.0, tensor(b)), np.where(a > 0, 1.0, b))
    check(arges.clip(tensor(a), -1, 2), np.clip(a, -1, 2))
    check(arges.clip(tensor(a), max=tensor(b)), np.clip(a, None, b))
    check(arges.isclose(tensor(a), tensor(a + 1e-12)), np.ones((3, 4), bool))
    assert arges.allclose(tensor(a), a + 1e-12) and not arges.allclose(tensor(a), a + 1)
    check(arges.apply(lambda x, y: 2 * x + y, tensor(a), b), 2 * a + b)
    out = arges.zeros((3, 4))
    assert arges.apply(np.add, tensor(a), tensor(b), out=out) is out
    check(out, a + b)


def test_explain_apply_says_where_functions_run():
    x = tensor(data((3, 4), "float64", 1))
    for f, name in arges._elementwise._NAMES.items():
        for operands in ((x,), (x, x), (x, 2.5), (2, x)):
            if len(operands) == getattr(f, "nin", 1):
                assert f"= {name} of " in arges.explain_apply(f, *operands)
    assert "= map(...) of " in arges.explain_apply(lambda a: a, x)
    assert arges.explain_apply(np.sqrt, x).endswith("on the host: tensor lies there\n")
    assert "= map(...) of " in arges.explain_apply(np.add, x, tensor(data((3, 4), "float32", 1)))  # types differ
    assert "= map(...) of " in arges.explain_apply(np.sqrt, tensor(data((3, 4), "int32", 1)))


# Reductions, scans and order.


def axes_of(shape):
    return [None, *range(-len(shape), len(shape)), *itertools.combinations(range(len(shape)), 2)]


@pytest.mark.parametrize("dtype", TYPES)
def test_reductions(dtype):
    for shape in SHAPES[TYPES.index(dtype) % 3 :: 3]:
        a = data(shape, dtype, low=-2, high=3)
        x = tensor(a)
        for axis in axes_of(shape):
            for keepdims in (False, True):
                rest = {"axis": axis, "keepdims": keepdims}
                check(arges.sum(x, **rest), np.sum(a, dtype=wide(dtype), **rest), False)
                check(arges.any(x, **rest), np.any(a, **rest))
            check(arges.prod(x, axis), np.prod(a, axis, dtype=wide(dtype)), False)
            check(x.all(axis), np.all(a, axis))
            check(arges.count_nonzero(x, axis), np.count_nonzero(a, axis=axis))
            if dtype in FLOATING and 0 not in shape:
                check(arges.mean(x, axis), np.mean(a, axis), False)
                check(x.std(axis=axis), np.std(a, axis), False)
                check(arges.var(x, axis, correction=0.5, keepdims=True), np.var(a, axis, ddof=0.5, keepdims=True), False)
            if dtype in REAL and 0 not in shape:
                check(arges.max(x, axis), np.max(a, axis))
                check(arges.min(x, axis, keepdims=True), np.min(a, axis, keepdims=True))
    with raises_everywhere(arges.InvalidArgument):
        arges.sum(arges.full((3,), 30000), dtype="int16")


@pytest.mark.parametrize("dtype", TYPES)
def test_order(dtype):
    for shape in [*SHAPES[1 + TYPES.index(dtype) % 3 :: 3], (2, 37), (31, 3)]:
        a = data(shape, dtype)
        if dtype in FLOATING and len(shape) == 2:
            a[np.random.default_rng(3).random(shape) < 0.1] = np.nan
        x = tensor(a)
        for axis in range(-1, len(shape) - 1):
            check(arges.sort(x, axis=axis), np.sort(a, axis=axis, kind="stable"))
            check(arges.argsort(x, axis), np.argsort(a, axis=axis, kind="stable"))
            check(arges.cumulative_sum(x, axis=axis), np.cumulative_sum(a, axis=axis, dtype=wide(dtype)), False)
            products = np.cumulative_prod(a, axis=axis, dtype=wide(dtype), include_initial=True)
            check(arges.cumulative_prod(x, axis=axis, include_initial=True), products, False)
            check(arges.diff(x, axis=axis), np.diff(a, axis=axis))
            if dtype in REAL:
                down = arges.sort(x, axis=axis, descending=True)
                if not np.isnan(a).any():
                    check(down, np.flip(np.sort(a, axis=axis), axis=axis))
                    by = arges.argsort(x, axis=axis, descending=True)
                    check(arges.take_along_axis(x, by, axis=axis), down.numpy())
                if shape[axis] > 0:
                    check(arges.argmax(x, axis), np.argmax(a, axis))
                    check(x.argmin(axis, keepdims=True), np.argmin(a, axis, keepdims=True))
        if a.size and dtype in REAL:
            check(arges.argmax(x), np.argmax(a))
        for found, wanted in zip(arges.nonzero(x), np.nonzero(a), strict=True):
            check(found, wanted)
        if not np.isnan(a).any():
            values, indices, inverse, counts = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
            found = arges.unique_all(x)
            check(found.values, values)
            check(found.indices, indices)
            check(found.inverse_indices, inverse.reshape(shape))
            check(found.counts, counts)
    check(arges.unique_values(tensor(data((9,), dtype))), np.unique(data((9,), dtype)))
    check(arges.unique_counts(tensor(data((9,), dtype))).counts, np.unique(data((9,), dtype), return_counts=True)[1])
    check(arges.unique_inverse(tensor(data((9,), dtype))).inverse_indices, np.unique(data((9,), dtype), return_inverse=True)[1])


def test_zeros_are_sorted_in_the_order_in_which_they_stand():
    a = np.random.default_rng(8).choice([0.0, -0.0, 1.0, -2.0, np.nan], (6, 40))
    for x, axis in ((a, 1), (a, 0), (a[0], 0)):
        found, wanted = arges.sort(tensor(x), axis=axis).numpy(), np.sort(x, axis=axis, kind="stable")
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(wanted[wanted == 0]))


def test_long_lists_are_sorted_over_ranks():
    for a in (np.random.default_rng(5).integers(0, 40, 2003), np.zeros(501), np.arange(400)[::-1]):
        check(arges.sort(tensor(a)), np.sort(a))
        check(arges.argsort(tensor(a)), np.argsort(a, kind="stable"))


@pytest.mark.parametrize("dtype", REAL)
def test_lists_of_any_length_are_sorted_with_ties_nan_and_zeros_of_both_signs(dtype):
    for seed in range(60):
        rng = np.random.default_rng([seed, 77])
        width = int(rng.choice([1, 2, 5, 1000]))
        a = rng.integers(-width, width + 1, rng.integers(0, 300)).astype(dtype)
        if np.dtype(dtype).kind == "f":
            a[rng.random(len(a)) < rng.choice([0, 0.1, 0.9])] = np.nan
            a[(a == 0) & (rng.random(len(a)) < rng.choice([0, 0.5, 1]))] = -0.0
        x = tensor(a)
        for down in (False, True):
            found, wanted = arges.sort(x, descending=down), a[arges.argsort(x, descending=down).numpy()]
            check(found, wanted)
            zeros = wanted == 0
            np.testing.assert_array_equal(np.copysign(1, found.numpy()[zeros]), np.copysign(1, wanted[zeros]))
        check(arges.sort(x), np.sort(a))


def test_any_shape_becomes_any_other():
    for seed in range(200):
        rng = np.random.default_rng([seed, 78])
        size = int(rng.integers(0, 200))

        def shape():
            rest, result = size, []
            while len(result) < 4 and rest > 1:
                result.append(int(rng.choice([n for n in range(1, rest + 1) if rest % n == 0])))
                rest //= result[-1]
            return tuple(rng.permutation([*result, rest]).tolist())

        a = rng.integers(-9, 10, shape()).astype(rng.choice(TYPES))
        wanted = shape()
        check(tensor(a).reshape(wanted), a.reshape(wanted))


@pytest.mark.parametrize("dtype", REAL)
def test_searchsorted(dtype):
    rng = np.random.default_rng(4)
    for count in (0, 1, 2, 17):
        a = np.sort(data((count,), dtype))
        wanted = data((3, 2), dtype, 9, -6, 7)
        places = rng.permutation(count)
        mixed = np.empty_like(a)
        mixed[places] = a
        for side in ("left", "right"):
            check(arges.searchsorted(tensor(a), tensor(wanted), side=side), np.searchsorted(a, wanted, side))
            check(arges.searchsorted(tensor(mixed), tensor(wanted), side=side, sorter=tensor(places)), np.searchsorted(a, wanted, side))


# Other shapes.


@pytest.mark.parametrize("dtype", TYPES)
def test_shapes(dtype):
    for shape in SHAPES[TYPES.index(dtype) % 3 :: 3]:
        a = data(shape, dtype)
        x = tensor(a)
        order = tuple(np.random.default_rng(6).permutation(len(shape)).tolist())
        check(arges.reshape(x, (-1,) if a.size else (0,)), a.reshape(-1))
        check(x.reshape(*shape, 1), a.reshape(*shape, 1))
        check(arges.permute_dims(x, order), a.transpose(order))
        check(x.transpose(), a.T)
        check(arges.expand_dims(x, 0), a[np.newaxis])
        check(arges.squeeze(x), np.squeeze(a))
        check(arges.flip(x), np.flip(a))
        check(arges.roll(x, 2), np.roll(a, 2))
        check(arges.broadcast_to(x, (2, *shape)), np.broadcast_to(a, (2, *shape)))
        check(arges.tile(x, (2, 1, 2)), np.tile(a, (2, 1, 2)))
        check(arges.repeat(x, 2), np.repeat(a, 2))
        check(arges.stack([x, x], -1), np.stack([a, a], -1))
        check(arges.concat([x, x], axis=None), np.concatenate([a.ravel(), a.ravel()]))
        if not shape:
            continue
        check(arges.concat([x, x, x], -1), np.concatenate([a, a, a], -1))
        check(arges.moveaxis(x, 0, -1), np.moveaxis(a, 0, -1))
        check(arges.flip(x, axis=-1), np.flip(a, axis=-1))
        check(arges.roll(x, (1, -2), axis=(0, -1)), np.roll(a, (1, -2), axis=(0, -1)))
        check(arges.repeat(x, np.arange(shape[0]) % 3, axis=0), np.repeat(a, np.arange(shape[0]) % 3, axis=0))
        for found, wanted in zip(arges.unstack(x), a, strict=True):
            check(found, wanted)
        if shape[-1]:
            check(arges.take(x, [0, -1, 0], axis=-1), np.take(a, [0, -1, 0], axis=-1))
        if len(shape) > 1:
            check(arges.tril(x, 1), np.tril(a, 1))
            check(arges.triu(x, -1), np.triu(a, -1))
            check(x.mT, a.swapaxes(-1, -2))


def test_broadcast_arrays_and_meshgrid():
    a, b = data((3, 1), "float64"), data((4,), "int32")
    for found, wanted in zip(arges.broadcast_arrays(tensor(a), tensor(b)), np.broadcast_arrays(a, b), strict=True):
        check(found, wanted)
    for indexing in ("xy", "ij"):
        grids = arges.meshgrid(tensor(b), arges.arange(3), indexing=indexing)
        for found, wanted in zip(grids, np.meshgrid(b, np.arange(3), indexing=indexing), strict=True):
            check(found, wanted)


def test_selections():
    rng = np.random.default_rng(8)
    for trial in range(60):
        shape = tuple(rng.choice([0, 1, 2, 3, 4], rng.integers(0, 5)).tolist())
        a = np.array(data(shape, TYPES[trial % 8], trial))
        x = tensor(a)
        lists = rng.choice([0, 1])
        key = []
        for length in shape:
            kind = rng.integers(0, 5)
            if kind == 0 and length:
                key.append(int(rng.integers(-length, length)))
            elif kind == 1 and length and lists:
                key.append(rng.integers(-length, length, (2, 2)))
            elif kind == 2:
                key += [None, slice(None, None, -2)]
            elif kind == 3 and Ellipsis not in [k for k in key if not isinstance(k, np.ndarray)]:
                key.append(Ellipsis)
                break
            else:
                key.append(slice(1, 3))
        key = tuple(key)
        wanted = a[key]
        check(x[key], wanted)
        value = np.ones((), a.dtype) if lists else data(wanted.shape, TYPES[trial % 8], 77)
        a[key] = value
        x[key] = value
        check(x, a)
        mask = data(shape[: rng.integers(0, len(shape) + 1)], "bool", trial, 0, 2)
        check(x[tensor(mask)], a[mask])
        value = data(np.shape(a[mask]), TYPES[trial % 8], 78)
        a[mask] = value
        x[mask] = value
        check(x, a)
    check(tensor(np.arange(12.0).reshape(3, 4))[[0, 2], [1, 3]], np.array([1.0, 11.0]))
    check(tensor(np.arange(4))[arges.asarray(2)], np.asarray(2))


# Makers and types.


@pytest.mark.parametrize("dtype", TYPES)
def test_makers(dtype):
    d = np.dtype(dtype)
    for shape in SHAPES[TYPES.index(dtype) % 3 :: 3]:
        check(arges.zeros(shape, dtype), np.zeros(shape, dtype))
        check(arges.ones(shape, dtype=dtype), np.ones(shape, dtype))
        check(arges.full(shape, 1, dtype=dtype), np.ones(shape, dtype))
        x = arges.zeros(shape, dtype)
        check(arges.ones_like(x), np.ones(shape, dtype))
        check(arges.full_like(x, True), np.ones(shape, dtype))
        check(arges.zeros_like(arges.ones(shape), dtype=d), np.zeros(shape, dtype))
        assert arges.empty_like(x).shape == shape and arges.empty(shape, dtype=dtype).dtype == d
        check(arges.astype(arges.ones(shape), dtype), np.ones(shape, dtype))
    check(arges.eye(3, 4, k=1, dtype=dtype), np.eye(3, 4, 1, dtype))
    check(arges.eye(2, k=2**70, dtype=dtype), np.zeros((2, 2), dtype))
    if dtype != "bool":
        check(arges.arange(7, dtype=dtype), np.arange(7, dtype=dtype))
    check(arges.from_function((3, 4), lambda i, j: i > j, dtype), np.fromfunction(lambda i, j: i > j, (3, 4)).astype(dtype))


def test_ranges():
    for arguments in ((5,), (0,), (-3,), (2, 9), (9, 2, -2), (1, 2, 0.25), (0.5, -3.2, -0.7), (10, 3), (3, 10, 4)):
        check(arges.arange(*arguments), np.arange(*arguments), False)
    for first, last, count, endpoint in itertools.product((0, 1.5), (4, -2), (0, 1, 2, 7), (False, True)):
        check(arges.linspace(first, last, count, endpoint=endpoint), np.linspace(first, last, count, endpoint=endpoint), False)
    check(arges.linspace(0, 2 + 1j, 3), np.linspace(0, 2 + 1j, 3), False)


def test_types():
    for s, t in itertools.product(TYPES, TYPES):
        assert arges.can_cast(np.dtype(s), np.dtype(t)) == np.can_cast(s, t)
        assert arges.result_type(np.dtype(s), arges.zeros(1, t)) == np.result_type(s, t)
    assert arges.isdtype(arges.float32, "real floating") and not arges.isdtype(arges.bool, "numeric")
    assert arges.finfo(arges.complex64).bits == 32 and arges.finfo(arges.float64).eps == np.finfo("float64").eps
    assert arges.iinfo(arges.int16).max == 2**15 - 1
    info = arges.__array_namespace_info__()
    assert info.default_dtypes()["integral"] == arges.int64 and len(info.dtypes()) == 8
    array = data((3, 4), "float32")
    check(arges.from_dlpack(array), array)
    check(arges.asarray(memoryview(array)), array)
    np.testing.assert_array_equal(np.from_dlpack(tensor(array)), array)


# Products and linear algebra.


@pytest.mark.parametrize("dtype", TYPES[:7])
def test_products(dtype):
    shapes = [((3, 4), (4, 2)), ((4,), (4, 2)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 1))]
    for left, right in [*shapes, ((3, 0), (0, 2))]:
        a, b = data(left, dtype, 1), data(right, dtype, 2)
        check(arges.matmul(tensor(a), tensor(b)), a @ b)
    a, b = data((2, 3, 4), dtype, 1), data((4, 3, 5), dtype, 2)
    check(arges.tensordot(tensor(a), tensor(b), axes=1), np.tensordot(a, b, 1))
    check(arges.tensordot(tensor(a), tensor(b), axes=((1, 2), (1, 0))), np.tensordot(a, b, ((1, 2), (1, 0))))
    check(arges.tensordot(tensor(a), tensor(b), axes=0), np.tensordot(a, b, 0))
    check(arges.vecdot(tensor(a), tensor(a[0])), np.vecdot(a, a[0]))
    check(arges.linalg.outer(tensor(a[0, 0]), tensor(b[0, 0])), np.outer(a[0, 0], b[0, 0]))
    check(arges.linalg.cross(tensor(a), tensor(a[:, ::-1]), axis=1), np.linalg.cross(a, a[:, ::-1], axis=1))
    check(arges.linalg.diagonal(tensor(a), offset=1), np.diagonal(a, 1, -2, -1))
    check(arges.linalg.trace(tensor(a), offset=-1), np.trace(a, -1, -2, -1, dtype=wide(dtype)))
    check(arges.linalg.matrix_power(tensor(a[:, :, :3]), 3), np.linalg.matrix_power(a[:, :, :3], 3))
    check(arges.linalg.matrix_power(tensor(a[0, :, :3]), 0), np.eye(3, dtype=dtype))


def matrix(shape, dtype, seed=0):
    rng = np.random.default_rng([seed, *shape])
    a = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype.startswith("complex") else 0)
    return a.astype(dtype)


@pytest.mark.parametrize("dtype", FLOATING)
def test_factors(dtype):
    adjoint = lambda m: m.conj().swapaxes(-1, -2)
    close = lambda p, q: np.testing.assert_allclose(p, q, rtol=0, atol=1e-3 if np.dtype(dtype).char in "fF" else 1e-10)
    for shape in ((4, 4), (5, 3), (3, 5), (1, 1), (2, 3, 4), (2, 2, 4, 3)):
        a = matrix(shape, dtype)
        x = tensor(a)
        rows, columns = shape[-2:]
        for full in (False, True):
            u, s, vh = arges.linalg.svd(x, full_matrices=full)
            k = min(rows, columns)
            u, vh = u.numpy(), vh.numpy()
            assert u.shape[-1] == (rows if full else k) and vh.shape[-2] == (columns if full else k)
            assert u.dtype == a.dtype and s.dtype == a.real.dtype
            close(u[..., :k] * s[..., None, :] @ vh[..., :k, :], a)
            close(adjoint(u) @ u, np.broadcast_to(np.eye(u.shape[-1]), (*shape[:-2], u.shape[-1], u.shape[-1])))
            close(vh @ adjoint(vh), np.broadcast_to(np.eye(vh.shape[-2]), (*shape[:-2], vh.shape[-2], vh.shape[-2])))
        close(arges.linalg.svdvals(x), np.linalg.svd(a, compute_uv=False))
        for mode in ("reduced", "complete"):
            q, r = (t.numpy() for t in arges.linalg.qr(x, mode=mode))
            close(q @ r, a)
            close(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*shape[:-2], q.shape[-1], q.shape[-1])))
            assert q.shape[-1] == (rows if mode == "complete" else k)
        close(arges.linalg.pinv(x).numpy(), np.linalg.pinv(a))
        np.testing.assert_array_equal(arges.linalg.matrix_rank(x).numpy(), np.linalg.matrix_rank(a))
        for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
            close(arges.linalg.matrix_norm(x, ord=order, keepdims=True).numpy(), np.linalg.matrix_norm(a, ord=order, keepdims=True))
        for order in (1, 2, 3, np.inf, -np.inf, 0):
            close(arges.linalg.vector_norm(x, axis=-1, ord=order).numpy(), np.linalg.vector_norm(a, axis=-1, ord=order))
        close(float(arges.linalg.vector_norm(x)), np.linalg.norm(a.ravel()))


@pytest.mark.parametrize("dtype", FLOATING)
def test_square_matrices(dtype):
    tolerance = 2e-3 if np.dtype(dtype).char in "fF" else 1e-9
    close = lambda p, q: np.testing.assert_allclose(p, q, rtol=tolerance, atol=tolerance)
    for shape in ((4, 4), (1, 1), (2, 3, 3), (0, 3, 3)):
        a = matrix(shape, dtype) + 3 * np.eye(shape[-1], dtype=dtype)
        hermitian = a + a.conj().swapaxes(-1, -2)
        positive = a @ a.conj().swapaxes(-1, -2) + np.eye(shape[-1], dtype=dtype)
        b = matrix((*shape[:-1], 2), dtype, 1)
        values, vectors = arges.linalg.eigh(tensor(hermitian))
        close(values, np.linalg.eigvalsh(hermitian))
        close(hermitian @ vectors.numpy(), vectors.numpy() * values[..., None, :])
        close(arges.linalg.eigvalsh(tensor(hermitian)), np.linalg.eigvalsh(hermitian))
        for upper in (False, True):
            close(arges.linalg.cholesky(tensor(positive), upper=upper).numpy(), np.linalg.cholesky(positive, upper=upper))
        close(arges.linalg.solve(tensor(a), tensor(b)).numpy(), np.linalg.solve(a, b))
        close(arges.linalg.solve(tensor(a), tensor(b[..., 0].ravel()[: shape[-1]] if a.size else np.ones(3, dtype))).shape, a.shape[:-1])
        close(arges.linalg.inv(tensor(a)).numpy(), np.linalg.inv(a))
        close(arges.linalg.matrix_power(tensor(a), -2).numpy(), np.linalg.matrix_power(a, -2))
        close(arges.linalg.det(tensor(a)).numpy(), np.linalg.det(a))
        for found, wanted in zip(arges.linalg.slogdet(tensor(a)), np.linalg.slogdet(a), strict=True):
            close(found.numpy(), wanted)
    large = matrix((150, 150), dtype)
    for found, wanted in zip(arges.linalg.slogdet(tensor(large)), np.linalg.slogdet(large), strict=True):
        close(found.numpy(), wanted)
    assert float(abs(arges.linalg.det(tensor(np.zeros((3, 3), dtype))))) == 0
    close(arges.linalg.solve(tensor(large), tensor(large[0])).numpy(), np.linalg.solve(large, large[0]))
    p = large[:4, :4] @ large[:4, :4].conj().T + np.eye(4, dtype=dtype)
    close(arges.linalg.solve_positive(tensor(p), tensor(large[:4, :2])).numpy(), np.linalg.solve(p, large[:4, :2]))
    t = np.tril(p)
    close(arges.linalg.solve_triangular(tensor(p), tensor(large[:4, :2])).numpy(), np.linalg.solve(t, large[:4, :2]))
    found, rank, residual = arges.linalg.lstsq(tensor(large[:9, :4]), tensor(large[:9, 5:7]))
    close(found.numpy(), np.linalg.lstsq(large[:9, :4], large[:9, 5:7])[0])
    assert rank == 4 and residual > 0


def test_integers_are_taken_as_floating():
    a = np.array([[2, 1], [1, 3]])
    check(arges.linalg.inv(tensor(a)), np.linalg.inv(a), False)
    check(arges.linalg.det(tensor(a)), np.linalg.det(a), False)


# Errors: on all ranks alike, also where one rank alone is wrong.

A = ((3, 4), "float64")
WRONG = [
    lambda x, bad: arges.add(x, "text" if bad else 1),
    lambda x, bad: arges.add(x, np.ones((5, 4) if bad else (3, 4))),
    lambda x, bad: x + (None if bad else 1),
    lambda x, bad: x * ([1, 2] if bad else 2),
    lambda x, bad: arges.apply(np.add, x, 1, over="some" if bad else "all"),
    lambda x, bad: arges.apply(np.add, x, 1, out=3 if bad else None),
    lambda x, bad: arges.reshape(x, "x" if bad else (12,)),
    lambda x, bad: arges.sum(x, axis=2 if bad else 0),
    lambda x, bad: arges.sum(x, axis="x" if bad else 0),
    lambda x, bad: arges.sum(x, dtype="text" if bad else None),
    lambda x, bad: arges.max(x, axis=(0, 0) if bad else 0),
    lambda x, bad: arges.argmax(x, axis=7 if bad else 0),
    lambda x, bad: arges.sort(x, axis="0" if bad else 0),
    lambda x, bad: arges.cumulative_sum(x, axis=None if bad else 0),
    lambda x, bad: arges.searchsorted(arges.arange(3), x, side="middle" if bad else "left"),
    lambda x, bad: arges.take(x, [9] if bad else [0], axis=0),
    lambda x, bad: arges.take_along_axis(x, np.full((3, 4), 9 if bad else 0), axis=0),
    lambda x, bad: arges.reshape(x, (5, 5) if bad else (4, 3)),
    lambda x, bad: arges.permute_dims(x, (0, 0) if bad else (1, 0)),
    lambda x, bad: arges.moveaxis(x, 0, 5 if bad else 1),
    lambda x, bad: arges.expand_dims(x, 9 if bad else 0),
    lambda x, bad: arges.squeeze(x[:1], 1 if bad else 0),
    lambda x, bad: arges.broadcast_to(x, (5, 5) if bad else (2, 3, 4)),
    lambda x, bad: arges.concat([x, x], axis=5 if bad else 0),
    lambda x, bad: arges.stack([x, x], axis="a" if bad else 0),
    lambda x, bad: arges.roll(x, "a" if bad else 1, axis=0),
    lambda x, bad: arges.repeat(x, -1 if bad else 2, axis=0),
    lambda x, bad: arges.tile(x, 2 if bad else (2, 2)),
    lambda x, bad: arges.tril(x, "a" if bad else 0),
    lambda x, bad: arges.tensordot(x, x, axes=((0,), (1,)) if bad else ((0,), (0,))),
    lambda x, bad: arges.full((3,), "a" if bad else 1),
    lambda x, bad: arges.zeros((-1,) if bad else (1,)),
    lambda x, bad: arges.ones((3,), dtype="U3" if bad else "int16"),
    lambda x, bad: arges.arange(0, 3, 0 if bad else 1),
    lambda x, bad: arges.linspace(0, 1, -1 if bad else 2),
    lambda x, bad: arges.eye("a" if bad else 2),
    lambda x, bad: arges.from_function((3,), (lambda i: 1 / 0) if bad else (lambda i: i)),
    lambda x, bad: x[9 if bad else 0],
    lambda x, bad: x[0, 0, 0] if bad else x[0, 0],
    lambda x, bad: x[1.5 if bad else 1],
    lambda x, bad: x[np.zeros((2, 2), bool) if bad else np.zeros((3, 4), bool)],
    lambda x, bad: x.__setitem__(9 if bad else 0, 1.0),
    lambda x, bad: x.__setitem__(0, np.ones(7 if bad else 4)),
    lambda x, bad: x.__setitem__(0, np.ones(4, complex if bad else float)),
    lambda x, bad: arges.linalg.matrix_norm(x, ord="x" if bad else "fro"),
    lambda x, bad: arges.linalg.qr(x, mode="r" if bad else "reduced"),
    lambda x, bad: arges.linalg.svd(x, rank="x" if bad else 2),
    lambda x, bad: arges.linalg.matrix_power(x[:, :3], "x" if bad else 2),
    lambda x, bad: arges.linalg.diagonal(x, offset="x" if bad else 0),
    lambda x, bad: arges.einsum("ij->j", x, **{"otu" if bad else "order": "K"}),
    lambda x, bad: arges.einsum("ij->j", x, out=np.zeros(4) if bad else arges.zeros(4)),
    lambda x, bad: np.sum(x, axis=5 if bad else 1),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_calls(number):
    for wrong in {0, WORLD.size - 1}:
        with raises_everywhere(Exception):
            WRONG[number](tensor(data(*A)), WORLD.rank == wrong)
    WRONG[number](tensor(data(*A)), False)
    check(tensor(data(*A)) + 1, data(*A) + 1)


def test_errors_name_what_is_wrong():
    x = tensor(data(*A))
    for call, error, text in (
        (lambda: arges.reshape(x, (5, 5)), ValueError, "12 elements of shape"),
        (lambda: arges.sum(x, 3), IndexError, "axis 3"),
        (lambda: x + "a", TypeError, "unsupported operand"),
        (lambda: arges.bitwise_and(x, x), TypeError, "not supported"),
        (lambda: arges.argmax(x * 1j), TypeError, "no order"),
        (lambda: arges.linalg.inv(x), arges.InvalidArgument, "square"),
        (lambda: x[[0], [1], [2]], IndexError, "3 indices"),
        (lambda: arges.concat([x, x.T]), ValueError, "concat of shapes"),
        (lambda: bool(x), ValueError, "12 elements"),
        (lambda: arges.einsum("ij->j", x, otu=x), TypeError, "otu"),
    ):
        with pytest.raises(error, match=text):
            call()
