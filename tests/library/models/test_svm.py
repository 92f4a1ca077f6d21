"""The C-path of the SVM: peers' event counts, degenerate data, every C."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from helpers.oracle import (
    assert_least,
    fitted,
    hinge_objective,
    kernel,
    least_hinge,
    peers,
    rows_of,
)
from solution_paths import PathError, SolutionPath, dm_ksvm_path, quantile_svm_path, svm_path
from solution_paths.homotopy.run import Homotopy
from solution_paths.kernels.centred import CentredKernel
from solution_paths.kernels.kernel import EPSILON

RBF = {"kernel": "rbf", "gamma": 0.1}


def spread(path, count=40):
    """Return parameters spread over the path's breakpoints, however their sizes differ."""
    nodes = path.breakpoints[path.breakpoints > 0]
    if len(nodes) == 0:
        return np.array([1e-3, 1.0, 1e3])
    k = np.unique(np.linspace(0, len(nodes) - 1, count).astype(int))
    between = np.sqrt(nodes[k] * nodes[np.minimum(k + 1, len(nodes) - 1)])
    points = np.concatenate([nodes[k], between, nodes[[0, -1]] * [0.1, 10.0]])
    return np.minimum(points, path.range[1])


def violations(path, X, y, t, K=None):
    """Return the KKT violation at t, by this test's own formulas: values, boxes, balance."""
    alpha = path.dual(t)
    f, _ = fitted(path, t, X=X) if K is None else fitted(path, t, K=K, y=y)
    margin = y * f - 1.0
    above = np.minimum(np.maximum(margin, 0), alpha / t)
    below = np.minimum(np.maximum(-margin, 0), (t - alpha) / t)
    box = np.maximum(-alpha, alpha - t) / t
    return max(above.max(), below.max(), box.max(), abs(y @ alpha) / t)


def assert_exact(path, X, y, K=None):
    certificate = path.certify(at_breakpoints=True)
    # C up to 1e13: duals in double precision may say no more than the certificate's resolution
    assert certificate.status != "fails", str(certificate)
    for t in spread(path):
        # where a kernel is singular, all that rounding makes of its entries may be another's
        entries = 0.0 if K is None else 16 * EPSILON * (np.abs(K) @ path.dual(t)).max()
        assert violations(path, X, y, t, K) <= 1e-7 + entries + certificate.resolution


def path_or_exact_part(X, y, **options):
    """Return the path and whether it is whole; without that, an error handed over a part."""
    try:
        return svm_path(X, y, **options), True
    except PathError as error:
        return error.path, False


# -- the peers' data --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "least", "most"), [({}, 373, 375), (RBF, 345, 348)], ids=["linear", "rbf"]
)
def test_event_counts_of_three_independent_codes(options, least, most):
    X, y = peers("g200")
    path = svm_path(X, y, **options)
    assert least <= path.diagnostics["events"] <= most


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, RBF], ids=["linear", "rbf"])
@pytest.mark.parametrize("name", ["g200", "dup200", "int200", "unb200"])
def test_peers_data_where_known_codes_leave_the_path(name, options):
    X, y = peers(name)
    path = svm_path(X, y, **options)
    K = kernel(X, X, "rbf", 0.1) if options else None
    assert_exact(path, X, y, K)
    rows = X if K is None else rows_of(K)
    for C in (path.breakpoints[len(path.breakpoints) // 2], 2 * path.breakpoints[-1]):
        cost = np.full(len(y), C)
        ours = hinge_objective(*fitted(path, C, X=X, K=K, y=y), y, cost)
        assert_least(ours, least_hinge(rows, y, cost, free_bias=True), unit=1e-6 * cost.sum())


@pytest.mark.parametrize("name", ["g200", "int200"])
def test_every_way_to_hold_the_data(name):
    X, y = peers(name)
    dense = svm_path(X, y)
    others = [
        svm_path(sp.csr_array(X), y),
        svm_path(X @ X.T, y, kernel="precomputed"),
    ]
    for other in others:
        assert other.breakpoints[-1] == pytest.approx(dense.breakpoints[-1], rel=1e-6)
        for C in spread(dense, 12):
            cost = np.full(len(y), C)
            objectives = [
                hinge_objective(p.decision_function(Z, C), w2, y, cost)
                for p, Z, w2 in (
                    (dense, X, np.sum(dense.coef(C) ** 2)),
                    (
                        other,
                        X @ X.T if other.reading.kernel.name == "precomputed" else X,
                        np.sum((X.T @ (y * other.dual(C))) ** 2),
                    ),
                )
            ]
            assert objectives[0] == pytest.approx(objectives[1], rel=1e-8)
    if name == "g200":  # without ties the events are the same ones
        for other in others:
            assert len(other.breakpoints) == len(dense.breakpoints)


# -- every C ----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "gamma": 0.5}], ids=["linear", "rbf"])
def test_every_cost_from_tiny_to_huge(options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0.7, 1.0, -1.0)  # unbalanced, overlapping
    path = svm_path(X, y, **options)
    assert path.range == (0.0, np.inf)
    K = kernel(X, X, "rbf", 0.5) if options else None
    rows = X if K is None else rows_of(K)
    for C in 10.0 ** np.arange(-6, 7):
        cost = np.full(40, C)
        ours = hinge_objective(*fitted(path, C, X=X, K=K, y=y), y, cost)
        assert_least(ours, least_hinge(rows, y, cost, free_bias=True))
        assert violations(path, X, y, C, K) <= 1e-7


def test_separable_classes_are_constant_after_the_hard_margin():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [4.0, 1.0]])
    path = svm_path(X, np.array([-1, -1, 1, 1]))
    assert_exact(path, X, np.array([-1.0, -1.0, 1.0, 1.0]))
    np.testing.assert_allclose(path.coef(1e6), [2 / 3, 0.0], atol=1e-10)
    assert path.intercept(1e6) == pytest.approx(-1.0)
    # the margin's alphas: 1/2 ||w||^2 = sum(alpha)/2
    assert path.dual(1e6).sum() == pytest.approx(4 / 9)


def test_c_max_ends_the_path_there():
    X, y = peers("unb200")
    whole, part = svm_path(X, y), svm_path(X, y, C_max=0.05)
    assert part.range == (0.0, 0.05)
    np.testing.assert_allclose(part.coef(0.05), whole.coef(0.05), atol=1e-9)
    with pytest.raises(ValueError, match=r"C = 0\.06 is outside this path"):
        part.dual(0.06)


@pytest.mark.parametrize("C_max", [0.0, -1.0, np.nan])
def test_a_bad_c_max_is_named(C_max):
    with pytest.raises(ValueError, match="C_max must be a number > 0"):
        svm_path([[0.0], [1.0]], [0, 1], C_max=C_max)


# -- degenerate data --------------------------------------------------------------------------


def test_empty_margin_sets():
    # two tight far clusters and a flipped point: in between nobody is on the margin
    X = np.array([[0.0], [1.0], [2.0], [3.0], [0.5], [2.5]])
    y = np.array([-1.0, -1.0, 1.0, 1.0, 1.0, -1.0])
    path = svm_path(X, y)
    assert_exact(path, X, y)
    for C in spread(path):
        ours = hinge_objective(*fitted(path, C, X=X), y, np.full(6, C))
        assert_least(ours, least_hinge(X, y, np.full(6, C), free_bias=True), unit=1e-6 * C)


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "gamma": 1.0}], ids=["linear", "rbf"])
@pytest.mark.parametrize("X", [[[0.0], [1.0]], [[-3.0], [1.0]], [[1.0, 2.0], [2.0, 1.0]]], ids=str)
def test_two_rows(X, options):
    X, y = np.array(X), np.array([1.0, -1.0])
    path = svm_path(X, y, **options)
    K = kernel(X, X, "rbf", 1.0) if options else X @ X.T
    # by hand: alpha = min(C, 2 / ||phi_1 - phi_2||^2)
    top = 2 / (K[0, 0] + K[1, 1] - 2 * K[0, 1])
    assert path.breakpoints[-1] == pytest.approx(top)
    for C in (0.01, 0.5 * top, top, 3.0 * top):
        np.testing.assert_allclose(path.dual(C), min(C, top), rtol=1e-10)


ONE_COLUMN = np.array([[1.0], [0.0], [2.0], [1.0], [3.0], [0.5], [2.5], [1.5]])
MIXED = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0])


def _normal(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def _labels(X, seed=1):
    noise = np.random.default_rng(seed).normal(size=len(X))
    y = np.where(X[:, 0] / max(X[:, 0].std(), 1e-300) + noise > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


DEGENERATE = {
    "all rows equal": (np.ones((8, 2)), MIXED),
    "all rows equal, unbalanced": (np.ones((7, 2)), np.array([1.0, -1, -1, -1, -1, -1, -1])),
    "all rows zero": (np.zeros((6, 2)), MIXED[:6]),
    "one label of its own": (_normal(20, 3), np.where(np.arange(20) == 7, 1.0, -1.0)),
    "one label of its own, inside": (
        np.vstack([_normal(20, 2), np.zeros((1, 2))]),
        np.where(np.arange(21) == 20, 1.0, -1.0),
    ),
    "constant column": (np.hstack([ONE_COLUMN, np.full((8, 1), 3.0)]), MIXED),
    "column of zeros": (np.hstack([ONE_COLUMN, np.zeros((8, 1))]), MIXED),
    "duplicated column": (np.hstack([ONE_COLUMN, ONE_COLUMN]), MIXED),
    "duplicated and negated columns": (
        np.hstack([_normal(30, 2), _normal(30, 2), -_normal(30, 2)]),
        _labels(_normal(30, 2)),
    ),
    "fewer rows than columns": (_normal(10, 40), _labels(_normal(10, 40))),
    "features of scale 1e-6": (1e-6 * _normal(30, 3), _labels(_normal(30, 3))),
    "features of scale 1e6": (1e6 * _normal(30, 3), _labels(_normal(30, 3))),
    "features of scales 1e-6 and 1e6": (
        _normal(30, 4) * [1e-6, 1e6, 1.0, 1e-6],
        _labels(_normal(30, 4)),
    ),
    "one-hot rows": (
        np.eye(4)[np.random.default_rng(3).integers(4, size=(40, 3))].reshape(40, 12),
        _labels(_normal(40, 1)),
    ),
    "rows three times, labels mixed": (
        np.repeat(_normal(9, 2), 3, axis=0),
        _labels(_normal(27, 1)),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"), [(name, o) for name in DEGENERATE for o in ("linear", "rbf")]
)
def test_degenerate_data(name, options):
    X, y = DEGENERATE[name]
    arguments, K = {}, None
    if options == "rbf":
        gamma = 0.3 / max(X.var() * X.shape[1], 1e-300) if X.any() and np.ptp(X) > 0 else 1.0
        arguments = {"kernel": "rbf", "gamma": gamma}
        K = kernel(X, X, "rbf", gamma)
    path, whole = path_or_exact_part(X, y, **arguments)
    assert_exact(path, X, y, K)
    assert len(path.breakpoints) > 0
    if not whole:
        return
    assert path.breakpoints[0] == 0.0
    # up to where the oracle has digits left
    C = min(3.0 * path.breakpoints[len(path.breakpoints) // 2] + 1e-9, 1e6)
    cost = np.full(len(y), C)
    ours = hinge_objective(*fitted(path, C, X=X, K=K, y=y), y, cost)
    size = np.abs(X).max() if K is None and X.any() else 1.0  # the oracle sees columns near 1
    rows = X / size if K is None else rows_of(K)
    lam = 1.0 / size**2 if K is None else 1.0
    assert_least(ours, least_hinge(rows, y, cost, lam, free_bias=True), unit=1e-6 * cost.sum())


def test_a_path_error_names_where_and_hands_over_the_exact_part(monkeypatch):
    good = Homotopy.run

    def broken(self, *arguments):
        if self.walk.now.end <= 1.0:  # the start, and the way down to C = 0
            return good(self, *arguments)
        self.walk.now.end = 0.05
        good(self, *arguments)
        raise PathError("The walk stopped on purpose.", None)

    monkeypatch.setattr(Homotopy, "run", broken)
    said = r"stopped on purpose; error\.path is the certified part, C from 0 to 0\.05\.$"
    with pytest.raises(PathError, match=said) as caught:
        svm_path(*peers("g200"))
    part = caught.value.path
    assert part.range == (0.0, 0.05)
    assert len(part.breakpoints) > 10
    assert part.certify().ok


@pytest.mark.parametrize("gamma", [1e-6, 1e-3])
def test_flat_kernels_are_centred_and_the_bias_is_that_of_the_kernel_itself(gamma, tmp_path):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(40, 3)), rng.normal(size=(5, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=40) > 0, 1.0, -1.0)
    path = svm_path(X, y, C_max=1.0 / gamma, kernel="rbf", gamma=gamma)
    assert isinstance(path.reading.kernel, CentredKernel)
    assert path.certify(at_breakpoints=True).ok
    ts = path.breakpoints[5:-5:7]
    K = np.exp(-gamma * ((Z[:, None] - X[None]) ** 2).sum(axis=2))
    by_hand = np.array([K @ (y * path.dual(t)) + path.intercept(t) for t in ts]).T
    scale = np.abs(path.intercept(ts)).max()
    path.save(tmp_path / "path.npz")
    loaded = SolutionPath.load(tmp_path / "path.npz")
    for found in (path, loaded):
        np.testing.assert_allclose(found.decision_function(Z, ts), by_hand, atol=1e-11 * scale)
        one = [found.intercept(t) for t in ts]
        np.testing.assert_allclose(found.intercept(ts), one, rtol=1e-12, atol=1e-12 * scale)


# -- classes of different sizes ---------------------------------------------------------------


def unequal(n, share, d, seed):
    """Return rows that say nothing about their labels, of which a share is positive."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, 1, -1)
    y[:2] = 1, -1
    return rng.normal(size=(n, d)), y


@pytest.mark.parametrize(("seed", "whole"), [(2, False), (7, False), (11, True), (12, True)])
def test_where_no_w_is_best_all_values_tie(seed, whole):
    """With the mean of one class among the others, w = 0 and b = -1 at every C.

    One of seven such starts was lost: rounding let values meet just before they all do.
    """
    X, y = unequal(2000, 0.3, 12, seed)
    path = svm_path(np.round(X) if whole else X, y, C_max=1.0)
    assert path.certify(at_breakpoints=True).ok
    np.testing.assert_allclose(path.coef(0.5), 0.0, atol=1e-12)
    assert path.intercept(0.5) == pytest.approx(-1.0)


def test_a_start_with_unequal_classes_takes_few_events(monkeypatch):
    """Which of 3,000 duals are freed is not left to events, of which there were thousands."""
    good, events = Homotopy.run, []

    def counted(self, *arguments):
        track = good(self, *arguments)
        events.append(int(self.walk.now.events))
        return track

    monkeypatch.setattr(Homotopy, "run", counted)
    X, y = unequal(3000, 0.15, 15, 0)
    X = np.random.default_rng(1).poisson(1.5, size=X.shape).astype(float)
    path = svm_path(X, y, C_max=1e-2)
    assert sum(events[:-1]) < len(y) // 4  # the last walk is that of the path
    assert path.certify(at_breakpoints=True).ok


WEIGHTED = {
    "any": lambda rng, y: rng.uniform(0, 3, len(y)),
    "whole, some zero": lambda rng, y: rng.integers(0, 4, len(y)).astype(float),
    "of classes": lambda rng, y: np.where(y == y.max(), 30.0, 1.0),
}


@pytest.mark.parametrize("kind", WEIGHTED)
@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "gamma": 0.3}])
def test_sample_weights_are_libsvms_at_every_cost(kind, options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = np.where(X[:, 0] + rng.normal(size=80) > 0.8, 1, 0)
    weights = WEIGHTED[kind](rng, y)
    path = svm_path(X, y, sample_weight=weights, C_max=1e4, **options)
    assert path.certify().ok
    kept = weights > 0
    without = svm_path(X[kept], y[kept], sample_weight=weights[kept], C_max=1e4, **options)
    for C in (0.03, 1.0, 7.0):
        theirs = SVC(C=C, kernel=options.get("kernel", "linear"), gamma=0.3, tol=1e-10)
        f = theirs.fit(X, y, sample_weight=weights).decision_function(X)
        np.testing.assert_allclose(path.decision_function(X, C), f, atol=1e-4)  # LIBSVM's accuracy
        own = without.decision_function(X, C)
        np.testing.assert_allclose(path.decision_function(X, C), own, atol=1e-9)


@pytest.mark.parametrize("function", ["svm", "quantile", "dm"])
def test_whole_sample_weights_repeat_rows(function):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0.3, 1, 0)
    times = rng.integers(0, 4, 40)
    rows = np.repeat(np.arange(40), times)
    fit = {
        "svm": lambda *data, **more: svm_path(*data, C_max=100.0, **more),
        "quantile": lambda *data, **more: quantile_svm_path(*data, 0.1, **more),
        "dm": lambda *data, **more: dm_ksvm_path(*data, 3.0, lam_min=1e-3, **more),
    }[function]
    weighted, repeated = fit(X, y, sample_weight=times), fit(X[rows], y[rows])
    assert weighted.certify().ok
    for t in (0.1, 0.45, 0.9):
        own, other = (path.decision_function(X, t) for path in (weighted, repeated))
        np.testing.assert_allclose(own, other, atol=1e-9)
    with pytest.raises(ValueError, match="sample_weight is zero for every instance of the class 1"):
        fit(X, y, sample_weight=(y == 0).astype(float))


@pytest.mark.parametrize("exponent", [-60, -40, 40])
def test_the_units_of_a_kernel_change_no_bit(exponent):
    """Powers of two are exact: K 2^k has at C 2^-k the decisions of K at C."""
    rng, unit = np.random.default_rng(0), 2.0**exponent
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=40) > 0, 1, -1)
    K = kernel(X, X, "rbf", 0.3)
    plain = svm_path(K, y, kernel="precomputed", C_max=100.0, check="raise")
    scaled = svm_path(K * unit, y, kernel="precomputed", C_max=100.0 / unit, check="raise")
    np.testing.assert_array_equal(scaled.breakpoints * unit, plain.breakpoints)
    for C in plain.breakpoints[::5]:
        found = scaled.decision_function(K * unit, C / unit)
        np.testing.assert_array_equal(found, plain.decision_function(K, C))
