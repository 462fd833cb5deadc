"""Functions of tensors beside NumPy's and SciPy's: milliseconds of processor time, ours, theirs, and how many times as long ours takes.

Usage: [OMP_NUM_THREADS=1 mpiexec -n RANKS] functions.py [SHARE [WORD]]; SHARE (1) scales the sizes, WORD selects rows. Times are the least of
three, of all ranks together; theirs are of one rank.
"""

import sys
import time

import numpy as np
import scipy.sparse

import arges

world = arges.default_world()
share = float(sys.argv[1] if len(sys.argv) > 1 else 1)
word = sys.argv[2] if len(sys.argv) > 2 else ""


def many(count):
    return int(count * share)


def vectors():
    x = np.random.default_rng(1).uniform(-1, 1, many(50e6))
    X = arges.tensor(x)
    Y = X.copy()
    y = x.copy()
    yield "argmax of 50 M", lambda: X.argmax(), lambda: x.argmax()
    yield "std", lambda: X.std(), lambda: x.std()
    yield "var of axis 0", lambda: X.var(axis=0), lambda: x.var(axis=0)
    yield "norm", lambda: arges.linalg.vector_norm(X), lambda: np.linalg.norm(x)
    yield "np.linalg.norm", lambda: np.linalg.norm(X), lambda: np.linalg.norm(x)
    yield "max", lambda: X.max(), lambda: x.max()
    yield "sum", lambda: X.sum(), lambda: x.sum()
    yield "A + B", lambda: X + Y, lambda: x + y
    yield "2 * A", lambda: 2 * X, lambda: 2 * x
    yield "abs(A)", lambda: abs(X), lambda: abs(x)


def blocks():
    n = int(round(many(24e6) ** (1 / 3)))
    x = np.random.default_rng(2).uniform(-1, 1, (n, n, n))
    X = arges.tensor(x)
    m = X.reshape(n, -1)
    y = x.reshape(n, -1)
    yield "argmax of 24 M, order 3", lambda: X.argmax(), lambda: x.argmax()
    yield "reshape(-1) of 24 M", lambda: X.reshape(-1), lambda: x.T.reshape(-1)
    yield "reshape to order 2", lambda: X.reshape(n * n, n), lambda: x.T.reshape(n * n, n)
    yield "A.T of 24 M", lambda: m.T, lambda: np.ascontiguousarray(y.T)


def others():
    x = np.random.default_rng(3).uniform(-1, 1, many(10e6))
    X = arges.tensor(x)
    yield "sort of 10 M", lambda: X.__array_namespace__().sort(X), lambda: np.sort(x)
    b = np.random.default_rng(4).uniform(-1, 1, (500, 8, 8))
    B = arges.tensor(b)
    yield "inv of 500 of 8 x 8", lambda: arges.linalg.inv(B), lambda: np.linalg.inv(b)
    s = np.random.default_rng(5).uniform(-1, 1, (4000, 4000))
    S, s = arges.tensor(s + s.T, symmetry="sym(a,b)"), s + s.T
    yield "S + S, symmetric", lambda: S + S, lambda: s + s
    yield "2 * S, symmetric", lambda: 2 * S, lambda: 2 * s


def sparse():
    n, count = 10**6, many(5e6)
    rng = np.random.default_rng(6)
    places = [(rng.integers(0, n, count), rng.integers(0, n, count)) for _ in range(2)]
    values = rng.uniform(-1, 1, count)
    a, b = (scipy.sparse.coo_array((values, own), shape=(n, n)).tocsr() for own in places)
    A, B = arges.sparse(a), arges.sparse(b)

    def statement():
        C = arges.sparse((n, n))
        C["ij"] = A["ij"] + B["ij"]

    yield "sparse A + B, 5 M", lambda: A + B, lambda: a + b
    yield "  as a statement", statement, lambda: a + b
    yield "  coo()", lambda: A.coo(), lambda: a.tocoo()
    yield "  sum(axis=0)", lambda: A.sum(axis=0), lambda: a.sum(axis=0)
    yield "  A.T", lambda: A.T, lambda: a.T.tocsr()
    yield "  argmax", lambda: A.argmax(), lambda: a.argmax()
    yield "  abs(A)", lambda: abs(A), lambda: abs(a)
    yield "  norm", lambda: np.linalg.norm(A), lambda: scipy.sparse.linalg.norm(a)


def timed(f):
    times = []
    for _ in range(3):
        start = time.process_time()
        kept = f()
        times.append(time.process_time() - start)
        del kept
    return min(times) * 1e3


if world.rank == 0:
    print(f"{'':28s} {'arges':>10s} {'others':>10s} {'times':>7s}   ({world.size} ranks)")
for group in (vectors, blocks, others, sparse):
    for name, own, other in group():
        if word not in name and word not in group.__name__:
            continue
        ours = arges.zeros(world.size)
        ours.write([world.rank], [timed(own)])
        total, theirs = float(ours.sum()), timed(other)
        if world.rank == 0:
            print(f"{name:28s} {total:10.2f} {theirs:10.2f} {total / theirs:7.2f}", flush=True)
