"""TAPP's functions on strided arrays of NumPy, beside numpy.einsum: each property with many seeds and the four types.

ARGES_TAPP_COUNT: seeds of each property and type. The library is build/OPT/libarges.so, or what ARGES_LIBRARY names.
"""

import ctypes
import glob
import os

import numpy as np
import pytest
from conftest import COUNT

TYPES = [np.float32, np.float64, np.complex64, np.complex128]
SEEDS = int(os.environ.get("ARGES_TAPP_COUNT", 5 * COUNT))


def found_library():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return os.environ.get("ARGES_LIBRARY") or next(iter(sorted(glob.glob(f"{root}/build/fast/libarges.so"))), None)


if found_library() is None:
    pytest.skip("there is no libarges.so; make shared", allow_module_level=True)

TAPP = ctypes.CDLL(found_library(), mode=ctypes.RTLD_LOCAL)
HANDLE = ctypes.c_ssize_t
NUMBERS = ctypes.POINTER(ctypes.c_int64)


def numbers(values):
    return (ctypes.c_int64 * max(1, len(values)))(*values)


def check(error):
    if error != 0:
        text = ctypes.create_string_buffer(200)
        TAPP.TAPP_explain_error(error, ctypes.c_size_t(200), text)
        raise RuntimeError(f"{error}: {text.value.decode()}")


class Made:
    """A handle, an executor and whatever else a product needs, destroyed at the end."""

    def __init__(self):
        self.kept = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for destroy, own in reversed(self.kept):
            check(destroy(own))

    def make(self, name, *arguments):
        own = HANDLE()
        check(getattr(TAPP, f"TAPP_create_{name}")(ctypes.byref(own), *arguments))
        self.kept.append((getattr(TAPP, f"TAPP_destroy_{name}"), own))
        return own

    def info(self, array):
        strides = [s // array.itemsize for s in array.strides]
        return self.make("tensor_info", TYPES.index(array.dtype.type), array.ndim, numbers(array.shape), numbers(strides))


def product(alpha, a, a_labels, b, b_labels, beta, c, d, d_labels, conjugated=(0, 0, 0, 0)):
    """D = alpha op(A) op(B) + beta op(C), by TAPP."""
    with Made() as made:
        handle, executor = made.make("handle"), made.make("executor")
        parts = []
        for op, array, labels in zip(conjugated, (a, b, c, d), (a_labels, b_labels, d_labels, d_labels)):
            parts += [op, made.info(d if array is None else array), numbers([ord(x) for x in labels])]
        plan = made.make("tensor_product", handle, *parts, -1)
        status = HANDLE()
        scalars = [np.array(x, d.dtype) for x in (alpha, beta)]
        pointers = [None if x is None else ctypes.c_void_p(x.ctypes.data) for x in (scalars[0], a, b, scalars[1], c, d)]
        check(TAPP.TAPP_execute_product(plan, executor, ctypes.byref(status), *pointers))
        check(TAPP.TAPP_destroy_status(status))


def strided(rng, shape, dtype, gaps=False, negative=False, zero=False):
    """A view with random memory: dimensions in any order, with gaps, backwards, or repeating one element."""
    steps = [int(rng.integers(1, 4)) if gaps else 1 for _ in shape]
    order = rng.permutation(len(shape))
    memory = rng.uniform(-1, 1, [max(1, shape[d] * steps[d]) for d in order])
    if np.dtype(dtype).kind == "c":
        memory = memory + 1j * rng.uniform(-1, 1, memory.shape)
    view = memory.astype(dtype).transpose(np.argsort(order))
    index = []
    for length, step in zip(shape, steps):
        backwards = negative and rng.integers(0, 2) == 1
        index.append(slice(None, None, -step) if backwards else slice(None, None, step))
    view = view[(*index, ...)][(*(slice(0, n) for n in shape), ...)]
    if zero:
        flat = [s if rng.integers(0, 3) else 0 for s in view.strides]
        view = np.lib.stride_tricks.as_strided(view, view.shape, flat)
    return view


#: Numbers of labels in A, B and D; in A and D; in B and D; in A and B; in A or B alone; and what else.
PROPERTIES = {
    "Hadamard": dict(batch=4, left=0, right=0, summed=0),
    "contraction": dict(),
    "outer product": dict(summed=0),
    "to a scalar": dict(left=0, right=0, summed=4),
    "one operand a scalar": dict(left=0, right=4, summed=0),
    "vectors": dict(left=1, right=2, summed=1),
    "parts of tensors": dict(gaps=True),
    "negative strides": dict(negative=True),
    "parts backwards": dict(negative=True, gaps=True),
    "zero strides": dict(batch=1, zero=True),
    "isolated labels": dict(alone=2),
    "repeated labels": dict(alone=1, repeats=2),
    "Hadamard and free labels": dict(batch=2, summed=0),
    "Hadamard and contraction": dict(batch=2, left=0, right=0),
    "conjugates": dict(batch=1, conjugates=True),
    "no elements": dict(batch=1, smallest=0),
    "in place": dict(in_place=True),
    "all of this": dict(batch=1, alone=1, repeats=1, gaps=True, negative=True, conjugates=True, smallest=0),
}


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("name", PROPERTIES)
def test_property(name, dtype):
    for seed in range(SEEDS):
        run(np.random.default_rng(seed), dtype, **PROPERTIES[name])


def run(rng, dtype, batch=0, left=2, right=2, summed=2, alone=0, repeats=0, smallest=1, gaps=False, negative=False, zero=False,
        conjugates=False, in_place=False):  # fmt: skip
    names = iter("abcdefghijklmnopqrstuvwxyz")

    def some(most):
        return "".join(next(names) for _ in range(rng.integers(0, most + 1) if most < 4 else most))

    def mixed(text):
        return "".join(rng.permutation(list(text)))

    shared, l, r, k, one, other = (some(n) for n in (batch, left, right, summed, alone, alone))
    a_labels, b_labels, d_labels = mixed(shared + l + k + one), mixed(shared + r + k + other), mixed(shared + l + r)
    for _ in range(repeats):
        if a_labels:
            a_labels = mixed(a_labels + rng.choice(list(a_labels)))
        if b_labels:
            b_labels = mixed(b_labels + rng.choice(list(b_labels)))
    extent = {x: int(rng.integers(smallest, 4)) for x in a_labels + b_labels}
    options = dict(gaps=gaps, negative=negative)
    a, b = (strided(rng, [extent[x] for x in labels], dtype, zero=zero, **options) for labels in (a_labels, b_labels))
    c, d = (strided(rng, [extent[x] for x in d_labels], dtype, **options) for _ in range(2))
    ops = [int(rng.integers(0, 2)) if conjugates else 0 for _ in range(4)]
    alpha, beta = (complex(*rng.integers(-2, 3, 2)) if np.dtype(dtype).kind == "c" else int(rng.integers(-2, 3)) for _ in range(2))
    op = [np.conj if own else np.positive for own in ops]
    old = d if in_place else c
    expected = alpha * np.einsum(f"{a_labels},{b_labels}->{d_labels}", op[0](a), op[1](b)) + (beta * op[2](old) if beta else 0)
    expected = op[3](np.asarray(expected))
    product(alpha, a, a_labels, b, b_labels, beta, None if in_place else c, d, d_labels, ops)
    error = np.abs(d - expected).max(initial=0)
    assert error <= (1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-12) * (1 + np.abs(expected).max(initial=0)), (a_labels, b_labels, d_labels)


def test_errors():
    a, d = np.ones((2, 3)), np.zeros((2, 4))
    with pytest.raises(RuntimeError, match="extent"):
        product(1, a, "ij", np.ones((4, 3)), "kj", 0, None, np.zeros((3, 4)), "ik")
    with pytest.raises(RuntimeError):
        product(1, a, "ij", np.ones((4, 3)), "kj", 0, None, d, "iz")
    overlapping = np.lib.stride_tricks.as_strided(d, (2, 4), (8, 8))
    with pytest.raises(RuntimeError):
        product(1, a, "ij", np.ones((4, 3)), "kj", 0, None, overlapping, "ik")
