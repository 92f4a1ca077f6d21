"""
Intervals that cover everywhere, not only on average
====================================================

A prediction interval of one width covers nine in ten responses on average: more than that where
they hardly spread, and far less where they do. Conditional conformal prediction lets the width
follow groups and a kernel, and still promises that it covers, in each group.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from solution_paths import ConditionalConformal

r = np.random.default_rng(0)


def sample(n):
    x = np.sort(r.uniform(0.0, 3.0, n))[:, None]
    return x, x[:, 0] + (0.2 + 1.5 * (x[:, 0] > 2.0) + 0.4 * x[:, 0]) * r.normal(size=n)


def late(x):
    return x[:, 0] > 2.0


fitted = FrozenEstimator(LinearRegression().fit(*sample(300)))
X, y = sample(800)
X_new, y_new = sample(500)

# %%
# All three have the same regression and the same rows for calibration. The first is split
# conformal prediction: a quantile of the residuals' sizes, and nothing else.

models = {
    "no features": ConditionalConformal(fitted),
    "two groups": ConditionalConformal(fitted, features=late),
    "groups and a kernel": ConditionalConformal(
        fitted, features=late, kernel="rbf", gamma=5.0, lam=1e-3
    ),
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True, layout="constrained")
for (name, model), ax in zip(models.items(), axes, strict=True):
    low, high = model.fit(X, y).predict_interval(X_new).T
    inside = (low <= y_new) & (y_new <= high)
    early, after = inside[~late(X_new)].mean(), inside[late(X_new)].mean()
    print(
        f"{name}: covers {early:.2f} before 2, {after:.2f} after, width {(high - low).mean():.2f}"
    )
    ax.plot(X_new, y_new, ".", color="0.6", markersize=2)
    ax.fill_between(X_new[:, 0], low, high, color="tab:orange", alpha=0.35, linewidth=0)
    ax.set(title=name, xlabel="x")
axes[0].set(ylabel="response, 90 % interval")

# %%
# What is known of one new row: its score S, the size of its residual, against the dual u that it
# has in a quantile regression of all scores. Where u is at its largest the interval ends; a cutoff
# at a u that is drawn evenly covers exactly.

paths = models["groups and a kernel"].paths([[0.7], [1.8], [2.6]])
_, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for own, x in zip(paths, (0.7, 1.8, 2.6), strict=True):
    ax.plot(own.scores, own.duals, label=f"x = {x}, cutoff {own.cutoff():.2f}")
ax.set(xlabel="score of the new row", ylabel="its dual, u")
ax.legend(loc="lower right", fontsize=8)

# %%
# Each curve is certified: the quantile regressions along it are optimal.

print(paths[0].certify())
