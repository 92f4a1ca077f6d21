"""Small integer problems, where ties are everywhere: every path must finish and be exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.integer_problems import (
    KERNELS,
    check_quantile,
    check_svm,
    check_weighted_svm,
    check_weighted_svr,
    integer_rows,
    weights_for,
)

pytestmark = pytest.mark.slow

each_kernel = pytest.mark.parametrize("name", KERNELS)


@each_kernel
@given(rows=integer_rows(), lam=st.sampled_from([1e-3, 0.1, 1.0]))
def test_quantile_path_on_ties(name, rows, lam):
    check_quantile(*rows, name, lam)


@each_kernel
@given(rows=integer_rows())
def test_svm_path_on_ties(name, rows):
    check_svm(*rows, name)


@each_kernel
@given(data=st.data(), rows=integer_rows())
def test_weighted_svm_path_on_ties(name, data, rows):
    X, y = rows
    before, after = (data.draw(weights_for(len(y))) for _ in range(2))
    check_weighted_svm(X, y, name, before, after)


@each_kernel
@given(data=st.data(), rows=integer_rows(), epsilon=st.sampled_from([0.0, 0.5, 1.0]))
def test_weighted_svr_path_on_ties(name, data, rows, epsilon):
    X, y = rows
    target = np.array(data.draw(st.lists(st.integers(-2, 2), min_size=len(y), max_size=len(y))))
    before, after = (data.draw(weights_for(len(y))) for _ in range(2))
    check_weighted_svr(X, target.astype(float), name, before, after, epsilon)
