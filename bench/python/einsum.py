"""arges.einsum beside numpy.einsum(optimize=True), opt_einsum on NumPy, and torch.einsum where it is installed: medians of seconds."""

import statistics
import sys
import time

import numpy as np

import arges

try:
    import opt_einsum
except ImportError:
    opt_einsum = None
try:
    import torch
except ImportError:
    torch = None

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1
CASES = {
    "matrices": ("ij,jk->ik", (1500, 1500), (1500, 1500)),
    "ladder": ("abef,efij->abij", (40, 40, 40, 40), (40, 40, 16, 16)),
    "rings": ("amei,ebmj->abij", (40, 16, 40, 16), (40, 40, 16, 16)),
    "permuted": ("ijkl,lmjn->mkni", (48, 48, 48, 48), (48, 48, 48, 48)),
    "batches": ("bij,bjk->bik", (64, 200, 200), (64, 200, 200)),
    "MTTKRP": ("ijk,ja,ka->ia", (200, 200, 200), (200, 32), (200, 32)),
    "Tucker": ("ijk,ia,jb,kc->abc", (160, 160, 160), (160, 20), (160, 20), (160, 20)),
    "Hadamard": ("ijk,ijk->ijk", (200, 200, 200), (200, 200, 200)),
    "trace of three": ("ij,jk,ki->", (900, 900), (900, 900), (900, 900)),
    "ring of five": (
        "ijab,jkbc,klcd,lmde,miea->",
        (10, 10, 12, 12),
        (10, 10, 12, 12),
        (10, 10, 12, 12),
        (10, 10, 12, 12),
        (10, 10, 12, 12),
    ),
}


def median(f, least=5, seconds=1.0):
    f()
    times, end = [], time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end and len(times) < 200:
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


print(f"{'':16s} {'arges':>10s} {'numpy':>10s} {'opt_einsum':>10s} {'torch':>10s}   numpy, opt_einsum, torch / arges")
for name, (text, *shapes) in CASES.items():
    rng = np.random.default_rng(1)
    arrays = [rng.uniform(-1, 1, shape) for shape in shapes]
    tensors = [arges.tensor(a) for a in arrays]
    own = median(lambda: arges.einsum(text, *tensors))
    expected = np.einsum(text, *arrays, optimize=True)
    error = abs(arges.einsum(text, *tensors).numpy() - expected).max()
    assert error <= 1e-9 * max(1, abs(expected).max()), (name, error)
    others = [median(lambda: np.einsum(text, *arrays, optimize=True))]
    others.append(median(lambda: opt_einsum.contract(text, *arrays)) if opt_einsum else float("nan"))
    if torch:
        copies = [torch.from_numpy(a) for a in arrays]
        others.append(median(lambda: torch.einsum(text, *copies)))
    else:
        others.append(float("nan"))
    print(f"{name:16s} {own:10.5f} " + " ".join(f"{t:10.5f}" for t in others) + "   " + ", ".join(f"{t / own:.2f}" for t in others))
