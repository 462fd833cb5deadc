"""Tests run on any number of ranks: every rank runs all of them, in the same order, and every rank checks."""

import contextlib
import os

import numpy as np
import pytest

import arges

COUNT = int(os.environ.get("ARGES_FUZZ_COUNT", "20"))


@pytest.fixture
def world():
    return arges.default_world()


def seeds(count=None):
    """Numbers of random cases."""
    return pytest.mark.parametrize("seed", range(COUNT if count is None else count))


def array(rng, shape, dtype):
    """Random elements of any type, small integers among them."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "i":
        return rng.integers(-9, 10, shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)).astype(dtype)
    return rng.uniform(-1, 1, shape).astype(dtype)


def close(found, expected):
    """Asserts equal shapes, and elements equal up to round-off."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    if expected.dtype.kind in "fc":
        single = np.finfo(found.dtype).eps > 1e-10
        np.testing.assert_allclose(found, expected, rtol=2e-4 if single else 1e-10, atol=2e-4 if single else 1e-10)
    else:
        np.testing.assert_array_equal(found, expected)


def warns_once(world, match):
    """A context in which rank 0 warns, and no other rank does: what concerns all ranks is said once."""
    return pytest.warns(UserWarning, match=match) if world.rank == 0 else contextlib.nullcontext()


def own_environment():
    """The environment without what the launcher of these tests has put there, for programs that start MPI themselves."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "HYD", "MPI", "OMPI", "PMIX"))}
