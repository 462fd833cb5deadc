"""Type checkers see the package as it is, and find nothing wrong in it."""

import os
import pathlib
import subprocess
import sys

import pytest

import arges
from arges import _elementwise

pytest.importorskip("mypy")

RIGHT = """
A = arges.random((4, 5), seed=1)
B: arges.Tensor = 1 + A / 2
C: arges.Tensor = arges.sin(A) * B - arges.maximum(A, B)
D: arges.Tensor = A.sum(axis=0)
E: arges.Tensor = A.reshape(20)
F: arges.Tensor = (A @ B.T).real
G: arges.Tensor = -A > 3
A["ij"] += 2 * B["ij"]
A["ij"] = B["ij"] * 2.0
x: float = float((A["ij"] * B["ij"]).sum())
model = arges.cpd(A, 3, starts=2, groups=None)
print(model.factors[0].shape, model.fit + 1)
z: float = arges.predict(model, [("anna", 7), ("ben", 8)], [["anna", "ben"], ["7", "8"]])[0].sum()
print(arges.predict_table("folder", "questions.csv", "answers.csv", value="stars")[1]["rmse"])
arges.save_model(arges.load_model("folder"), "other", {"who": ["anna"], "film": ["7", "8"]}, overwrite=True)
print(arges.plan("ij,jk->ik", (3, 4), (4, 5), ranks=3).seconds + 1, arges.linalg.svd(A, rank=2).S)
y: float = arges.cc.rccsd("file", frozen_core=[0], start=None, restart=True, checkpoint="a.h5").e_tot
try:
    A += 1
except arges.InvalidArgument as error:
    raise ValueError(str(error)) from None
if A[0, 0] > 1:
    print(arges.einsum("ij,jk", A, B).shape[0] + 1)
print(f"{A.sum():.3f}", A.seed, A.read([A.argmax()], order="C"))
"""
WRONG = """
A = arges.random((4, 5))
model = arges.cpd(A, 3)
A.summ()
arges.cpd(A, rank="x")
arges.cosine(A)
arges.einsum("ij->ji", A, otu=A)
arges.random((4, 5), sed=1)
arges.cc.rccsd("file", conv_tol=1e-8)
arges.cc.ccsdt("file", max_iterations="many")
arges.predict(model, [3])
"""


FOLDER = pathlib.Path(arges.__file__).parent


def errors_in(text, folder):
    """The errors that mypy finds in a program, and in the package."""
    program = folder / "program.py"
    program.write_text("import arges\n" + text)
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), program.name, str(FOLDER)],
        env={**os.environ, "MYPYPATH": str(FOLDER.parent)}, cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert "Found" in found.stdout or "Success" in found.stdout, found.stdout + found.stderr
    errors = [line for line in found.stdout.splitlines() if ": error:" in line]
    assert all(line.startswith(program.name) for line in errors), errors
    return errors


@pytest.mark.skipif(arges.default_world().size > 1, reason="one process is enough")
def test_programs_are_checked(tmp_path):
    assert errors_in(RIGHT, tmp_path) == []
    assert len(errors_in(WRONG, tmp_path)) == 8
    assert all(getattr(arges, name).__name__ == name for name in _elementwise.__all__)
    names = "".join(f"print(arges.{name})\n" for name in arges.__all__)
    names += "".join(f"arges.zeros(3).{name}\n" for name in dir(arges.Tensor) if not name.startswith("_"))
    assert errors_in(names, tmp_path) == []
