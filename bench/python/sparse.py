"""Functions of large sparse tensors: seconds, beside scipy's where one process runs.

Usage: [mpiexec -n RANKS] sparse.py [NONZEROS]; two matrices of 10^6 x 10^6 at random places, NONZEROS (10^7) in each.
"""

import sys
import time

import numpy as np

import arges

world = arges.default_world()
size, nonzeros = 10**6, int(float(sys.argv[1] if len(sys.argv) > 1 else 1e7))


def parts(seed):
    rng = np.random.default_rng([seed, world.rank])
    count = nonzeros // world.size
    return [rng.integers(0, size, count), rng.integers(0, size, count)], rng.uniform(-1, 1, count)


def made(seed):
    return arges.sparse((size, size), *parts(seed))


def timed(f):
    seconds = []
    for _ in range(3):
        arges.ones(1).sum()
        start = time.perf_counter()
        f()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[1]


A, B = made(1), made(2)
WORK = {
    "from indices": (lambda: made(1), lambda: matrix(1)),
    "A + B": (lambda: A + B, lambda: a + b),
    "A * B": (lambda: A * B, lambda: a * b),
    "abs(A)": (lambda: abs(A), lambda: abs(a)),
    "A > 0.5": (lambda: A > 0.5, lambda: a > 0.5),
    "other shape": (lambda: A.reshape((1000, -1)), lambda: a.reshape((1000, -1))),
    "A[::2]": (lambda: A[::2], lambda: a[::2]),
    "concat": (lambda: arges.concat([A, B]), lambda: scipy.sparse.vstack([a, b])),
    "sum of rows": (lambda: A.sum(axis=0), lambda: a.sum(axis=0)),
    "max of rows": (lambda: A.max(axis=0), lambda: a.max(axis=0)),
}
if world.size == 1:
    import scipy.sparse

    def matrix(seed):
        (rows, columns), values = parts(seed)
        return scipy.sparse.coo_array((values, (rows, columns)), shape=(size, size)).tocsr()

    a, b = matrix(1), matrix(2)
if world.rank == 0:
    print(f"{A.stored + B.stored} nonzeros, {world.size} ranks")
for name, (own, other) in WORK.items():
    line = f"{name:14s} {timed(own):8.3f}" + (f" {timed(other):8.3f}" if world.size == 1 else "")
    if world.rank == 0:
        print(line, flush=True)
