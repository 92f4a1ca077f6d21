"""
The cost of errors: from nothing to the last breakpoint
=======================================================

An SVM's cost C trades a wide margin for few errors. Its path has an end: beyond the last breakpoint
the solution is one straight line in C, so a search for C needs no upper bound.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from solution_paths import svm_path

X, y = make_moons(80, noise=0.25, random_state=0)
X_val, y_val = make_moons(600, noise=0.25, random_state=1)
path = svm_path(X, y, kernel="rbf", gamma=2.0)
last = path.breakpoints[-1]
print(f"{path}; the last breakpoint is C = {last:.4g}")

# %%
# The least validation error over every C, and the duals' way: each sample's dual is at 0, at C (the
# diagonal), or in between while the sample is on the margin.

curve = path.error_curve(X_val, y_val)
best = curve.best(log=True)
print(f"least error {best.value:.4f}, for C on {best.intervals.round(4).tolist()}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
path.plot(ax=left, mark=best.parameter)
left.set_title("duals")
curve.plot(right, parameter="C")
right.set(ylabel="validation error", title="exact steps")

# %%
# The boundary at a small C, at the best one and at the end, from the same path.

a, b = np.meshgrid(np.linspace(-1.8, 2.8, 120), np.linspace(-1.5, 2.0, 100))
figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
for ax, at in zip(axes, (path.breakpoints[1], best.parameter, last), strict=True):
    f = path.decision_function(np.column_stack([a.ravel(), b.ravel()]), at).reshape(a.shape)
    ax.contourf(a, b, f, levels=[-np.inf, 0, np.inf], colors=["tab:blue", "tab:orange"], alpha=0.2)
    ax.contour(a, b, f, levels=[-1, 0, 1], colors="k", linestyles=["--", "-", "--"], linewidths=0.9)
    for label, colour in ((0, "tab:blue"), (1, "tab:orange")):
        ax.plot(*X[y == label].T, ".", color=colour, markersize=5)
    ax.set(title=f"C = {at:.3g}", xlabel="$x_1$")
axes[0].set_ylabel("$x_2$")
