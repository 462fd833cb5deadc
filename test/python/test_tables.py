"""CP models of tables: in folders, and their predictions at ids, of rows and of tables."""

import shutil
import tempfile

import numpy as np
import pytest
from conftest import close

import arges


@pytest.fixture
def folder(world):
    """Of all ranks, with a table of ratings, and one of questions."""
    name = world.from_first(tempfile.mkdtemp)
    if world.rank == 0:
        rng = np.random.default_rng(3)
        with open(f"{name}/ratings.csv", "w", encoding="utf-8") as file:
            file.write("who,film,when,stars\n")
            for user in range(12):
                for film in np.nonzero(rng.uniform(size=9) < 0.6)[0]:
                    file.write(f"{'Zoë' if user == 0 else f'user {user}'},{film},2024-03-0{1 + (user + film) % 4} 08:15,{1 + (user * film) % 5}\n")
        with open(f"{name}/questions.csv", "w", encoding="utf-8") as file:
            file.write("who,film,when,stars\nZoë,3,2024-03-02 23:00,4\nuser 5,3,2024-03-01,2\nnobody,3,2024-03-03,1\n,3,2024-03-03,1\n")
    world.agree(lambda: None)
    yield name
    world.agree(lambda: None)
    if world.rank == 0:
        shutil.rmtree(name)


ROWS = [("Zoë", 3, "2024-03-02"), ("user 5", "3", "2024-03-01"), ("nobody", 3, "2024-03-03")]


def fitted(folder):
    tensor, ids = arges.read_table(f"{folder}/ratings.csv", ["who", "film", "when:1d"], "stars", duplicates="mean")
    return arges.complete(tensor, 2, biases="on", max_iterations=5), ids


def test_rows_of_ids(folder):
    model, ids = fitted(folder)
    elements, report = arges.predict(model, ROWS, ids)
    expected = [model.at(ids[0].index(who), ids[1].index(str(film)), ids[2].index(day)) for who, film, day in ROWS[:2]]
    expected.append(model.mean + model.biases[1][ids[1].index("3")] + model.biases[2][ids[2].index("2024-03-03")])
    close(elements, np.array(expected))
    assert report == {"predictions": 3, "in_unknown_slices": 1, "unknown_ids": [1, 0, 0]}
    close(arges.predict(model, np.array(ROWS), dict(zip("abc", ids)))[0], elements)
    none, report = arges.predict(model, [], ids)
    assert none.shape == (0,) and report["unknown_ids"] == [0, 0, 0]
    with pytest.raises(arges.InvalidArgument, match="row 2 has 2 ids for the 3 modes of the model; give one for each"):
        arges.predict(model, [ROWS[0], ROWS[1][:2]], ids)
    with pytest.raises(TypeError, match="row 1 is 'anna'"):
        arges.predict(model, ["anna"], ids)
    with pytest.raises(ValueError, match="ids are missing"):
        arges.predict(model, ROWS)
    with pytest.raises(arges.InvalidArgument, match="ids of a tensor of 9 x 12 x 4, and the model is 12 x 9 x 4"):
        arges.predict(model, ROWS, [ids[1], ids[0], ids[2]])
    with pytest.raises(TypeError, match="give an arges.CpModel"):
        arges.predict(3, ROWS, ids)


def test_models_in_folders(folder):
    model, ids = fitted(folder)
    place = f"{folder}/model"
    arges.save_model(model, place, {"who": ids[0], "film": ids[1], "when:1d": ids[2]})
    loaded = arges.load_model(place)
    assert all(np.array_equal(a, b) for a, b in zip(loaded.factors + loaded.biases, model.factors + model.biases))
    assert np.array_equal(loaded.weights, model.weights) and loaded.mean == model.mean
    expected = arges.predict(model, ROWS, ids)[0]
    close(arges.predict(place, [(who, film, f"{day} 17:00") for who, film, day in ROWS])[0], expected)
    close(arges.predict(loaded, ROWS, f"{place}/model.ids")[0], expected)
    with pytest.raises(arges.InvalidArgument, match="line 1.*'soon' is no time"):
        arges.predict(place, [("Zoë", 3, "soon")])
    elements, report = arges.predict_table(place, f"{folder}/questions.csv", f"{folder}/answers.csv", value="stars", skip_empty=True)
    close(elements, expected)
    assert report["rmse"] == pytest.approx(np.sqrt(np.mean((expected - [4, 2, 1]) ** 2)))
    assert (report["predictions"], report["skipped"], report["unknown_ids"]) == (3, 1, [1, 0, 0])
    with open(f"{folder}/answers.csv", encoding="utf-8") as file:
        assert file.readline() == "who,film,when,stars,predicted\n" and file.readline().startswith("Zoë,3,2024-03-02 23:00,4,")
    close(arges.predict_table(loaded, f"{folder}/answers.csv", ids=f"{place}/model.ids")[0], expected)
    with pytest.raises(ValueError, match="the output is the table that is read"):
        arges.predict_table(place, f"{folder}/questions.csv", f"{folder}/questions.csv")
    with pytest.raises(arges.InvalidArgument, match="2 columns for the 3 modes of the model"):
        arges.predict_table(place, f"{folder}/questions.csv", columns=["who", "film"])
    with pytest.raises(ValueError, match="overwrite=True"):
        arges.save_model(model, place, ids)
    with pytest.raises(ValueError, match="give those of its tensor"):
        arges.save_model(model, place, ids[:2], overwrite=True)
    arges.save_model(model, place, overwrite=True)
    with pytest.raises(arges.InvalidArgument, match="there are no ids of the model"):
        arges.predict(place, ROWS)
    with pytest.raises(arges.InvalidArgument):
        arges.load_model(f"{folder}/none")
