"""Elastic nets, l1 balls and double margins: certificates, and an interior-point solver."""

import io
import pickle

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes

from path_benchmark.data import load
from solution_paths import (
    PathError,
    PathWarning,
    SolutionPath,
    dm_drsvm_grid,
    dm_drsvm_path,
    dm_ksvm_path,
    dr_regression_path,
    drlad_grid,
    drlad_path,
    drsvm_path,
    l1_svm_path,
    solution_path,
    svm_path,
)
from solution_paths.homotopy import run
from solution_paths.homotopy.operations import WALK
from solution_paths.problem import Losses, Problem, losses

pytestmark = pytest.mark.slow

CASES = ("gauss", "ties", "collinear", "wide")
ABSOLUTE = ([0.0], [-1.0, 1.0])
HINGE = ([0.0], [0.0, 1.0])


def data(name, seed=3):
    """Return (X, real targets, labels)."""
    rng = np.random.default_rng(seed)
    n, d = (25, 40) if name == "wide" else (45, 5)
    X = rng.normal(size=(n, d))
    if name == "ties":
        X = np.round(X)
        X[1::3] = X[::3]
    if name == "collinear":
        X = np.hstack([X, X[:, :1] - X[:, 1:2], -X[:, 2:3], np.full((n, 1), 3.0)])
    target = 2.0 * X[:, 0] - X[:, 1] + rng.standard_t(2, size=n)
    if name == "ties":
        target = np.round(target)
    return X, target, np.where(target + rng.normal(size=n) > 0.3, 1.0, -1.0)


def least(P, q, rows, bounds):
    """Return the optimal value of a quadratic programme with rows x <= bounds."""
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-11
    options.max_iter = 500
    cones = [clarabel.NonnegativeConeT(len(bounds))]
    args = (sp.csc_matrix(sp.triu(P)), q, sp.csc_matrix(rows), bounds, cones, options)
    return clarabel.DefaultSolver(*args).solve().obj_val


def ridge_of(d, size, lam2):
    """Return lam2/2 ||u - v||^2 as a matrix."""
    P = np.zeros((size, size))
    P[: 2 * d, : 2 * d] = lam2 * np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(d))
    return P


def least_net(X, base, side, loss, lam2=0.0, lam1=0.0, s=np.inf):
    """Return the optimal value for losses of base - side f, in u, v, b and the losses."""
    (n, d), (kinks, slopes) = X.shape, (np.asarray(v, dtype=float) for v in loss)
    starts = np.append(0.0, -np.cumsum(np.diff(slopes) * kinks))
    starts -= (kinks[:, None] * slopes + starts).max(axis=1).min()
    F = side[:, None] * np.hstack([X, -X, np.ones((n, 1))])
    rows = [np.hstack([-a * F, -np.eye(n)]) for a in slopes]
    bounds = [-a * base - start for a, start in zip(slopes, starts, strict=True)]
    rows.append(np.hstack([-np.eye(2 * d), np.zeros((2 * d, n + 1))]))
    bounds.append(np.zeros(2 * d))
    if s < np.inf:
        rows.append(np.append(np.ones(2 * d), np.zeros(n + 1))[None])
        bounds.append([s])
    q = np.concatenate([np.full(2 * d, lam1), [0.0], np.full(n, 1 / n)])
    return least(ridge_of(d, len(q), lam2), q, np.vstack(rows), np.concatenate(bounds))


def least_double(X, y, kappa, lam2, lam1):
    """Return the optimal value of the double margin with rho, in u, v, b, rho and the losses."""
    n, d = X.shape
    M = y[:, None] * np.hstack([X, -X, np.ones((n, 1))])
    none = np.zeros((n, 1))
    rows = [
        np.hstack([-M, none, -np.eye(n)]),
        np.hstack([M, none - kappa, -np.eye(n)]),
        np.hstack([0.0 * M, none, -np.eye(n)]),
        np.hstack([-np.eye(2 * d), np.zeros((2 * d, n + 2))]),
        np.concatenate([np.ones(2 * d), [0.0, -1.0], np.zeros(n)])[None],
    ]
    bounds = np.concatenate([-np.ones(2 * n), np.zeros(n + 2 * d + 1)])
    q = np.concatenate([np.zeros(2 * d + 1), [lam1], np.full(n, 1 / n)])
    return least(ridge_of(d, len(q), lam2), q, np.vstack(rows), bounds)


def value(X, y, kinks, slopes, w, b, labels):
    """Return the mean loss, whose least value is 0, by its pieces."""
    r = 1.0 - y * (X @ w + b) if labels else y - X @ w - b
    kinks, slopes = np.asarray(kinks, dtype=float), np.asarray(slopes, dtype=float)
    starts = np.append(0.0, -np.cumsum(np.diff(slopes) * kinks))
    starts -= (kinks[:, None] * slopes + starts).max(axis=1).min()
    return (r[:, None] * slopes + starts).max(axis=1).mean()


def places(path, low, high):
    """Return breakpoints and points between them, in [low, high]."""
    inner = path.breakpoints[(path.breakpoints >= low) & (path.breakpoints <= high)]
    some = inner[:: max(len(inner) // 4, 1)]
    return np.concatenate([some, np.geomspace(max(low, 1e-3 * high), high, 5)[:-1]])


def agree(ours, theirs):
    assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-9)


def holds(path):
    certificate = path.certify(at_breakpoints=True)
    assert certificate.ok, certificate
    return path


@pytest.mark.parametrize(
    ("rho", "seed", "lam2"),
    [(0.0, 4253169898, 0.023357214690901237), (0.4, 2940619678, 0.012742749857031348)],
)
def test_a_level_between_two_doubles_of_the_parameter(rho, seed, lam2):
    # At one node a unit of the last place of s moves duals by 3e-7 of their levels: where the
    # nearest double is behind the event, the node is the double before it.
    data = load("drlad_simulation", n=100, rho=rho, snr=1.0, seed=seed, offline=True)
    holds(drlad_path(data.X, data.y, lam2=lam2))


@pytest.mark.parametrize("lam2", [0.0, 1e-3, 0.3])
@pytest.mark.parametrize("name", CASES)
def test_drlad_in_s(name, lam2):
    X, y, _ = data(name)
    path = drlad_path(X, y, lam2=lam2)
    if name != "wide" or lam2:
        holds(path)
    else:  # there the loss is zero in the end, but for rounding, and no gap is small beside it
        found = path.certify(at_breakpoints=True)
        assert found.status != "fails"
        assert found.error < 1e-12
    for s in places(path, 0.0, 1.2 * path.breakpoints[-1]):
        w, b = path.coef(s), path.intercept(s)
        assert np.abs(w).sum() <= s * (1 + 1e-9)
        ours = value(X, y, *ABSOLUTE, w, b, False) + lam2 / 2 * w @ w
        agree(ours, least_net(X, y, np.ones(len(y)), ABSOLUTE, lam2, s=s))


@pytest.mark.parametrize("held", [{"s": 1.5}, {"s": 0.05}, {"lam1": 0.1}, {"lam1": 0.0}])
@pytest.mark.parametrize("name", CASES)
def test_drlad_in_lam2(name, held):
    X, y, _ = data(name)
    path = holds(drlad_path(X, y, vary="lam2", **held))
    for lam2 in places(path, path.breakpoints[0] / 2, 2.0 * path.breakpoints[-1]):
        w, b = path.coef(lam2), path.intercept(lam2)
        assert np.abs(w).sum() <= held.get("s", np.inf) * (1 + 1e-9)
        ours = value(X, y, *ABSOLUTE, w, b, False) + lam2 / 2 * w @ w
        ours += held.get("lam1", 0.0) * np.abs(w).sum()
        agree(ours, least_net(X, y, np.ones(len(y)), ABSOLUTE, lam2, **held))


LOSSES = {
    "quantile": (("quantile", 0.2), ([0.0], [-0.8, 0.2])),
    "tube": (("epsilon_insensitive", 0.5), ([-0.5, 0.5], [-1.0, 0.0, 1.0])),
    "own": (([-1.0, 0.0, 2.0], [-2.0, -0.5, 0.25, 1.0]),) * 2,
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("vary", ["s", "lam1"])
def test_any_loss(name, loss, vary):
    X, y, _ = data(name)
    given, pieces = LOSSES[loss]
    path = holds(dr_regression_path(X, y, given, vary=vary, lam2=0.05))
    for t in places(path, 0.0, path.breakpoints[-1]):
        w, b = path.coef(t), path.intercept(t)
        ours = value(X, y, *pieces, w, b, False) + 0.05 / 2 * w @ w
        ours += t * np.abs(w).sum() if vary == "lam1" else 0.0
        agree(ours, least_net(X, y, np.ones(len(y)), pieces, 0.05, **{vary: t}))


@pytest.mark.parametrize("held", [{"lam2": 0.0}, {"lam2": 0.2}, {"lam1": 0.0}, {"lam1": 0.05}])
@pytest.mark.parametrize("name", CASES)
def test_drsvm(name, held):
    X, _, y = data(name)
    vary = "lam1" if "lam2" in held else "lam2"
    path = holds(drsvm_path(X, y, vary=vary, **held))
    for t in places(path, 0.5 * path.breakpoints[0], path.breakpoints[-1]):
        w, b = path.coef(t), path.intercept(t)
        lam1, lam2 = (held | {vary: t})["lam1"], (held | {vary: t})["lam2"]
        ours = value(X, y, *HINGE, w, b, True) + lam2 / 2 * w @ w + lam1 * np.abs(w).sum()
        agree(ours, least_net(X, np.ones(len(y)), y, HINGE, lam2, lam1))


def test_drsvm_meets_its_special_cases():
    X, _, y = data("gauss")
    n = len(y)
    ridge, hinge = drsvm_path(X, y, vary="lam2"), svm_path(X, y)
    lasso, net = l1_svm_path(X, y), drsvm_path(X, y)
    for lam in (0.003, 0.04, 0.3):
        np.testing.assert_allclose(ridge.coef(lam), hinge.coef(1 / (n * lam)), atol=1e-9)
        np.testing.assert_allclose(net.coef(lam), lasso.coef(n * lam), atol=1e-9)


def rho_of(path, t):
    _, above, below = path.free(t)
    return above - below


@pytest.mark.parametrize("kappa", [0.5, 1.0, 2.0, 3.0, 20.0])
@pytest.mark.parametrize("name", CASES)
def test_dm_drsvm(name, kappa):
    X, _, y = data(name)
    for held in ({"lam2": 0.1}, {"lam1": 0.01}):
        vary = "lam1" if "lam2" in held else "lam2"
        path = holds(dm_drsvm_path(X, y, kappa, vary=vary, **held))
        for t in places(path, 0.5 * path.breakpoints[0], path.breakpoints[-1]):
            w, b = path.coef(t), path.intercept(t)
            lam1, lam2 = (held | {vary: t})["lam1"], (held | {vary: t})["lam2"]
            rho = rho_of(path, t)
            assert np.abs(w).sum() <= rho + 1e-9
            m = y * (X @ w + b)
            loss = np.maximum(np.maximum(1 - m, 1 + m - kappa * rho), 0).mean()
            agree(loss + lam1 * rho + lam2 / 2 * w @ w, least_double(X, y, kappa, lam2, lam1))


def test_dm_drsvm_passes_all_three_regimes():
    X, _, y = data("gauss")
    path = dm_drsvm_path(X, y, 1.0, vary="lam1", lam2=0.1)
    rho = rho_of(path, np.linspace(*path.range, 200))
    assert rho.max() > 2.1
    assert rho.min() < 1.9
    assert (rho == 2.0).sum() > 5


@pytest.mark.parametrize("kappa", [0.5, 2.0, 3.0, 20.0])
@pytest.mark.parametrize("name", CASES)
def test_dm_ksvm(name, kappa):
    X, _, y = data(name)
    n, h = len(y), kappa / 2
    path = holds(dm_ksvm_path(X, y, kappa))
    pieces = ([h], [-1.0, 1.0]) if kappa <= 2 else ([1.0, kappa - 1.0], [-1.0, 0.0, 1.0])
    above = max(1.0 - h, 0.0)
    for lam in places(path, path.breakpoints[0] / 2, path.breakpoints[-1]):
        w, b = path.coef(lam), path.intercept(lam)
        m = y * (X @ w + b)
        loss = np.maximum(np.maximum(1 - m, 1 + m - kappa), 0).mean()
        theirs = least_net(X, np.zeros(n), -y, pieces, lam) + above
        agree(loss + lam / 2 * w @ w, theirs)
        alpha = path.dual(lam)
        assert np.abs(alpha).max() <= (1 + 1e-9) / n
        np.testing.assert_allclose(X.T @ (alpha * y) / lam, w, atol=1e-9)


def test_dm_ksvm_with_kernels():
    X, _, y = data("ties")
    for options in ({"kernel": "rbf", "gamma": 0.5}, {"kernel": "poly", "coef0": 1.0}):
        holds(dm_ksvm_path(X, y, 3.0, **options))


def test_paths_on_data_as_users_have_them():
    X, y = load_diabetes(return_X_y=True)
    holds(drlad_path(X[:150], y[:150], lam2=1e-3))
    holds(drlad_path(X[:150], y[:150], vary="lam2", s=600.0, lam2_min=1e-6))
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    holds(dm_drsvm_path(X[:120], y[:120], 1.0, vary="lam1", lam2=0.01))
    holds(drsvm_path(X[:120], y[:120], lam2=0.01))


@pytest.mark.parametrize("seed", range(12))
def test_lattices_on_which_correlations_move_while_w_rests(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(int(rng.integers(8, 30)), 2)).astype(float)
    y = np.round(rng.normal(size=len(X)))
    for s in (0.3, 1.0):
        holds(drlad_path(X, y, vary="lam2", s=s, lam2_min=1e-7))
    path = holds(drlad_path(X, y))
    assert path.range == (0.0, np.inf)
    assert path.breakpoints[-1] < 100


def test_constant_columns_have_no_coefficient():
    X, y, _ = data("gauss")
    wide = np.hstack([np.full((len(y), 1), 5.0), X])
    path, plain = drlad_path(wide, y, lam2=0.1), drlad_path(X, y, lam2=0.1)
    np.testing.assert_allclose(path.coef(1.0), np.append(0.0, plain.coef(1.0)), atol=1e-12)


@pytest.mark.parametrize("kappa", [1.0, 20.0])
def test_double_margins_without_a_column_that_varies(kappa):
    path = dm_drsvm_path(np.ones((8, 2)), [1, -1] * 3 + [1, 1], kappa, vary="lam2", lam1=0.01)
    assert path.range == (0.0, np.inf)
    assert not path.coef(1.0).any()
    assert path.certify().ok


def test_a_grid_is_exact_between_its_points_too():
    X, y, _ = data("collinear")
    radii, ridges = [0.5, 1.0, 2.5], [0.0, 0.01, 0.3]
    surface = drlad_grid(X[:30], y[:30], radii, ridges)
    assert surface.certify().ok
    assert surface.coefs().shape == (3, 3, X.shape[1])
    for i, lam2 in enumerate(ridges):
        own = drlad_path(X[:30], y[:30], lam2=lam2)
        for k, s in enumerate(radii):
            agree(
                surface.objective(i, s), least_net(X[:30], y[:30], np.ones(30), ABSOLUTE, lam2, s=s)
            )
            np.testing.assert_allclose(surface.coefs()[i, k], surface.coef(i, s))
        ours = surface.objective(i, 1.7)
        w = own.coef(1.7)
        b = own.intercept(1.7)
        agree(ours, value(X[:30], y[:30], *ABSOLUTE, w, b, False) + lam2 / 2 * w @ w)
    best = surface.best(X[30:], y[30:], "squared")
    curves = surface.error(X[30:], y[30:], "squared")
    fine = [curve(np.linspace(0, 2.5, 500)).min() for curve in curves]
    assert best.value <= min(fine) + 1e-12
    assert best.value == pytest.approx(curves[best.line](best.parameter), rel=1e-9)
    f = surface.decision_function(best.line, X[30:], best.parameter)
    assert best.value == pytest.approx(np.mean((f - y[30:]) ** 2), rel=1e-9)


def lines_of(name, values):
    """Return a grid's lines, and the same paths one by one."""
    X, y, labels = data(name)
    if name == "wide":
        X, y = np.tile(X, (6, 1)), np.concatenate([y + 0.1 * k for k in range(6)])
        labels = np.tile(labels, 6)
    yield drlad_grid(X, y, [1e6], values).paths, [drlad_path(X, y, lam2=v) for v in values]
    margins = dm_drsvm_grid(X, labels, 2.0, [0.0], values).paths
    yield margins, [dm_drsvm_path(X, labels, 2.0, vary="lam1", lam2=v) for v in values]


def both_breakpoints(line, path, last):
    """Return the breakpoints of either up to ``last``: between them both are linear."""
    points = np.union1d(line.breakpoints, path.breakpoints)
    return points[(points >= line.range[0]) & (points <= last)]


@pytest.mark.parametrize("name", CASES)
def test_lines_of_a_grid_are_the_paths_themselves(name):
    for lines, paths in lines_of(name, [1e-3, 1.0, 1e-2, 0.1]):
        for line, path in zip(lines, paths, strict=True):
            assert line.range[0] == path.range[0]
            last = min(line.breakpoints[-1], path.breakpoints[-1])
            at, every = np.linspace(line.range[0], last, 9), both_breakpoints(line, path, last)
            for points in (at, every):
                np.testing.assert_allclose(line.coef(points), path.coef(points), rtol=0, atol=1e-9)
                ours, theirs = line.intercept(points), path.intercept(points)
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
            guessed = line.parameter == "lam1"  # the path, where the line has its neighbour's start
            # Rows that are one share its dual as they may, and so may have other breakpoints.
            if not (guessed and name in ("ties", "wide")):
                inner = line.breakpoints[line.breakpoints <= last]
                np.testing.assert_allclose(inner, path.breakpoints[: len(inner)], rtol=1e-9)
                ours, theirs = line.dual(at[:-1]), path.dual(at[:-1])  # open at the end itself
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
            if not guessed:  # from another start ties may be broken otherwise, in more events
                assert line.diagnostics["events"] <= path.diagnostics["events"]
            holds(line)


def test_the_log_of_lines_grows_behind_many_events():
    """The first log has room for some hundred events, and all states are kept each 64 or more."""
    X, y = load_diabetes(return_X_y=True)
    surface = drlad_grid(20 * X[:150], y[:150], [1e9], np.geomspace(1e-5, 1e-3, 8))
    events = [path.diagnostics["events"] for path in surface.paths]
    assert min(events) > 64
    assert sum(events) > 1024
    for path in surface.paths:
        holds(path)


def test_lines_are_the_paths_of_their_ridges_where_samples_tie_at_the_start():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 4))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=90) > 0.5, 1.0, 0.0)
    ridges = [0.1, 1e-3, 0.0, 1.0]
    surface = drlad_grid(X, y, [1e3], ridges)
    paths = [drlad_path(X, y, lam2=lam2) for lam2 in ridges]
    for line, path in zip(surface.paths, paths, strict=True):
        holds(line)
        assert len(path.breakpoints) > 5
        np.testing.assert_allclose(line.breakpoints[:-1], path.breakpoints, rtol=1e-9)
        at = np.linspace(0.0, path.breakpoints[-1], 9)[1:]
        np.testing.assert_allclose(line.coef(at), path.coef(at), rtol=0, atol=1e-9)


def broken_at(share, monkeypatch):
    """Return a callback; once the walk fails that has told it of such a share of a stage."""
    monkeypatch.setattr(run, "STEPS_PER_CALLBACK", 1)
    seen, broken, operate = [], [], run.operate

    def fail_once(w, what, *arguments, **named):
        if broken == [True] and what == WALK:
            broken.append(False)
            raise ZeroDivisionError("on purpose")
        return operate(w, what, *arguments, **named)

    def callback(done, events):
        seen.append((done, events))
        if not broken and len(seen) > 1 and seen[-2][0] < share <= done:
            broken.append(True)

    monkeypatch.setattr(run, "operate", fail_once)
    return callback, seen


def test_a_lost_line_costs_no_other(monkeypatch):
    X, y, _ = data("gauss")
    callback, _ = broken_at(0.5, monkeypatch)
    said = r"Line 1 of 3, where lam2 = 0.1, is lost, .* on purpose"
    with pytest.raises(PathError, match=said) as caught:
        drlad_grid(X, y, [1.0], [1.0, 0.1, 0.01], callback=callback)
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.surface.fixed_values.tolist() == [1.0, 0.01]
    for lam2, path in zip(error.surface.fixed_values, error.surface.paths, strict=True):
        whole = drlad_path(X, y, lam2=lam2)
        np.testing.assert_allclose(path.coef(1.0), whole.coef(1.0), atol=1e-9)
        assert path.range[1] == 1.0
    assert 0.0 < error.path.range[1] < 1.0
    holds(error.path)
    assert error.path.line.start.ridge == 0.1


@pytest.mark.parametrize("stage", [1, 2])
def test_a_lost_line_of_double_margins_costs_no_other(stage, monkeypatch):
    X, _, y = data("gauss")
    callback, _ = broken_at((3 + stage + 0.5) / 6, monkeypatch)
    said = r"Line 1 of 2, where lam2 = 0.1, is lost, .* on purpose"
    with pytest.raises(PathError, match=said) as caught:
        dm_drsvm_grid(X, y, 2.0, [0.01], [0.01, 0.1], callback=callback)
    error = caught.value
    assert error.surface.fixed_values.tolist() == [0.01]
    agree(error.surface.objective(0, 0.02), least_double(X, y, 2.0, 0.01, 0.02))
    holds(error.path)


@pytest.mark.parametrize(
    ("X", "y", "kappa"),
    [
        ([-2.0, -1.0, 1.0, 1.0, -2.0, -1.0], [1, -1, 1, -1, -1, 1], 14.231845980568849),
        ([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [1, 1, -1] + [-1] * 5 + [1, 1], 3.17),
    ],
)
def test_where_rho_falls_at_one_lam1_duals_stay_what_they_were(X, y, kappa):
    """They went on along the piece before, by 1e-9 of their bound (fuzz: lattice, one-hot)."""
    for lam2 in (0.01, 0.3, 30.0):
        path = dm_drsvm_path(np.array(X)[:, None], y, kappa, vary="lam1", lam2=lam2)
        found = holds(path).certify(at_breakpoints=True)
        assert found.gap < 1e-13
        ends = np.array([path.range[1], path.breakpoints[-1]])
        assert np.abs(path.dual(ends)).max() <= (1 + 1e-14) / len(y)


def test_where_all_lines_are_lost_there_is_no_surface(monkeypatch):
    def lost(self, *arguments):
        raise ZeroDivisionError("on purpose")

    X, y, _ = data("gauss")
    monkeypatch.setattr(run.Homotopy, "run", lost)
    with pytest.raises(PathError, match=r"Line 0 of 2, .* 0 are in error.surface") as caught:
        drlad_grid(X, y, [1.0], [1.0, 0.1])
    assert caught.value.surface is caught.value.path is None


@pytest.mark.parametrize("grid", ["drlad", "double margin"])
def test_the_progress_of_a_grid_is_that_of_all_lines(grid, monkeypatch):
    X, y, labels = data("gauss")
    callback, seen = broken_at(np.inf, monkeypatch)
    if grid == "drlad":
        surface = drlad_grid(X, y, [1.0], [1.0, 0.1, 0.01], callback=callback)
    else:
        surface = dm_drsvm_grid(X, labels, 2.0, [0.1], [1.0, 0.1], callback=callback)
    done, events = np.array(seen).T
    assert (np.diff(done) >= 0).all()
    assert (np.diff(events) >= 0).all()
    assert done[0] < 0.2
    assert done[-1] == 1.0
    counts = [path.diagnostics for path in surface.paths]
    assert events[-1] == sum(own["events"] + own.get("start_events", 0) for own in counts)


def test_biases_behind_coefficients_are_those_asked_for():
    X, y, _ = data("gauss")
    path, other = drlad_path(X, y, lam2=0.1), drlad_path(X, y, lam2=0.1)
    some, more = [0.3, 0.1], [0.5, 1.0, 2.0]
    path.coef(some)
    np.testing.assert_array_equal(path.intercept(some), other.intercept(some))
    np.testing.assert_array_equal(path.intercept(more), other.intercept(more))
    path.coef(more)
    np.testing.assert_array_equal(path.intercept(some), other.intercept(some))


def test_a_grid_of_double_margins():
    X, _, y = data("gauss")
    surface = dm_drsvm_grid(X, y, 2.0, [0.0, 0.01, 10.0], [0.01, 0.1])
    assert surface.certify().ok
    for i, lam2 in enumerate([0.01, 0.1]):
        agree(surface.objective(i, 0.02), least_double(X, y, 2.0, lam2, 0.02))
        np.testing.assert_allclose(surface.coef(i, 10.0), 0.0, atol=1e-12)
    assert surface.intercepts().shape == (2, 3)
    assert surface.best(X, y).value <= 0.5


def test_errors_along_a_penalty_are_exact_between_breakpoints():
    X, y, labels = data("gauss")
    path = drlad_path(X[:30], y[:30], vary="lam2", s=1.5)
    low, high = path.breakpoints[0] / 3, path.breakpoints[-1] * 3
    at = np.geomspace(low, high, 300)
    for metric, mean in (
        ("squared", lambda r: (r**2).mean(0)),
        ("absolute", lambda r: abs(r).mean(0)),
    ):
        curve = path.error_curve(X[30:], y[30:], metric)
        found = mean(path.decision_function(X[30:], at) - y[30:, None])
        np.testing.assert_allclose(curve(at), found, rtol=1e-9)
        best = curve.best()
        assert best.value <= found.min() * (1 + 1e-12)
        assert best.value == pytest.approx(curve(best.parameter), rel=1e-9)
    path = dm_ksvm_path(X[:30], labels[:30], 3.0)
    curve = path.error_curve(X[30:], labels[30:])
    wrong = (path.predict(X[30:], at) != labels[30:, None]).mean(axis=0)
    np.testing.assert_allclose(curve(at), wrong)
    for row, places in zip(X[30:], path.crossings(X[30:]), strict=True):
        for lam in places:
            assert path.decision_function(row[None], lam)[0] == pytest.approx(0.0, abs=1e-9)


def test_inverse_paths_are_saved_pickled_and_plotted():
    X, y, labels = data("gauss")
    for path in (drlad_path(X, y, vary="lam2", s=1.0), dm_drsvm_path(X, labels, 2.0, lam1=0.01)):
        file = io.BytesIO()
        path.save(file)
        loaded = SolutionPath.load(io.BytesIO(file.getvalue()))
        for other in (loaded, pickle.loads(pickle.dumps(path))):
            assert other.scale == path.scale
            np.testing.assert_array_equal(other.breakpoints, path.breakpoints)
            np.testing.assert_array_equal(other.coef(0.03), path.coef(0.03))
        assert path.range == (0.0, np.inf)
        np.testing.assert_allclose(path.coef(0.0), path.coef(path.breakpoints[0]))
        np.testing.assert_allclose(path.dual(0.0), path.dual(1e-9 * path.breakpoints[0]), atol=1e-9)
        assert len(path.plot("dual").lines) == len(y)


WRONG = {
    "what varies is given": ({"vary": "s", "s": 1.0}, "takes no s: leave it out"),
    "lam1 beside s": ({"vary": "s", "lam1": 1.0}, "takes no lam1: leave it out"),
    "both s and lam1": ({"s": 1.0, "lam1": 1.0}, "either s or lam1"),
    "a negative ridge": ({"lam2": -1.0}, "lam2 must be"),
    "neither s nor lam1": ({"vary": "lam2"}, "either s or lam1"),
    "an unknown parameter": ({"vary": "lam"}, "vary must be"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_named(case):
    X, y, _ = data("gauss")
    options, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        drlad_path(X, y, **options)


@pytest.mark.parametrize(
    "loss", ["huber", ("quantile", 1.0), ([0.0], [1.0, 2.0]), ([1.0, 0.0], [-1, 0, 1]), 3]
)
def test_wrong_losses_are_named(loss):
    X, y, _ = data("gauss")
    with pytest.raises(ValueError, match=r"loss|tau"):
        dr_regression_path(X, y, loss)


def test_without_any_correlation_w_is_zero_for_every_radius():
    path = holds(drlad_path([[1.0], [-1.0], [1.0], [-1.0]], [0.0, 0.0, 0.0, 0.0]))
    assert path.range == (0.0, np.inf)
    assert not path.coef([0.0, 1.0, 10.0]).any()


def test_the_objective_at_a_ridge_of_zero_is_that_of_the_plain_loss():
    X, y, _ = data("gauss")
    path = drlad_path(X, y, vary="lam2", lam1=0.1)
    agree(path.objective_value(0.0), least_net(X, y, np.ones(len(y)), ABSOLUTE, lam1=0.1))
    for lam2 in (1e-3, 0.3):
        agree(path.objective_value(lam2), least_net(X, y, np.ones(len(y)), ABSOLUTE, lam2, 0.1))
    several = [0.0, 1e-3, 0.3]
    assert path.objective_value(several).tolist() == [path.objective_value(v) for v in several]


def raw_units(n, d, seed):
    """Return ages, incomes, Unix times, a constant, dummies and numbers; and labels of both."""
    rng = np.random.default_rng(seed)
    plain = [rng.integers(18, 90, n), rng.lognormal(10, 1, n).round()]
    plain += [1.7e9 + rng.integers(0, 10**7, n), np.ones(n)]
    plain += [rng.integers(0, 2, n) if k % 2 else rng.normal(size=n) for k in range(d)]
    X = np.array(plain, dtype=float).T
    y = X[:, 5] + X[:, 0] / 20 + rng.standard_t(2, size=n)
    return X, np.where(y > np.median(y), 1.0, -1.0)


STARTS = {
    "more rows": (150, 14, lambda X, y: dm_drsvm_path(X, y, 1.0, lam1=0.05, check="ignore")),
    "two margins": (150, 14, lambda X, y: dm_drsvm_path(X, y, 3.0, lam1=0.05, check="ignore")),
    "more columns": (40, 130, lambda X, y: drsvm_path(X, y, vary="lam2", check="ignore")),
}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", STARTS)
def test_paths_in_raw_units_begin_where_losses_cost_nothing(name, seed):
    """Begun at lam2 = infinity itself they took a million changes there, or left the optimum."""
    n, d, trace = STARTS[name]
    with pytest.warns(PathWarning, match="columns of X differ in scale"):
        path = trace(*raw_units(n, d, seed))
    found = path.certify()
    assert found.status != "fails", found
    assert len(path.breakpoints) > 50


def test_a_start_behind_is_on_the_side_where_the_path_goes():
    X, _, y = data("gauss")

    def model(t):
        return Problem(Losses(losses.hinge(y, -t), X, 1.0), ridge=1.0)

    path, other = solution_path(model, 0.0, -2.0), svm_path(X, y, C_max=2.0)
    assert path.certify(at_breakpoints=True).ok
    np.testing.assert_allclose(path.coef(-1.5), other.coef(1.5), atol=1e-12)
