"""Small data for estimators, and estimators fitted to them."""

import numpy as np
from sklearn.base import is_classifier

from helpers.known import CLASSES, COUNTS, U, X, Y

BY_NAME = {"ids": lambda model: type(model).__name__}


def two_classes(n=70, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=n)
    return X, np.where(score > 0.2, "yes", "no")


def three_classes(n=90, seed=1):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 3)) + 1.1 * np.array([[1, 0, 0], [0, 1, 0], [-1, -1, 0]])[y]
    return X, np.array(["red", "green", "blue"])[y]


def targets(n=60, d=6, seed=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0
    return X, X[:, 0] - 2 * X[:, 3] + 5.0 + 0.8 * rng.standard_t(3, size=n)


FAST = {"PathLogisticRegression": {"eps": 1e-2}, "PathPoissonRegressor": {"eps": 1e-2}}


def targets_of(make):
    if make.__name__ == "PathPoissonRegressor":
        return COUNTS
    if make.__name__ == "PathSVOR":
        return CLASSES
    return Y if is_classifier(make()) else U


def fitted(make, y=None, rows=X, **options):
    model = make(**FAST.get(make.__name__, {}), **options)
    y = targets_of(make) if y is None else y
    return model.fit(rows) if make.__name__ == "PathOneClassSVM" else model.fit(rows, y)
