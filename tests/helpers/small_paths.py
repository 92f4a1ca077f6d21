"""Paths of fifty rows, one of each kind."""

import numpy as np
import scipy.sparse as sp

from solution_paths import (
    quantile_svm_path,
    svm_path,
    weighted_svm_path,
    weighted_svr_path,
)


def rows(n, d=3, seed=0, flip=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where((X[:, 0] + 0.3 * X[:, 1] > 0) ^ (rng.random(n) < flip), 1.0, -1.0)
    return X, y


def a_path(kind):
    X, y = rows(50)
    n = len(y)
    if kind == "quantile":
        return quantile_svm_path(X, y, 0.05)
    if kind == "quantile-csr":
        return quantile_svm_path(sp.csr_array(np.where(np.abs(X) < 0.4, 0, X)), y, 0.05)
    if kind == "quantile-rbf":
        return quantile_svm_path(X, y, 0.05, kernel="rbf", gamma=0.5)
    if kind == "svm":
        return svm_path(X, y)
    before, after = np.linspace(0.0, 2.0, n), np.linspace(3.0, 0.0, n)
    if kind == "weighted":
        return weighted_svm_path(X, y, before, after, kernel="poly", degree=2, coef0=1.0)
    if kind == "precomputed":
        K = X @ X.T
        return weighted_svm_path(K, y, before, after, kernel="precomputed", diagonal=0.1)
    return weighted_svr_path(X, X[:, 0] + 0.2 * X[:, 2], before, after, 0.05)


CLASSIFIERS = ["quantile", "quantile-csr", "quantile-rbf", "svm", "weighted", "precomputed"]
KINDS = [*CLASSIFIERS, "svr"]


def new_rows(path, m=40):
    X, y = rows(m, seed=9)
    if path.reading.kernel.name == "precomputed":
        train, _ = rows(50)
        return X @ train.T, y
    return X, y
