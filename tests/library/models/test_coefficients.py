"""Bounds, signs and factors of single coefficients under an l1 penalty, against other solvers."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import ElasticNet, Lasso

import solution_paths as paths
from path_benchmark.solvers.clarabel_solver import by_clarabel
from path_benchmark.solvers.highs_solver import by_highs
from solution_paths.problem import penalties
from solution_paths.verify import Answer, judge

N, D = 30, 5
FREE = (-np.inf, np.inf)


def data(kind="normal", seed=0):
    r = np.random.default_rng(seed)
    X = r.normal(size=(N, D))
    if kind == "ties":  # a copy of a column, its negative, a constant one
        X = np.round(X)
        X[:, 3], X[:, 4] = X[:, 0], 2.0
    u = X[:, 0] - X[:, 1] + 0.3 * X[:, 2] + r.normal(size=N)
    u = np.round(u) if kind == "ties" else u
    y = np.where(u > np.median(u), 1, -1)
    y[:3] *= -1
    return X, u, y


FUNCTIONS = {
    "lasso": (paths.lasso_path, "u", {"fit_intercept": True}),
    "lasso without intercept": (paths.lasso_path, "u", {"fit_intercept": False}),
    "elastic net": (paths.elastic_net_path, "u", {"lam2": 0.7}),
    "huber": (paths.almost_quadratic_path, "u", {"delta": 0.4}),
    "squared hinge": (paths.almost_quadratic_path, "y", {"loss": "squared_hinge"}),
    "hhsvm": (paths.hhsvm_path, "y", {"lam2": 0.1}),
    "l1 svm": (paths.l1_svm_path, "y", {}),
    "rlad": (paths.rlad_path, "u", {}),
    "drsvm": (paths.drsvm_path, "y", {"lam2": 0.1}),
    "drsvm in lam2": (paths.drsvm_path, "y", {"vary": "lam2", "lam1": 0.01}),
}
OPTIONS = {
    "positive": {"positive": True},
    "one free": {"penalty_factor": [0.0, 1.0, 2.0, 0.5, 1.0]},
    "all free": {"penalty_factor": np.zeros(D)},
    "box": {"bounds": (-0.2, 0.3)},
    "below": {"bounds": (-np.inf, [0.1, np.inf, 0.0, 1.0, 2.0])},
    "without 0": {"bounds": ([0.1, -1.0, -0.3, -2.0, -3.0], [0.4, -0.2, np.inf, np.inf, -0.1])},
    "fixed": {"bounds": ([0.2, 0, -0.1, -9, -9], [0.2, 0, -0.1, 9, 9])},
    "all": {
        "positive": True,
        "penalty_factor": [0.0, 1.0, 2.0, 0.5, 1.0],
        "bounds": (-1.0, [0.3, 0.5, np.inf, 0.0, 2.0]),
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "ties"])
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_bounded_path_is_optimal(name, option, kind):
    function, which, own = FUNCTIONS[name]
    X, u, y = data(kind)
    path = function(X, {"u": u, "y": y}[which], **own, **OPTIONS[option])
    assert path.certify(at_breakpoints=True).ok, path
    known = path.breakpoints[np.isfinite(path.breakpoints)]
    low, high = OPTIONS[option].get("bounds", FREE)
    low = np.maximum(low, 0.0) if OPTIONS[option].get("positive") else low
    w = path.coef(known)
    assert (w >= np.broadcast_to(low, D)[:, None] - 1e-12).all()
    assert (w <= np.broadcast_to(high, D)[:, None] + 1e-12).all()
    places = (known[1:] + known[:-1]) / 2
    for t in places[[0, len(places) // 2, -1]] if len(places) else known:
        problem, _ = stated = path.stated_at(t)
        solve = by_clarabel if problem.ridge or curved(problem) else by_highs
        other = solve(problem)
        inside = np.clip(other.w, problem.penalty.low, problem.penalty.high)
        theirs = judge(problem, Answer(inside, other.free, other.duals)).primal
        value = judge(*stated).primal
        assert value <= theirs + 1e-9 * max(abs(theirs), 1.0)
        assert value >= theirs - 1e-5 * max(abs(theirs), 1.0)


def curved(problem):
    return any(group.pieces.curvature.any() for group in problem.losses)


@pytest.mark.parametrize("kind", ["normal", "ties"])
def test_signs_are_those_of_scikit_learn(kind):
    X, u, _ = data(kind)
    tight = {"tol": 1e-14, "max_iter": 100_000, "positive": True}
    path = paths.lasso_path(X, u, fit_intercept=True, positive=True)
    net = paths.elastic_net_path(X, u, lam2=3.0, positive=True)
    for lam in (0.5, 3.0, 12.0):
        other = Lasso(lam / N, **tight).fit(X, u)
        np.testing.assert_allclose(
            X @ path.coef(lam) + path.intercept(lam), other.predict(X), atol=1e-6
        )
        other = ElasticNet((lam + 3.0) / N, l1_ratio=lam / (lam + 3.0), **tight).fit(X, u)
        np.testing.assert_allclose(net.coef(lam), other.coef_, atol=1e-6)


def test_a_factor_is_a_unit_of_its_column():
    X, u, _ = data()
    p = np.array([0.5, 2.0, 1.0, 3.0, 0.1])
    path = paths.lasso_path(X, u, penalty_factor=p, sample_weight=np.arange(N) % 3)
    other = paths.lasso_path(X / p, u, sample_weight=np.arange(N) % 3)
    t = np.linspace(0.1, 20.0, 9)
    np.testing.assert_allclose(path.coef(t) * p[:, None], other.coef(t), atol=1e-10)


def test_sparse_rows_have_bounds_too():
    X, u, _ = data("ties")
    own = {"positive": True, "bounds": (-1.0, 0.2), "fit_intercept": True}
    dense, sparse = (paths.lasso_path(rows, u, **own) for rows in (X, sp.csr_array(X)))
    t = np.linspace(0.1, 20.0, 9)
    np.testing.assert_allclose(dense.coef(t), sparse.coef(t), atol=1e-10)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"positive": 1}, "positive must be True or False"),
        ({"positive": True, "bounds": (-2.0, -1.0)}, "end below 0"),
        ({"bounds": 3.0}, r"bounds must be a pair \(low, high\)"),
        ({"bounds": (1.0, 0.0)}, "bounds must be a pair"),
        ({"bounds": ([0.0, 1.0], 2.0)}, "each a number or one for each of 5"),
        ({"bounds": (np.nan, 2.0)}, "bounds must be a pair"),
        ({"bounds": (np.inf, np.inf)}, "bounds must be a pair"),
        ({"penalty_factor": [1.0, 2.0]}, "penalty_factor has shape"),
        ({"penalty_factor": [1.0, 2.0, 1.0, -1.0, 1.0]}, "penalty_factor has negative entries"),
    ],
)
def test_bad_bounds_end_in_a_sentence(options, said):
    X, u, _ = data()
    with pytest.raises((ValueError, TypeError), match=said):
        paths.lasso_path(X, u, **options)
    if options.get("positive") != 1 or "bounds" in options:
        with pytest.raises(ValueError, match='vary="s" takes no positive'):
            paths.rlad_path(X, u, vary="s", bounds=(0.0, 1.0))


def test_a_bounded_penalty_is_what_its_docstring_says():
    low, high = np.array([-1.0, -np.inf, 0.5, -3.0, 0.0]), np.array([2.0, 1.0, np.inf, -1.0, 0.0])
    own = penalties.bounded_l1(5, 2.0, low, high)
    assert own.low.tolist() == low.tolist()
    assert own.high.tolist() == high.tolist()
    np.testing.assert_allclose(own.value, 2.0 * np.abs(own.knots[:, 0]))
    inside = (own.knots >= low[:, None]) & (own.knots <= high[:, None])
    assert inside.all()
