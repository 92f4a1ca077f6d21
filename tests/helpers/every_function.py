"""Every function that returns a path, on data that it takes."""

import numpy as np

import solution_paths as paths

N = 26
KERNEL = {"kernel": "rbf", "gamma": 0.4}


def data(kind, seed=0):
    """Return rows, targets, two labels, three ordered classes, and weights, some of them 0."""
    r = np.random.default_rng([seed, kind == "ties"])
    X = r.normal(size=(N, 3))
    if kind == "ties":  # equal rows, a constant column, dependent ones
        X = np.round(X)
        X = np.column_stack([X, np.ones(N), X[:, 0] + X[:, 1]])
    u = X[:, 0] - 0.5 * X[:, 1] + r.normal(size=N)
    u = np.round(u, 0 if kind == "ties" else 3)
    y = np.where(u > np.median(u), 1, -1)
    y[:3] *= -1  # classes overlap
    classes = np.digitize(u, np.quantile(u, [0.33, 0.66]))
    return X, u, y, classes, r.integers(0, 4, N)


def signal(X, u, **options):
    """Smooth a signal of which some entries count more often."""
    return paths.generalized_lasso_path(u, np.diff(np.eye(len(u)), axis=0), **options)


def fused(X, u, **options):
    return paths.generalized_lasso_path(u, np.diff(np.eye(X.shape[1]), axis=0), X=X, **options)


def ranked(X, u, **options):
    return paths.ranking_svm_path(X, scores=np.clip(np.round(u), -1, 1), **options)


# name: (function of rows and targets, which targets)
FUNCTIONS = {
    "svm": (paths.svm_path, "y", {}),
    "svm, rbf": (paths.svm_path, "y", KERNEL),
    "quantile svm": (paths.quantile_svm_path, "y", {"lam": 0.1}),
    "l1 svm": (paths.l1_svm_path, "y", {}),
    "l1 constraint": (paths.l1_constrained_svm_path, "y", {}),
    "l1 constraint and ridge": (paths.l1_constrained_svm_path, "y", {"lam2": 0.3}),
    "lasso": (paths.lasso_path, "u", {"fit_intercept": True}),
    "lasso without intercept": (paths.lasso_path, "u", {"fit_intercept": False}),
    "elastic net": (paths.elastic_net_path, "u", {"lam2": 0.5}),
    "huber": (paths.almost_quadratic_path, "u", {"delta": 0.5}),
    "squared hinge": (paths.almost_quadratic_path, "y", {"loss": "squared_hinge"}),
    "hhsvm": (paths.hhsvm_path, "y", {"lam2": 0.2}),
    "rlad": (paths.rlad_path, "u", {}),
    "rlad in s": (paths.rlad_path, "u", {"vary": "s"}),
    "drsvm": (paths.drsvm_path, "y", {"lam2": 0.1}),
    "drsvm in lam2": (paths.drsvm_path, "y", {"vary": "lam2", "lam1": 0.02}),
    "drlad": (paths.drlad_path, "u", {"lam2": 0.1}),
    "drlad in lam1": (paths.drlad_path, "u", {"vary": "lam1", "lam2": 0.1}),
    "drlad in lam2": (paths.drlad_path, "u", {"vary": "lam2", "s": 0.5}),
    "dr quantile": (paths.dr_regression_path, "u", {"loss": ("quantile", 0.3), "lam2": 0.1}),
    "double margin": (
        paths.dm_drsvm_path,
        "y",
        {"kappa": 2.5, "vary": "lam1", "lam2": 0.1},
    ),
    "double margin in lam2": (paths.dm_drsvm_path, "y", {"kappa": 2.5, "lam1": 0.05}),
    "double margin, kernel": (paths.dm_ksvm_path, "y", {"kappa": 2.5, **KERNEL}),
    "asymmetric": (paths.asymmetric_svm_path, "y", {}),
    "roc": (paths.roc_path, "y", {"C": 2.0, **KERNEL}),
    "svr in C": (paths.svr_path, "u", {}),
    "svr in lam": (paths.svr_path, "u", {"vary": "lam", **KERNEL}),
    "svr in epsilon": (paths.svr_path, "u", {"vary": "epsilon", **KERNEL}),
    "nu": (paths.nu_svm_path, "y", {}),
    "nu, rbf": (paths.nu_svm_path, "y", KERNEL),
    "kernel quantile": (paths.kernel_quantile_path, "u", {"lam": 0.1, "gamma": 0.4}),
    "kernel quantile in lam": (
        paths.kernel_quantile_path,
        "u",
        {"vary": "lam", "tau": 0.3, "gamma": 0.4},
    ),
    "quantiles": (paths.quantile_regression_path, "u", {}),
    "quantiles, l1": (paths.quantile_regression_path, "u", {"penalty": "l1", "lam": 0.1}),
    "quantiles, l1 in lam": (paths.quantile_regression_path, "u", {"penalty": "l1", "tau": 0.3}),
    "quantiles, l2": (paths.quantile_regression_path, "u", {"penalty": "l2", "lam": 0.1}),
    "quantiles, l2 in lam": (paths.quantile_regression_path, "u", {"penalty": "l2", "tau": 0.3}),
    "quantiles together": (
        lambda X, u, **own: paths.noncrossing_quantiles_path(X, u, [0.2, 0.5, 0.9], **own),
        "u",
        {},
    ),
    "quantiles together, l1": (
        lambda X, u, **own: paths.noncrossing_quantiles_path(X, u, [0.3, 0.6], **own),
        "u",
        {"penalty": "l1"},
    ),
    "one class": (lambda X, u, **own: paths.one_class_path(X, **own), "u", {"gamma": 0.4}),
    "one class in lam": (
        lambda X, u, **own: paths.one_class_path(X, **own),
        "u",
        {"vary": "lam", "gamma": 0.4},
    ),
    "ordinal": (paths.svor_path, "classes", {}),
    "ordinal, implicit": (paths.svor_path, "classes", {"thresholds": "implicit", **KERNEL}),
    "multicategory": (paths.multicategory_svm_path, "classes", {}),
    "multicategory, rbf": (paths.multicategory_svm_path, "classes", KERNEL),
    "pinball": (paths.pin_svm_path, "y", {}),
    "pinball in C": (paths.pin_svm_path, "y", {"vary": "C", "tau": 0.3, **KERNEL}),
    "twin": (paths.pin_twin_svm_path, "y", {"lam": 0.1}),
    "twin in C": (paths.pin_twin_svm_path, "y", {"vary": "C", "tau": 0.2, "lam": 0.1}),
    "ranking": (ranked, "u", {}),
    "fused": (fused, "u", {}),
    "logistic": (paths.logistic_path, "y", {"lam_min": 0.1, "eps": 1e-8}),
    "poisson": (paths.poisson_path, "counts", {"lam_min": 0.1, "eps": 1e-8}),
}
