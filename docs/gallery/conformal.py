"""
Intervals that cover, and rows that matter, without refits
==========================================================

What range of responses does a lasso find plausible for a new row? Full conformal prediction refits
the model with *every* response, and keeps those whose residual is not among the largest: whatever
the distribution, the true one is kept with probability 1 - alpha. Usually a grid stands for
"every"; the path in the response has them all.
"""

import matplotlib.pyplot as plt
import numpy as np

from solution_paths import conformal_path, lasso_path, leave_one_out

r = np.random.default_rng(3)
X = r.normal(size=(80, 10))
y = 2.0 * X[:, 0] - X[:, 1] + r.standard_t(3, 80)
X[0], y[0] = 1.3 * X[0], -6.0  # one row that isn't like the others
new = r.normal(size=(12, 10))
path = lasso_path(X, y)
lam = 10.0

# %%
# The p-value of each response of the first new row is a step function, known exactly.

every = conformal_path(path, lam, y, new)
first = every[0]
print(f"{len(first.p)} steps, a 90 % set: {first.prediction_set(0.1).round(3).tolist()}")

_, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.stairs(first.p, np.clip(first.edges, -9, 9), baseline=None, color="tab:blue")
axes.axhline(0.1, color="tab:red", linewidth=0.8, linestyle="--", label=r"$\alpha$ = 0.1")
for low, high in first.prediction_set(0.1):
    axes.axvspan(low, high, color="tab:orange", alpha=0.25, linewidth=0, label="90 % set")
axes.set(xlabel="response of the new row", ylabel="p-value", xlim=(-9, 9), ylim=(0, 1.02))
axes.legend(loc="upper right", fontsize=8)

# %%
# All new rows begin at one optimum, that of the 80 rows; each has an interval of its own.

_, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
order = np.argsort([own.prediction for own in every])
for place, k in enumerate(order):
    for low, high in every[k].prediction_set(0.1):
        axes.plot([place, place], [low, high], color="tab:orange", linewidth=4, alpha=0.6)
    axes.plot(place, every[k].prediction, "o", color="black", markersize=3)
axes.set(xlabel="new rows, by their prediction", ylabel="90 % set", xticks=[])

# %%
# Leave-one-out is the same trick with a row's loss: how far does each row pull its own prediction?

left_out = leave_one_out(path, lam)
print(f"mean squared error, each row predicted without it: {left_out.error(y):.3f}")
most = int(np.argmax(np.abs(left_out.influence)))
print(f"row {most} moves its own prediction by {left_out.influence[most]:.2f}")
residual = y - left_out.decisions
_, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.plot(residual, left_out.influence, "o", markersize=3, color="tab:blue")
axes.plot(residual[most], left_out.influence[most], "o", color="tab:red")
axes.annotate(
    f"row {most}", (residual[most], left_out.influence[most]), (6, 4), textcoords="offset points"
)
axes.set(xlabel="residual without the row", ylabel="influence on its prediction")

# %%
# Both are certified by code that shares nothing with the paths.

print(first.certify())
print(left_out.certify())
