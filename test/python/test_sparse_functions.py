"""Functions of sparse tensors give what they give for dense ones, elements that are not stored being zeros, or refuse by an error."""

import operator

import numpy as np
import pytest
from conftest import array, close, seeds

import arges

UNARY = [name for name in ("abs ceil conj cos exp expm1 floor imag isfinite isnan log log1p logical_not negative positive real reciprocal round "
    "sign sin sqrt square tan tanh trunc").split()]  # fmt: skip
BINARY = ("add atan2 copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor "
    "maximum minimum multiply not_equal pow remainder subtract isclose").split()  # fmt: skip
REDUCTIONS = "sum prod max min any all count_nonzero mean var std argmax argmin".split()
SHAPES = {
    "permute_dims": lambda n, x: n.permute_dims(x, (1, 0)), "reshape": lambda n, x: n.reshape(x, (2, -1)), "flip": lambda n, x: n.flip(x),
    "roll": lambda n, x: n.roll(x, 2), "roll one": lambda n, x: n.roll(x, 1, axis=0), "tril": lambda n, x: n.tril(x), "triu": lambda n, x: n.triu(x, k=1),
    "concat": lambda n, x: n.concat([x, x]), "stack": lambda n, x: n.stack([x, x], axis=1), "repeat": lambda n, x: n.repeat(x, 2, axis=0),
    "tile": lambda n, x: n.tile(x, (2, 1)), "take": lambda n, x: n.take(x, n.asarray([1, 0, 1]), axis=1), "diff": lambda n, x: n.diff(x),
    "expand_dims": lambda n, x: n.expand_dims(x, axis=1), "moveaxis": lambda n, x: n.moveaxis(x, 0, 1), "part": lambda n, x: x[1:, ::2],
    "row": lambda n, x: x[1], "element": lambda n, x: x[1, -1], "clip": lambda n, x: n.clip(x, -0.5, 0.5), "clip up": lambda n, x: n.clip(x, 0.25, 1),
    "where": lambda n, x: n.where(x > 0, x, 0), "where not": lambda n, x: n.where(x > 0, 0, x), "sort": lambda n, x: n.sort(x),
    "cumulative_sum": lambda n, x: n.cumulative_sum(x, axis=1), "matmul": lambda n, x: x @ x.T, "tensordot": lambda n, x: n.tensordot(x, x.T, axes=1),
    "nonzero": lambda n, x: n.nonzero(x)[0], "broadcast_to": lambda n, x: n.broadcast_to(x, (2, *x.shape)), "zeros_like": lambda n, x: n.zeros_like(x),
    "full_like": lambda n, x: n.full_like(x, 2), "astype": lambda n, x: n.astype(x, n.float32), "unique_values": lambda n, x: n.unique_values(x),
    "vecdot": lambda n, x: n.vecdot(x, x), "argsort": lambda n, x: n.take_along_axis(x, n.argsort(x), axis=-1), "mask": lambda n, x: x[x > 0],
    "index": lambda n, x: x[n.asarray([2, 0])], "allclose": lambda n, x: n.asarray(n.allclose(x, x)), "norm": lambda n, x: n.linalg.vector_norm(x),
    "trace": lambda n, x: n.linalg.trace(x), "diagonal": lambda n, x: n.linalg.diagonal(x), "outer": lambda n, x: n.linalg.outer(x[0], x[1]),
    "svdvals": lambda n, x: n.asarray(n.linalg.svdvals(x)), "linalg.norm": lambda n, x: n.linalg.matrix_norm(x),
}  # fmt: skip
ERRORS = (arges.Error, TypeError, ValueError, IndexError, NotImplementedError)


def sparse_array(rng, shape, dtype, share=0.4):
    return np.where(rng.uniform(size=shape) < share, array(rng, shape, dtype), np.zeros((), dtype))


def sparse(a):
    """Its stored elements, a few explicit zeros among them."""
    wanted = (a != 0) | (np.arange(a.size).reshape(a.shape) % 7 == 3)
    return arges.sparse(a.shape, np.nonzero(wanted), a[wanted], duplicates="keep_first", dtype=a.dtype)


def equal_or_refused(call, wanted):
    """call() has an error, or the elements that it should have. True if it had none."""
    try:
        found = call()
    except ERRORS:
        return False
    close(found, wanted)
    return True


def dense_result(call):
    try:
        with np.errstate(all="ignore"):
            return call()
    except ERRORS:
        return None


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int64", "bool"])
@seeds()
def test_elementwise(seed, dtype):
    rng = np.random.default_rng([seed, 31])
    shape = tuple(rng.integers(1, 6, 2))
    a, b = sparse_array(rng, shape, dtype), sparse_array(rng, shape, dtype)
    d = array(rng, shape, dtype)
    d[d == 0] = 1  # what is not stored stays so in quotients
    row = d[:1]
    for name in UNARY:
        f = getattr(arges, name)
        wanted = dense_result(lambda: f(arges.tensor(a)))
        if wanted is not None:
            equal_or_refused(lambda: f(sparse(a)), wanted)
    for name in BINARY:
        f = getattr(arges, name)
        for left, right, as_left, as_right in [
            (a, b, sparse, sparse), (a, d, sparse, arges.tensor), (d, a, arges.tensor, sparse), (a, row, sparse, arges.tensor),
            (a, 2, sparse, int), (2, a, int, sparse), (a, b[:1], sparse, sparse), (b[:, :1], a, sparse, sparse),
        ]:  # fmt: skip
            wanted = dense_result(
                lambda: f(arges.asarray(left) if as_left is not int else left, arges.asarray(right) if as_right is not int else right)
            )
            if wanted is not None and (name != "pow" or dtype != "int64"):
                equal_or_refused(lambda: f(as_left(left), as_right(right)), wanted)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
@seeds()
def test_sums_and_products_stay_sparse(seed, dtype):
    rng = np.random.default_rng([seed, 32])
    a, b, d = (f(rng, (5, 6), dtype) for f in (sparse_array, sparse_array, array))
    A, B = sparse(a), sparse(b)
    for found, wanted in [
        (A + B, a + b), (A - B, a - b), (A * B, a * b), (A * d, a * d), (d * A, d * a), (A * 3, a * 3), (-A, -a), (A / 2, a / 2), (A**2, a**2),
        (A != B, a != b), (A > B, a > b), (abs(A), abs(a)), (np.maximum(A, B), np.maximum(a, b)), (np.sin(A), np.sin(a)),
    ]:  # fmt: skip
        assert found.is_sparse
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12)
    for found, wanted in [(A + d, a + d), (d - A, d - a), (A == d, a == d), (np.maximum(A, d), np.maximum(a, d))]:
        assert not found.is_sparse
        np.testing.assert_array_equal(found.numpy(), wanted)
    for refused in (lambda: A + 1, lambda: np.cos(A), lambda: A == B, lambda: A / B, lambda: A**0, lambda: 1 / A):
        with pytest.raises(arges.InvalidArgument, match="to_dense"):
            refused()
    np.testing.assert_array_equal(A.numpy(), a)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
@seeds()
def test_in_place(seed, dtype):
    rng = np.random.default_rng([seed, 33])
    a, b, d = (f(rng, (4, 5), dtype) for f in (sparse_array, sparse_array, array))
    for f in (operator.iadd, operator.isub, operator.imul):
        for left, right, as_left, as_right in [
            (a, b, sparse, sparse), (a, d, sparse, arges.tensor), (d, a, arges.tensor, sparse), (a, 2, sparse, int), (d, a[:1], arges.tensor, sparse),
        ]:  # fmt: skip
            x = as_left(left.copy())
            if not equal_or_refused(lambda: f(x, right if as_right is int else as_right(right)), f(left.copy(), right)):
                np.testing.assert_array_equal(x.numpy(), left)


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int64", "bool"])
@seeds()
def test_reductions(seed, dtype):
    rng = np.random.default_rng([seed, 34])
    a = sparse_array(rng, tuple(rng.integers(1, 6, 2)), dtype)
    if dtype in ("float64", "int64"):
        a = rng.choice([a, abs(a), -abs(a)])
    for name in REDUCTIONS:
        for options in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}):
            f = getattr(arges, name)
            wanted = dense_result(lambda: f(arges.tensor(a), **options))
            if wanted is not None:
                equal_or_refused(lambda: f(sparse(a), **options), wanted)


# What needs an order of all elements, or another method.
REFUSED = {"sort", "argsort", "cumulative_sum", "nonzero", "unique_values", "mask", "svdvals", "clip up"}


@pytest.mark.parametrize("name", SHAPES)
@seeds(6)
def test_shapes(seed, name):
    rng = np.random.default_rng([seed, 35])
    a = sparse_array(rng, (4, 6), "float64")
    wanted = dense_result(lambda: SHAPES[name](arges, arges.tensor(a)))
    assert wanted is not None
    assert equal_or_refused(lambda: SHAPES[name](arges, sparse(a)), wanted) == (name not in REFUSED)


def random_key(rng, shape):
    """Integers, slices with steps, None, an ellipsis, at most one list."""
    key, is_listed = [], False
    for n in shape[: rng.integers(1, len(shape) + 1)]:
        kind = rng.integers(0, 5)
        if kind == 0:
            key.append(int(rng.integers(-n, n)))
        elif kind == 1:
            key.append(
                slice(
                    *(None if rng.uniform() < 0.3 else int(i) for i in rng.integers(-n - 1, n + 2, 2)), int(rng.choice([-2, -1, 1, 2, 3]))
                )
            )
        elif kind == 2 and not is_listed:
            key.append(rng.integers(-n, n, rng.integers(0, 5)))
            is_listed = True
        else:
            key.append(slice(None))
        if rng.uniform() < 0.2:
            key.append(None)
    if rng.uniform() < 0.3 and not is_listed:
        key.insert(int(rng.integers(0, len(key) + 1)), Ellipsis)
    return tuple(key)


@seeds()
def test_selections(seed):
    rng = np.random.default_rng([seed, 36])
    for _ in range(5):
        shape = tuple(rng.integers(1, 6, rng.integers(1, 4)))
        a = sparse_array(rng, shape, "float64")
        key = random_key(rng, shape)
        apart = np.flatnonzero([isinstance(k, (int, np.ndarray)) for k in key])
        is_plain = not any(isinstance(k, np.ndarray) for k in key) or apart[-1] - apart[0] == len(apart) - 1
        assert equal_or_refused(lambda: sparse(a)[key], a[key]) or not is_plain, key


@seeds()
def test_other_shapes(seed):
    rng = np.random.default_rng([seed, 37])
    a, b, c = (sparse_array(rng, (3, n, 2), "float64") for n in (4, 1, 0))
    A, B, C = map(sparse, (a, b, c))
    repeats, order = rng.integers(0, 3, 4), rng.integers(0, 4, 6)
    for found, wanted in [
        (arges.concat([A, B, C, A], axis=1), np.concatenate([a, b, c, a], axis=1)), (arges.concat([A, B], axis=None), np.concatenate([a, b], axis=None)),
        (arges.repeat(A, arges.asarray(repeats), axis=1), np.repeat(a, repeats, axis=1)), (arges.take(A, arges.asarray(order), axis=1), a[:, order]),
        (arges.reshape(A, (2, -1)), a.reshape(2, -1)), (arges.flip(A), np.flip(a)), (arges.roll(A, (5, -1), axis=(0, 1)), np.roll(a, (5, -1), (0, 1))),
        (arges.triu(A), np.triu(a)),
    ]:  # fmt: skip
        assert found.is_sparse
        np.testing.assert_array_equal(found.numpy(), wanted)
    found = arges.concat([A, arges.tensor(b)], axis=1)
    assert not found.is_sparse
    np.testing.assert_array_equal(found.numpy(), np.concatenate([a, b], axis=1))


LARGE = {
    "argmax": lambda x: x.argmax(), "argmin": lambda x: x.argmin(), "argmax of rows": lambda x: x.argmax(axis=1), "argmin of columns": lambda x: x.argmin(axis=0),
    "var": lambda x: x.var(), "std": lambda x: x.std(axis=0), "var kept": lambda x: x.var(axis=1, keepdims=True), "tril": lambda x: arges.tril(x),
    "triu": lambda x: arges.triu(x, k=-1), "mean": lambda x: x.mean(axis=0), "max": lambda x: x.max(), "min of rows": lambda x: x.min(axis=1),
    "norm": lambda x: np.linalg.norm(x), "any": lambda x: x.any(axis=0), "count_nonzero": lambda x: arges.count_nonzero(x), "prod": lambda x: x.prod(axis=1),
    "T": lambda x: x.T, "reshape": lambda x: x.reshape((-1, 1000)), "concat": lambda x: arges.concat([x, x]), "sum": lambda x: x.sum(),
    "flip": lambda x: arges.flip(x), "roll": lambda x: arges.roll(x, 3), "part": lambda x: x[5:500:7], "moveaxis": lambda x: arges.moveaxis(x, 0, 1),
    "repeat": lambda x: arges.repeat(x, 2, axis=1), "tile": lambda x: arges.tile(x, (2, 1)), "take": lambda x: arges.take(x, np.array([7, 7, 0]), axis=0),
    "diff": lambda x: arges.diff(x), "stack": lambda x: arges.stack([x, x]), "trace": lambda x: arges.linalg.trace(x), "squeeze": lambda x: x[:1].squeeze(0),
    "diagonal": lambda x: arges.linalg.diagonal(x), "vector_norm": lambda x: arges.linalg.vector_norm(x, axis=0), "matrix_norm": lambda x: arges.linalg.matrix_norm(x),
    "norm 1": lambda x: arges.linalg.matrix_norm(x, ord=1), "clip": lambda x: arges.clip(x, -1, 1), "where": lambda x: arges.where(x > 0, x, 0),
    "isfinite": lambda x: arges.isnan(x), "allclose": lambda x: arges.asarray(arges.allclose(x, x)), "vecdot": lambda x: arges.vecdot(x, x),
    "matmul": lambda x: x @ x.T, "outer": lambda x: arges.linalg.outer(x[7], x[2]), "astype": lambda x: x.astype("float32"), "copy": lambda x: x.copy(),
    "zeros_like": lambda x: arges.zeros_like(x), "expand_dims": lambda x: arges.expand_dims(x, axis=0), "row": lambda x: x[7], "all": lambda x: x.all(),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_large(name, world):
    """Nothing that grows with the elements that are not stored."""
    n = 100_000
    x = arges.sparse((n, n), *([[7, n - 1], [3, 2]], [2.5, -4.0]) if world.rank == 0 else ([[], []], [])).astype("float64")
    limit = world.memory_limit
    world.memory_limit = world.memory_in_use + 100_000_000
    try:
        found = LARGE[name](x)
    finally:
        world.memory_limit = limit
    assert found.is_sparse or found.size < 10**6


@seeds()
def test_places_and_variance(seed):
    rng = np.random.default_rng([seed, 38])
    dtype = ("float64", "int64", "bool", "complex128")[seed % 4]
    shape = tuple(int(n) for n in rng.integers(1, 5, rng.integers(1, 4)))
    a = sparse_array(rng, shape, dtype, rng.choice([0.1, 0.5, 1.0]))
    if seed % 8 == 0:
        a.ravel()[rng.integers(a.size)] = np.nan
    options = {"axis": (None, *range(len(shape)))[rng.integers(len(shape) + 1)], "keepdims": bool(rng.integers(2))}
    for x in (sparse(a), arges.tensor(a)):
        for name in ("argmax", "argmin") if dtype != "complex128" else ():
            np.testing.assert_array_equal(getattr(arges, name)(x, **options), getattr(np, name)(a, **options))
        found, wanted = arges.var(x, **options), np.var(a, **options)
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-10, atol=1e-12)
        if len(shape) > 1:
            assert arges.tril(x).is_sparse == x.is_sparse
            np.testing.assert_array_equal(arges.tril(x, k=1).numpy(), np.tril(a, k=1))
            np.testing.assert_array_equal(arges.triu(x, k=-1).numpy(), np.triu(a, k=-1))
