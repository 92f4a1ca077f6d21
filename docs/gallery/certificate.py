"""
Certificates, and paths in files
================================

A path isn't asked to be believed. `SolutionPath.certify` computes KKT violation and duality gap
again from the data, with code that shares nothing with the algorithm, and states how far rounding
may have moved them.
"""

import tempfile
from pathlib import Path as FilePath

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from solution_paths import SolutionPath, svm_path
from solution_paths.problem import Losses, Problem, losses
from solution_paths.verify import Answer, judge
from solution_paths.verify.verdict import GAP_LIMIT

X, y = load_breast_cancer(return_X_y=True)
X = minmax_scale(X, (-1, 1))
path = svm_path(X, y, C_max=10.0)
print(path)
print(path.certify())

# %%
# The same judge scores any solver's answer to a problem that is stated. Here LIBSVM's at its
# default tolerance and at a tight one (it keeps kernel values in single precision), beside the
# path. Gaps below 1e-17 are drawn there.


signs = np.where(y == 1, 1.0, -1.0)


def gap(C, coef, intercept, duals):
    """Return the relative duality gap of a solution; duals are y_i alpha_i."""
    problem = Problem(Losses(losses.hinge(signs, C), X, free=1.0), ridge=1.0)
    return judge(problem, Answer(np.ravel(coef), [intercept], [duals])).gap


costs = np.geomspace(1e-2, 10, 25)
gaps = {"the path": [], "LIBSVM, tol=1e-3": [], "LIBSVM, tol=1e-9": []}
for C in costs:
    gaps["the path"].append(gap(C, path.coef(C), path.intercept(C), signs * path.dual(C)))
    for tol in (1e-3, 1e-9):
        machine = SVC(kernel="linear", C=C, tol=tol).fit(X, y)
        duals = np.zeros(len(y))
        duals[machine.support_] = machine.dual_coef_[0]
        found = gap(C, machine.coef_, machine.intercept_[0], duals)
        gaps[f"LIBSVM, tol={tol:.0e}".replace("e-0", "e-")].append(found)

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
    loaded = SolutionPath.load(file)
    print(f"{file.stat().st_size / 1024:.0f} KiB for {len(loaded.breakpoints)} breakpoints")
assert np.array_equal(loaded.coef(1.0), path.coef(1.0))
print(loaded.certify().status)
