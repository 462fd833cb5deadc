"""Tensors in libraries that plan contractions: opt_einsum and cotengra find this package by the type of the operands."""

import random

import numpy as np
import pytest

import arges

EQUATIONS = [
    "ij,jk->ik", "ij,jk,kl->il", "ab,ab,c->c", "a,b,ab->ab", "ea,fb,abcd,gc,hd->efgh", "bdhe,acad,hiab,agac,hibd", "ab,cd,de->be",
    "abc,bac", ",,->", "dd,fb,be,cdb->cef", "aab,fa,df,ecc->bde", "bb,ff,be->e", "abcd,efdc", "a,->a", "bcb,bb,fc,fff->",
]  # fmt: skip
LENGTH = dict(zip("abcdefghijkl", [2, 3, 4, 5, 4, 3, 2, 6, 5, 4, 3, 2]))


def arrays_of(equation, dtype, seed=0):
    rng = np.random.default_rng(seed)
    shapes = [tuple(LENGTH[c] for c in term) for term in equation.split("->")[0].split(",")]
    parts = [(rng.random(s), rng.random(s)) for s in shapes]
    return [np.asarray(a + 1j * b if dtype.startswith("complex") else a).astype(dtype) for a, b in parts]


def check(found, wanted):
    assert isinstance(found, arges.Tensor)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    tolerance = 1e-4 if np.dtype(found.dtype).char in "fF" else 1e-10
    np.testing.assert_allclose(found.numpy(), wanted, rtol=tolerance)


@pytest.fixture(autouse=True)
def same_paths_on_all_ranks():
    random.seed(1)
    np.random.seed(1)


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_opt_einsum(equation, dtype):
    opt_einsum = pytest.importorskip("opt_einsum")
    arrays = arrays_of(equation, dtype)
    wanted = np.einsum(equation, *arrays)
    tensors = [arges.asarray(a) for a in arrays]
    for optimize in ("auto", "optimal", "greedy"):
        check(opt_einsum.contract(equation, *tensors, optimize=optimize), wanted)
    check(opt_einsum.contract(equation, *tensors, backend="arges"), wanted)
    check(opt_einsum.contract_expression(equation, *(a.shape for a in arrays))(*tensors), wanted)


def test_opt_einsum_constants_and_sharing():
    opt_einsum = pytest.importorskip("opt_einsum")
    equation = "ij,jk,kl->li"
    arrays = arrays_of(equation, "float64")
    tensors = [arges.asarray(a) for a in arrays]
    with opt_einsum.shared_intermediates():
        expression = opt_einsum.contract_expression(equation, tensors[0], arrays[1].shape, tensors[2], constants=[0, 2])
        check(expression(tensors[1]), np.einsum(equation, *arrays))
        check(expression(tensors[1]), np.einsum(equation, *arrays))


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("is_stripped", [False, True])
def test_cotengra(equation, is_stripped):
    cotengra = pytest.importorskip("cotengra")
    arrays = arrays_of(equation, "float64")
    found = cotengra.einsum(equation, *map(arges.asarray, arrays), strip_exponent=is_stripped)
    check(found[0] * 10.0 ** float(found[1]) if is_stripped else found, np.einsum(equation, *arrays))


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("is_stripped", [False, True])
@pytest.mark.parametrize("slices", [1, 4])
def test_cotengra_slices(dtype, is_stripped, slices):
    cotengra = pytest.importorskip("cotengra")
    graph = cotengra.utils.lattice_equation([4, 4])
    arrays = cotengra.utils.make_arrays_from_inputs(graph.inputs, graph.size_dict, seed=42, dtype=dtype)
    wanted = np.asarray(cotengra.array_contract(arrays, graph.inputs, graph.output, optimize="greedy"))
    tree = cotengra.array_contract_tree(graph.inputs, graph.output, graph.size_dict, optimize="greedy")
    if slices > 1:
        tree.slice_(target_slices=slices, seed=2)
    found = tree.contract([arges.asarray(a) for a in arrays], strip_exponent=is_stripped)
    check((found[0] * 10.0 ** float(found[1]) if is_stripped else found).astype(dtype), wanted)


def test_cotengra_sliced_output():
    cotengra = pytest.importorskip("cotengra")
    equation = "ab,bc,cd->ad"
    arrays = arrays_of(equation, "float64")
    tree = cotengra.einsum_tree(equation, *(a.shape for a in arrays), optimize="greedy")
    tree.remove_ind_("a")
    tree.remove_ind_("b")
    check(tree.contract([arges.asarray(a) for a in arrays]), np.einsum(equation, *arrays))
