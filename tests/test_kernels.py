"""Kernel matrices, whatever holds their rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from solution_paths.kernels import Kernel, squared_distances

RNG = np.random.default_rng(3)
X = RNG.normal(size=(7, 4)) * (RNG.random((7, 4)) < 0.6)
Z = RNG.normal(size=(5, 4)) * (RNG.random((5, 4)) < 0.6)
KINDS = {"dense": np.asarray, "csr_array": sp.csr_array, "csr_matrix": sp.csr_matrix}


def brute(X, Z):
    return ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=-1)


@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("right", KINDS)
def test_distances_of_sparse_and_dense_rows(left, right):
    found = squared_distances(KINDS[left](X), KINDS[right](Z))
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, brute(X, Z), rtol=1e-13, atol=1e-14)
    own = KINDS[left](X)
    found = squared_distances(own, own)
    np.testing.assert_allclose(found, brute(X, X), rtol=1e-13, atol=1e-14)
    assert (np.diag(found) == 0.0).all()


@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("right", KINDS)
@pytest.mark.parametrize("name", ["linear", "rbf", "poly"])
def test_kernels_of_sparse_and_dense_rows(name, left, right):
    expected = {
        "linear": X @ Z.T,
        "rbf": np.exp(-0.4 * brute(X, Z)),
        "poly": (0.4 * X @ Z.T + 0.5) ** 3,
    }[name]
    found = Kernel(name, gamma=0.4, coef0=0.5)(KINDS[left](X), KINDS[right](Z))
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_centred_kernels_are_as_good_where_duals_add_up_to_zero():
    rows = np.random.default_rng(1).normal(size=(30, 3))
    a = np.random.default_rng(2).normal(size=30)
    a -= a.mean()
    for gamma in (1e-8, 1e-3):
        K, means = Kernel("rbf", gamma=gamma).centred(rows)
        assert (K == K.T).all()
        assert abs(K.sum(axis=0)).max() < 1e-14 * abs(K).sum()
        exact = np.expm1(-gamma * brute(rows, rows)) @ a
        np.testing.assert_allclose(K @ a + means @ a, exact, atol=1e-12 * abs(exact).max())
    for kernel in (Kernel("rbf", gamma=1.0), Kernel("poly", coef0=1.0)):
        K, means = kernel.centred(rows)
        assert not means.any()
        np.testing.assert_array_equal(K, kernel(rows, rows))
