"""Random data of tests: rows, labels and targets, all from a seed."""

import numpy as np


def classes(n=60, seed=0):
    """Return rows and two labels, some of them wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] - 0.5 * X[:, 1] + 0.8 * rng.normal(size=n) > 0.2, "b", "a")


def numbers(n=50, seed=1):
    """Return rows off zero, and targets of which some are far off."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 1.0
    return X, X[:, 0] - X[:, 1] + 4.0 + rng.standard_t(3, size=n)


def two_classes(n=70, d=4, seed=0):
    """Return rows and two labels that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=n)
    return X, np.where(score > 0.2, "yes", "no")


def three_classes(n=90, seed=1):
    """Return rows and three labels that overlap."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 3)) + 1.1 * np.array([[1, 0, 0], [0, 1, 0], [-1, -1, 0]])[y]
    return X, np.array(["red", "green", "blue"])[y]


def targets(n=60, d=6, seed=2):
    """Return rows off zero, and targets of two of the columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0
    return X, X[:, 0] - 2 * X[:, 3] + 5.0 + 0.8 * rng.standard_t(3, size=n)


def clouds(n=60, d=3, seed=0, flipped=0.15):
    """Return rows and labels -1 and +1, a share of which is flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[rng.random(n) < flipped] *= -1
    return X, y


def line(n=60, d=3, seed=0, wild=0.1):
    """Return rows and targets on a plane, a share of them far off."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + 0.2 * rng.normal(size=n)
    return X, y + 8.0 * rng.normal(size=n) * (rng.random(n) < wild)


def sample(n=40, d=3, seed=0):
    """Return rows, labels -1 and +1, and targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y, X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)
