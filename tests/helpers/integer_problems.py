"""Small integer problems, where ties are everywhere, and checks that their paths are exact."""

import numpy as np
from hypothesis import strategies as st

from helpers.oracle import (
    assert_least,
    fitted,
    hinge_objective,
    kernel,
    least_hinge,
    least_tube,
    rows_of,
    tube_objective,
)
from solution_paths import quantile_svm_path, svm_path, weighted_svm_path, weighted_svr_path

KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "poly": {"kernel": "poly", "gamma": 1.0, "degree": 2, "coef0": 1.0},
}


@st.composite
def integer_rows(draw):
    """Draw (n, d) integer rows of which many are copies, and labels of both classes."""
    n, d = draw(st.integers(4, 14)), draw(st.integers(1, 3))
    row = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    pool = draw(st.lists(row, min_size=1, max_size=n))
    X = np.array([pool[draw(st.integers(0, len(pool) - 1))] for _ in range(n)], dtype=float)
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    y[:2] = 1.0, -1.0
    return X, y


def weights_for(n):
    """Draw n small integer weights; the first two (one of each class) are positive."""
    rest = st.lists(st.integers(0, 3), min_size=n - 2, max_size=n - 2)
    first = st.lists(st.integers(1, 3), min_size=2, max_size=2)
    return st.tuples(first, rest).map(lambda parts: np.array(parts[0] + parts[1], dtype=float))


def gram_of(X, name):
    options = {k: v for k, v in KERNELS[name].items() if k != "kernel"}
    return kernel(X, X, name, **options)


def assert_certified(path):
    certificate = path.certify(n_random=20)
    # Of an optimum near zero (all in the tube) a solution in double may leave more open than 1e-9.
    open_ = certificate.status == "undecided" and certificate.gap <= 2 * certificate.resolution
    assert certificate.ok or (open_ and certificate.kkt <= 1e-12), str(certificate)


def inner_points(path, seed=0):
    """Return a breakpoint and a point between two, off the ends."""
    nodes = path.breakpoints
    rng = np.random.default_rng(seed)
    k = int(rng.integers(max(len(nodes) - 1, 1)))
    return [
        nodes[len(nodes) // 2],
        nodes[k] + 0.37 * (nodes[min(k + 1, len(nodes) - 1)] - nodes[k]),
    ]


def check_quantile(X, y, name, lam):
    path = quantile_svm_path(X, y, lam, **KERNELS[name])
    assert path.breakpoints[0] == 0.0
    assert path.breakpoints[-1] == 1.0
    assert_certified(path)
    K = gram_of(X, name) + 1.0  # the appended feature of value 1
    for tau in inner_points(path):
        cost = np.where(y > 0, 2 * (1 - tau), 2 * tau) / len(y)
        a = y * path.dual(tau)
        f = K @ a / lam
        ours = hinge_objective(f, a @ f / lam, y, cost, lam)
        assert_least(ours, least_hinge(rows_of(K), y, cost, lam), unit=1e-3 * cost.sum())


def check_svm(X, y, name):
    path = svm_path(X, y, **KERNELS[name])
    assert path.breakpoints[0] == 0.0
    assert_certified(path)
    K = gram_of(X, name)
    for C in [*(C for C in inner_points(path) if C > 0), 2.0 * path.breakpoints[-1] + 1.0]:
        cost = np.full(len(y), C)
        ours = hinge_objective(*fitted(path, C, K=K, y=y), y, cost)
        assert_least(ours, least_hinge(rows_of(K), y, cost, free_bias=True), unit=1e-6 * cost.sum())


def check_weighted_svm(X, y, name, before, after):
    path = weighted_svm_path(X, y, before, after, **KERNELS[name])
    assert_certified(path)
    K = gram_of(X, name)
    for theta in [0.0, 1.0, *inner_points(path)]:
        cost = (1 - theta) * before + theta * after
        ours = hinge_objective(*fitted(path, theta, K=K, y=y), y, cost)
        assert_least(ours, least_hinge(rows_of(K), y, cost, free_bias=True))


def check_weighted_svr(X, target, name, before, after, epsilon):
    path = weighted_svr_path(X, target, before, after, epsilon, **KERNELS[name])
    assert_certified(path)
    K = gram_of(X, name)
    for theta in [0.0, 1.0, *inner_points(path)]:
        cost = (1 - theta) * before + theta * after
        ours = tube_objective(*fitted(path, theta, K=K), target, cost, epsilon)
        least = least_tube(rows_of(K), target, cost, epsilon)
        assert_least(ours, least, unit=1e-6 * cost.sum())
