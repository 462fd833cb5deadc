"""CP of a real sparse tensor: facts of YAGO as entity x relation x entity x year, and a picture of what its components are.

Usage: 04_cp_of_a_sparse_tensor.py [FOLDER]; the picture goes to FOLDER/yago_components.png.
"""

import pathlib
import sys

import numpy as np

import arges

data = pathlib.Path(__file__).resolve().parent.parent / "data" / "yago_part.tns.gz"
X = arges.read(data)
world = arges.default_world()
if world.rank == 0:
    print(f"{X.stored} facts in {' x '.join(map(str, X.shape))}")

model = arges.cpd(X, rank=6, algorithm="nonnegative", max_iterations=200, tolerance=1e-6, seed=3)
entities, relations, others, years = model.factors
if world.rank == 0:
    print(f"fit {model.fit:.4f} after {model.report['iterations']} iterations")
    print(f"{'component':>9} {'weight':>8} {'relation':>8}  busiest years")
    for r in range(model.rank):
        busiest = np.argsort(-years[:, r])[:3] + 1
        print(f"{r + 1:9d} {model.weights[r]:8.2f} {relations[:, r].argmax() + 1:8d}  {', '.join(map(str, busiest))}")

# The residual of the model, from the elements themselves.
indices, values = X.coo()
inner = (values * model.at(*indices)).sum()
grams = np.prod([f.T @ f for f in model.factors], axis=0)
error = np.sqrt((values**2).sum() - 2 * inner + model.weights @ grams @ model.weights)
assert abs(1 - error / X.norm() - model.fit) < 1e-6

if world.rank == 0 and len(sys.argv) > 1:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise SystemExit("the picture needs matplotlib: pip install matplotlib")
    figure, axes = plt.subplots(model.rank, 2, figsize=(9, 1.4 * model.rank), sharex="col", constrained_layout=True)
    for r, (left, right) in enumerate(axes):
        left.plot(np.arange(1, len(years) + 1), years[:, r])
        left.set_ylabel(f"{r + 1}", rotation=0)
        right.bar(np.arange(1, len(relations) + 1), relations[:, r])
    axes[0, 0].set_title("years")
    axes[0, 1].set_title("relations")
    target = pathlib.Path(sys.argv[1]) / "yago_components.png"
    figure.savefig(target, dpi=100)
    print("picture:", target)
