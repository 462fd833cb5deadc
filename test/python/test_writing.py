"""Elements that are written: NumPy's functions that write to their argument, selections of symmetric and sparse tensors, keys."""

import numpy as np
import pytest
from conftest import array, close, seeds

import arges

DTYPES = ["float64", "float32", "complex128", "int64"]
ERRORS = (TypeError, ValueError, IndexError)


def put_along_axis(a, rng, new):
    axis = int(rng.integers(0, a.ndim))
    order = np.argsort(rng.uniform(size=a.shape), axis=axis)
    where = np.take(order, np.arange(rng.integers(1, a.shape[axis] + 1)), axis=axis)
    return lambda x: np.put_along_axis(x, where, new(where.shape), axis)


def masks(a, rng):
    return rng.uniform(size=a.shape) < rng.uniform()


# Each makes a call that writes to its argument; new(shape) are random elements of its type.
WRITING = {
    "fill_diagonal": lambda a, rng, new: lambda x: np.fill_diagonal(x, new(2), wrap=True),
    "fill_diagonal number": lambda a, rng, new: lambda x: np.fill_diagonal(x, 3),
    "put": lambda a, rng, new: lambda x: np.put(x, rng.integers(-a.size, a.size, 6), new(4)),
    "put clip": lambda a, rng, new: lambda x: np.put(x, rng.integers(-9, 99, 4), new(4), mode="clip"),
    "put wrap": lambda a, rng, new: lambda x: np.put(x, rng.integers(-9, 99, 4), new(1), mode="wrap"),
    "putmask": lambda a, rng, new: lambda x: np.putmask(x, masks(a, rng), new(3)),
    "putmask whole": lambda a, rng, new: lambda x: np.putmask(x, masks(a, rng), new(a.shape)),
    "place": lambda a, rng, new: lambda x: np.place(x, masks(a, rng), new(3)),
    "copyto": lambda a, rng, new: lambda x: np.copyto(x, new(a.shape[-1:])),
    "copyto where": lambda a, rng, new: lambda x: np.copyto(x, new(a.shape), where=masks(a, rng)),
    "copyto number": lambda a, rng, new: lambda x: np.copyto(x, 2, where=masks(a, rng)),
    "put_along_axis": put_along_axis,
    "out": lambda a, rng, new: lambda x: np.sum([new(a.shape), new(a.shape)], axis=0, out=x),
    "concatenate out": lambda a, rng, new: lambda x: np.concatenate([new((1, *a.shape[1:])), new((a.shape[0] - 1, *a.shape[1:]))], out=x),
    "mask": lambda a, rng, new: lambda x: x.__setitem__(masks(a, rng), 2),
    "number": lambda a, rng, new: lambda x: x.__setitem__((*(0 for _ in a.shape[1:]), -1), 2),
    "row": lambda a, rng, new: lambda x: x.__setitem__(1, new(a.shape[1:])),
    "part": lambda a, rng, new: lambda x: x.__setitem__((slice(1, 3), slice(0, 2)), new((min(a.shape[0], 3) - 1, 2, *a.shape[2:]))),
    "steps": lambda a, rng, new: lambda x: x.__setitem__((slice(None, None, -2),), new((-(-a.shape[0] // 2), *a.shape[1:]))),
    "lists": lambda a, rng, new: lambda x: x.__setitem__(([0, 1], [1, 0]), new((2, *a.shape[2:]))),
    "all": lambda a, rng, new: lambda x: x.__setitem__(slice(None), new(a.shape)),
}


@seeds()
@pytest.mark.parametrize("what", WRITING)
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_elements_are_written(what, is_sparse, seed):
    """As by NumPy, in dense and sparse tensors; the same random numbers for both."""
    rng = np.random.default_rng([seed, 40])
    dtype = np.dtype(DTYPES[seed % len(DTYPES)])
    shape = rng.integers(2, 5, rng.integers(2, 4))
    if what.startswith("fill_diagonal") and len(shape) > 2:
        shape[:] = shape[0]
    a = array(rng, shape, dtype) * (rng.uniform(size=()) < 0.5)
    a = a.astype(dtype)
    x = arges.tensor(a).to_sparse() if is_sparse else arges.tensor(a)
    for target in (a, x):
        own = np.random.default_rng([seed, 41])
        WRITING[what](a, own, lambda shape: array(own, shape, dtype))(target)
    assert x.is_sparse == is_sparse
    close(x.numpy(), a)


@seeds()
def test_ufuncs_write_to_tensors(seed):
    rng = np.random.default_rng([seed, 42])
    a, b, c = (array(rng, (3, 3), "float64") for _ in range(3))
    A, C = arges.tensor(a), arges.tensor(c)
    assert np.clip(A, -0.5, 0.5, out=C) is C
    close(C.numpy(), np.clip(a, -0.5, 0.5))
    assert np.matmul(A, b, out=C) is C
    close(C.numpy(), a @ b)
    np.add(A, 1, out=A)
    close(A.numpy(), a + 1)
    total = arges.zeros(3)
    np.sum(A, axis=0, out=total)
    close(total.numpy(), (a + 1).sum(axis=0))
    with pytest.raises(ValueError, match="shape"):
        np.sum(A, axis=1, out=A)
    a[0, 0] = np.nan
    A = arges.tensor(a)
    np.nan_to_num(A, copy=False)
    close(A.numpy(), np.nan_to_num(a))


def test_what_is_not_written_is_refused():
    """Functions that write, or give views to write to, without a part of their own, on any number of ranks, dense, sparse, symmetric."""
    for x in (arges.ones((3, 3)), arges.ones((3, 3)).to_sparse(), arges.zeros((3, 3), symmetry="sym(a,b)").fill(1)):
        for call in (
            lambda: np.add.at(x, 0, 1), lambda: np.apply_along_axis(_clear, 0, x),
            lambda: np.einsum("ij->i", x).__setitem__(0, 5) or np.diagonal(x).__setitem__(0, 5), lambda: np.split(x, 3)[0].__setitem__(0, 5),
        ):  # fmt: skip
            with pytest.raises(ERRORS):
                call()
        close(x.numpy(), np.ones((3, 3)))


def _clear(row):
    row[0] = 0
    return row


TREES = {"sym(a,b)": 1, "antisym(a,b)": -1, "hermitian(a,b)": 0, "sym(b,a)": 1}


def symmetric(m, sign):
    return m + m.conj().T if sign == 0 else m + sign * m.T


@seeds()
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_symmetric_elements_are_written(tree, is_sparse, seed):
    rng = np.random.default_rng([seed, 43])
    dtype = "complex128" if "herm" in tree else "float64"
    n = int(rng.integers(2, 6))
    a = symmetric(array(rng, (n, n), dtype) * (rng.uniform(size=(n, n)) < 0.5), TREES[tree])
    x = arges.tensor(a, symmetry=tree)
    x = x.to_sparse() if is_sparse else x
    i, j = (int(k) for k in rng.integers(0, n, 2))
    value = complex(1.5, 2.5) if "herm" in tree else 1.5
    if i == j and tree in ("antisym(a,b)", "hermitian(a,b)"):
        with pytest.raises(arges.InvalidArgument, match="diagonal"):
            x[i, i] = value
        close(x.numpy(), a)
    else:
        x[i, j] = value
        a[i, j] = value
        a[j, i] = np.conj(value) if "herm" in tree else TREES[tree] * value
        close(x.numpy(), a)
    m = symmetric(array(rng, (n, n), dtype), TREES[tree])
    for part, key in ((m, slice(None)), (m[:2, :2], (slice(0, 2), slice(0, 2))), (m[[1, 0]][:, [1, 0]], np.ix_([1, 0], [1, 0]))):
        x[key] = part
        a[key] = part
        close(x.numpy(), a)
    assert x.symmetry() != "none" and x.is_sparse == is_sparse
    wrong = m.copy()
    wrong[0, n - 1] += 1
    for other in (wrong, arges.tensor(wrong), arges.tensor(wrong).to_sparse()):
        with pytest.raises(arges.InvalidArgument):
            x[:] = other
        close(x.numpy(), a)
    y = arges.zeros((n, n), dtype, symmetry=tree)
    y[:] = x
    close(y.numpy(), a)
    x[:] = arges.tensor(m, symmetry=tree)
    close(x.numpy(), m)
    x[0, n - 1] = 0
    m[0, n - 1] = m[n - 1, 0] = 0
    close(x.numpy(), m)


def test_values_for_one_element_that_differ_are_refused():
    for x in (arges.zeros((3, 3), symmetry="sym(a,b)"), arges.sparse((3, 3), symmetry="sym(a,b)"), arges.sparse((3, 3))):
        key = ([0, 1], [1, 0]) if x.symmetry() != "none" else ([0, 0], [1, 1])
        x[key] = 4
        assert x[0, 1].item() == 4
        with pytest.raises(arges.InvalidArgument, match="0"):
            x[key] = [1, 2]
        assert x[0, 1].item() == 4


@seeds()
def test_statements_multiply_in_place(seed):
    rng = np.random.default_rng([seed, 44])
    a, b, v = array(rng, (3, 4), "float64"), array(rng, (3, 4), "float64"), array(rng, 4, "float64")
    t, A, V = arges.tensor(a), arges.tensor(b), arges.tensor(v)
    t["ij"] *= A["ij"]
    t["ij"] *= 2 * V["j"]
    close(t.numpy(), 2 * a * b * v)
    s = arges.tensor(np.where(a > 0, a, 0)).to_sparse()
    s["ij"] *= A["ij"]
    assert s.is_sparse
    close(s.numpy(), np.where(a > 0, a, 0) * b)


@seeds()
def test_keys_have_one_meaning(seed):
    """Numbers of NumPy's functions are not taken for keys, which count with the first index fastest."""
    rng = np.random.default_rng([seed, 45])
    shape = tuple(int(n) for n in rng.integers(2, 5, 3))
    a = rng.uniform(size=shape)
    A = arges.tensor(a)
    for wrong in ([A.argmax()], A.argmax(), (A.argmax(), 0)):
        with pytest.raises(TypeError, match='order="C"'):
            A.read(wrong)
    assert A.read([A.argmax()], order="C")[0] == a.max() == A.read([int(A.argmax())], order="C")[0]
    indices = tuple(rng.integers(0, n, 5) for n in shape)
    keys = np.ravel_multi_index(indices, shape, order="F")
    for order, own in ((None, keys), ("F", keys), ("C", np.ravel_multi_index(indices, shape)), (None, indices)):
        np.testing.assert_array_equal(A.read(own, order=order), a[indices])
    found = tuple(i.numpy() for i in arges.nonzero(A > 0.5))
    np.testing.assert_array_equal(A.read(found), a[a > 0.5])
    mine = slice(A.world.rank, None, A.world.size)
    A.write(tuple(i[mine] for i in indices), np.full(5, 2.0)[mine])
    a[indices] = 2
    close(A.numpy(), a)
    assert arges.tensor(a.ravel()).read([A.argmax()])[0] == a.max()
    with pytest.raises(ValueError, match="order"):
        A.read([0], order="A")
