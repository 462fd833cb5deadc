"""Statements, einsum, plans, algebras, functions of elements; wrong calls on one rank."""

import numpy as np
import pytest
from conftest import array, close, seeds

import arges
from arges._types import DTYPES
from arges import statements

NUMBERS = [d for d in DTYPES if d.kind != "b"]


@seeds()
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_random_statements(seed, dtype):
    """C = beta C + sum of coefficient * product, against numpy.einsum."""
    rng = np.random.default_rng(seed)
    extent = {c: int(rng.integers(1, 5)) for c in "abcdef"}
    output = "".join(rng.permutation(list("abc"))[: rng.integers(0, 4)])
    expected = array(rng, [extent[c] for c in output], dtype)
    target = arges.tensor(expected)
    old = expected.copy()
    expression, total = None, np.zeros_like(expected)
    for _ in range(rng.integers(1, 4)):
        inner = "".join(rng.permutation(list("def"))[: rng.integers(0, 3)])
        cut = rng.integers(0, len(output) + 1)
        left, right = output[:cut] + inner, inner + output[cut:]
        a, b = (array(rng, [extent[c] for c in labels], dtype) for labels in (left, right))
        factor = int(rng.integers(-3, 4))
        term = factor * arges.tensor(a)[left] * arges.tensor(b)[right]
        expression = term if expression is None else expression + term
        total = total + factor * np.einsum(f"{left},{right}->{output}", a, b)
    how = seed % 4
    if how == 0:
        target[output] = expression
        expected = total
    elif how == 1:
        target[output] += expression
        expected = old + total
    elif how == 2:
        target[output] -= expression
        expected = old - total
    else:
        target[output].assign(expression, beta=2)
        expected = 2 * old + total
    close(target.numpy(), expected.astype(dtype))


@seeds()
def test_symmetric_statements(seed):
    rng = np.random.default_rng(seed)
    v, o = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    anti = "antisym(a,b) antisym(i,j)"
    V = arges.zeros((v, v, v, v), symmetry=anti, letters="abij").fill_random(seed)
    T = arges.zeros((v, v, o, o), symmetry=anti, letters="abij").fill_random(seed + 1)
    F = arges.random((v, v), seed + 2)
    Z = arges.zeros((v, v, o, o), symmetry=anti, letters="abij")
    Z["abij"] += 0.5 * V["abef"] * T["efij"]
    Z["abij"] += arges.antisymmetrized(F["be"] * T["aeij"])
    t, f = T.numpy(), F.numpy()
    ft = np.einsum("be,aeij->abij", f, t)
    close(Z.numpy(), 0.5 * np.einsum("abef,efij->abij", V.numpy(), t) + ft - ft.transpose(1, 0, 2, 3))
    energy = float(0.25 * V["abij"] * V["abij"])
    close(energy, 0.25 * (V.numpy() ** 2).sum())
    with pytest.raises(arges.InvalidArgument):
        Z["abij"] += F["be"] * T["aeij"]


def test_numbers_and_conjugates():
    z = np.array([[1 + 2j, 3j], [2, 1 - 1j]])
    Z = arges.tensor(z)
    R = arges.tensor(z.real.copy())
    C = arges.zeros((2, 2), arges.complex128)
    C["ij"] = 1j * R["ij"] + Z["ik"].conj() * R["kj"] + 2
    close(C.numpy(), 1j * z.real + z.conj() @ z.real + 2)
    C["ij"] /= 2
    C["ij"] *= 3
    close(C.numpy(), 1.5 * (1j * z.real + z.conj() @ z.real + 2))
    R["ij"] = 7
    close(R.numpy(), np.full((2, 2), 7.0))
    R["ii"] = 0
    close(R.numpy(), [[0, 7], [7, 0]])
    D = arges.tensor([2.0, 4.0])
    R["ij"] /= D["i"] + D["j"]
    close(R.numpy(), [[0, 7 / 6], [7 / 6, 0]])
    assert complex(Z["ij"]) == z.sum() and float(R["ij"]) == R.numpy().sum()
    with pytest.raises(arges.InvalidArgument, match="complex"):
        R["ij"] = 1j * R["ij"]


@seeds()
def test_sparse_statements(seed):
    rng = np.random.default_rng(seed)
    a = rng.uniform(-1, 1, (5, 6)) * (rng.uniform(size=(5, 6)) < 0.4)
    b = rng.uniform(-1, 1, (6, 4)) * (rng.uniform(size=(6, 4)) < 0.4)
    A, B = arges.tensor(a).to_sparse(), arges.tensor(b).to_sparse()
    x = rng.uniform(-1, 1, 6)
    y = arges.zeros(5)
    y["i"] += A["ij"] * arges.tensor(x)["j"]
    close(y.numpy(), a @ x)
    C = arges.einsum("ij,jk->ik", A, B)
    assert C.is_sparse
    close(C.numpy(), a @ b)
    P = arges.sparse((5, 4), [[0, 2], [1, 3]], [1.0, 1.0], duplicates="keep_first")
    P["ik"] = statements.where(P["ik"], A["ij"] * B["jk"])
    mask = np.zeros((5, 4))
    mask[0, 1] = mask[2, 3] = 1
    close(P.numpy(), (a @ b) * mask)
    Q = arges.sparse((5, 4))
    stored = arges.sparse((5, 4), [[0], [1]], [1.0], duplicates="keep_first")
    Q["ik"] = statements.where_not(stored["ik"], A["ij"] * B["jk"])
    mask = np.ones((5, 4))
    mask[0, 1] = 0
    close(Q.numpy(), (a @ b) * mask)


@seeds()
def test_algebras(seed):
    rng = np.random.default_rng(seed)
    n = 6
    a = np.where(rng.uniform(size=(n, n)) < 0.4, rng.uniform(0, 1, (n, n)), np.inf)
    A = arges.sparse((n, n), np.nonzero(np.isfinite(a)), a[np.isfinite(a)], duplicates="keep_first")
    d = np.full(n, np.inf)
    d[0] = 0
    D = arges.tensor(d)
    for _ in range(3):
        arges.over("min_plus", D["j"]) << D["i"] * A["ij"]
        d = np.minimum(d, (d[:, None] + a).min(axis=0))
    close(D.numpy(), d)
    b = rng.uniform(0, 1, (3, 4))
    M = arges.zeros(3)
    arges.over("max_plus", M["i"]).assign(arges.tensor(b)["ij"])
    close(M.numpy(), b.max(axis=1))
    arges.over("product", M["i"]).assign(arges.tensor(b)["ij"])
    close(M.numpy(), b.prod(axis=1))
    reach = np.isfinite(a)
    R = arges.tensor(reach).to_sparse()
    F = arges.zeros(n, arges.bool)
    F.write([0], [True])
    N = arges.zeros(n, arges.bool)
    arges.over("or_and", N["j"]).assign(F["i"] * R["ij"])
    close(N.numpy(), reach[0])
    with pytest.raises(arges.InvalidArgument, match="min_plus"):
        arges.over("times_plus", D["j"]) << D["i"] * A["ij"]


@seeds()
def test_functions_of_elements(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0.5, 1, (3, 1, 4)), rng.integers(1, 5, (5, 1))
    close(arges.apply(lambda x, n: x / n, arges.tensor(a), arges.tensor(b)).numpy(), a / b)
    close(np.sqrt(arges.tensor(a)).numpy(), np.sqrt(a))
    close((2.0 ** arges.tensor(a) - arges.tensor(b)).numpy(), 2.0**a - b)
    S = arges.tensor(np.where(a > 0.75, a, 0)).to_sparse()
    found = arges.apply(np.exp, S)
    assert found.is_sparse
    close(found.numpy(), np.where(a > 0.75, np.exp(a), 0))
    with pytest.raises(arges.Error, match="out of luck"):
        arges.apply(lambda x: fail() if x.size != 1 else x, arges.tensor(a))


def fail():
    raise RuntimeError("out of luck")


EINSUMS = [
    ("ij,jk->ik", 2), ("ij,jk", 2), ("ii->i", 1), ("ii", 1), ("ij->ji", 1), ("ijk,ja,ka->ia", 3), ("...ij,...jk->...ik", 2), ("i,j,k->kji", 3),
    ("a...,b...->ab...", 2), ("ij,ij->", 2), ("ijk->", 1), ("i...->...", 1), ("abcd,cdef,efab->", 3), (" ij , jk -> ik ", 2),
]  # fmt: skip


@seeds(5)
@pytest.mark.parametrize("text,count", EINSUMS)
def test_einsum(seed, text, count):
    rng = np.random.default_rng(seed)
    extent = {c: int(rng.integers(1, 5)) for c in "abcdefijk"}
    operands = []
    for labels in text.split("->")[0].replace(" ", "").split(","):
        before, dots, after = labels.partition("...")
        shape = [extent[c] for c in before] + ([2, 3] if dots else []) + [extent[c] for c in after]
        operands.append(array(rng, shape, NUMBERS[seed % len(NUMBERS)]))
    close(arges.einsum(text, *map(arges.tensor, operands)).numpy(), np.einsum(text, *operands))
    out = arges.zeros(np.einsum(text, *operands).shape, operands[0].dtype)
    arges.einsum(text, *operands, out=out)
    close(out.numpy(), np.einsum(text, *operands))


def test_einsum_forms():
    rng = np.random.default_rng(1)
    a, b = rng.uniform(size=(3, 4)), rng.uniform(size=(4, 5))
    close(arges.einsum(a, [0, 1], b, [1, 2], [0, 2]).numpy(), a @ b)
    close(arges.einsum(a, [0, 1], b, [1, 2]).numpy(), a @ b)
    close(arges.einsum(a, ["x", "k"], b, ["k", "y"], ["y", "x"]).numpy(), (a @ b).T)
    close(arges.einsum("αβ,βγ->αγ", a, b).numpy(), a @ b)
    close(arges.einsum("ij,jk->ik", a, np.ones((1, 5))).numpy(), a @ np.ones((4, 5)))
    close(arges.einsum("ij,jk->ik", a.astype(np.float32), b).numpy(), a.astype(np.float32) @ b)
    assert arges.einsum("ij,jk->ik", a, b, dtype=arges.complex128).dtype == np.complex128
    for wrong in ("ij,jk,kl->il", "ij,j->i", "ij,jk->iz", "i1,jk", "ij,jk->ii"):
        with pytest.raises(arges.InvalidArgument):
            arges.einsum(wrong, a, b)
    with pytest.raises(arges.InvalidArgument, match="extent"):
        arges.einsum("ij,ik->jk", a, b)


def test_labels_that_may_be_mistyped():
    A, C = arges.random((3, 4)), arges.zeros((3, 5))
    with pytest.raises(arges.InvalidArgument):
        C["ij"] = A["ik"]
    C["ij"] = statements.broadcast("j", statements.sum("k", A["ik"]))
    close(C.numpy(), np.repeat(A.numpy().sum(axis=1)[:, None], 5, axis=1))
    with pytest.raises(TypeError, match="label it"):
        C["ij"] = 2 * A["ij"] + A
    D = arges.zeros((2, 2))
    D["a1", "a2"] = 5
    close(D.numpy(), np.full((2, 2), 5.0))


def test_plans():
    plan = arges.plan(
        "abef,efij->abij",
        (40, 40, 40, 40),
        (40, 40, 10, 10),
        ranks=1000,
        symmetry=["antisym(a,b) antisym(e,f)", "antisym(e,f) antisym(i,j)"],
    )
    assert "grid on 1000 ranks" in str(plan) and "<table" in plan._repr_html_()
    assert plan.seconds > 0 and plan.bytes_per_rank > 0 and plan.memory_bytes > 0
    chain = arges.plan("ab,bc,cd->ad", (400, 500), (500, 300), (300, 700), ranks=6)
    assert chain.text.count("predicted seconds") == 3 and f"{chain.bytes_per_rank:,} bytes, sent by all" in chain.text
    sparse = arges.zeros(50)["i"].explain(arges.ones((50, 60)).to_sparse()["ij"] * arges.ones(60)["j"], ranks=64)
    assert sparse.bytes_per_rank > 0 and sparse.memory_bytes > 0
    with pytest.raises(arges.OutOfMemory):
        arges.plan("ij,jk->ik", (1000, 1000), (1000, 1000), ranks=2, memory_limit=1000)
    A, B, C = arges.random((3, 4)), arges.random((4, 5)), arges.zeros((3, 5))
    assert "flops" in C["ik"].explain(A["ij"] * B["jk"]).text


def wrong_calls():
    A, S = arges.random((3, 4)), arges.random((3, 4)).to_sparse()
    T = arges.zeros((4, 4), symmetry="antisym(a,b)")
    return {
        "labels": (lambda: A.__setitem__("ij", A["ijk"] * A["ij"]), lambda: A.__setitem__("ij", 2 * A["ij"])),
        "type of a value": (lambda: A.__setitem__("ij", "text"), lambda: A.__setitem__("ij", 1)),
        "an expression of a wrong thing": (lambda: A.__setitem__("ij", A["ij"] + object()), lambda: A.__setitem__("ij", A["ij"])),
        "shapes": (lambda: A + np.ones(7), lambda: A + np.ones(4)),
        "einsum": (lambda: arges.einsum("ij,jk->ik", A, np.ones((7, 2))), lambda: arges.einsum("ij,jk->ik", A, np.ones((4, 2)))),
        "einsum text": (lambda: arges.einsum("ij,j?", A, A), lambda: arges.einsum("ij,ij->", A, A)),
        "keys": (lambda: A.write([12], [1.0]), lambda: A.write([], [])),
        "keys of a wrong type": (lambda: A.read(["a"]), lambda: A.read([0])),
        "a slice": (lambda: A[9, 0], lambda: A[1, 0]),
        "an array": (lambda: arges.tensor(np.array(["x"])), lambda: arges.tensor(np.array([1.0]))),
        "dtype": (lambda: A.astype("float16"), lambda: A.astype("float32")),
        "a diagonal": (lambda: T.write([0], [1.0]), lambda: T.write([1], [1.0])),
        "rank": (lambda: arges.cpd(S, 0), lambda: arges.cpd(S, 1, max_iterations=2)),
        "algorithm": (lambda: arges.cpd(S, 2, algorithm="sdg"), lambda: arges.cpd(S, 2, max_iterations=2)),
        "reshape": (lambda: arges.reshape(A, (5, 2)), lambda: arges.reshape(A, (6, 2))),
        "a function": (lambda: arges.apply(lambda x: fail() if len(x) != 1 else x, A), lambda: arges.apply(lambda x: x, A)),
        "a matrix": (lambda: arges.linalg.qr(arges.random((2,))), lambda: arges.linalg.qr(arges.random((2, 2)))),
        "a file": (lambda: arges.write(A, "/nowhere/a.dat"), lambda: arges.write(A, "/nowhere/a.npy")),
    }


class OwnError(KeyError):
    """Of a class that other ranks cannot look up."""


def test_exceptions_keep_their_kind(world):
    def work():
        if world.rank == world.size - 1:
            raise OwnError("own")

    with pytest.raises(KeyError, match="own"):
        world.agree(work)


@pytest.mark.parametrize("what", wrong_calls().keys())
@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_wrong_call_on_one_rank_raises_on_all(what, position, world):
    """On one rank the call alone; afterwards all goes on."""
    wrong, right = wrong_calls()[what]
    culprit = (world.size - 1) * position // 2
    with pytest.raises(Exception) as error:
        (wrong if world.rank == culprit else right)()
    text = str(error.value)
    keys = np.frombuffer(text.encode()[:64].ljust(64), np.uint8).astype(np.int64)
    first = arges.zeros(64, arges.int64)
    first.write(np.arange(64) if world.rank == 0 else [], keys if world.rank == 0 else [])
    close(first.numpy(), keys)
    close(float(arges.ones(3).sum()), 3.0)
