"""Numbers: how they print, random ones, what is said of them in messages, types that mix."""

import pathlib
import re
import subprocess
import sys
import time
import threading
import warnings

import numpy as np
import pytest
import test_functions
import test_statements
from conftest import array, close, own_environment, seeds

import arges
from arges import _numpy


@seeds()
@pytest.mark.parametrize("dtype", ["float64", "complex128", "int64", "float32"])
def test_numbers_print_as_numbers(seed, dtype, world):
    """On every rank alone: no communication, so that a rank may print what others do not."""
    rng = np.random.default_rng([seed, 50])
    a = array(rng, (3, 4), dtype)
    A = arges.tensor(a)
    for found, wanted in ((A[1, 2], a[1, 2]), (A[-1, 0], a[-1, 0]), (A.sum(), A.numpy().sum()), (A.sum() * 2 + 1, A.numpy().sum() * 2 + 1)):
        assert found.ndim == 0 and found.shape == () and found.dtype == wanted.dtype and isinstance(found, arges.Tensor)
        close(np.asarray(found.item(), dtype), wanted)
        if world.rank == 0:
            assert str(found) == str(found.item() if dtype != "float32" else np.float32(found.item())) and "Tensor" in repr(found)
            text = "{:d}" if dtype == "int64" else "{:.3f}"
            assert text.format(found) == text.format(found.item()) and f"{found}" == str(found)
            assert complex(found) == found.item() and found.size == 1 and found.is_sparse is False
            assert not dtype.startswith("f") or round(found, 2) == round(found.item(), 2) and float(found) == found.item()
        close(found.numpy(), wanted)
        close((A * found).numpy(), a * wanted)
        copy = found.copy()
        copy["" ] += found[""]
        close(copy.numpy(), 2 * wanted)
        copy.fill(0)
        close(np.asarray(found.item(), dtype), wanted)
    with pytest.raises(TypeError, match="shape"):
        f"{A:.3f}"
    if dtype == "float64":
        assert f"{arges.max(A):.2f}" == f"{a.max():.2f}" and str(arges.sqrt(abs(A[0, 0]))) == str(np.sqrt(abs(a[0, 0])))


def test_elements_on_one_rank_are_those_of_numpy():
    for shape, symmetry in (((3, 4), None), ((4, 4), "sym(a,b)"), ((4, 4), "antisym(b,a)")):
        A = arges.zeros(shape, symmetry=symmetry).fill_random(3)
        a = A.numpy()
        for x, wanted in ((A, a), (A.to_sparse(), a), (A[1:, :2], a[1:, :2]), (A.to_sparse()[1:, :2], a[1:, :2])):
            for index in np.ndindex(x.shape):
                assert x[index].item() == wanted[index]
            for wrong in ((x.shape[0], 0), (0, -x.shape[1] - 1), (0, 0, 0), (2**70, 0)):
                with pytest.raises(IndexError):
                    x[wrong]


def test_random_tensors_differ(world):
    first, second = arges.random((3, 4)), arges.random((3, 4))
    assert second.seed == first.seed + 1 and (first - second).norm() > 0 and f"seed={first.seed}" in repr(first)
    close(arges.random((3, 4), seed=first.seed).numpy(), first.numpy())
    assert arges.zeros(3).seed is None and arges.zeros(3).fill_random(7).seed == 7
    with pytest.raises(TypeError):
        arges.random((3, 4), seed=1.5)


def test_einsum_sorts_labels_by_value():
    rng = np.random.default_rng(51)
    a, b = rng.uniform(size=(3, 3)), rng.uniform(size=(3, 3))
    kinds = (int, np.int64, np.int32, np.int16, np.uint8)
    for _ in range(50):
        i, j, k = (kinds[n](v) for n, v in zip(rng.integers(0, len(kinds), 3), rng.permutation(5)[:3]))
        j2 = kinds[rng.integers(0, len(kinds))](int(j))
        close(arges.einsum(a, [i, j]).numpy(), np.einsum(a, [i, j]))
        close(arges.einsum(a, [i, j], b, [j2, k]).numpy(), np.einsum(a, [i, j], b, [j2, k]))
        close(arges.einsum(a, [i, j], b, [j2, k], [k, i]).numpy(), np.einsum(a, [i, j], b, [j2, k], [k, i]))
    close(arges.einsum(a, ["b", "a"]).numpy(), a.T)
    with pytest.raises(TypeError, match="order"):
        arges.einsum(a, ["b", 1])
    close(arges.einsum(a, ["b", 1], [1, "b"]).numpy(), a.T)
    close(arges.einsum(a, [..., 0], [0, ...]).numpy(), np.einsum(a, [..., 0], [0, ...]))


def test_einsum_keeps_the_ellipsis():
    a = np.ones((2, 3, 4))
    for wrong in ("...i->i", "i...->", "...i,i->i"):
        with pytest.raises(arges.InvalidArgument, match="ellipsis"):
            arges.einsum(wrong, *[a] if "," not in wrong else [a, np.ones(4)])
        with pytest.raises(ValueError):
            np.einsum(wrong, *[a] if "," not in wrong else [a, np.ones(4)])
    close(arges.einsum("...i->i", np.ones(4)).numpy(), np.ones(4))


@pytest.mark.parametrize("first", ["int64", "int32", "float32", "complex64", "bool"])
@pytest.mark.parametrize("second", ["int64", "int16", "float32", "float64", "complex128"])
def test_types_mix_in_einsum(first, second):
    rng = np.random.default_rng(52)
    a, b = array(rng, (3, 4), first), array(rng, (4, 2), second)
    wanted = np.einsum("ij,jk", a, b)
    found = arges.einsum("ij,jk", a, b)
    assert found.dtype == wanted.dtype
    close(found.numpy(), wanted)


def test_types_that_do_not_mix_in_statements_name_the_cast():
    A, B, C = arges.ones((3, 3)), arges.ones((3, 3), dtype="int64"), arges.zeros((3, 3))
    for right in (lambda: A["ij"] * B["ij"], lambda: A["ij"] + B["ij"], lambda: B["ij"]):
        with pytest.raises(arges.InvalidArgument, match="astype"):
            C["ij"] = right()


@seeds()
def test_einsum_with_a_sparse_output_stays_sparse(seed):
    rng = np.random.default_rng([seed, 53])
    s = np.where(rng.uniform(size=(5, 6)) < 0.3, rng.uniform(size=(5, 6)), 0)
    u, v = rng.uniform(size=(5, 2)), rng.uniform(size=(6, 2))
    S = arges.tensor(s).to_sparse()
    for text, operands, is_sparse in (
        ("ij,ik,jk->ij", (S, u, v), True), ("ik,ij,jk->ji", (u, S, v), True), ("ij,ik->jk", (S, u), False), ("ij,jk->i", (S, v), False),
        ("ij,j->ij", (S, v[:, 0]), True), ("ij,ij->", (S, S), False),
    ):  # fmt: skip
        found = arges.einsum(text, *operands)
        assert found.is_sparse == is_sparse, text
        assert not is_sparse or found.stored <= S.stored
        close(found.numpy(), np.einsum(text, *(x.numpy() if isinstance(x, arges.Tensor) else x for x in operands)))


SPREAD = {
    "dot": lambda a, b: np.dot(a, b), "dot vector": lambda a, b: np.dot(a, b[:, 0]), "dot of two": lambda a, b: np.dot(a[0], b[:, 0]),
    "dot number": lambda a, b: np.dot(a, 2.0), "inner": lambda a, b: np.inner(a, a), "outer": lambda a, b: np.outer(a, b),
    "vdot": lambda a, b: np.vdot(a, a), "round": lambda a, b: np.round(a, 2), "around": lambda a, b: np.around(a), "cumsum": lambda a, b: np.cumsum(a),
    "cumsum axis": lambda a, b: np.cumsum(a, axis=1), "cumprod": lambda a, b: np.cumprod(a, axis=0), "ravel": lambda a, b: np.ravel(a),
    "swapaxes": lambda a, b: np.swapaxes(a, 0, 1), "ptp": lambda a, b: np.ptp(a, axis=0), "nansum": lambda a, b: np.nansum(a, axis=0),
    "concatenate": lambda a, b: np.concatenate([a, b.T]), "rollaxis": lambda a, b: np.rollaxis(a, 1), "rollaxis to": lambda a, b: np.rollaxis(a, 0, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", SPREAD)
def test_functions_of_numpy_stay_distributed(name):
    rng = np.random.default_rng(54)
    a, b = rng.uniform(size=(4, 3)), rng.uniform(size=(3, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error", arges.GatherWarning)
        found = SPREAD[name](arges.tensor(a), arges.tensor(b))
        assert isinstance(found, arges.Tensor)
    close(found.numpy(), SPREAD[name](a, b))
    assert np.array_equal(arges.tensor(a), a) and not np.array_equal(arges.tensor(a), b)


def test_what_is_gathered_is_said_once(world):
    A = arges.random((4, 3)).to_sparse()
    _numpy._said.clear()
    with pytest.warns(arges.GatherWarning, match="histogram.*96 bytes"):
        np.histogram(A)
    with warnings.catch_warnings():
        warnings.simplefilter("error", arges.GatherWarning)
        np.histogram(A)
        if world.size == 1:
            np.median(arges.random((4, 3)))


def test_options_are_checked():
    A = arges.random((3, 4, 5))
    for call in (
        lambda: arges.cpd(A, rank=2.5), lambda: arges.cpd(A, 2, max_iterations=1.5), lambda: arges.tucker(A, (2, 2, 1.5)),
        lambda: arges.linalg.svd(A["a|bc"], rank=1.5), lambda: arges.complete(A.to_sparse(), "3"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="integer"):
            call()
    with pytest.raises(ValueError, match="order 3"):
        A.norm(3)
    with pytest.raises(TypeError, match="otu"):
        arges.einsum("ijk->i", A, otu=A)
    assert arges.cpd(A, np.int64(1), max_iterations=np.int32(1)).rank == 1


def messages():
    """What Python's users are told: of the tables of wrong calls, and others that name an option or function of the library."""
    A, S, Q = arges.random((3, 4), name="A"), arges.random((3, 4)).to_sparse(), arges.random((3, 3))
    small = arges.World.dry_run(1)
    small.memory_limit = 1000
    symmetric = arges.sparse((3, 3), symmetry="sym(a,b)")
    calls = [
        lambda: arges.zeros((100, 100), world=small), lambda: arges.linalg.eigh(Q), lambda: arges.linalg.svd(S, randomized=True),
        lambda: arges.linalg.svd(S), lambda: arges.linalg.qr(S), lambda: arges.sparse((2, 2), [[0, 0], [1, 1]], [True, True], duplicates="sum"),
        lambda: arges.sparse((2, 2), [[0], [1]], [1.0], duplicates="refuse").write([2], [1.0], duplicates="refuse"),
        lambda: symmetric._h.set_slice([0, 0], Q.to_sparse()._h), lambda: S["ij"].__itruediv__(A["ij"]), lambda: arges.linalg.cholesky(-Q @ Q.T),
        lambda: A["ij"].explain(A["ij"], ranks=7), lambda: A.drop(), lambda: S.to_dense().coo(), lambda: S.norm(1), lambda: arges.load("/nowhere"),
        lambda: A.read([12]), lambda: S.layout(), lambda: arges.over("min_plus", S["ij"]).assign(Q["ij"]), lambda: arges.linalg.svd(A["i|j"], rank=9),
        lambda: arges.apply(np.add, S, S, out=symmetric), lambda: arges.concat([A, Q]), lambda: arges.zeros((2, 2), symmetry="anti(a,b)"),
    ]  # fmt: skip
    calls += [wrong for wrong, _ in test_statements.wrong_calls().values()]
    for call in calls:
        try:
            call()
        except Exception as error:  # noqa: BLE001: any that a user sees
            yield str(error)


def test_messages_speak_python():
    """No name of C++, nor an option of the command line."""
    found = list(messages())
    assert len(found) > 25
    for text in found:
        assert "::" not in text and not re.search(r"--[a-z]|<\.\.\.>|\{\}|[a-z]_at\(\)|from_dense|read_tensor|Options", text), text
        for name in re.findall(r"(?<![\w.])([a-z_]+)\(\)", text):
            places = (arges, arges.Tensor, arges.linalg, arges.statements, arges.World, np)
            assert any(hasattr(place, name) for place in places), f"{name}() in: {text}"
    source = pathlib.Path(__file__).parents[2] / "src"
    names = {"::".join(m) for path in source.glob("*/*.cpp") if path.parent.name not in ("cli", "c", "fortran", "cyclops") for m in
             re.findall(r'; [^"]*?(\w+Options|World|Tensor)::(\w+)', path.read_text())}  # fmt: skip
    assert names, "the library's messages name options of C++, which messages.cpp says in the words of the package"


def decompose(progress):
    arges.cpd(arges.random((60, 60, 60), seed=1), 20, max_iterations=5, tolerance=0, progress=progress)
    arges.linalg.svd(arges.random((60, 60, 60), seed=1)["ab|c"])


def correlate(progress):
    arges.cc.ccsd_t(str(pathlib.Path(__file__).parents[2] / "examples/data/h2o_631g.fcidump"), progress=progress)


@pytest.mark.parametrize("work", [decompose, correlate])
def test_other_threads_go_on_during_long_work(world, work):
    """The interpreter's lock is free while the library works; callbacks have it."""
    ticks, is_done = [], threading.Event()

    def tick():
        while not is_done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    numbers = []
    thread = threading.Thread(target=tick)
    thread.start()
    try:
        begin = time.perf_counter()
        work(lambda now: numbers.append(now["number"]))
        seconds = time.perf_counter() - begin
    finally:
        is_done.set()
        thread.join()
    assert len(numbers) > 2 and numbers == list(range(1, len(numbers) + 1))
    longest = np.diff([begin, *(t for t in ticks if begin < t < begin + seconds), begin + seconds]).max()
    assert longest < max(0.5 * seconds, 0.3), (longest, seconds)


@pytest.mark.skipif(arges.default_world().size > 1, reason="one process is enough")
def test_two_threads_take_turns():
    results = [None] * 4

    def work(n):
        A = arges.random((30, 30), seed=n)
        results[n] = np.linalg.norm(arges.linalg.svd(A).S) / A.norm()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    close(results, np.ones(4))


@pytest.mark.skipif(arges.default_world().size > 1, reason="one process is enough")
def test_small_calls_are_quick():
    """Timed in a process of its own; bounds are generous, for machines that have other work."""
    program = (
        "import timeit, arges\n"
        "A = arges.random((8, 8)); B = A + A\n"
        "print(min(timeit.repeat(lambda: A[1, 2], number=200, repeat=20)) / 200, min(timeit.repeat(lambda: A + B, number=200, repeat=20)) / 200)\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=own_environment())
    element, total = map(float, found.stdout.split())
    assert element < 20e-6 and total < 60e-6, (element, total)
