"""Shortest ways in a graph: a sparse matrix, a vector of distances, and the algebra of minimum and sum."""

import numpy as np

import arges

rows, columns = 30, 40  # a street map: crossings on a grid, one-way streets of random length
rng = np.random.default_rng(4)
crossing = np.arange(rows * columns).reshape(rows, columns)
pairs = [(crossing[:, :-1], crossing[:, 1:]), (crossing[:-1], crossing[1:])]
start = np.concatenate([a.ravel() for pair in pairs for a in pair])
end = np.concatenate([b.ravel() for pair in pairs for b in pair[::-1]])
length = rng.uniform(1, 5, len(start))

world = arges.default_world()
mine = slice(world.rank, None, world.size)  # each rank gives its share of the streets
A = arges.sparse((crossing.size, crossing.size), [start[mine], end[mine]], length[mine])

distance = arges.full(crossing.size, np.inf)
distance.write([0] if world.rank == 0 else [], [0.0] if world.rank == 0 else [])
steps = 0
while True:
    before = distance.copy()
    arges.over("min_plus", distance["j"]) << before["i"] * A["ij"]  # one more street each time
    steps += 1
    if arges.all(distance == before):
        break

found = distance.numpy()
expected = np.full(crossing.size, np.inf)  # Bellman and Ford, one street after the other
expected[0] = 0
for _ in range(steps):
    np.minimum.at(expected, end, expected[start] + length)
if world.rank == 0:
    print(f"{A.stored} streets, {steps} steps, farthest crossing {found.argmax()} at {found.max():.3f}")
assert np.allclose(found, expected)
