"""
The leave-one-out error at every penalty
========================================

Ten folds, drawn anew, choose another penalty. To leave out each row is the one scheme that draws
nothing, and is usually too dear: n paths. Of a lasso the rows' paths share their linear systems, so
that the error of all of them, at every penalty, takes a fraction of a second.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold

from solution_paths import PathLasso, lasso_path, leave_one_out, leave_one_out_curve

X, y = load_diabetes(return_X_y=True)
n, X = len(X), X / X.std(axis=0)
path = lasso_path(X, y)
curve = leave_one_out_curve(path, y)
best = curve.best()
print(f"{len(curve.edges)} pieces; least error {best.value:.2f} at lam = {best.parameter:.2f}")

# %%
# The curve is exact, and so is its minimiser. (A standard error of the mean over rows is about 180,
# but it is that of the level, and hardly of differences.) Above are the penalties that ten folds
# choose, 30 times drawn anew: they fall into one of its valleys or another.

chosen = []
for seed in range(30):
    folds = KFold(10, shuffle=True, random_state=seed)
    chosen.append(n * PathLasso(cv=folds).fit(X, y).alpha_)
lam = np.geomspace(10.0, 2e3, 600)
figure, (top, axes) = plt.subplots(
    2, 1, figsize=(6.4, 4.6), sharex=True, height_ratios=(1, 5), layout="constrained"
)
top.plot(chosen, np.zeros(30), "|", color="tab:orange", markersize=14)
top.plot(best.parameter, 0.0, "o", color="tab:blue", markersize=5)
top.set(yticks=[], title="chosen by ten folds, 30 times (orange); leave-one-out (blue)")
print(f"standard error {curve.standard_error(best.parameter):.0f}")
axes.plot(lam, curve(lam), color="tab:blue")
axes.plot(best.parameter, best.value, "o", color="tab:blue", markersize=5)
axes.set(xscale="log", xlabel=r"penalty $\lambda$", ylabel="mean squared error without the row")

# %%
# At any one penalty the same numbers come from `leave_one_out`, which has the models, too.

left = leave_one_out(path, best.parameter)
print(f"{left.error(y):.6f} {float(curve(best.parameter)):.6f}")
print(left.certify())
