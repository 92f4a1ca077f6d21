"""Compile everything that jobs will need, once."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .. import (
    dm_ksvm_path,
    drlad_path,
    drsvm_path,
    l1_svm_path,
    outlier_svm_path,
    outlier_svr_path,
    quantile_svm_path,
    weighted_svm_path,
    weighted_svr_path,
)
from ..baselines import cccp, smo
from ..models.outlier_svm import robust_hinge


def warm_up() -> str:
    """Trace small paths of every kind of map, and solve small problems; say what was compiled."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
    weights = (np.ones(40), rng.uniform(0.5, 2.0, size=40))
    for features, kernel in ((X, "linear"), (sp.csr_matrix(X), "linear"), (X, "rbf")):
        path = quantile_svm_path(features, y, 1e-2, kernel=kernel)
        path.certify()
        path.crossings(features)
    for path in (
        weighted_svm_path(X, y, *weights, kernel="rbf"),
        weighted_svr_path(X, X[:, 1] ** 2, *weights, 0.05, kernel="rbf"),
    ):
        path.certify()
    for features in (X, sp.csr_array(X)):
        outlier_svm_path(features, y, 1.0, homotopy="s").certify()
        cccp.solve(robust_hinge(features, 1.0 * y, 1.0).at(0.5))
    outlier_svr_path(X, X[:, 1] ** 2, 1.0, homotopy="s", kernel="rbf").certify()
    for path in (
        drlad_path(X, X[:, 1] ** 2, vary="s", lam2=0.1),
        drlad_path(X, X[:, 1] ** 2, vary="lam2", s=0.1),
        drsvm_path(X, y, vary="lam1", lam2=0.1),
        dm_ksvm_path(X, y, 3.0, kernel="rbf"),
        l1_svm_path(X, y),
    ):
        path.certify()
        path.error_curve(X, path.objective.y, "absolute")
    smo.warm_up()
    return "compiled: linear (dense, sparse), rbf, free bias, walls, l1; SMO, coordinate descent\n"
