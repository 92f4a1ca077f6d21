"""
Every quantile of a classifier, and what a grid misses
======================================================

A quantile SVM decides for +1 where P(Y = 1 given x) exceeds tau. Which tau is best on other data? A
grid search trains one model for each of its values; the path holds them all.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from solution_paths import quantile_svm_path

X, y = load_breast_cancer(return_X_y=True)
X, X_val, y, y_val = train_test_split(minmax_scale(X, (-1, 1)), y, random_state=0)
path = quantile_svm_path(X, y, lam=1e-3)
print(path)

# %%
# The validation error is a step function of tau, known exactly. A grid of eleven quantiles sees
# eleven of its values (those at 0 and 1 lie above the picture).

curve = path.error_curve(X_val, y_val)
best = path.best(X_val, y_val)
grid = np.linspace(0, 1, 11)
seen = np.array([np.mean(path.predict(X_val, tau) != y_val) for tau in grid])
print(
    f"{len(curve.left)} steps; least error {best.value:.4f}, on {best.intervals.round(4).tolist()}"
)
print(f"least error on the grid {seen.min():.4f}, at tau = {grid[seen.argmin()]:g}")

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.stairs(100 * curve.left, curve.edges, baseline=None, label="every quantile", linewidth=1.4)
ax.plot(grid, 100 * seen, "o", color="tab:red", label="a grid of eleven")
for k, (low, high) in enumerate(best.intervals):
    label = f"least error, {100 * best.value:.1f} %" if k == 0 else None
    ax.axvspan(low, high, color="tab:orange", alpha=0.35, linewidth=0, label=label)
ax.set(xlabel=r"quantile $\tau$", ylabel="validation error (%)", ylim=(0, 8))
ax.legend(loc="upper center")

# %%
# Where does the decision about one row flip? That tau estimates the row's P(Y = 1).

for row, decision in enumerate(path.crossings(X_val[:4])):
    print(f"row {row} (label {y_val[row]}): {decision.round(4).tolist() or 'never flips'}")

# %%
# All of this rests on the path being optimal, which other code checks.

print(path.certify())
