"""Draw docs/images/quantile_path.png: the picture of the README."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from solution_paths import quantile_svm_path

X, y = load_breast_cancer(return_X_y=True)
X, X_val, y, y_val = train_test_split(minmax_scale(X, (-1, 1)), y, random_state=0)
path = quantile_svm_path(X, y, lam=1e-3)
edges, error = path.error_steps(X_val, y_val)
best = path.best(X_val, y_val)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
path.plot(ax=left)
left.set(xlabel=r"quantile $\tau$", title=f"30 coefficients, {len(path.breakpoints)} breakpoints")
right.stairs(100 * error, edges, baseline=None, color="tab:blue", linewidth=1.4)
for low, high in np.atleast_2d(best.intervals):
    right.axvspan(low, high, color="tab:orange", alpha=0.35, linewidth=0)
right.set(
    xlabel=r"quantile $\tau$",
    ylabel="validation error (%)",
    ylim=(0, None),
    title=f"exact steps; least error {100 * best.value:.1f} % (shaded)",
)
figure.suptitle("Every quantile SVM of the breast cancer data, from one run")
figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)
