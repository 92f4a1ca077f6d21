"""
Two classes, one of them rare
=============================

Where 1.5 % of the samples are positive, who never says "positive" errs on 1.5 % alone: chosen by
the share of errors, a machine may do just that. Two remedies are exact here, as all else is: an
error in which both classes count alike, ``scoring="balanced_error"``, and costs in which they do,
``class_weight="balanced"``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from solution_paths import PathSVC

X, y = make_classification(
    2000, n_features=10, weights=[0.985], class_sep=0.7, flip_y=0.01, random_state=1
)
print(f"{100 * y.mean():.2f} % of {len(y)} samples are positive")

plain = PathSVC(cv=5).fit(X, y)
print(f"share of errors: {plain.predict(X).sum()} predicted as positive at C = {plain.C_:.3g}")

balanced = {"class_weight": "balanced"}
model = PathSVC(cv=5, scoring="balanced_error", **balanced).fit(X, y)
print(f"balanced: error {model.cv_error_:.4f} at C = {model.C_:.3g}")

# %%
# A grid search with the same weights and the same score sees that function at its points alone.

grid = np.geomspace(1e-5, 1e-1, 5)
search = GridSearchCV(
    SVC(kernel="linear", **balanced), {"C": grid}, cv=5, scoring="balanced_accuracy"
).fit(X, y)
seen = 1 - search.cv_results_["mean_test_score"]
print(f"the grid: error {seen.min():.4f} at C = {search.best_params_['C']:.3g}")

# %%
# The band is one standard error of the mean of the five folds. ``rule="1se"`` would choose the
# strongest penalty whose error is within that of the least one.

curve = model.cv_path_
inner = curve.edges[1:-1]
C = np.sqrt(inner[1:] * inner[:-1])
error, spread = 100 * curve(C), 100 * curve.standard_error(C)

figure, axes = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
axes.fill_between(C, error - spread, error + spread, step="mid", alpha=0.2)
axes.step(C, error, where="mid", label="every C")
axes.plot(grid, 100 * seen, "o", color="tab:red", label="a grid of 5 values")
axes.plot(model.C_, 100 * model.cv_error_, "*", color="tab:orange", markersize=14, label="least")
axes.set(xscale="log", xlabel="C", ylabel="balanced error of 5 folds (%)", xlim=(5e-6, 1.0))
axes.legend(loc="upper right")
