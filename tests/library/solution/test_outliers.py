"""Paths of local optima: their jumps."""

import numpy as np
import pytest

from helpers.data_makers import classes
from solution_paths import (
    outlier_svm_path,
    outlier_svr_path,
)

pytestmark = pytest.mark.slow

JUMPING = {  # path, and whether its parameter falls in the order of the walk
    "theta": (lambda X, y, u: outlier_svm_path(X, y, 100.0), True),
    "s": (lambda X, y, u: outlier_svm_path(X, y, 10.0, homotopy="s"), False),
    "theta of a regression": (
        lambda X, y, u: outlier_svr_path(X, u, 10.0, s=0.5, kernel="rbf", gamma=1.0),
        True,
    ),
    "s of a regression": (lambda X, y, u: outlier_svr_path(X, u, 10.0, homotopy="s"), True),
}


@pytest.mark.parametrize("name", JUMPING)
def test_jumps_come_in_the_order_of_the_walk(name):
    (path, falls), (X, y) = JUMPING[name], classes(60)
    u = X[:, 0] + 3.0 * np.random.default_rng(2).standard_t(2, size=60)
    own = path(X, y, u)
    at = [jump.parameter for jump in own.jumps]
    assert len(set(at)) >= 2
    assert at == sorted(at, reverse=falls)
    assert all(jump.after <= jump.before * (1 + 1e-12) for jump in own.jumps)
