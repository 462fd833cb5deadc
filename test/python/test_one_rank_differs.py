"""The last rank hands in something else than the others: every rank gets the same error, and all goes on."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import close, own_environment

import arges

CALLS = {
    "product": lambda d: arges.ones(3) * (1 + d),
    "sum": lambda d: arges.ones(3) + (1.0 + d),
    "quotient": lambda d: 1 / (arges.ones(3) + d),
    "power": lambda d: arges.ones(3) ** (1 + d),
    "comparison": lambda d: arges.ones(3) < 1 + d,
    "fill": lambda d: arges.zeros(3).fill(1 + d),
    "fill_random": lambda d: arges.zeros(3).fill_random(1 + d),
    "full": lambda d: arges.full(3, 1 + d),
    "full_like": lambda d: arges.full_like(arges.zeros(3), 1 + d),
    "random": lambda d: arges.random(3, 1 + d),
    "zeros": lambda d: arges.zeros(3 + d),
    "type": lambda d: arges.zeros(3, arges.float32 if d else arges.float64),
    "symmetry": lambda d: arges.zeros((3, 3), symmetry="sym(a,b)" if d else "antisym(a,b)"),
    "eye": lambda d: arges.eye(4, k=d),
    "arange": lambda d: arges.arange(0, 3 + 3 * d, 1 + d),
    "linspace": lambda d: arges.linspace(0, 1 + d, 5),
    "from_function": lambda d: arges.from_function((3, 3), lambda i, j: i + j + d),
    "tensor": lambda d: arges.tensor(np.arange(9.0).reshape(3, 3) + d),
    "tensor of a list": lambda d: arges.tensor([1, 2, 3 + d]),
    "type of an array": lambda d: arges.tensor(np.ones(3, np.float32 if d else np.float64)),
    "length of an array": lambda d: arges.tensor(np.ones(3 + d)),
    "last bit": lambda d: arges.tensor(np.array([1.0, np.nextafter(1, 1 + d)])),
    "asarray": lambda d: arges.asarray(np.ones((2, 2)) * (1 + d)),
    "operand": lambda d: arges.ones((2, 2)) + np.full((2, 2), d),
    "matmul": lambda d: arges.ones((2, 2)) @ np.full((2, 2), d),
    "clip": lambda d: arges.clip(arges.ones(3), 0, 1 + d),
    "where": lambda d: arges.where(arges.ones(3) > 0, d, 2),
    "isclose": lambda d: arges.isclose(arges.ones(3), 1.1, rtol=0.01 + d),
    "set an element": lambda d: arges.zeros((3, 3)).__setitem__((0, 0), d),
    "set a row": lambda d: arges.zeros((3, 3)).__setitem__(0, np.full(3, d)),
    "set another row": lambda d: arges.zeros((3, 3)).__setitem__(d, 1),
    "set under a mask": lambda d: arges.zeros(3).__setitem__(np.array([True, False, bool(d)]), 1),
    "element": lambda d: arges.ones((3, 3))[d, 0],
    "range": lambda d: arges.ones((3, 3))[d:, 0],
    "list": lambda d: arges.ones((3, 3))[[0, 1 + d]],
    "mask": lambda d: arges.ones(3)[np.array([True, False, bool(d)])],
    "take": lambda d: arges.take(arges.ones(3), np.array([0, d]), axis=0),
    "labels": lambda d: arges.zeros((3, 3))["ij"].assign(arges.random((3, 3))["ji" if d else "ij"]),
    "number of a statement": lambda d: arges.zeros((3, 3))["ij"].assign((1 + d) * arges.random((3, 3))["ij"]),
    "einsum": lambda d: arges.einsum("ij->ji" if d else "ij->ij", arges.random((3, 3))),
    "order of operands": lambda d: arges.einsum("ij,jk", *(arges.random((3, 3), s) for s in ((1, 2), (2, 1))[d])),
    "axis": lambda d: arges.sum(arges.ones((3, 3)), axis=d),
    "axes": lambda d: arges.permute_dims(arges.ones((3, 3)), (d, 1 - d)),
    "shape": lambda d: arges.reshape(arges.ones((3, 4)), (4, 3) if d else (2, 6)),
    "concat": lambda d: arges.concat([arges.zeros(3), arges.ones(3)][:: 1 - 2 * d]),
    "roll": lambda d: arges.roll(arges.arange(3), d),
    "side": lambda d: arges.searchsorted(arges.arange(3), arges.arange(3), side="right" if d else "left"),
    "descending": lambda d: arges.sort(arges.arange(3), descending=bool(d)),
    "norm": lambda d: arges.ones(3).norm(1 + d),
    "astype": lambda d: arges.ones(3).astype(arges.float32 if d else arges.int64),
    "apply": lambda d: arges.apply(np.add if d else np.multiply, arges.ones(3), arges.ones(3)),
    "accumulate": lambda d: arges.ones(3).accumulate([0], [1.0], 1 + d, distributed=True),
    "beta": lambda d: arges.ones(3).accumulate([0], [1.0], 1, 1 + d, distributed=True),
    "policy": lambda d: arges.sparse((3,)).write([], [], duplicates="sum" if d else "refuse"),
    "sparse": lambda d: arges.sparse((3,), [[0, 1]], [1.0, 2.0 + d], distributed=False),
    "distributed": lambda d: arges.sparse((3,), [[0, 1]], [1.0, 2.0], distributed=bool(d)),
    "cutoff": lambda d: arges.ones(3).to_sparse(0.1 + d),
    "svd": lambda d: arges.linalg.svd(arges.random((3, 3)), full_matrices=False) if d else arges.linalg.qr(arges.random((3, 3))),
    "rank of cpd": lambda d: arges.cpd(arges.random((3, 3, 3)), rank=1 + d),
    "seed of cpd": lambda d: arges.cpd(arges.random((3, 3, 3)), rank=1, seed=1 + d),
    "ranks of tucker": lambda d: arges.tucker(arges.random((3, 3, 3)), [1, 1, 1 + d]),
    "agree": lambda d: arges.default_world().agree(lambda: [1, {"a": np.arange(3) + d}]),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_rank_hands_in_something_else(name, world):
    d = int(world.rank == world.size - 1)
    if world.size == 1:
        CALLS[name](d)
        return
    with pytest.raises(arges.Error) as error:
        CALLS[name](d)
    texts = world.agree(lambda: str(error.value), same=False)
    assert "differ" in texts or "rank" in texts or "factors" in texts, texts
    close(arges.ones(3).sum().numpy(), 3.0)  # in step again


@pytest.mark.parametrize("name", [name for name in CALLS if name != "agree"])
def test_the_same_on_all_ranks_is_right(name):
    for d in (0, 1):
        CALLS[name](d)


def test_one_rank_raises_before_a_call(world):
    """What a callback raises on one rank is raised on all."""
    last = world.size - 1

    def work():
        if world.rank == last:
            raise KeyError("mine")
        return 1

    for call in (lambda: world.agree(work), lambda: arges.from_function((3,), lambda i: work() * i)):
        with pytest.raises(KeyError, match="mine"):
            call()
    close(arges.ones(3).sum().numpy(), 3.0)


def test_arrays_may_lie_anyhow(world):
    a = np.arange(12.0).reshape(3, 4)
    close(arges.tensor(np.asfortranarray(a) if world.rank else a).numpy(), a)
    close(arges.tensor(a[::-1, ::2] if world.rank else a[::-1, ::2].copy()).numpy(), a[::-1, ::2])


def test_tensors_of_another_world(world):
    A = arges.random((3, 4), name="A")
    other = arges.World()
    B = arges.tensor(A, world=other, name="B")
    assert B.world == other and B.name == "B" and A.world == world
    close(B.numpy(), A.numpy())
    close(arges.transfer(B, world).numpy(), A.numpy())
    assert arges.tensor(A, name="C").name == "C"
    S = A.to_sparse(0.25)
    T = arges.transfer(S, other)
    assert T.is_sparse and T.world == other
    close(T.to_dense().numpy(), S.to_dense().numpy())


def test_dry_runs_have_no_elements():
    A = arges.zeros((3, 3), world=arges.World.dry_run(4))
    for call in (A.numpy, A.norm, A.largest_magnitude, A.sum().item, lambda: A.read([0]), lambda: float(A["ij"] * A["ij"])):
        with pytest.raises(arges.Unsupported, match="dry run"):
            call()


def test_own_results_of_agree(world):
    assert world.agree(lambda: world.rank, same=False) == world.rank


def test_nonzeros_of_all_or_of_each(world):
    indices, values = [[0, 1, 2], [2, 1, 0]], [1.0, 2.0, 3.0]
    whole = np.zeros((3, 3))
    whole[tuple(indices)] = values
    close(arges.sparse((3, 3), indices, values, distributed=False).numpy(), whole)
    close(arges.sparse((3, 3), indices, values, distributed=True).numpy(), world.size * whole)
    mine = slice(world.rank, None, world.size)
    close(arges.sparse((3, 3), [i[mine] for i in indices], values[mine], distributed=True).numpy(), whole)
    first = slice(None if world.rank == 0 else 0)
    close(arges.sparse((3, 3), [i[first] for i in indices], values[first]).numpy(), whole)
    close(arges.sparse((3, 3), indices, values, duplicates="keep_first").numpy(), whole)
    if world.size > 1:
        with pytest.raises(arges.InvalidArgument, match="distributed=False"):
            arges.sparse((3, 3), indices, values)
        with pytest.raises(arges.InvalidArgument, match="distributed=True"):
            arges.sparse((3, 3), [i[mine] for i in indices], values[mine], distributed=False)
    else:
        close(arges.sparse((3, 3), indices, values).numpy(), whole)
    for tensor in (arges.zeros(3), arges.sparse(3)):
        tensor.accumulate([0, 2], [1.0, 2.0], distributed=False)
        tensor.accumulate([0], [1.0], distributed=True)
        if world.size > 1:
            with pytest.raises(arges.InvalidArgument, match="distributed=False"):
                tensor.accumulate([0], [1.0])
        close(tensor.numpy(), np.array([1.0 + world.size, 0, 2]))
    scipy = pytest.importorskip("scipy.sparse")
    close(arges.sparse(scipy.coo_array(whole)).numpy(), whole)
    close(arges.sparse(scipy.coo_array(whole), distributed=True).numpy(), world.size * whole)
    if world.size > 1:
        with pytest.raises(arges.InvalidArgument, match="differ"):
            arges.sparse(scipy.coo_array(whole * (1 + world.rank)))


@pytest.mark.parametrize(
    "rank, failure", [(0, "raise RuntimeError('mine alone')"), (1, "import threading; threading.Thread(target=lambda: 1 / 0).start()")]
)
def test_an_exception_that_nobody_catches_ends_the_job(rank, failure, world):
    launcher = shutil.which("mpiexec.mpich") or shutil.which("mpiexec")
    if world.size > 1 or launcher is None:
        pytest.skip("starts ranks of its own")
    script = f"import arges; w = arges.default_world(); A = arges.ones((4, 4))\nif w.rank == {rank}: {failure}\nprint(float(arges.sum(A)))"
    if "thread" in failure:
        script = script.replace("\nprint", "\nimport time; time.sleep(20); print")
    found = subprocess.run([launcher, "-n", "2", sys.executable, "-c", script], capture_output=True, text=True, env=own_environment(), timeout=60)
    assert found.returncode != 0
    assert ("mine alone" in found.stderr) or ("ZeroDivisionError" in found.stderr)
