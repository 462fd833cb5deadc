"""CP and Tucker decompositions and completion, and their interruption."""

import os
import pathlib
import signal
import warnings

import numpy as np
import pytest
from conftest import close, warns_once

import arges


def model(rng, shape, rank):
    factors = [rng.uniform(0.2, 1, (n, rank)) for n in shape]
    letters = "ijkl"[: len(shape)]
    return np.einsum(",".join(f"{c}r" for c in letters) + "->" + letters, *factors)


@pytest.mark.parametrize("algorithm", ["als", "nonnegative", "opt"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_cpd_finds_a_model(algorithm, form):
    whole = model(np.random.default_rng(3), (7, 8, 9), 2)
    tensor = arges.tensor(whole) if form == "dense" else arges.tensor(whole).to_sparse()
    seen = []
    found = arges.cpd(tensor, 2, algorithm=algorithm, max_iterations=400, tolerance=1e-9, seed=1, progress=seen.append)
    assert found.fit > 0.999 and len(seen) == found.report["iterations"] and found.rank == 2 and found.shape == whole.shape
    assert np.linalg.norm(found.full() - whole) < 2e-3 * np.linalg.norm(whole)
    close(found.at([1, 2], [3, 4], [5, 6]), found.full()[[1, 2], [3, 4], [5, 6]])
    best = arges.cpd(tensor, 2, algorithm=algorithm, max_iterations=20, starts=3)
    assert [s["seed"] for s in best.report["starts"]] == [1, 2, 3] and len(best.report["stability"]) == 2
    assert best.fit == max(s["fit"] for s in best.report["starts"]) == best.report["starts"][best.report["best_start"]]["fit"]
    with pytest.raises(ValueError, match="positive"):
        arges.cpd(tensor, 2, starts=0)
    with pytest.raises(ValueError, match="groups=0"):
        arges.cpd(tensor, 2, groups=0)
    with pytest.raises(arges.InvalidArgument, match="2 groups of ranks are more than the"):
        arges.cpd(tensor, 2, starts=1, groups=2)
    side_by_side = arges.cpd(tensor, 2, algorithm=algorithm, max_iterations=20, starts=3, groups=None)
    assert side_by_side.report["groups"] == min(3, tensor.world.size) and abs(side_by_side.fit - best.fit) < 1e-6
    again = arges.cpd(tensor, 2, max_iterations=1, start=found)
    assert again.fit > 0.999
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_cpd_compares_ranks_and_starts(form):
    whole = model(np.random.default_rng(3), (9, 8, 10), 2) + 0.01 * np.random.default_rng(4).standard_normal((9, 8, 10))
    tensor = arges.tensor(whole) if form == "dense" else arges.tensor(whole).to_sparse()
    for init in ("sketched", "hosvd"):
        assert arges.cpd(tensor, 2, init=init, seed=1, max_iterations=300, tolerance=1e-6).fit > 0.95
        with pytest.raises(arges.InvalidArgument, match="random"):
            arges.cpd(tensor, 2, init=init, missing=True)
    with pytest.raises(ValueError, match="sketched"):
        arges.cpd(tensor, 2, init="sketch")
    seen = []
    trials = arges.compare_ranks(tensor, range(1, 4), starts=2, max_iterations=200, tolerance=1e-6, missing=form == "sparse", holdout=0.1, progress=seen.append)
    assert [trial["rank"] for trial in trials] == [1, 2, 3] == sorted({now["rank"] for now in seen})
    assert trials[1]["held_out_rmse"] < 0.5 * trials[0]["held_out_rmse"] and trials[1]["fit"] > 0.95 and trials[1]["starts"] == 2
    assert sum(trial["recommended"] for trial in trials) <= 1
    with pytest.raises(arges.InvalidArgument):
        arges.compare_ranks(tensor, (0, 2))


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_weights_and_masks(form):
    rng = np.random.default_rng(9)
    whole = model(rng, (7, 6, 5), 2) + 0.1 * rng.standard_normal((7, 6, 5))
    weights = rng.integers(0, 4, whole.shape)
    tensor = arges.tensor(whole) if form == "dense" else arges.tensor(whole).to_sparse()
    found = arges.cpd(tensor, 2, weights=weights, max_iterations=5, seed=1)
    assert found.report["known"] == (weights > 0).sum()
    assert found.report["loss"] == pytest.approx((weights * (whole - found.full()) ** 2).sum(), rel=1e-9)
    mask = arges.cpd(tensor, 2, weights=weights > 0, max_iterations=5, seed=1)
    assert arges.cpd(arges.masked(tensor, weights > 0), 2, missing=True, max_iterations=5, seed=1).fit == pytest.approx(mask.fit, rel=1e-9)
    hidden = arges.masked(tensor, weights)
    known = hidden.stored if form == "sparse" else np.isfinite(hidden.numpy()).sum()
    assert known == (weights > 0).sum()
    core = arges.tucker(tensor, 2, weights=weights, max_iterations=4)
    assert core.report["fit"] == pytest.approx(1 - np.sqrt((weights * (whole - core.full()) ** 2).sum() / (weights * whole**2).sum()), abs=1e-9)
    assert arges.tucker(tensor, 2, weights=weights > 0, max_iterations=4).report["fit"] == pytest.approx(
        arges.tucker(arges.masked(tensor, weights), 2, missing=True, max_iterations=4).report["fit"], abs=1e-9
    )
    if form == "sparse":
        with warns_once(tensor.world, "no better than their mean"):
            arges.complete(tensor, 2, biases="off", regularization=50)
        fitted = arges.complete(tensor, 2, weights=weights, biases="off", max_iterations=4)
        assert fitted.report["rmse"] == pytest.approx(np.sqrt((weights * (whole - fitted.full()) ** 2).sum() / weights.sum()), rel=1e-9)
    with pytest.raises(arges.InvalidArgument, match="not negative"):
        arges.cpd(tensor, 2, weights=-weights)
    with pytest.raises(arges.InvalidArgument, match="lengths"):
        arges.masked(tensor, weights[1:])


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_cpd_of_known_elements(form):
    rng = np.random.default_rng(8)
    whole = model(rng, (9, 8, 7), 2)
    known = np.where(rng.uniform(size=whole.shape) < 0.6, whole, np.nan)
    tensor = arges.tensor(known)
    with pytest.raises(arges.InvalidArgument, match="not finite"):
        arges.cpd(tensor, 2)
    if form == "sparse":
        tensor = tensor.to_sparse(nan="missing")
    for algorithm in ("als", "opt"):
        found = arges.cpd(tensor, 2, missing=True, algorithm=algorithm, max_iterations=500, tolerance=1e-10, seed=1)
        assert found.report["known"] == np.isfinite(known).sum()
        assert np.linalg.norm(found.full() - whole) < 1e-3 * np.linalg.norm(whole)


def test_cpd_with_losses():
    rng = np.random.default_rng(9)
    rates = 2 * model(rng, (12, 11, 10), 2)
    counts = rng.poisson(rates).astype(float)
    found = arges.cpd(arges.tensor(counts), 2, loss="poisson", max_iterations=200, seed=1)
    expected = (found.full() - counts * np.log(found.full() + 1e-10)).sum()
    assert found.report["loss"] == pytest.approx(expected, rel=1e-9) and all((f >= 0).all() for f in found.factors)
    assert np.linalg.norm(found.full() - rates) < np.linalg.norm(arges.cpd(arges.tensor(counts), 2, seed=1).full() - rates) * 1.05
    sparse = arges.tensor(counts).to_sparse()
    assert arges.cpd(sparse, 2, loss="poisson", algorithm="opt", max_iterations=200, seed=1).report["loss"] == pytest.approx(expected, rel=1e-3)
    sampled = arges.cpd(arges.tensor((counts > 2).astype(float)).to_sparse(), 2, loss="bernoulli-odds", max_iterations=5)
    assert 0 < sampled.fit < 1
    with pytest.raises(arges.InvalidArgument, match="there is no loss"):
        arges.cpd(sparse, 2, loss="poison")
    with pytest.raises(arges.InvalidArgument, match="is for opt and sgd"):
        arges.cpd(sparse, 2, loss="poisson", algorithm="als")


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_cpd_meets_constraints(form):
    whole = model(np.random.default_rng(3), (7, 8, 9), 2)
    tensor = arges.tensor(whole) if form == "dense" else arges.tensor(whole).to_sparse()
    found = arges.cpd(tensor, 2, constraints={0: "nonnegative", 2: ("smooth", 0.01)}, max_iterations=200)
    assert found.factors[0].min() >= 0 and found.fit > 0.9
    found = arges.cpd(tensor, 2, constraints=["orthogonal", None, "column_simplex"], max_iterations=20)
    close(found.factors[0].T @ found.factors[0], np.eye(2))
    close(found.factors[2].sum(axis=0), np.ones(2))
    found = arges.cpd(tensor, 2, constraints="nonnegative", max_iterations=400, tolerance=1e-9, seed=1)
    assert all(factor.min() >= 0 for factor in found.factors) and found.fit > 0.999
    found = arges.cpd(tensor, 2, constraints=("nonnegative-l1", 0.1), max_iterations=5)
    assert all(factor.min() >= 0 for factor in found.factors)
    with pytest.raises(arges.InvalidArgument, match="did you mean nonnegative"):
        arges.cpd(tensor, 2, constraints="nonegative")
    with pytest.raises(arges.InvalidArgument, match="no mode 3; use one from 0 to 2"):
        arges.cpd(tensor, 2, constraints={3: "nonnegative"})
    with pytest.raises(arges.InvalidArgument, match="2 constraints for 3 modes"):
        arges.cpd(tensor, 2, constraints=["nonnegative", "unimodal"])
    with pytest.raises(arges.InvalidArgument, match="AO-ADMM"):
        arges.cpd(tensor, 2, constraints="nonnegative", algorithm="opt")


def test_tucker():
    rng = np.random.default_rng(1)
    whole = np.einsum(
        "abc,ia,jb,kc->ijk", rng.uniform(-1, 1, (2, 3, 2)), *(rng.uniform(-1, 1, (n, r)) for n, r in ((7, 2), (6, 3), (5, 2)))
    )
    found = arges.tucker(whole, (2, 3, 2))
    assert found.ranks == (2, 3, 2) and found.fit > 1 - 1e-7
    close(found.full().numpy(), whole)
    assert arges.tucker(whole, relative_error=1e-6).ranks == (2, 3, 2)
    sparse = arges.tensor(whole).to_sparse()
    close(arges.tucker(sparse, (2, 3, 2), max_iterations=100, tolerance=1e-14).full().numpy(), whole)
    assert arges.tucker(sparse, relative_error=1e-5).ranks == (2, 3, 2)
    with pytest.raises(arges.InvalidArgument):
        arges.tucker(whole)
    gaps = arges.tensor(np.where(rng.uniform(size=whole.shape) < 0.9, whole, 0)).to_sparse()
    assert arges.tucker(gaps, (2, 3, 2), missing=True, max_iterations=20).fit > arges.tucker(gaps, (2, 3, 2), max_iterations=20).fit
    for data in (np.abs(whole), arges.tensor(np.abs(whole)).to_sparse()):
        positive = arges.tucker(data, (2, 3, 2), method="nonnegative", max_iterations=5)
        assert all((f >= 0).all() for f in positive.factors) and (positive.core.numpy() >= 0).all() and positive.fit > 0.5
    with pytest.raises(arges.InvalidArgument, match="allow a larger one"):
        arges.tucker(sparse, relative_error=1e-8)


@pytest.mark.parametrize("algorithm", ["als", "ccd", "sgd"])
def test_completion(algorithm):
    rng = np.random.default_rng(2)
    whole = model(rng, (10, 11, 12), 2)
    known = rng.uniform(size=whole.shape) < 0.5
    tensor = arges.tensor(np.where(known, whole, 0)).to_sparse()
    found = arges.complete(tensor, 2, algorithm=algorithm, max_iterations=300, tolerance=1e-8, regularization=1e-6)
    error = np.abs(found.full() - whole)[~known].mean() / whole.mean()
    assert error < (0.02 if algorithm != "sgd" else 0.1)
    assert found.report["rmse"] == found.report["rmses"][-1]


def test_completion_asks_what_several_observations_mean(world):
    indices, values = [[0, 0, 1, 1], [0, 0, 1, 0]], [1.0, 3.0, 2.0, 4.0]
    mine = slice(world.rank, None, world.size)
    tensor = arges.sparse((2, 2), [np.array(i)[mine] for i in indices], np.array(values)[mine], distributed=True)
    with pytest.raises(arges.InvalidArgument, match="1 values were added to others"):
        arges.complete(tensor, 1)
    assert arges.complete(tensor, 1, duplicates="sum").report["duplicates"] == 1
    with pytest.raises(ValueError, match="refuse"):
        arges.complete(tensor, 1, duplicates="mean")
    first = arges.sparse((2, 2), indices, values, duplicates="keep_first", distributed=False)
    assert arges.complete(first, 1).report["duplicates"] == 0


def test_completion_is_compared_with_the_mean():
    rng = np.random.default_rng(7)
    noise = arges.tensor(3 + rng.uniform(-1, 1, (12, 11, 10))).to_sparse()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        report = arges.complete(noise, 8, holdout=0.5, max_iterations=30, tolerance=0, regularization=0).report
    assert report["held_out_rmse"] > report["held_out_mean_rmse"] > 0.5
    assert abs(report["fitted_mean"] - 3) < 0.1
    assert len(said) == (noise.world.rank == 0) and all("no better than the mean" in str(w.message) for w in said)


def test_ratings_have_biases():
    rng = np.random.default_rng(5)
    users, films, noise = rng.normal(0, 1, 40), rng.normal(0, 1, 30), rng.normal(0, 0.3, (40, 30))
    stars = np.clip(np.round(3 + users[:, None] + films + noise), 1, 5)
    known = rng.uniform(size=stars.shape) < 0.3
    known[7] = False

    def tensor(mask):
        return arges.sparse(stars.shape, np.nonzero(mask), stars[mask], distributed=False)

    held = rng.uniform(size=stars.shape) < 0.1
    held &= ~known
    found = arges.complete(tensor(known), 2, validation=tensor(held))
    report = found.report
    assert report["has_biases"] and len(found.biases) == 2
    assert report["held_out_rmse"] < report["held_out_mean_rmse"] and report["held_out"] == held.sum()
    places = np.nonzero(held)
    assert np.isclose(np.sqrt(np.mean((found.at(*places) - stars[places]) ** 2)), report["held_out_rmse"])
    assert np.allclose(found.full()[places], found.at(*places))
    assert np.isclose(found.at(7, 3), found.mean + found.biases[1][3])
    with pytest.raises(IndexError, match="mode 1 is outside of 0 to 29"):
        found.at(0, 30)
    again = arges.complete(tensor(known), 2, start=found, max_iterations=1)
    assert again.report["has_biases"] and np.allclose(again.biases[0], found.biases[0])
    plain = arges.complete(tensor(known), 2, biases="off")
    assert not plain.report["has_biases"] and plain.biases == [] and plain.mean == 0
    with pytest.raises(arges.InvalidArgument, match="has no biases"):
        arges.complete(tensor(known), 2, biases="on", start=plain)
    with pytest.raises(ValueError, match="there are auto, on, off"):
        arges.complete(tensor(known), 2, biases="som")


def test_elements_that_are_not_a_number():
    rng = np.random.default_rng(2)
    whole = model(rng, (10, 11, 12), 2)
    whole[0] = 0
    a = np.where(rng.uniform(size=whole.shape) < 0.5, whole, np.nan)
    tensor, missing = arges.tensor(a), int(np.isnan(a).sum())
    with pytest.raises(arges.InvalidArgument, match=f"{missing} elements are NaN"):
        tensor.to_sparse()
    with pytest.raises(ValueError, match="keep"):
        tensor.to_sparse(nan="drop")
    assert len(tensor.to_sparse(nan="keep").coo()[1]) == np.count_nonzero(a)
    known = tensor.to_sparse(nan="missing")
    assert len(known.coo()[1]) == a.size - missing
    assert arges.complete(known, 2, max_iterations=300, tolerance=1e-8, regularization=1e-6).report["rmse"] < 1e-3
    first = tuple(int(i) for i in np.argwhere(np.isnan(a))[0])
    for call in (lambda: arges.cpd(tensor, 2), lambda: arges.tucker(tensor, 2)):
        with pytest.raises(arges.InvalidArgument) as refused:
            call()
        assert f"{missing} of 1,320 elements are not finite ({missing} NaN, 0 infinite), the first is {first}" in str(refused.value)


def test_iterations_end_in_time():
    tensor = arges.tensor(np.random.default_rng(1).uniform(size=(6, 7, 8)))
    many = dict(max_iterations=1000000, tolerance=0, seconds=0.2)
    assert arges.cpd(tensor, 3, **many).report["stop_reason"] == "seconds"
    assert arges.complete(tensor.to_sparse(), 3, **many).report["stop_reason"] == "seconds"
    assert arges.tucker(tensor, 2, method="hooi", **many).report["stop_reason"] == "seconds"
    with pytest.raises(ValueError, match="positive"):
        arges.cpd(tensor, 3, seconds=0)


def test_names_of_the_program_are_accepted():
    whole = model(np.random.default_rng(3), (4, 5, 6), 2)
    assert arges.cpd(whole, 1, algorithm="nn", max_iterations=2).report["iterations"] == 2
    assert arges.tucker(whole, 2, method="st-hosvd").ranks == (2, 2, 2)
    with pytest.raises(ValueError, match="did you mean 'hooi'"):
        arges.tucker(whole, 2, method="hoi")


def test_refusals():
    with pytest.raises(ValueError, match="als"):
        arges.cpd(np.ones((2, 2)), 1, algorithm="svd")
    with pytest.raises(arges.InvalidArgument, match="float32"):
        arges.cpd(np.ones((2, 2)) * 1j, 1)
    with pytest.raises(arges.InvalidArgument, match="sparse"):
        arges.complete(np.ones((2, 2)), 1)


def _long_cpd(progress):
    tensor = arges.tensor(np.random.default_rng(1).uniform(size=(6, 7, 8)))
    arges.cpd(tensor, 3, max_iterations=1000000, tolerance=0, progress=progress)


def _long_coupled_cluster(progress):
    path = pathlib.Path(__file__).parents[2] / "examples/data/h2o_631g.fcidump"
    arges.cc.rccsd(str(path), max_iterations=1000000, tolerance=0, progress=progress)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("work", [_long_cpd, _long_coupled_cluster])
def test_an_interruption_of_one_rank_ends_all(work, last, world):
    culprit = world.size - 1 if last else 0

    def interrupt(now):
        if now["number"] == 3 and world.rank == culprit:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass

    with pytest.raises(KeyboardInterrupt):
        work(interrupt)
    close(float(arges.ones(3).sum()), 3.0)


def test_an_error_of_a_progress_function_of_one_rank_ends_all(world):
    def fail(now):
        if world.rank == world.size - 1:
            raise ZeroDivisionError("in the function of progress")

    with pytest.raises(ZeroDivisionError, match="function of progress"):
        arges.cpd(np.ones((3, 4, 5)), 2, progress=fail)
