"""Support vectors, their coefficients and counts, in scikit-learn's shapes and signs."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM

import solution_paths as paths

R = np.random.default_rng(3)
N = 40
X = R.normal(size=(N, 3))
U = X[:, 0] - 0.5 * X[:, 1] + 0.5 * R.normal(size=N)
Y = np.where(U > 0.1, "b", "a")
Y[:3] = "b"
CLASSES = np.digitize(U, [-0.4, 0.5])
WEIGHTS = R.integers(0, 4, N).astype(float)
GAMMA = 0.3
TIGHT = {"tol": 1e-12, "gamma": GAMMA}
KERNELS = [{"kernel": "linear"}, {"kernel": "rbf", "gamma": GAMMA}]


def assert_alike(own, theirs, unit=1.0, weights=None):
    """Compare what both say of support vectors; theirs are those beyond their tolerance.

    scikit-learn counts rows without those of weight 0, which LIBSVM drops.
    """
    kept = np.abs(theirs.dual_coef_[0]) > 1e-6 * np.abs(theirs.dual_coef_).max()
    rows = np.arange(N) if weights is None else np.flatnonzero(weights)
    assert own.support_.tolist() == rows[theirs.support_[kept]].tolist()
    np.testing.assert_allclose(own.dual_coef_ * unit, theirs.dual_coef_[:, kept], rtol=0, atol=1e-5)
    np.testing.assert_allclose(own.intercept_ * unit, theirs.intercept_, atol=1e-6)
    np.testing.assert_array_equal(own.support_vectors_, X[own.support_])
    for name in ("dual_coef_", "intercept_", "n_support_", "support_"):
        mine, its = getattr(own, name), getattr(theirs, name)
        assert mine.ndim == its.ndim, name
        if name == "n_support_":
            assert len(mine) == len(its)
            assert mine.sum() == kept.sum()


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weights"])
@pytest.mark.parametrize("kernel", KERNELS, ids=["linear", "rbf"])
def test_they_are_those_of_libsvm(kernel, weights):
    tight = TIGHT | {"kernel": kernel["kernel"]}
    own = paths.PathSVC(2.0, **kernel).fit(X, Y, sample_weight=weights)
    svc = SVC(C=2.0, **tight).fit(X, Y, sample_weight=weights)
    assert_alike(own, svc, weights=weights)
    assert own.n_support_.tolist() == np.unique(Y[own.support_], return_counts=True)[1].tolist()
    own = paths.PathSVR(2.0, epsilon=0.2, **kernel).fit(X, U, sample_weight=weights)
    svr = SVR(C=2.0, epsilon=0.2, **tight).fit(X, U, sample_weight=weights)
    assert_alike(own, svr, weights=weights)
    own = paths.WeightedSVR(2.0, epsilon=0.2, **kernel).fit(X, U, sample_weight=weights)
    svr = SVR(C=2.0, epsilon=0.2, **tight).fit(X, U, sample_weight=weights)
    assert_alike(own, svr, weights=weights)


@pytest.mark.parametrize("kernel", KERNELS, ids=["linear", "rbf"])
def test_nu_machines_are_those_of_libsvm_in_their_unit(kernel):
    tight = TIGHT | {"kernel": kernel["kernel"]}
    own = paths.PathNuSVC(nu=0.5, **kernel).fit(X, Y)
    rho = own.path_.free(0.5)[1]
    assert_alike(own, NuSVC(nu=0.5, **tight).fit(X, Y), 1.0 / rho)
    if kernel["kernel"] == "rbf":  # linear: the optimum is w = 0 where 0 lies among the rows
        own = paths.PathOneClassSVM(0.37, gamma=GAMMA).fit(X)
        assert_alike(own, OneClassSVM(nu=0.37, **TIGHT).fit(X), 0.37 * N)
        assert own.intercept_.tolist() == [-own.offset_]
        weighted = paths.PathOneClassSVM(0.37, gamma=GAMMA).fit(X, sample_weight=WEIGHTS)
        rows = np.repeat(np.arange(N), WEIGHTS.astype(int))
        theirs = OneClassSVM(nu=0.37, **TIGHT).fit(X[rows])
        np.testing.assert_allclose(
            0.37 * WEIGHTS.sum() * weighted.decision_function(X),
            theirs.decision_function(X),
            atol=1e-6,
        )


EXPANDED = {
    "svc": (paths.PathSVC(2.0), Y),
    "svc, three classes": (paths.PathSVC(2.0), CLASSES),
    "quantile": (paths.QuantileSVC(0.4, lam=0.1), Y),
    "double margin": (paths.DmKSVC(0.1, kappa=2.5), Y),
    "weighted": (paths.WeightedSVC(2.0), Y),
    "nu": (paths.PathNuSVC(0.5), Y),
    "ordinal": (paths.PathSVOR(2.0), CLASSES),
    "ordinal, implicit": (paths.PathSVOR(2.0, thresholds="implicit"), CLASSES),
    "svr": (paths.PathSVR(2.0), U),
    "kernel quantile": (paths.KernelQuantileRegressor(0.1, tau=0.3), U),
    "outlier svc": (paths.OutlierSVC(0.5), Y),
    "outlier svr": (paths.OutlierSVR(0.5), U),
}


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [*KERNELS, {"kernel": "precomputed"}], ids=str)
@pytest.mark.parametrize("name", EXPANDED)
def test_decisions_are_their_expansions(name, kernel):
    model, y = EXPANDED[name]
    K = rbf_kernel(X, gamma=GAMMA) if kernel["kernel"] != "linear" else X @ X.T
    rows = K if kernel["kernel"] == "precomputed" else X
    own = clone(model).set_params(**kernel).fit(rows, y, sample_weight=WEIGHTS)
    assert set(own.support_) <= set(np.flatnonzero(WEIGHTS))
    f = own.dual_coef_ @ K[own.support_] + own.intercept_[:, None]
    if hasattr(own, "decision_function"):
        np.testing.assert_allclose(np.squeeze(f.T), own.decision_function(rows), atol=1e-7)
    elif hasattr(own, "thresholds_"):
        assert (np.diff(own.thresholds_) >= 0).all()
        assert own.thresholds_.shape == (2,)
        codes = (f[0][:, None] >= own.thresholds_).sum(axis=1)
        np.testing.assert_array_equal(own.classes_[codes], own.predict(rows))
    else:
        np.testing.assert_allclose(f[0], own.predict(rows), atol=1e-7)
    assert own.n_support_.sum() == len(own.support_)
    if is_classifier(own):
        codes = np.searchsorted(own.classes_, y)[own.support_]
        assert codes.tolist() == sorted(codes)
        assert own.n_support_.tolist() == np.bincount(codes, minlength=len(own.classes_)).tolist()
    if kernel["kernel"] == "linear":
        np.testing.assert_allclose(own.coef_, own.dual_coef_ @ own.support_vectors_, atol=1e-8)


def test_paths_of_pairs_and_classes_are_expansions_of_rows():
    """Duals belong to pairs of rows, or to a row and a class; expansions to rows."""
    ranking = paths.ranking_svm_path(X, scores=CLASSES)
    ordinal = paths.svor_path(X, CLASSES)
    several = paths.multicategory_svm_path(X, CLASSES)
    twin = paths.pin_twin_svm_path(X, Y, lam=0.3)
    for path, t in ((ranking, 0.3), (ordinal, 2.0), (several, 0.05), (twin, 0.4)):
        c = path.expansion(t)
        assert c.shape[-1] == N
        np.testing.assert_allclose(c @ X, path.coef(t), atol=1e-9)
        assert path.expansion([t, 1.1 * t]).shape == (*c.shape, 2)
    with pytest.raises(AttributeError, match="no combination of training rows"):
        paths.pin_twin_svm_path(X, Y).expansion(0.4)
