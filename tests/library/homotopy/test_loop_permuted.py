"""The order of rows and columns is nobody's choice: whichever it is, the path is the same.

Ties are broken otherwise, factors are built in another order and rounding differs, but the optimal
value at each parameter stays, and the path stays exact.
"""

import fuzz
import numpy as np
import pytest

from solution_paths import (
    l1_svm_path,
    lasso_path,
    quantile_svm_path,
    svm_path,
    weighted_svm_path,
    weighted_svr_path,
)

pytestmark = pytest.mark.slow

CLASSES = ("gaussian", "one_hot", "dummy_trap", "likert", "lattice", "duplicated", "collinear")
KERNELS = ("rbf", "rbf_lattice", "rbf_dummies", "poly", "low_rank", "words", "sparse_dummies")


def weights(n, seed):
    return 1.0 + np.random.default_rng(seed).integers(0, 3, n)


TRACED = {
    "quantile": lambda X, y, target, order, options: quantile_svm_path(X, y, 0.1, **options),
    "svm": lambda X, y, target, order, options: svm_path(X, y, C_max=100.0, **options),
    "weighted_svm": lambda X, y, target, order, options: weighted_svm_path(
        X, y, weights(len(y), 1)[order], weights(len(y), 2)[order], **options
    ),
    "weighted_svr": lambda X, y, target, order, options: weighted_svr_path(
        X, target, weights(len(y), 1)[order], weights(len(y), 2)[order], 0.1, **options
    ),
    "lasso": lambda X, y, target, order, options: lasso_path(X, target, fit_intercept=False),
    "l1_svm": lambda X, y, target, order, options: l1_svm_path(X, y),
}
CASES = [(f, d) for f in TRACED for d in CLASSES]
CASES += [(f, d) for f in ("quantile", "svm", "weighted_svm", "weighted_svr") for d in KERNELS]


@pytest.mark.parametrize(("function", "data"), CASES)
def test_the_path_is_the_same_in_any_order(function, data):
    for seed in range(3):
        X, y, target, options, rng = fuzz.make(data, function, 1000 + seed)
        rows = rng.permutation(len(y))
        columns = rng.permutation(X.shape[1])
        gram = options.get("kernel") == "precomputed"
        shuffled = X[rows][:, rows if gram else columns]
        trace = TRACED[function]
        path = trace(X, y, target, np.arange(len(y)), options)
        other = trace(shuffled, y[rows], target[rows], rows, options)
        low = max(path.range[0], other.range[0])
        high = min(path.breakpoints[-1], other.breakpoints[-1])
        here, there = fuzz.at_each(path), fuzz.at_each(other)
        for t in np.concatenate([rng.uniform(low, high, 6), rng.choice(path.breakpoints, 3)]):
            if low <= t <= high:
                left, right = here(path, t)[0], there(other, t)[0]
                assert abs(left - right) <= 2e-9 * abs(left), (seed, t, left, right)
        for one in (path, other):
            _, beyond, outside, at, _ = fuzz.judge(one, points=12, units=8.0)
            assert beyond <= 1e-9, (seed, beyond, at)
            assert outside <= 1e-7, (seed, outside)
