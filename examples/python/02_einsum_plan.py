"""The plan of an einsum for 1,000 ranks, made on one: grid, bytes, memory, time."""

import arges

shapes = (400,) * 3, (400, 20), (400, 20)
plan = arges.plan("ijk,ja,ka->ia", *shapes, ranks=1000)
few = arges.plan("ijk,ja,ka->ia", *shapes, ranks=64, torus=(4, 4, 4))
if arges.default_world().rank == 0:
    print(plan)
assert "1000 ranks" in str(plan) and "64 ranks" in str(few)

# What does not fit is refused before anything is allocated, and the message says what would do.
try:
    arges.plan("abef,efij->abij", (500,) * 4, (500, 500, 100, 100), ranks=64, memory_limit=2 << 30)
except arges.OutOfMemory as error:
    if arges.default_world().rank == 0:
        print("64 ranks of 2 GiB:", error)
else:
    raise SystemExit("this should not have fitted")
