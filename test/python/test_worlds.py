"""Worlds: communicators of mpi4py, parts of the ranks, who starts and ends MPI."""

import subprocess
import sys

import numpy as np
import pytest
from conftest import close, own_environment

import arges

mpi = pytest.importorskip("mpi4py.MPI")


def test_communicators_of_mpi4py(world):
    arges.ones(1)  # MPI runs
    whole = arges.World(mpi.COMM_WORLD)
    assert (whole.size, whole.rank) == (world.size, world.rank) and whole != world and world == world
    half = arges.World(mpi.COMM_WORLD.Split(world.rank % 2, world.rank))
    assert half.size == (world.size + 1 - world.rank % 2) // 2
    a = np.arange(12.0).reshape(3, 4) + world.rank % 2
    A = arges.tensor(a, world=half)
    assert A.world == half
    close((A @ A.T).numpy(), a @ a.T)
    close(arges.einsum("ij,kj->ik", A, a).numpy(), a @ a.T)
    alone = arges.World(mpi.COMM_SELF)
    close(arges.random((3, 3), world.rank, world=alone).numpy(), arges.random((3, 3), world.rank, world=alone).numpy())
    assert arges.World(mpi.COMM_WORLD.py2f(), torus=(world.size,)).torus == (world.size,)
    with pytest.raises(TypeError, match="communicator"):
        arges.World("world")
    with pytest.raises(arges.InvalidArgument):
        arges.World(mpi.COMM_WORLD, torus=(world.size + 1,))
    with pytest.raises(arges.Error):
        arges.einsum("ij,jk->ik", A, arges.ones((4, 4), world=alone))


def test_the_default_world_can_be_another(world):
    arges.set_default_world(arges.World.dry_run(1000))
    try:
        assert arges.zeros((10**6, 10**5)).world.size == 1000
    finally:
        arges.set_default_world(world)


def test_dry_runs_take_a_machine():
    assert arges.World.dry_run(torus=(2, 3, 4)).size == 24
    nodes = arges.World.dry_run(8, ranks_per_node=4)
    assert nodes.torus == (4, 2)
    assert "grid" in str(arges.plan("ij,jk->ik", (64, 64), (64, 64), world=nodes))
    for wrong in ({"torus": (2, 3)}, {"ranks_per_node": 3}, {"machine": "no/such"}, {"coordinates": "no/such"}):
        with pytest.raises(arges.InvalidArgument):
            arges.World.dry_run(8, **wrong)
    with pytest.raises(arges.InvalidArgument, match="leave"):
        arges.plan("ij,jk->ik", (4, 4), (4, 4), ranks=8, world=nodes)


@pytest.mark.parametrize(
    "script",
    [
        "import arges; print(arges.ones(3).sum().item())",
        "from mpi4py import MPI; import arges; print(arges.ones(3, world=arges.World(MPI.COMM_WORLD)).sum().item()); assert not MPI.Is_finalized()",
        "import arges; x = arges.ones(3); from mpi4py import MPI; print(x.sum().item())",
        "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; import arges; print(arges.ones(3).sum().item())",
        "from mpi4py import MPI; import arges; x = arges.ones(3); MPI.Finalize(); print(x.size + 0.0)",
    ],
)
def test_mpi_starts_and_ends_once(script, world):
    if world.size > 1:
        pytest.skip("of several ranks each would start its own")
    # What MPI's launcher has told this process is not for others.
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=own_environment())
    assert (found.returncode, found.stdout.split(), found.stderr) == (0, ["3.0"], "")


def test_a_world_says_its_device(world):
    host = arges.World(device="none")
    assert host.device == "none" and host.device_memory_limit == host.device_memory_in_use == 0
    A = arges.tensor(np.arange(6.0).reshape(2, 3), world=host)
    assert A.__dlpack_device__() == (1, 0) and not hasattr(A, "__cuda_array_interface__")
    close(np.from_dlpack(A) if world.size == 1 else A.numpy(), np.arange(6.0).reshape(2, 3))
    close(arges.from_dlpack(np.arange(4.0)).numpy(), np.arange(4.0))
    with pytest.raises(arges.InvalidArgument, match="use cuda or none"):
        arges.World(device="opencl")
    with pytest.raises(arges.InvalidArgument, match="without a device"):
        arges.World(device_memory=1 << 20)


def test_arrays_on_devices_need_a_world_there():
    class OnDevice:
        __cuda_array_interface__ = {"shape": (2, 3), "typestr": "<f8", "data": (4096, False), "version": 3}

    with pytest.raises(arges.InvalidArgument, match='device="cuda"'):
        arges.tensor(OnDevice(), world=arges.World(device="none"))
    with pytest.raises(ValueError, match="copied"):
        arges.tensor(OnDevice(), copy=False)
    with pytest.raises(TypeError, match="convert it"):
        arges.tensor(OnDevice(), "float32")
