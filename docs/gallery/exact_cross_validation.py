"""
Cross-validation without a grid
===============================

The error of cross-validation is an exact step function of the cost C: each fold's validation error
is one, and so is their mean. `PathSVC` finds its least value over *every* C. A grid sees the
function at its points alone.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from solution_paths import PathSVC

X, y = make_moons(120, noise=0.35, random_state=5)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
kernel = {"kernel": "rbf", "gamma": 1.0}

model = PathSVC(cv=folds, C_max=1e3, **kernel).fit(X, y)
print(f"every C:  error {model.cv_error_:.4f} at C = {model.C_:.4g}")

grid = np.geomspace(1e-1, 1e3, 9)  # two values in each decade
search = GridSearchCV(SVC(**kernel), {"C": grid}, cv=folds).fit(X, y)
print(f"the grid: error {1 - search.best_score_:.4f} at C = {search.best_params_['C']:.4g}")

# %%
# The whole function, what the grid sees of it, and the interval on which it is least.

curve = model.cv_path_
seen = 1 - search.cv_results_["mean_test_score"]

figure, axes = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
curve.plot(axes, parameter="C")
axes.plot(grid, seen, "o", color="0.25", label="a grid of 9 values")
axes.set(ylabel="error of 5 folds", xlim=(5e-2, 1e3), ylim=(0.1, 0.2))
axes.legend(loc="upper center")

# %%
# Where the grid looks both agree, but for the tolerance of its solver. (Not at far smaller C: there
# every dual is at C, and any bias on an interval is optimal.)

print(f"largest difference at the grid's values: {np.abs(curve(grid) - seen).max():.4f}")
