"""
Instance weights: samples that come and go
==========================================

The weight of each sample is a parameter too. Along the line from old to new weights the solution is
piecewise linear, so that adding or removing samples costs the breakpoints in between, not a new
training.
"""

import matplotlib.pyplot as plt
import numpy as np

from solution_paths import update_instances, weighted_svm_path

rng = np.random.default_rng(3)
y = np.repeat([-1, 1], 40)
X = rng.normal(size=(80, 2)) + 1.1 * y[:, None]
strange = np.array([2, 17, 25])
X[strange] = [[2.6, 0.6], [2.2, 2.4], [1.2, 2.8]]  # three of the class -1 far in the other's land
weights = np.full(80, 5.0)
weights[strange] = 0.0
path = weighted_svm_path(X, y, weights_from=5.0, weights_to=weights)
print(f"{path}: {path.diagnostics['events']} events")

# %%
# The three samples lose their weight while theta goes from 0 to 1. Their duals are at their cost,
# and go down with it; the others answer.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
theta = np.union1d(path.breakpoints, np.linspace(0, 1, 100))
duals = np.array([path.dual(t) for t in theta])
others = np.setdiff1d(np.flatnonzero(np.ptp(duals, axis=0) > 0), strange)
left.plot(theta, duals[:, others], color="0.6", linewidth=0.9)
left.plot(theta, duals[:, strange], color="tab:red", linewidth=1.6)
left.set(xlabel=r"$\theta$", ylabel="dual variable", title="leaving (red), answering (grey)")
right.plot(*X[y < 0].T, ".", *X[y > 0].T, ".")
right.plot(*X[strange].T, "o", color="tab:red", fillstyle="none", markersize=10)
ends = np.array([-4.0, 4.5])
for t, style in ((0.0, "--"), (0.5, ":"), (1.0, "-")):
    (w1, w2), bias = path.coef(t), path.intercept(t)
    right.plot(ends, -(w1 * ends + bias) / w2, "k" + style, linewidth=1, label=rf"$\theta$ = {t:g}")
right.set(xlim=ends, ylim=(-4, 4.5), xlabel="$x_1$", ylabel="$x_2$", title="boundary")
right.legend(loc="lower left")

# %%
# A path in weights goes on from its end. One of the three comes back, and two others leave; the
# result is the same as that of a path that starts with these weights.

again = update_instances(path, enter=[17], leave=[50, 60])
weights[17], weights[[50, 60]] = 5.0, 0.0
fresh = weighted_svm_path(X, y, weights, weights)
same = np.allclose(again.coef(1.0), fresh.coef(1.0), rtol=1e-9)
print(f"{again.diagnostics['events']} events; the same coefficients as trained anew: {same}")
assert same
assert path.certify().ok
assert again.certify().ok
