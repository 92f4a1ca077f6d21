"""
Certificates, and paths in files
================================

A path isn't asked to be believed. `Path.certify` computes KKT violation and duality gap again from
the data, with code that shares nothing with the algorithm, and states how far rounding may have
moved them.
"""

import tempfile
from pathlib import Path as FilePath
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from solution_paths import Path, svm_path
from solution_paths.certify import GAP_LIMIT, judge

X, y = load_breast_cancer(return_X_y=True)
X = minmax_scale(X, (-1, 1))
path = svm_path(X, y, C_max=10.0)
print(path)
print(path.certify())

# %%
# The same judge scores any solver's answer. Here LIBSVM's at its default tolerance and at a tight
# one (it keeps kernel values in single precision), beside the path. Gaps below 1e-17 are drawn
# there.


def answer(machine):
    """Return what the judge reads of scikit-learn's SVC."""
    alpha = np.zeros(len(y))
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    return SimpleNamespace(alpha=alpha, w=None, b=machine.intercept_[0])


costs = np.geomspace(1e-2, 10, 25)
gaps = {"the path": [], "LIBSVM, tol=1e-3": [], "LIBSVM, tol=1e-9": []}
for C in costs:
    ours = SimpleNamespace(alpha=path.dual(C), w=None, b=path.intercept(C))
    gaps["the path"].append(judge(path.objective, ours, t=C).gap)
    for tol in (1e-3, 1e-9):
        found = judge(path.objective, answer(SVC(kernel="linear", C=C, tol=tol).fit(X, y)), t=C)
        gaps[f"LIBSVM, tol={tol:.0e}".replace("e-0", "e-")].append(found.gap)

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for (name, own), marker in zip(gaps.items(), "o^v", strict=True):
    ax.plot(costs, np.maximum(own, 1e-17), marker, label=name, markersize=4)
ax.axhline(GAP_LIMIT, color="0.4", linestyle="--", linewidth=1, label="what a path promises")
ax.set(xscale="log", yscale="log", xlabel="C", ylabel="relative duality gap")
ax.legend(fontsize=8)

# %%
# A path goes into a file without pickles, and comes back with its data, so that it can be certified
# where it is read.

with tempfile.TemporaryDirectory() as folder:
    file = FilePath(folder, "path.npz")
    path.save(file)
    loaded = Path.load(file)
    print(f"{file.stat().st_size / 1024:.0f} KiB for {len(loaded.breakpoints)} breakpoints")
assert np.array_equal(loaded.coef(1.0), path.coef(1.0))
print(loaded.certify().status)
