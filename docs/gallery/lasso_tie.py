"""
The lasso, and a tie that leads LARS astray
===========================================

Two features whose correlations are equal enter together. Data with few distinct values (counts,
dummies, rounded measurements) are full of such ties, and path algorithms that take one of them and
drop the other leave the optimum without a word.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import lars_path

from solution_paths import lasso_path


def by_lars(X, y):
    """Return scikit-learn's knots, in our units, and its coefficients there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some say that a regressor was dropped
        alphas, _, coefs = lars_path(X, y, method="lasso")
    return alphas[::-1] * len(y), coefs[:, ::-1]


def objective(X, y, w, lam):
    """Return 1/2 ||y - X w||^2 + lam ||w||_1."""
    return 0.5 * np.sum((y - X @ w) ** 2) + lam * np.abs(w).sum()


# %%
# Two rows, and two features with the same correlation. Each coefficient should grow from lam = 2.5.

X = np.array([[0, 0, 0, -1, 0], [0, -1, 0, 0, 0]], dtype=float)
y = np.array([-2.5, -2.5])
path = lasso_path(X, y, fit_intercept=False)
knots, coefs = by_lars(X, y)

figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True, layout="constrained")
lam = np.linspace(0, 2.6, 200)
exact = np.array([path.coef(min(t, path.range[1])) for t in lam])
for ax, curves, title in (
    (axes[0], exact, "lasso_path"),
    (axes[1], np.column_stack([np.interp(lam, knots, own) for own in coefs]), "lars_path"),
):
    ax.plot(lam, curves[:, 1], label="feature 1", linewidth=2.5)
    ax.plot(lam, curves[:, 3], "--", label="feature 3", linewidth=2)
    ax.set(xlabel=r"$\lambda$", title=title)
axes[0].set_ylabel("coefficient")
axes[0].legend()

# %%
# How often does that happen? Small random tables of the values -1, 0 and 1: a path is wrong when
# its objective lies above the other's by more than a millionth somewhere.

rng = np.random.default_rng(0)
wrong = {"lasso_path": 0, "lars_path": 0}
for _ in range(200):
    X = rng.integers(-1, 2, size=(rng.integers(4, 12), rng.integers(2, 6))).astype(float)
    y = X[:, 0] + rng.integers(-3, 4, size=len(X))
    if not (X.T @ y).any():
        continue
    path, (knots, coefs) = lasso_path(X, y, fit_intercept=False), by_lars(X, y)
    pairs = []
    for t in np.linspace(0.01, 1, 40) * np.abs(X.T @ y).max():
        theirs = np.array([np.interp(t, knots, own) for own in coefs])
        pairs.append((objective(X, y, path.coef(t), t), objective(X, y, theirs, t)))
    ours, theirs = np.transpose(pairs)
    wrong["lasso_path"] += bool((ours > theirs * (1 + 1e-6)).any())
    wrong["lars_path"] += bool((theirs > ours * (1 + 1e-6)).any())
    assert path.certify().ok
print(f"wrong on 200 tables: {wrong}")
