"""Making tensors, elements by key, arrays in and out, symmetry, sparse tensors, files."""

import copy
import gc
import os
import pickle

import numpy as np
import pytest
from conftest import array, close, seeds

import arges
from arges._types import DTYPES


def shape_of(rng, order=None):
    return tuple(
        int(n) for n in rng.choice([0, 1, 2, 3, 5, 7], rng.integers(0, 5) if order is None else order, p=[0.05, 0.15, 0.2, 0.2, 0.2, 0.2])
    )


@seeds()
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_arrays_go_in_and_out(seed, dtype):
    rng = np.random.default_rng(seed)
    whole = array(rng, shape_of(rng), dtype)
    views = [
        whole,
        np.asfortranarray(whole),
        whole[tuple(slice(None, None, -1) for _ in whole.shape)],
        whole.transpose(rng.permutation(whole.ndim)),
    ]
    for own in views:
        tensor = arges.tensor(own)
        assert tensor.dtype == dtype and tensor.shape == own.shape and tensor.size == own.size
        close(tensor.numpy(), own)
        close(tensor.numpy(copy=True), own)
        close(np.asarray(tensor), own)
        close(arges.from_dlpack(own).numpy(), own)
        keys = rng.permutation(own.size)[: own.size // 2]
        close(tensor.read(keys), own.ravel(order="F")[keys])


def test_a_view_shares_elements_on_one_rank(world):
    tensor = arges.zeros((3, 4))
    view = tensor.numpy()
    if world.size > 1:
        with pytest.raises(ValueError):
            tensor.numpy(copy=False)
        return
    view[1, 2] = 5
    assert tensor.read([1 + 3 * 2]) == 5
    tensor["ij"] += tensor["ij"]
    assert view[1, 2] == 10
    del tensor
    gc.collect()
    arges.random((3, 4))
    assert view[1, 2] == 10 and view.sum() == 10
    for dtype in DTYPES:
        own = np.zeros((64, 5), dtype, order="F")
        shared = arges.tensor(own, copy=False)
        shared.fill(1)
        assert (own == 1).all()
        del own
        gc.collect()
        assert int(shared.astype(arges.complex128).sum().item().real) == 320


def test_arrays_that_no_tensor_has_are_refused():
    for own in (np.array(["text"]), np.array([object()]), np.zeros(2, np.longdouble), np.zeros(2, np.uint64)):
        with pytest.raises(TypeError, match="tensors have no elements of type"):
            arges.tensor(own)
    assert arges.tensor(np.zeros(2, np.uint8)).dtype == np.int16
    assert arges.tensor(np.zeros(2, ">f8")).dtype == np.float64
    with pytest.raises(ValueError):
        arges.zeros((2, -1))


@seeds()
def test_pairs_are_written_added_and_read(seed, world):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, 3))
    dtype = DTYPES[seed % len(DTYPES)]
    expected = np.zeros(shape, dtype)
    tensor = arges.zeros(shape, dtype)
    keys, values = rng.permutation(expected.size)[: rng.integers(0, expected.size + 1)], None
    values = array(rng, len(keys), dtype)
    mine = slice(world.rank, None, world.size)
    tensor.write(keys[mine], values[mine])
    flat = expected.ravel(order="F")
    flat[keys] = values
    close(tensor.numpy().ravel(order="F"), flat)
    if dtype.kind != "b":
        tensor.accumulate(keys[mine], values[mine], alpha=2, beta=3)
        flat[keys] = 3 * flat[keys] + 2 * values
        close(tensor.numpy().ravel(order="F"), flat)
    pairs = tensor.local_pairs()
    close(pairs[1], flat[pairs[0]])


@seeds()
def test_slices_of_symmetric_tensors_are_arrays(seed):
    """The dimensions of a slice may lie the other way round than they are counted."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    whole = rng.uniform(-1, 1, (n, n))
    whole = whole + whole.T
    for tree in ("sym(a,b)", "sym(b,a)"):
        tensor = arges.tensor(whole, symmetry=tree, letters="ab")
        (i, k), (j, m) = (sorted(int(x) for x in rng.choice(n + 1, 2, replace=False)) for _ in range(2))
        part = tensor[i:k, j:m]
        close(part.numpy(), whole[i:k, j:m])
        close(np.asarray(part), whole[i:k, j:m])
        close((part + part).numpy(), 2 * whole[i:k, j:m])


@seeds()
def test_symmetric_tensors_stand_for_all_elements(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    whole = rng.uniform(-1, 1, (n, n, m, m))
    whole = whole - whole.transpose(1, 0, 2, 3)
    whole = whole + whole.transpose(0, 1, 3, 2)
    tensor = arges.tensor(whole, symmetry="antisym(a,b) sym(i,j)", letters="abij")
    assert tensor.stored == n * (n - 1) // 2 * m * (m + 1) // 2
    close(tensor.numpy(), whole)
    assert tensor.symmetry("abij") == "antisym(a,b) sym(i,j)"
    close(tensor.norm(), np.linalg.norm(whole))
    close(tensor.with_symmetry(None).numpy(), whole)
    if n > 1:
        with pytest.raises(arges.InvalidArgument, match="do not have the symmetry"):
            arges.tensor(whole + 1, symmetry="antisym(a,b) sym(i,j)", letters="abij")
    single = arges.tensor(whole.astype(np.float32), symmetry="antisym(a,b)")
    assert single.dtype == np.float32


@seeds()
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sparse_tensors(seed, dtype, world):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 7, 3))
    whole = array(rng, shape, dtype) * (rng.uniform(size=shape) < 0.4)
    whole = whole.astype(dtype)
    indices = np.nonzero(whole)
    mine = slice(world.rank, None, world.size)
    tensor = arges.sparse(shape, [i[mine] for i in indices], whole[indices][mine])
    assert tensor.is_sparse and tensor.stored == len(indices[0]) and tensor.dtype == dtype
    close(tensor.to_dense().numpy(), whole)
    close(tensor.numpy(), whole)
    close(arges.tensor(whole).to_sparse().numpy(), whole)
    found, values = tensor.coo()
    close(whole[tuple(found)], values)
    assert all(np.array_equal(own, other) for own, other in zip(found, indices))
    local, own = tensor.local_pairs()
    close(own, whole[tuple(local)])
    part = tensor[1:, 0, ...] if shape[0] > 1 else tensor[0, :, :]
    close(part.numpy(), whole[1:, 0, ...] if shape[0] > 1 else whole[0])


def test_sparse_arrays_of_scipy():
    scipy = pytest.importorskip("scipy.sparse")
    whole = scipy.random_array((7, 9), density=0.3, rng=np.random.default_rng(1), format="csr")
    close(arges.sparse(whole).numpy(), whole.toarray())


@seeds()
def test_types_are_converted(seed):
    rng = np.random.default_rng(seed)
    for source in DTYPES:
        own = array(rng, (3, 4), source)
        for target in DTYPES:
            tensor = arges.tensor(own)
            if source.kind == "c" and target.kind != "c":
                with pytest.raises(arges.InvalidArgument, match="imaginary"):
                    tensor.astype(target)
                continue
            close(tensor.astype(target).numpy(), own.astype(target))
            close(tensor.to_sparse().astype(target).to_dense().numpy(), own.astype(target))
    with pytest.raises(arges.InvalidArgument, match="not within"):
        arges.tensor([1e30]).astype(arges.int32)


@seeds(5)
def test_files(seed, tmp_path_factory, world):
    rng = np.random.default_rng(seed)
    folder = f"arges_test_{os.environ.get('PMI_JOBID', '')}{seed}"
    place = world.agree(lambda: os.path.join(os.environ.get("TMPDIR", "/tmp"), folder))
    if world.rank == 0:
        os.makedirs(place, exist_ok=True)
    arges.ones(1).sum()
    whole = rng.uniform(-1, 1, (4, 5, 3))
    tensor = arges.tensor(whole)
    arges.write(tensor, f"{place}/whole.npy")
    close(arges.read(f"{place}/whole.npy").numpy(), whole)
    close(np.load(f"{place}/whole.npy"), whole)
    arges.write(tensor.to_sparse(0.3), f"{place}/part.tns")
    close(arges.read(f"{place}/part.tns", shape=whole.shape).numpy(), np.where(abs(whole) > 0.3, whole, 0))
    anti = arges.zeros((4, 4), symmetry="antisym(a,b)", name="anti").fill_random(seed)
    arges.save(f"{place}/state.h5", anti=anti, whole=tensor, energy=-1.5, step=7, method="ccd", spectrum=[1.0, 2.5])
    state = arges.load(f"{place}/state.h5")
    close(state["anti"].numpy(), anti.numpy())
    assert state["anti"].symmetry() == "antisym(a,b)"
    assert (state["energy"], state["step"], state["method"], list(state["spectrum"])) == (-1.5, 7, "ccd", [1.0, 2.5])
    with pytest.raises(arges.InvalidArgument):
        arges.read(f"{place}/missing.tns")
    with pytest.raises(arges.InvalidArgument, match="npy"):
        arges.write(tensor, f"{place}/whole.dat")
    if world.rank == 0:
        with open(f"{place}/events.csv", "w", encoding="utf-8") as file:
            file.write("when,who,n\n2024-03-01 08:15,Zoë,2\n2024-03-01 09:00,ann,3\n2024-03-02 08:59,ann,4\n2024-03-02 08:00,ann,5\n")
    arges.ones(1).sum()
    events, (people, hours) = arges.read_table(f"{place}/events.csv", ["who", "when:hour"], "n")
    assert people == ["Zoë", "ann"] or people == ["ann", "Zoë"]
    assert events.shape == (2, 24) and hours[8] == "08"
    row = people.index("ann")
    assert (events.numpy()[row, 8], events.numpy()[row, 9], events.numpy()[1 - row, 8]) == (9, 3, 2)
    counted, days = arges.read_table(f"{place}/events.csv", ["when:1d"], dtype="int64")
    assert list(counted.numpy()) == [2, 2] and days == [["2024-03-01", "2024-03-02"]]
    with pytest.raises(arges.InvalidArgument, match="did you mean who"):
        arges.read_table(f"{place}/events.csv", ["whom"])


def test_memory_limits(world):
    own = arges.World.dry_run(4)
    own.memory_limit = 1000
    with pytest.raises(arges.OutOfMemory) as error:
        arges.zeros((100, 100), world=own)
    assert isinstance(error.value, MemoryError) and isinstance(error.value, arges.Error)
    assert world.memory_limit > 0 and world.memory_in_use >= 0 and "World(" in repr(world)


def test_errors_are_exceptions_of_python():
    assert issubclass(arges.InvalidArgument, ValueError) and issubclass(arges.Unsupported, NotImplementedError)
    assert pickle.loads(pickle.dumps(arges.InvalidArgument("text"))).args == ("text",)


def test_copies_and_pickles():
    A = arges.random((3, 4), seed=1)
    for B in (copy.copy(A), copy.deepcopy(A), copy.deepcopy([A])[0]):
        B.fill(0)
        assert A.norm() > 0 and B.norm() == 0
    with pytest.raises(TypeError, match="arges.save"):
        pickle.dumps(A)


def test_keys_are_a_list_of_numbers():
    A = arges.random((3, 4), seed=1)
    with pytest.raises(ValueError, match="ravel_multi_index"):
        A.read([(0, 1), (2, 3)])
    indices = ([0, 2], [1, 3])
    np.testing.assert_array_equal(A.read(np.ravel_multi_index(indices, A.shape, order="F")), A.numpy()[indices])
