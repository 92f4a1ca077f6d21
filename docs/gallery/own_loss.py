"""
A loss of one's own: an asymmetric tube
=======================================

A baker who bakes too much throws bread away; too little sends customers home, which is three times
as bad. Small errors do no harm either way, and the two margins differ. No function of the package
has this loss: stating it takes five lines, and the path, its certificate and its pictures follow.
"""

import matplotlib.pyplot as plt
import numpy as np

from solution_paths import solution_path
from solution_paths.problem import Losses, Problem, pieces

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
y = X @ [2.0, -1.0, 0.5, 0.0] + rng.standard_t(3, size=60)
train, test = slice(0, 40), slice(40, 60)


def model(cost):
    """Too high by 0.3 or too low by 0.1 is free; beyond, too low costs three times as much."""
    tube = pieces(knots=[y[train] - 0.1, y[train] + 0.3], slopes=[-3.0 * cost, 0.0, cost])
    return Problem(Losses(tube, X[train], free=1.0), ridge=1.0)


# %%
# All costs at once, from 0 to infinity.

path = solution_path(model, 0.0, np.inf, parameter="cost")
print(path)
print(path.certify(at_breakpoints=True))

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained")
r = np.linspace(-1.5, 1.5, 300)
axes[0].plot(r, 3.0 * np.maximum(-r - 0.1, 0.0) + np.maximum(r - 0.3, 0.0))
axes[0].set(xlabel="f(x) - y", ylabel="loss / cost", title="the loss")
path.plot(ax=axes[1])
axes[1].set_title("coefficients")

# %%
# The validation error is an exact function of the cost, and so is its minimiser.

curve = path.error_curve(X[test], y[test], "absolute")
best = curve.best()
print(f"least mean absolute error: {best.value:.4f}, at a cost of {best.parameter:.4f}")
curve.plot(parameter="cost")
