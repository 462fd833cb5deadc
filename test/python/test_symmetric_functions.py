"""Functions of elements keep a symmetry where it follows; their results are those of the full arrays, dense and sparse."""

import numpy as np
import pytest
from conftest import array, close, seeds

import arges

# Trees, and the arrays that have them.
TREES = {
    "sym(a,b)": (2, lambda a: a + a.T),
    "sym(b,a)": (2, lambda a: a + a.T),
    "antisym(a,b)": (2, lambda a: a - a.T),
    "hollow(a,b)": (2, lambda a: (a + a.T) * (1 - np.eye(len(a), dtype=int))),
    "hermitian(a,b)": (2, lambda a: a + a.conj().T),
    "antisym(a,b) sym(c,d)": (4, lambda a: _pairs(a, -1, 1)),
    "sym(product(a,c),product(b,d))": (4, lambda a: a + a.transpose(1, 0, 3, 2)),
}
FUNCTIONS = {
    "-x": lambda n, x, y: -x, "+x": lambda n, x, y: +x, "abs": lambda n, x, y: abs(x), "square": lambda n, x, y: n.square(x), "sin": lambda n, x, y: n.sin(x),
    "cos": lambda n, x, y: n.cos(x), "x*2": lambda n, x, y: x * 2, "2*x": lambda n, x, y: 2 * x, "x/2": lambda n, x, y: x / 2, "x+1": lambda n, x, y: x + 1,
    "2-x": lambda n, x, y: 2 - x, "x+y": lambda n, x, y: x + y, "x-y": lambda n, x, y: x - y, "x*y": lambda n, x, y: x * y, "x>y": lambda n, x, y: x > y,
    "x==y": lambda n, x, y: x == y, "1.5*x": lambda n, x, y: 1.5 * x, "1j*x": lambda n, x, y: 1j * x, "maximum": lambda n, x, y: n.maximum(x, y),
    "logical_not": lambda n, x, y: n.logical_not(x), "isfinite": lambda n, x, y: n.isfinite(x), "exp": lambda n, x, y: n.exp(x), "x*inf": lambda n, x, y: x * np.inf,
    "conj": lambda n, x, y: n.conj(x), "T": lambda n, x, y: x.T, "zeros": lambda n, x, y: n.zeros_like(x), "x*x.T": lambda n, x, y: x * x.T,
    "x+x.T": lambda n, x, y: x + x.T, "var": lambda n, x, y: n.var(x), "max": lambda n, x, y: n.max(n.abs(x)), "norm": lambda n, x, y: n.linalg.vector_norm(x),
}  # fmt: skip
ERRORS = (arges.Error, TypeError, ValueError)


def _pairs(a, first, second):
    a = a + first * a.transpose(1, 0, 2, 3)
    return a + second * a.transpose(0, 1, 3, 2)


@pytest.mark.parametrize("text", TREES)
@seeds()
def test_against_numpy(seed, text):
    rng = np.random.default_rng([seed, 51])
    order, made = TREES[text]
    shape = (int(rng.integers(1, 6)),) * order
    dtype = "complex128" if "hermitian" in text else rng.choice(["float64", "complex128", "int64"])
    arrays = [made(array(rng, shape, dtype)) for _ in range(2)]
    operands = [arges.tensor(a, symmetry=text) for a in arrays]
    whole = [arges.tensor(a) for a in arrays]
    if seed % 3 == 1:
        operands = [x.to_sparse() for x in operands]
    for name in rng.choice(list(FUNCTIONS), 6, replace=False):
        if name == "x*inf" and (operands[0].is_sparse or dtype == "complex128"):
            continue
        try:
            with np.errstate(all="ignore"):
                wanted = FUNCTIONS[name](arges, *whole)
        except ERRORS:
            continue
        try:
            found = FUNCTIONS[name](arges, *operands)
        except arges.InvalidArgument:
            assert operands[0].is_sparse  # functions that are not zero where nothing is stored
            continue
        assert found.dtype == wanted.dtype, name
        close(found.numpy(), wanted.numpy())


def test_trees():
    rng = np.random.default_rng(5)
    a = rng.uniform(-1, 1, (4, 4))
    z = a + 1j * rng.uniform(-1, 1, (4, 4))
    s, t = (arges.tensor(x + x.T, symmetry="sym(a,b)") for x in (a, 2 * a))
    n, h = arges.tensor(a - a.T, symmetry="antisym(a,b)"), arges.tensor(z + z.conj().T, symmetry="hermitian(a,b)")
    for x in (s, s.to_sparse()):
        for found in (2 * x, -x, x + x, x / 2, x.T, abs(x), x * x, arges.zeros_like(x), x - x, x * np.float64(3)):
            assert found.symmetry() == "sym(a,b)"
    for found in (s + 1, s + t, np.exp(s), s > t, arges.clip(s, -1, 1), s.mT):
        assert found.symmetry() == "sym(a,b)"
    for x in (n, n.to_sparse()):
        for found in (2 * x, -x, x + x, x / 2, x.T, np.sin(x), x - x, arges.zeros_like(x)):
            assert found.symmetry() == "antisym(a,b)"
        for found in (abs(x), x * x):
            assert found.symmetry() == "hollow(a,b)"
    assert np.cos(n).symmetry() == "sym(a,b)"
    for found in (n + 1, np.exp(n), n * np.inf, s + n, n > n, 1j * h, h + 1j, s + arges.tensor(a)):
        assert found.symmetry() == "none"
    for found in (2 * h, h + h, h * h, h / 2, -h, h.T, h + 1):
        assert found.symmetry() == "hermitian(a,b)"
    assert abs(h).symmetry() == "sym(a,b)"


def test_trees_of_permuted_dimensions():
    rng = np.random.default_rng(6)
    a = _pairs(rng.uniform(-1, 1, (3, 3, 4, 4)), -1, 1)
    x = arges.tensor(a, symmetry="antisym(a,b) sym(c,d)")
    assert arges.permute_dims(x, (2, 3, 1, 0)).symmetry() == "sym(a,b) antisym(c,d)"
    assert arges.permute_dims(x, (2, 0, 3, 1)).symmetry() == "sym(a,c) antisym(b,d)"
    for order in ((2, 3, 1, 0), (2, 0, 3, 1), (0, 1, 2, 3), (1, 0, 3, 2)):
        np.testing.assert_array_equal(arges.permute_dims(x, order).numpy(), a.transpose(order))
        np.testing.assert_array_equal(arges.permute_dims(x.to_sparse(), order).numpy(), a.transpose(order))
