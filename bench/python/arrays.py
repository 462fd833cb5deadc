"""A large array of NumPy into a tensor and out: seconds, bytes a second beside a plain copy, and peak memory.

Usage: arrays.py [GIGABYTES]; prints one line for each way.
"""

import resource
import sys
import time

import numpy as np

import arges

size = int(float(sys.argv[1] if len(sys.argv) > 1 else 2) * 1e9 / 8)
side = int(np.sqrt(size))


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


arges.ones(3).sum()
whole = np.empty((side, side))
whole[:] = np.arange(side)
bytes_ = whole.nbytes


def timed(what, f):
    before = peak()
    start = time.perf_counter()
    kept = f()
    seconds = time.perf_counter() - start
    print(f"{what:45s} {seconds:8.3f} s {bytes_ / seconds / 1e9:8.2f} GB/s   peak memory +{(peak() - before) * 1e9 / bytes_:.2f} arrays")
    return kept


fortran = np.asfortranarray(whole)
tensor = timed("tensor of an array, last index fastest", lambda: arges.tensor(whole))
assert tensor.read([side + 3])[0] == 1
out = timed("array of a tensor (a view)", tensor.numpy)
assert out[3, 5] == 5
del out, tensor
tensor = timed("tensor of an array, first index fastest", lambda: arges.tensor(fortran))
del tensor
tensor = timed("the same without a copy", lambda: arges.tensor(fortran, copy=None))
assert tensor.numpy().ctypes.data == fortran.ctypes.data
del tensor
copy = timed("numpy: copy", whole.copy)
del copy
copy = timed("numpy: copy in the other order", lambda: whole.copy(order="F"))
del copy
