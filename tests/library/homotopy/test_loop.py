"""The homotopy: every statement walked by one loop, judged by code that knows nothing of it."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import solution_paths
from helpers import stated_models as models
from helpers.stated_models import EXAMPLES
from helpers.walks import look_at_all, solve_afresh, walked
from solution_paths.errors import PathError
from solution_paths.homotopy import loop, run
from solution_paths.homotopy.graphs import tables
from solution_paths.homotopy.moving import Twofold
from solution_paths.homotopy.operations import WALK
from solution_paths.homotopy.start import Misfit
from solution_paths.homotopy.state import CURVED, RIDGED
from solution_paths.homotopy.statement import read
from solution_paths.homotopy.tolerances import MANY_ELIMINATED, SMALL_SYSTEM
from solution_paths.homotopy.twofold import weighted_squares
from solution_paths.problem import Losses, Problem, along, losses, penalties, pieces
from solution_paths.solution import follow
from solution_paths.verify import Answer, judge

pytestmark = pytest.mark.slow


def assert_optimal(model, path, count=8):
    """Judge a path at some of its breakpoints and between them."""
    low, high = sorted((path.t[0], path.t[-1]))
    places = np.random.default_rng(1).uniform(low, high, count)
    for t in np.r_[places, path.t[:: max(1, len(path.t) // count)], path.t[-1]]:
        found = judge(model(t), Answer(*path.at(t)))
        assert found.kkt <= 1e-9, f"at {t}: gap {found.gap:.1e}, KKT {found.kkt:.1e}"
        zero = abs(found.primal) <= 1e-12  # data that can be fitted exactly
        unjudged = np.isnan(found.gap)  # no dual bound: a feature is the column of a free variable
        assert zero or unjudged or found.gap <= 1e-9, f"at {t}: gap {found.gap:.1e}"


@pytest.mark.parametrize("name", models.EXAMPLES)
def test_every_example_is_optimal_all_along(name):
    model, t0, t1 = models.EXAMPLES[name]
    path = walked(model, t0, t1)
    assert path.t[0] == t0
    assert path.t[-1] == t1
    assert_optimal(model, path)


@pytest.mark.parametrize("name", ["SVR in eps", "one cost", "Huberised SVM", "ranking SVM"])
def test_a_path_is_the_same_backwards(name):
    model, t0, t1 = models.EXAMPLES[name]
    there, back = walked(model, t0, t1), walked(model, t1, t0)
    for t in np.random.default_rng(2).uniform(min(t0, t1), max(t0, t1), 10):
        np.testing.assert_allclose(there.at(t)[0], back.at(t)[0], rtol=1e-9, atol=1e-12)


FACES = {  # what each example is solved with by default, and the other
    "SVR in C": "dual",
    "quantile SVM": "dual",
    "ranking SVM": "dual",
    "ordinal SVM": "dual",
    "Huber, l1": "saddle",
    "squared hinge, l1": "saddle",
    "Huberised SVM": "saddle",
    "fused lasso": "saddle",
    "lasso": "saddle",
    "l1 lasso, no bias": "saddle",
}


@pytest.mark.parametrize("name", FACES)
def test_the_faces_agree(name):
    model, t0, t1 = models.EXAMPLES[name]
    path, other = walked(model, t0, t1), walked(model, t0, t1, face=FACES[name])
    for t in np.random.default_rng(3).uniform(min(t0, t1), max(t0, t1), 10):
        np.testing.assert_allclose(path.at(t)[0], other.at(t)[0], rtol=1e-9, atol=1e-11)


def deficient(kind, seed):
    """Return data for which weights of a lasso may not be unique."""
    r = np.random.default_rng(seed)
    n, d = (40, 8) if seed % 2 else (12, 20)
    X, y = r.normal(size=(n, d)), r.normal(size=n)
    if kind == "twins":
        X[:, -3:] = X[:, :3]
    elif kind == "sums":  # dependent but for the rounding of one column
        X[:, 4], X[:, 5] = 1.0, X[:, 0] + X[:, 1]
    elif kind == "dummies":
        X = (r.integers(0, 3, (n, 1)) == np.arange(3)).astype(float)
        X = np.column_stack([X, 2 * X[:, :1], r.integers(0, 2, n)])
    elif kind == "raw units":
        X[:, 0] += 3000
        X[:, 1] *= 1e-3
    elif kind == "integers":
        X, y = r.integers(0, 3, (n, d)).astype(float), r.integers(0, 3, n).astype(float)
        X[n // 2 :] = X[: n // 2]
    elif kind == "exact fit":
        y = X[:, :5].sum(axis=1) + 2
    return X, y


@pytest.mark.filterwarnings("ignore:.*differ in scale")
@pytest.mark.parametrize("ends", [(0.0, np.inf), (0.0, 500.0), (500.0, 0.0)], ids=str)
@pytest.mark.parametrize("face", ["primal", "saddle"])
@pytest.mark.parametrize("kind", ["twins", "sums", "dummies", "raw units", "integers", "exact fit"])
def test_a_lasso_whose_weights_are_not_unique(kind, face, ends):
    for seed in range(4):
        X, y = deficient(kind, seed)

        def model(lam, X=X, y=y):
            penalty = penalties.l1(X.shape[1], lam)
            return Problem(Losses(losses.squared(y), X, 1.0), penalty, ridge=0.0)

        path = follow.model_path(model, *ends, face=face, check="raise")
        assert path.statement.face == face
        # an objective of 0 in raw units: rounding of the weights decides what it is
        expected = ("holds", "undecided") if kind == "raw units" else ("holds",)
        assert path.certify(30).status in expected


@pytest.mark.parametrize("name", ["lasso", "elastic net", "nonnegative", "two groups"])
def test_a_path_is_the_same_from_its_end(name, monkeypatch):
    r = np.random.default_rng(5)
    X, y, w = r.normal(size=(30, 6)), r.normal(size=30), r.uniform(0.5, 2.0, 30)

    def model(lam):
        ridge = 0.7 if name == "elastic net" else 0.0
        penalty = penalties.l1(6, lam)
        if name == "nonnegative":  # lam w for w >= 0, with a bound at 1/4
            penalty = pieces([np.zeros(6), 0.25], [0.0, lam, lam], low=0.0, high=0.25)
        parts = [Losses(losses.squared(y), X, 1.0)]
        if name == "two groups":  # of unlike weights
            q = np.ones(30)
            other = pieces([w], [-0.3, -0.3], [2 * q, 2 * q])
            parts.append(Losses(other, r_other, 0.5))
        return Problem(parts if len(parts) > 1 else parts[0], penalty, ridge=ridge)

    r_other = r.normal(size=(30, 6))
    path = solution_paths.solution_path(model, 0.0, np.inf)
    assert path.statement.face == "primal"
    assert path.certify().status == "holds"
    monkeypatch.setattr(follow, "_walk_from_end", lambda *_, **__: (None, None))
    other = follow.model_path(model, 0.0, np.inf, face="saddle")
    np.testing.assert_allclose(path.breakpoints, other.breakpoints, rtol=1e-9, atol=1e-11)
    for lam in [0.0, *r.uniform(0.0, 2 * path.breakpoints[-1], 10)]:
        np.testing.assert_allclose(path.coef(lam), other.coef(lam), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", models.EXAMPLES)
def test_an_updated_factor_changes_no_event(name):
    model, t0, t1 = models.EXAMPLES[name]
    path, plain = (walked(model, t0, t1, before=before) for before in (None, solve_afresh))
    np.testing.assert_array_equal(path.track.events, plain.track.events)
    if np.diff(path.track.entry_at).max() + path.statement.silent <= SMALL_SYSTEM:
        np.testing.assert_allclose(path.t, plain.t, rtol=1e-15, atol=1e-15)
        np.testing.assert_allclose(path.unknowns, plain.unknowns, rtol=1e-15, atol=1e-15)
    else:
        assert_carried(path, plain)


def assert_carried(path, plain):
    """Points that are carried along are known to `tolerances.CARRIED`."""
    np.testing.assert_allclose(path.t, plain.t, rtol=1e-12, atol=1e-12)
    size = np.abs(plain.unknowns).max(axis=-1, keepdims=True)
    np.testing.assert_array_less(np.abs(path.unknowns - plain.unknowns) / size, 1e-11)


@pytest.mark.parametrize("name", ["kernel", "many features", "one-hot"])
def test_large_systems_are_carried_along_without_changing_an_event(name):
    """Systems of more than `SMALL_SYSTEM` unknowns, with and without updates."""
    r = np.random.default_rng(7)
    X = r.normal(size=(220, 3))
    kernel = None
    if name == "kernel":
        kernel = np.exp(-3.0 * ((X[:, None] - X) ** 2).sum(axis=2))
    elif name == "many features":
        X = r.normal(size=(220, 90))
    else:
        X = np.eye(4)[r.integers(0, 4, (220, 25))].reshape(220, 100)
    y = np.where(X[:, 0] + 0.5 * r.normal(size=220) > X[:, 1], 1.0, -1.0)

    def model(C):
        loss = losses.hinge(y, C)
        if kernel is None:
            return Problem(Losses(loss, X, np.ones((220, 1))), ridge=1.0)
        return Problem(Losses(loss, np.eye(220), np.ones((220, 1))), ridge=1.0, kernel=kernel)

    path, plain = (walked(model, 0.01, 10.0, before=before) for before in (None, solve_afresh))
    np.testing.assert_array_equal(path.track.events, plain.track.events)
    assert np.diff(path.track.entry_at).max() > SMALL_SYSTEM
    assert_carried(path, plain)


@pytest.mark.parametrize("name", models.EXAMPLES)
def test_lazy_evaluation_changes_no_event(name):
    model, t0, t1 = models.EXAMPLES[name]
    path, plain = (walked(model, t0, t1, before=before) for before in (None, look_at_all))
    np.testing.assert_array_equal(path.t, plain.t)
    np.testing.assert_array_equal(path.track.events, plain.track.events)


def ridged(name):
    """Return a model whose weights have a ridge, with losses without curvature."""
    n = len(models.Y)
    column = np.ones((n, 1))
    return {
        "SVM": (lambda t: models.svm(models.X, models.Y, t), 0.02, 3.0),
        "pinball SVM": (lambda t: models.pinball_svm(models.X, models.Y, 1.0, t), 0.0, 1.0),
        "SVR in eps": (lambda t: models.svr(models.X, models.U, 1.0, t), 1.03, 0.02),
        "no bias": (
            lambda t: Problem(Losses(losses.hinge(models.Y, t), models.X), ridge=1.0),
            0.02,
            3.0,
        ),
        "l1": (lambda t: models.drsvm(models.X, models.Y, t, 0.1), 0.001, 0.5),
        "l1 constraint": (lambda t: models.drlad(models.X, models.U, t, 0.1), 0.01, 1.0),
        "two columns alike": (
            lambda t: Problem(
                Losses(
                    losses.hinge(models.Y, t), models.X, free=np.hstack([column, models.X[:, :1]])
                ),
                ridge=1.0,
            ),
            0.02,
            3.0,
        ),
    }[name]


@pytest.mark.parametrize(
    "name",
    ["SVM", "pinball SVM", "SVR in eps", "no bias", "l1", "l1 constraint", "two columns alike"],
)
def test_eliminated_weights_change_no_event(name, monkeypatch):
    model, t0, t1 = ridged(name)
    plain = walked(model, t0, t1)
    monkeypatch.setattr(run, "MANY_ELIMINATED", 1)
    line = along(model, t0, t1)
    assert follow._homotopy_at_start(line, read(line), "auto").walk.now.eliminates == RIDGED
    for before in (None, solve_afresh, look_at_all):
        path = walked(model, t0, t1, before=before)
        np.testing.assert_allclose(path.t, plain.t, rtol=1e-15, atol=1e-15)
        np.testing.assert_array_equal(path.track.events, plain.track.events)
        np.testing.assert_allclose(path.unknowns, plain.unknowns, rtol=1e-15, atol=1e-15)
    assert_optimal(model, path)


@pytest.mark.parametrize("ends", [(20.0, 0.02), (0.02, 20.0)], ids=str)
@pytest.mark.parametrize("loss", [losses.squared, losses.huber, losses.absolute])
def test_what_is_more_is_eliminated(loss, ends, monkeypatch):
    """Few rows on curved segments, and many weights that are zero for a large penalty alone."""
    r = np.random.default_rng(3)
    X, u = r.normal(size=(40, 200)), r.normal(size=40)
    lost = loss(u, 0.5) if loss is losses.huber else loss(u)

    def model(t):
        return Problem(Losses(lost, X, 1.0), penalties.l1(200, t), ridge=0.5)

    sizes, grow_memory = [], run.Homotopy.grow_memory

    def noted(homotopy, ending):
        grow_memory(homotopy, ending)
        if ending == loop.SWITCH:
            sizes.append((homotopy.walk.now.eliminates, homotopy.walk.now.solved))

    plain = walked(model, *ends, face="saddle")
    monkeypatch.setattr(run.Homotopy, "grow_memory", noted)
    path = walked(model, *ends)
    assert path.statement.face == "saddle"
    if loss is losses.squared:  # others have more straight segments
        assert (RIDGED if ends[0] > ends[1] else CURVED) in [kind for kind, _ in sizes]
    assert all(solved <= 45 for _, solved in sizes)
    np.testing.assert_allclose(path.t, plain.t, rtol=1e-15, atol=1e-15)
    np.testing.assert_array_equal(path.track.events, plain.track.events)
    np.testing.assert_allclose(path.unknowns, plain.unknowns, rtol=1e-15, atol=1e-15)
    assert_optimal(model, path, count=3)


def test_elimination_that_failed_is_tried_again():
    """Once the system has twice as many unknowns."""
    r = np.random.default_rng(3)
    X, y = r.normal(size=(40, 200)), np.where(r.normal(size=40) > 0, 1.0, -1.0)
    line = along(lambda t: models.drsvm(X, y, t, 0.5), 0.3, 0.001)
    tracks = []
    for fails in (False, True):
        homotopy = follow._homotopy_at_start(line, read(line), "auto")
        if fails:
            homotopy.grow_memory(loop.DENSER)
            assert homotopy.walk.now.eliminates == 0
            assert homotopy.walk.now.retry >= MANY_ELIMINATED
        tracks.append(homotopy.run())
        assert homotopy.walk.now.eliminates == RIDGED
    np.testing.assert_array_equal(tracks[0].events, tracks[1].events)
    np.testing.assert_allclose(tracks[0].t, tracks[1].t, rtol=1e-12)


def test_nothing_is_eliminated_where_that_costs_accuracy(monkeypatch):
    r = np.random.default_rng(0)
    X = r.normal(size=(40, 6))
    X[:, 1] = X[:, 2] + 1e-6 * r.normal(size=40)
    y = np.where(X[:, 2] + r.normal(size=40) > 0, 1.0, -1.0)

    def model(t):
        return Problem(Losses(losses.hinge(y, t), X, free=1.0), ridge=1e-12)

    plain = walked(model, 0.5, 1.5)
    endings, before = [], run.Homotopy.grow_memory

    def noted(homotopy, ending):
        endings.append(ending)
        before(homotopy, ending)

    monkeypatch.setattr(run, "MANY_ELIMINATED", 1)
    monkeypatch.setattr(run.Homotopy, "grow_memory", noted)
    path = walked(model, 0.5, 1.5)
    assert loop.DENSER in endings
    np.testing.assert_array_equal(path.t, plain.t)
    np.testing.assert_array_equal(path.track.events, plain.track.events)
    np.testing.assert_allclose(path.unknowns, plain.unknowns, rtol=1e-15, atol=1e-15)


# ---------------------------------------------------------------------- degenerate data
def degenerate(kind, seed):
    """Small data sets on which ties and dependent rows abound."""
    r = np.random.default_rng(seed)
    n, d = int(r.integers(8, 20)), int(r.integers(1, 5))
    X = r.normal(size=(n, d))
    if kind == "one-hot":
        X = np.hstack([np.eye(3)[r.integers(0, 3, n)] for _ in range(2)])
    elif kind == "duplicated rows":
        X = X[r.integers(0, max(2, n // 3), n)]
    elif kind == "constants":
        X = np.c_[np.ones(n), X, np.zeros(n), np.full(n, 2.0)]
    elif kind == "wide":
        X = r.normal(size=(n, n + 5))
    elif kind == "integers":
        X = r.integers(-2, 3, (n, d)).astype(float)
    elif kind == "thousands":
        X[:, 0] = np.round(1000.0 * r.normal(size=n)) + 3000.0
    elif kind == "dependent columns":
        X = np.hstack([X, X[:, :1], -X[:, :1]])
    u = np.round(X @ r.normal(size=X.shape[1]) / np.abs(X).max() + r.normal(size=n), seed % 3)
    u[0], u[1] = u.max() + 1.0, u.min() - 1.0
    return X, u, np.where(u > np.median(u), 1.0, -1.0)


PATHS = {
    "lasso": lambda X, u, y: (lambda t: models.elastic_net(X, u, t), 5.0, 0.1),
    "elastic net": lambda X, u, y: (lambda t: models.elastic_net(X, u, t, 0.5), 5.0, 0.1),
    "Huber": lambda X, u, y: (lambda t: models.huber(X, u, t, 0.5), 5.0, 0.1),
    "squared hinge": lambda X, u, y: (lambda t: models.squared_hinge(X, y, t), 5.0, 0.1),
    "LAD, l1": lambda X, u, y: (
        lambda t: Problem(Losses(losses.absolute(u), X, free=1.0), penalties.l1(X.shape[1], t)),
        9.0,
        0.1,
    ),
    "SVR in C": lambda X, u, y: (lambda t: models.svr(X, u, t, 0.1), 0.05, 3.0),
    "SVR in eps": lambda X, u, y: (lambda t: models.svr(X, u, 1.0, t), 1.03, 0.02),
    "SVM": lambda X, u, y: (lambda t: models.svm(X, y, t), 0.02, 3.0),
    "one cost": lambda X, u, y: (lambda t: models.svm(X, y, np.where(y > 0, 1.0, t)), 0.1, 3.0),
    "pinball": lambda X, u, y: (lambda t: models.pinball_svm(X, y, 1.0, t), 0.0, 1.0),
    "quantile": lambda X, u, y: (lambda t: models.quantile_regression(X, u, t), 0.11, 0.89),
    "l1 constraint": lambda X, u, y: (lambda t: models.drlad(X, u, t), 0.05, 1.0),
    "l1 constraint and ridge": lambda X, u, y: (lambda t: models.drlad(X, u, t, 0.1), 0.05, 1.0),
    "l1 and ridge": lambda X, u, y: (lambda t: models.drsvm(X, y, t, 0.1), 1.0, 0.01),
    "one weight": lambda X, u, y: (lambda t: models.svm(X, y, np.r_[t, np.ones(len(y) - 1)]), 0, 1),
}
KINDS = (
    "one-hot",
    "duplicated rows",
    "constants",
    "wide",
    "integers",
    "thousands",
    "dependent columns",
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PATHS)
def test_degenerate_data(name, kind):
    model, t0, t1 = PATHS[name](*degenerate(kind, KINDS.index(kind)))
    assert_optimal(model, walked(model, t0, t1), count=4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name",
    [
        "SVR in C",
        "SVR in eps",
        "SVM",
        "one cost",
        "pinball",
        "one weight",
        "l1 and ridge",
        "l1 constraint and ridge",
    ],
)
def test_degenerate_data_with_eliminated_weights(name, kind, monkeypatch):
    monkeypatch.setattr(run, "MANY_ELIMINATED", 1)
    model, t0, t1 = PATHS[name](*degenerate(kind, KINDS.index(kind)))
    assert_optimal(model, walked(model, t0, t1), count=4)


def test_an_entry_that_is_zero_but_for_rounding():
    # the basis has entries of 1e-17 where zeros are meant: no row holds a free variable by one
    r = np.random.default_rng(2399)
    n, d = int(r.integers(6, 26)), int(r.integers(1, 7))
    r.normal(size=(n, d))
    X = r.integers(-2, 3, (n, d)).astype(float)
    u = X @ r.normal(size=d) / np.abs(X).max() * 2 + r.normal(size=n)
    tie = r.integers(0, 4)
    u = np.round(u) if tie == 0 else np.round(u, 1) if tie == 1 else u
    u = np.where(r.random(n) < 0.5, u, 1.0) if tie == 2 else u
    classes = np.digitize(u, np.quantile(u, [0.33, 0.66]))
    basis = np.linalg.qr(np.c_[np.ones(3), np.eye(3)[:, :2]])[0][:, 1:]
    others = [np.flatnonzero(classes != c) for c in range(3)]
    Z = np.vstack([np.kron(basis[c], X[rows]) for c, rows in enumerate(others)])
    B = np.vstack([np.tile(basis[c], (len(rows), 1)) for c, rows in enumerate(others)])

    def model(t):
        loss = pieces([-0.5], [0.0, t / n], n=len(Z))
        return Problem(Losses(loss, Z, B), ridge=1.0)

    assert_optimal(model, walked(model, 0.5, 80.0))


# ---------------------------------------------------------------------- against staircases
def test_breakpoints_are_those_of_the_models_that_state_staircases():
    r = np.random.default_rng(0)
    X = r.normal(size=(40, 3))
    u = X[:, 0] + r.normal(size=40)
    y = np.where(u > 0, 1.0, -1.0)
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    first, last = r.uniform(0.1, 2.0, (2, 40))
    lam = np.abs(X.T @ u).max()
    pairs = [  # each where the solution is unique
        (
            solution_paths.svm_path(X, y, kernel="rbf", gamma=0.3),
            (lambda t: models.svm(X, y, t, K), 0.01, 5.0),
        ),
        (
            solution_paths.quantile_svm_path(X, y, 1e-2),
            (
                lambda t: models.machine(
                    losses.hinge(y, np.where(y > 0, 2.0 - 2.0 * t, 2.0 * t) / 40),
                    np.c_[X, np.ones(40)],
                    free=None,
                    ridge=1e-2,
                ),
                0.02,
                0.98,
            ),
        ),
        (
            solution_paths.lasso_path(X, u, fit_intercept=False),
            (lambda t: models.lasso(X, u, t), 0.99 * lam, 0.1),
        ),
        (
            solution_paths.weighted_svm_path(X, y, first, last),
            (lambda t: models.svm(X, y, first + t * (last - first)), 0.0, 1.0),
        ),
        (
            solution_paths.l1_svm_path(X, y),
            (lambda t: models.l1_svm(X, y, t), 14.0, 0.5),
        ),
    ]
    for known, (model, t0, t1) in pairs:
        low, high = sorted((t0, t1))
        expected = np.unique(known.breakpoints)
        expected = expected[(expected > low + 1e-9) & (expected < high - 1e-9)]
        found = np.sort(walked(model, t0, t1).breakpoints)
        assert len(found) == len(expected) > 1
        np.testing.assert_allclose(found, expected, rtol=1e-9)


# ---------------------------------------------------------------------- what cannot be
def test_where_no_optimum_is_left_the_error_says_so():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0])

    def model(t):  # beyond tau = 1 the intercept runs away
        tilted = pieces([y], [-t, 1.0 - t])
        return Problem(Losses(tilted, X, free=1.0))

    with pytest.raises(PathError, match="no optimum beyond 1:"):
        walked(model, 0.5, 2.0)
    with pytest.raises(PathError, match=r"no optimum at 1\.5:"):
        walked(model, 1.5, 2.0)


def test_a_curved_path_is_refused():
    with pytest.raises(ValueError, match="affine"):
        walked(lambda t: models.lasso(models.X, models.U, t**2), 1.0, 2.0)


def test_a_parameter_outside_of_the_path_is_refused():
    path = walked(lambda t: models.lasso(models.X, models.U, t), 9.0, 5.0)
    with pytest.raises(ValueError, match="outside the path"):
        path.at(4.0)


def test_two_equalities_and_a_sign():
    # the projection of (1, 2, 3) / t onto a plane, with a sign constraint that it meets
    target = np.array([1.0, -2.0, 3.0])

    def model(t):
        fit = Losses(pieces([t * target], [0.0, 0.0], [1.0, 1.0], n=3), np.eye(3))
        plane = Losses(pieces([0.0], [0.0, 0.0], low=0.0, high=0.0, n=1), np.ones((1, 3)))
        sign = pieces([0.0], [0.0, 0.0], low=-1.0, n=3)
        return Problem([fit, plane], sign)

    path = walked(model, 0.0, 1.0)
    assert_optimal(model, path)
    w, _, _ = path.at(1.0)
    np.testing.assert_allclose(w, [-0.5, -1.0, 1.5], atol=1e-15)


# ---------------------------------------------------------------------- numbers
def test_twofold_numbers_are_right_to_a_hundred_bits():
    r = np.random.default_rng(4)
    x, y, z = r.normal(size=(3, 100))
    made = Twofold.of(x).by(y).plus(Twofold.of(z)).by(x)
    for k in range(100):
        exact = (Fraction(x[k]) * Fraction(y[k]) + Fraction(z[k])) * Fraction(x[k])
        error = Fraction(made.high[k]) + Fraction(made.low[k]) - exact
        terms = (abs(Fraction(x[k]) * Fraction(y[k])) + abs(Fraction(z[k]))) * abs(Fraction(x[k]))
        assert abs(error) <= terms * Fraction(2) ** -100


def test_gram_matrices_are_right_to_a_hundred_bits():
    r = np.random.default_rng(6)
    B, q, s = (
        r.normal(size=(5, 3)) * 10.0 ** r.integers(-3, 4, 3),
        r.uniform(size=5),
        r.normal(size=5),
    )
    high, low = np.zeros((3, 4)), np.zeros((3, 4))
    weighted_squares(B, q, s, s * 2.0**-60, high, low)
    for j in range(3):
        for k in range(4):
            with_s = [Fraction(x) + Fraction(x * 2.0**-60) for x in s]
            other = (
                with_s
                if k == 3
                else [Fraction(a) * Fraction(b) for a, b in zip(q, B[:, k], strict=True)]
            )
            terms = [Fraction(x) * y for x, y in zip(B[:, j], other, strict=True)]
            error = Fraction(high[j, k]) + Fraction(low[j, k]) - sum(terms)
            assert abs(error) <= sum(map(abs, terms)) * Fraction(2) ** -98


@pytest.mark.parametrize("name", models.EXAMPLES)
def test_an_inverse_that_is_worth_nothing_changes_no_event(name, monkeypatch):
    """The walk notices in the middle of a step, and computes it afresh."""
    model, t0, t1 = models.EXAMPLES[name]
    plain = walked(model, t0, t1)
    before = run.operate

    def spoiled(w, what, *arguments, **named):
        if what != WALK:
            return before(w, what, *arguments, **named)
        w.inverse[:] = -w.inverse
        w.now.shrink = 1.0
        return before(w, WALK, 1)

    monkeypatch.setattr(run, "operate", spoiled)
    path = walked(model, t0, t1)
    np.testing.assert_array_equal(path.track.events, plain.track.events)
    np.testing.assert_allclose(path.t, plain.t, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", EXAMPLES)
def test_tables_have_the_equations_and_limits_of_the_places(name):
    """Those of `homotopy/graphs.py`, in exact arithmetic, at two parameters."""
    model, t0, t1 = EXAMPLES[name]
    for shape in read(along(model, t0, t1), "saddle").shapes:
        equation, lower, upper, _, _, hollow, *_ = tables([shape])
        hollow = hollow[:, 1::2]
        m, q = shape.curvature.shape[1] - 1, shape.curvature
        for i, k, t in itertools.product(range(0, len(shape), 7), range(2 * m + 1), (0, 3)):

            def number(own, j, i=i, t=t):
                high, low, rate, rest = (Fraction(x[i, j]) for x in (*own.value, *own.rate))
                return high + low + t * (rate + rest)

            def found(table, i=i, k=k, t=t):
                if np.isinf(table[i, k, 0]):
                    return table[i, k, 0]
                high, low, rate, rest = map(Fraction, table[i, k])
                return float(high + low + t * (rate + rest))

            j = k // 2
            if k % 2 == 0:
                at, slope = number(shape.knots, max(j - 1, 0)), number(shape.slopes, j)
                wanted = Fraction(q[i, j]) * at - slope
                below = number(shape.knots, j - 1) if j else -np.inf
                above = number(shape.knots, j) if j < m else np.inf
            else:
                wanted, left = number(shape.knots, j), number(shape.slopes, j)
                if j:
                    rise = wanted - number(shape.knots, j - 1)
                    left += Fraction(q[i, j]) * rise
                below = (
                    -np.inf if j == m - 1 and shape.closed[i, 1] else -number(shape.slopes, j + 1)
                )
                above = np.inf if j == 0 and shape.closed[i, 0] else -left
                ends = np.isinf(float(below)) or np.isinf(float(above))
                assert not (hollow[i, j] and ends)
            for table, own in ((equation, wanted), (lower, below), (upper, above)):
                np.testing.assert_allclose(found(table), float(own), rtol=1e-15, atol=1e-300)


@pytest.mark.parametrize("twice", [False, True])
def test_what_nothing_penalises_is_solved_for_at_the_start(twice):
    """A bias and a column, unless this depends on another one: then they are held at 0."""
    r = np.random.default_rng(0)
    X, y = r.normal(size=(30, 4)), r.normal(size=30) + 2.0
    X[:, 1] = X[:, 0] if twice else X[:, 1]
    factor = np.array([0.0, 0.0, 1.0, 2.0])

    def model(lam):
        return Problem(Losses(losses.squared(y), X, free=1.0), penalties.l1(4, lam * factor))

    line = along(model, 0.0, 1e6)
    off = Misfit.at(read(line), 1e6)
    assert off.regular
    assert (off.count > 0) == twice
    path = follow.solution_path(model, 0.0, np.inf)
    assert path.certify().ok
    ends = X[:, :2] @ path.coef(1e6)[:2] + path.intercept(1e6)
    A = np.column_stack([X[:, :2], np.ones(30)])
    np.testing.assert_allclose(ends, A @ np.linalg.lstsq(A, y, rcond=None)[0], rtol=1e-9)
