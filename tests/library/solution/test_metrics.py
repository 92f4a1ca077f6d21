"""By what predictions are judged: exact curves beside scikit-learn's metrics at many parameters."""

import warnings

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn import metrics as sk
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

import solution_paths as sp
from solution_paths import (
    L1SVC,
    DrLAD,
    KernelQuantileRegressor,
    PathLasso,
    PathLogisticRegression,
    PathNuSVC,
    PathSVC,
    PathSVOR,
    PathSVR,
    QuantileSVC,
)
from solution_paths.solution.metrics import JUDGED
from solution_paths.solution.reading import KINDS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]


def data(design, n=40, m=30, seed=0):
    """Return rows, a number of each, and new rows with numbers."""
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
    if design == "tied":  # few whole numbers
        X, new = np.round(X), np.round(new)
    if design == "duplicated":
        new = np.repeat(new[: m // 3], 3, axis=0)
    if design == "constant":
        new = np.ones((m, 3))
    if design == "unequal units":
        X, new = X * [1.0, 10.0, 1e-2], new * [1.0, 10.0, 1e-2]
    weights = [1.0, 0.1, 1e2] if design == "unequal units" else [1.0, 1.0, 1.0]
    u, v = (rows @ ([1.0, -0.7, 0.3] * np.array(weights)) for rows in (X, new))
    return X, u + 0.6 * rng.normal(size=n), new, v + 0.8 * rng.normal(size=m)


DESIGNS = ("random", "tied", "duplicated", "constant", "unequal units")


def inside(curve, count=400):
    """Return parameters inside of pieces, no nearer to their ends than rounding."""
    edges = curve.edges.copy()
    last = edges[np.isfinite(edges)][-1]
    edges[-1] = min(edges[-1], 3.0 * last + 1.0)
    width = np.diff(edges)
    wide = np.flatnonzero(width > 1e-7 * np.abs(edges[1:]))
    wide = wide[:: max(1, len(wide) // count)]
    share = np.random.default_rng(1).uniform(0.1, 0.9, len(wide))
    return np.unique(np.concatenate([edges[wide] + s * width[wide] for s in (0.49, share)]))


def decisions(path, rows, ts):
    """Return decisions; those that differ by rounding alone are the same, and maybe zero."""
    found = path.decision_function(rows, ts)
    found = found[:, -1] if found.ndim == 3 else found
    for f in found.T:
        least = 1e-10 * np.abs(f).max()
        order = np.argsort(f)
        first = np.append(0, np.flatnonzero(np.diff(f[order]) > least) + 1)
        group = np.searchsorted(first, np.arange(len(f)), side="right") - 1
        f[order] = f[order][first][group]
        f[np.abs(f) <= least] = 0.0
    return found


def labels(path, rows, ts):
    """Return predicted labels; decisions that tie but for rounding do tie."""
    if path.reading.kind == "argmax":
        f = path.decision_function(rows, ts)
        top = f.max(axis=1, keepdims=True)
        codes = (f >= top - 1e-10 * np.abs(f).max()).argmax(axis=1)
    elif path.reading.kind == "order":
        f, v = path.decision_function(rows, ts), path.free(ts)
        codes = (f[:, None] >= v - 1e-10 * np.abs(f).max()).sum(axis=1)
    else:
        codes = 1 * path.reading.positive(decisions(path, rows, ts))
    return path.reading.classes[codes]


def each(score, values):
    """Return the score of every column of values; columns that are the same are judged once."""
    columns, place = np.unique(values, axis=1, return_inverse=True)
    return np.array([score(column) for column in columns.T])[place.ravel()]


def ranks(f):
    """Return the places of decisions in their column's order, which are all that ranks them."""
    return rankdata(f, "dense", axis=0)


# -- labels -----------------------------------------------------------------------------------

COSTS = np.array([[0.0, 5.0], [1.0, -0.5]])
OF_TWO = {
    "zero_one": lambda y, p, w: 1 - sk.accuracy_score(y, p, sample_weight=w),
    "balanced_accuracy": lambda y, p, w: 1 - sk.balanced_accuracy_score(y, p, sample_weight=w),
    "f1": lambda y, p, w: 1 - sk.f1_score(y, p, sample_weight=w),
    "precision": lambda y, p, w: 1 - sk.precision_score(y, p, sample_weight=w),
    "recall": lambda y, p, w: 1 - sk.recall_score(y, p, sample_weight=w),
    "f1_macro": lambda y, p, w: 1 - sk.f1_score(y, p, sample_weight=w, average="macro"),
    "precision_weighted": lambda y, p, w: (
        1 - sk.precision_score(y, p, sample_weight=w, average="weighted")
    ),
    "costs": lambda y, p, w: np.average(COSTS[1 * (y > 0), 1 * (p > 0)], weights=w),
}
OF_RANKS = {
    "roc_auc": lambda y, f, w: 1 - sk.roc_auc_score(y, f, sample_weight=w),
    "average_precision": lambda y, f, w: 1 - sk.average_precision_score(y, f, sample_weight=w),
}
CLASSIFIERS = {
    "svm": lambda X, y: sp.svm_path(X, y),
    "rbf": lambda X, y: sp.svm_path(X, y, kernel="rbf", gamma=0.3),
    "l1 svm": lambda X, y: sp.l1_svm_path(X, y),
    "quantile svm": lambda X, y: sp.quantile_svm_path(X, y, 0.05),
    "two costs": lambda X, y: sp.asymmetric_svm_path(X, y),
    "nu": lambda X, y: sp.nu_svm_path(X, y, kernel="linear"),
    "outliers": lambda X, y: sp.outlier_svm_path(X, y, 1.0),
    "two ordered": lambda X, y: sp.svor_path(X, y),
    "logistic": lambda X, y: sp.logistic_path(X, y, 0.05),
    "the larger of two": lambda X, y: sp.multicategory_svm_path(X, y),
    "drsvm": lambda X, y: sp.drsvm_path(X, y, vary="lam2", lam1=0.01),
}


def as_metric(name):
    return COSTS if name == "costs" else name


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_errors_of_two_labels_are_exact(kind, design, weighted):
    X, u, new, v = data(design)
    y, truth = np.where(u > 0.3, 1, -1), np.where(v > 0.3, 1, -1)
    weights = np.random.default_rng(3).integers(0, 4, len(v)) / 3.0 if weighted else None
    path = CLASSIFIERS[kind](X, y)
    for name, score in (OF_TWO | OF_RANKS).items():
        curve = path.error_curve(new, truth, as_metric(name), weights)
        ts = inside(curve)
        found = ranks(decisions(path, new, ts)) if name in OF_RANKS else labels(path, new, ts)
        brute = each(lambda own, score=score: score(truth, own, weights), found)
        np.testing.assert_allclose(curve(ts), brute, atol=1e-12, err_msg=name)
        best = path.best(new, truth, as_metric(name), weights)
        assert best.value <= brute.min() + 1e-12
        assert best.value == pytest.approx(curve(best.parameter).item(), abs=1e-12)


def test_errors_of_ranks_change_where_decisions_cross_alone():
    X, u, new, v = data("random")
    path = sp.svm_path(X, np.where(u > 0, 1, 0))
    truth = np.where(v > 0, 1, 0)
    for name in ("roc_auc", "average_precision"):
        curve = path.error_curve(new, truth, name)
        f = path.decision_function(new, np.setdiff1d(curve.edges[1:-1], path.breakpoints))
        gap = np.diff(np.sort(f, axis=0), axis=0).min(axis=0)
        assert gap.max() <= 1e-10 * np.abs(f).max()
        assert (np.diff(curve.left) != 0).sum() > 3


@pytest.mark.parametrize("names", [(1, 2), (0, 1), (False, True), ("ham", "spam"), (3.0, 5.0)])
def test_whose_rate_it_is(names):
    X, u, new, v = data("random")
    y, truth = np.array(names)[1 * (u > 0.5)], np.array(names)[1 * (v > 0.5)]
    path = sp.svm_path(X, y)
    plain = 1 if 1 in names else names[1]
    for name, score in (("f1", sk.f1_score), ("precision", sk.precision_score)):
        for metric, label in ((name, plain), *(((name, own), own) for own in names)):
            curve = path.error_curve(new, truth, metric)
            ts = inside(curve)
            brute = each(
                lambda p, score=score, label=label: 1 - score(truth, p, pos_label=label),
                path.predict(new, ts),
            )
            np.testing.assert_allclose(curve(ts), brute, atol=1e-12)
    for label in names:
        curve = path.error_curve(new, truth, ("average_precision", label))
        ts = inside(curve)
        f = path.decision_function(new, ts) * (1 if label == names[1] else -1)
        brute = each(
            lambda own, label=label: 1 - sk.average_precision_score(truth, own, pos_label=label),
            ranks(f),
        )
        np.testing.assert_allclose(curve(ts), brute, atol=1e-12)
    with pytest.raises(ValueError, match="is of none of the classes"):
        path.error_curve(new, truth, ("f1", "nobody"))


THREE = np.array([[0.0, 1.0, 9.0], [2.0, 0.0, 1.0], [0.5, 0.25, -1.0]])
SEVERAL = {
    "zero_one": lambda y, p: np.mean(y != p),
    "balanced_error": lambda y, p: 1 - sk.balanced_accuracy_score(y, p),
    "f1_macro": lambda y, p: 1 - sk.f1_score(y, p, average="macro"),
    "recall_macro": lambda y, p: 1 - sk.recall_score(y, p, average="macro"),
    "precision_weighted": lambda y, p: 1 - sk.precision_score(y, p, average="weighted"),
    "f1_micro": lambda y, p: 1 - sk.f1_score(y, p, average="micro"),
    "costs": lambda y, p: THREE[np.searchsorted(NAMES, y), np.searchsorted(NAMES, p)].mean(),
}
NAMES = np.array([1, 2, 4])


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("function", [sp.svor_path, sp.multicategory_svm_path])
def test_errors_of_several_labels_are_exact(function, design):
    X, u, new, v = data(design)
    y, truth = NAMES[np.digitize(u, [-0.5, 0.5])], NAMES[np.digitize(v, [-0.5, 0.7])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.PathWarning)
        path = function(X, y)
    for name, score in SEVERAL.items():
        curve = path.error_curve(new, truth, THREE if name == "costs" else name)
        ts = inside(curve, 150)
        p = labels(path, new, ts)
        brute = each(lambda own, score=score: score(truth, own), p)
        np.testing.assert_allclose(curve(ts), brute, atol=1e-12, err_msg=name)
    if function is sp.svor_path:
        far = np.searchsorted(NAMES, p) - np.searchsorted(NAMES, truth)[:, None]
        squared = path.error_curve(new, truth, "squared")(ts)
        np.testing.assert_allclose(squared, (far**2).mean(axis=0), atol=1e-12)
        codes = np.searchsorted(NAMES, truth)
        curve = path.error_curve(new, truth, "pairs")
        ts = inside(curve, 150)
        brute = each(lambda f: discordant(f, codes), ranks(decisions(path, new, ts)))
        np.testing.assert_allclose(curve(ts), brute, atol=1e-12)


# -- ranks ------------------------------------------------------------------------------------


def discordant(f, scores, weights=None, queries=None):
    """Return the share of pairs in the wrong order, ties counting half."""
    weights = np.ones(len(f)) if weights is None else weights
    queries = np.zeros(len(f)) if queries is None else queries
    wrong = total = 0.0
    for i in range(len(f)):
        below = (scores[i] > scores) & (queries[i] == queries)
        pairs = weights[i] * weights[below]
        wrong += (pairs * ((f[i] < f[below]) + 0.5 * (f[i] == f[below]))).sum()
        total += pairs.sum()
    return wrong / total


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_discordant_pairs_are_counted_exactly(kernel, design):
    X, u, new, v = data(design, 20, 24)
    scores, truth = np.round(u), np.round(2 * v) / 2
    groups, own = np.arange(20) % 2, np.array(["a", "b", "c"])[np.arange(24) % 3]
    path = sp.ranking_svm_path(X, scores=scores, queries=groups, kernel=kernel)
    weights = np.random.default_rng(3).integers(0, 4, 24).astype(float)
    for queries in (None, own):
        for w in (None, weights):
            curve = path.error_curve(new, truth, None, w, queries)
            ts = inside(curve, 200)
            brute = each(
                lambda f, w=w, queries=queries: discordant(f, truth, w, queries),
                ranks(decisions(path, new, ts)),
            )
            np.testing.assert_allclose(curve(ts), brute, atol=1e-12)
            shifted = path.error_curve(new, truth + 100.0, "pairs", w, queries)
            np.testing.assert_array_equal(shifted.edges, curve.edges)
            np.testing.assert_array_equal(shifted.left, curve.left)
            best = path.best(new, 3.0 * truth - 5.0, sample_weight=w, queries=queries)
            assert best.value <= brute.min()


def test_a_regression_may_rank_too():
    X, u, new, v = data("random")
    path = sp.lasso_path(X, u)
    curve = path.error_curve(new, v, "pairs")
    ts = inside(curve)
    brute = each(lambda f: discordant(f, v), ranks(path.predict(new, ts)))
    np.testing.assert_allclose(curve(ts), brute, atol=1e-12)
    assert curve(path.breakpoints[-1] + 1.0) == 0.5  # w = 0: all tie


# -- quantiles --------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.0, 0.05, 0.5, 0.83, 1.0])
@pytest.mark.parametrize("design", DESIGNS)
def test_the_pinball_loss_is_exact(design, tau):
    X, u, new, v = data(design)
    weights = np.random.default_rng(3).integers(0, 4, len(v)) / 3.0
    paths = [sp.kernel_quantile_path(X, u, vary="lam", tau=tau, kernel="rbf", gamma=0.2)]
    if 0.0 < tau < 1.0:
        for vary, more in (("s", {"lam2": 0.1}), ("lam1", {}), ("lam2", {"s": 1.0})):
            loss = ("quantile", tau)
            paths.append(sp.dr_regression_path(X, u, loss, vary=vary, **more))
        knots = ([0.0], [3.0 * (tau - 1.0), 3.0 * tau])  # the same, as a loss of one's own
        paths.append(sp.dr_regression_path(X, u, knots, lam2=0.1))
    for path in paths:
        metric = "absolute" if tau == 0.5 and path.reading.kind == "robust" else "pinball"
        for w in (None, weights):
            curve = path.error_curve(new, v, None, w)
            ts = inside(curve)
            p = path.predict(new, ts)
            own = {"alpha": tau, "sample_weight": w}
            size = 2.0 if metric == "absolute" else 1.0
            brute = [size * sk.mean_pinball_loss(v, p[:, k], **own) for k in range(len(ts))]
            np.testing.assert_allclose(curve(ts), brute, rtol=1e-9, atol=1e-12 * np.abs(v).max())
            assert (curve.sag == 0.0).all()
            best = path.best(new, v, sample_weight=w)
            assert best.value <= min(brute) * (1 + 1e-12)


def test_any_regression_may_be_judged_by_a_quantile():
    X, u, new, v = data("random")
    for path in (sp.lasso_path(X, u), sp.svr_path(X, u), sp.outlier_svr_path(X, u, 1.0)):
        curve = path.error_curve(new, v, ("pinball", 0.2))
        ts = inside(curve)
        p = path.predict(new, ts)
        brute = [sk.mean_pinball_loss(v, p[:, k], alpha=0.2) for k in range(len(ts))]
        np.testing.assert_allclose(curve(ts), brute, rtol=1e-10)
        with pytest.raises(ValueError, match="needs a quantile, which this model has none of"):
            path.error_curve(new, v, "pinball")
        with pytest.raises(ValueError, match="tau must be"):
            path.error_curve(new, v, ("pinball", 1.5))


@pytest.mark.parametrize("design", DESIGNS)
def test_of_a_path_in_tau_each_tau_has_its_own_loss(design):
    X, u, new, v = data(design)
    path = sp.kernel_quantile_path(X, u, lam=0.05, gamma=0.3)
    curve = path.error_curve(new, v)
    ts = inside(curve)
    p = path.predict(new, ts)
    brute = [sk.mean_pinball_loss(v, p[:, k], alpha=t) for k, t in enumerate(ts)]
    np.testing.assert_allclose(curve(ts), brute, rtol=1e-9, atol=1e-13)
    assert (curve.sag < 0.0).any()  # it bends above its chords
    grid = np.linspace(0, 1, 2003)
    assert curve.best().value <= curve(grid).min() + 1e-15
    level = np.quantile(curve(grid), 0.4)
    below = np.zeros(len(grid), dtype=bool)
    for first, last in curve.below(level):
        below |= (grid >= first) & (grid <= last)
    clear = np.abs(curve(grid) - level) > 1e-9
    np.testing.assert_array_equal(below[clear], (curve(grid) <= level)[clear])


def test_sums_of_the_loss_over_all_tau_are_the_ranked_probability_score():
    X, u, new, v = data("random")
    path = sp.kernel_quantile_path(X, u, lam=0.05, gamma=0.3)
    curve = path.error_curve(new, v)
    mass = np.diff(curve.edges) * ((curve.left + curve.right) / 2 - curve.sag / 6)
    t = (np.arange(20_000) + 0.5) / 20_000
    assert mass.sum() == pytest.approx(curve(t).mean(), rel=1e-6)


# -- what a model may be judged by ------------------------------------------------------------


def test_every_kind_says_by_what_it_is_judged():
    assert set(JUDGED) == set(KINDS)
    X, u, new, v = data("random")
    y = np.where(u > 0, 1, 0)
    kinds = {
        "value": (sp.svr_path(X, u), v, "squared"),
        "robust": (sp.rlad_path(X, u), v, "absolute"),
        "quantile": (sp.kernel_quantile_path(X, u, vary="lam", tau=0.2), v, "pinball"),
        "rank": (sp.ranking_svm_path(X, scores=np.round(u)), v, "pairs"),
        "sign": (sp.svm_path(X, y), np.where(v > 0, 1, 0), "zero_one"),
        "inside": (sp.one_class_path(X), np.where(v > 0, 1, -1), "zero_one"),
        "probability": (sp.logistic_path(X, y, 0.1), np.where(v > 0, 1, 0), "zero_one"),
        "count": (sp.poisson_path(X, np.round(np.exp(u)), 0.1), np.round(np.exp(v)), "deviance"),
        "argmax": (sp.multicategory_svm_path(X, y), np.where(v > 0, 1, 0), "zero_one"),
        "order": (sp.svor_path(X, y), np.where(v > 0, 1, 0), "zero_one"),
    }
    assert {*kinds, "nearest"} == set(KINDS)
    for kind, (path, truth, default) in kinds.items():
        assert path.reading.kind == kind
        assert JUDGED[kind][0] == default
        plain, named = path.error_curve(new, truth), path.error_curve(new, truth, default)
        np.testing.assert_array_equal(plain.left, named.left)
        for metric in JUDGED[kind]:
            if (metric, kind) not in (("pinball", "value"), ("pinball", "robust")):
                numbers = kind in ("sign", "probability") and metric in ("absolute", "squared")
                assert path.best(new, v if numbers else truth, metric).value >= 0.0
    with pytest.raises(ValueError, match=r"no error curve that is exact, since it predicts the n"):
        sp.pin_twin_svm_path(X, y).error_curve(new, np.where(v > 0, 1, 0))


def test_a_signal_is_judged_by_rows_of_the_identity():
    rng = np.random.default_rng(0)
    y, again = np.repeat([1.0, 4.0], 5) + 0.3 * rng.normal(size=(2, 10))
    path = sp.generalized_lasso_path(y, np.diff(np.eye(10), axis=0))
    best = path.best(np.eye(10), again)
    grid = np.linspace(0, 5, 500)
    brute = ((path.coef(grid) - again[:, None]) ** 2).mean(axis=0)
    assert best.value <= brute.min() * (1 + 1e-12)
    own = ((path.coef(best.parameter) - again) ** 2).mean()
    assert best.value == pytest.approx(own, rel=1e-12)


REFUSED = {
    "a curve of a regression": (lambda d: sp.roc_curve(d["lasso"], d["X"], d["y"]), "not of numb"),
    "a curve of three": (lambda d: sp.roc_curve(d["three"], d["X"], d["y"]), "not of 3 classes"),
    "a curve of planes": (lambda d: sp.roc_curve(d["twin"], d["X"], d["y"]), "no error curve"),
    "ranks as numbers": (lambda d: d["rank"].best(d["X"], d["u"], "squared"), "any shift"),
    "labels of numbers": (lambda d: d["lasso"].best(d["X"], d["u"], "zero_one"), "predicts numb"),
    "f1 of numbers": (lambda d: d["lasso"].best(d["X"], d["u"], "f1"), "is not for this path"),
    "f1 of three": (lambda d: d["three"].best(d["X"], d["c"], "f1"), "use f1_macro or f1_weigh"),
    "an area of three": (lambda d: d["order"].best(d["X"], d["c"], "roc_auc"), "is of two classes"),
    "areas of largest": (lambda d: d["three"].best(d["X"], d["c"], "roc_auc"), "is of two classes"),
    "odd costs": (lambda d: d["svm"].best(d["X"], d["y"], np.eye(3)), r"\(2, 2\) of them"),
    "endless costs": (lambda d: d["svm"].best(d["X"], d["y"], np.eye(2) / 0.0), "finite number"),
    "costs of numbers": (lambda d: d["lasso"].best(d["X"], d["u"], np.eye(2)), "metric must be"),
    "an odd name": (lambda d: d["svm"].best(d["X"], d["y"], "gini"), "metric must be one of zero"),
    "an odd pair": (lambda d: d["svm"].best(d["X"], d["y"], ("gini", 1)), "metric must be one of"),
    "queries of labels": (
        lambda d: d["svm"].best(d["X"], d["y"], queries=d["y"]),
        'queries are for metric="pairs" alone',
    ),
    "short queries": (
        lambda d: d["rank"].best(d["X"], d["u"], queries=d["y"][:3]),
        r"queries has shape \(3,\)",
    ),
    "scores alike": (lambda d: d["rank"].best(d["X"], 0 * d["u"]), "scores of a query that dif"),
    "one class": (
        lambda d: d["svm"].best(d["X"], 0 * d["y"], "roc_auc"),
        "must hold labels of both classes",
    ),
}


@pytest.fixture(scope="module")
def some():
    X, u, _, _ = data("random")
    y, c = np.where(u > 0, 1, 0), np.digitize(u, [-0.5, 0.5])
    return {
        "X": X,
        "u": u,
        "y": y,
        "c": c,
        "lasso": sp.lasso_path(X, u),
        "three": sp.multicategory_svm_path(X, c),
        "order": sp.svor_path(X, c),
        "twin": sp.pin_twin_svm_path(X, y),
        "rank": sp.ranking_svm_path(X, scores=np.round(u)),
        "svm": sp.svm_path(X, y),
    }


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("what", REFUSED)
def test_what_a_model_is_not_judged_by_is_refused_in_a_sentence(what, some):
    call, said = REFUSED[what]
    with pytest.raises(ValueError, match=said) as refused:
        call(some)
    assert str(refused.value).endswith(".")


def test_a_saved_path_is_judged_by_the_same(tmp_path):
    X, u, new, v = data("random")
    for k, path in enumerate(
        [
            sp.kernel_quantile_path(X, u, vary="lam", tau=0.2),
            sp.kernel_quantile_path(X, u, lam=0.1),
            sp.ranking_svm_path(X, scores=np.round(u)),
        ]
    ):
        path.save(tmp_path / f"{k}.npz")
        again = sp.SolutionPath.load(tmp_path / f"{k}.npz")
        assert again.best(new, v).value == path.best(new, v).value


# -- cross-validation -------------------------------------------------------------------------

LABELS = ("f1", "precision", "recall", "roc_auc", "average_precision", "balanced_accuracy")
MODELS = {
    "C": (PathSVC(), "C", np.geomspace(1e-3, 1e2, 60)),
    "rbf": (PathSVC(kernel="rbf", gamma=0.3, C_max=100.0), "C", np.geomspace(1e-3, 1e2, 60)),
    "lam": (L1SVC(), "lam", np.geomspace(1e-2, 30, 60)),
    "tau": (QuantileSVC(), "tau", np.linspace(0.02, 0.98, 60)),
    "nu": (PathNuSVC(kernel="linear"), "nu", np.linspace(0.05, 0.5, 60)),
    "logistic": (PathLogisticRegression(lam_min=0.05), "lam", np.geomspace(0.06, 20, 60)),
}


def scored(model, name, grid, X, y, folds, scorer):
    """Return the mean score of models fitted to folds at each parameter."""
    scores = []
    for train, test in folds:
        own = clone(model).set_params(cv=None, scoring="error").fit(X[train], y[train])
        values = []
        for value in grid:
            setattr(own, f"{name}_", value)
            values.append(scorer(own, X[test], y[test]))
        scores.append(values)
    return np.mean(scores, axis=0)


@pytest.mark.parametrize("scoring", LABELS)
@pytest.mark.parametrize("kind", MODELS)
def test_a_score_chooses_exactly(kind, scoring):
    model, name, grid = MODELS[kind]
    X, u, _, _ = data("random", 60)
    y, folds = np.where(u > 0.6, 1, 0), StratifiedKFold(3)
    fitted = clone(model).set_params(cv=folds, scoring=scoring).fit(X, y)
    chosen, curve = getattr(fitted, f"{name}_"), fitted.cv_path_
    pairs = list(folds.split(X, y))
    scorer = sk.get_scorer(scoring)
    low, high = curve.edges[0], curve.edges[-1]
    grid = grid[(grid > low) & (grid < high)]
    found = scored(model, name, [chosen, *grid], X, y, pairs, scorer)
    assert fitted.cv_error_ == pytest.approx(1 - found[0], abs=1e-12)
    np.testing.assert_allclose(curve(grid), 1 - found[1:], atol=1e-12)
    assert found[0] >= found[1:].max() - 1e-12
    best = curve.best()
    for first, last in best.intervals:  # all of each interval is as good
        last = min(last, 3.0 * first + 1.0)
        if last - first > 1e-9 * max(last, 1e-9):  # not what is said of one place alone
            within = first + (last - first) * np.array([0.01, 0.5, 0.99])
            own = scored(model, name, within, X, y, pairs, scorer)
            np.testing.assert_allclose(1 - own, best.value, atol=1e-12)
    plain = clone(model).set_params(scoring="error", **{name: chosen})
    if scoring not in ("precision", "recall") or kind != "nu":
        again = cross_val_score(plain, X, y, cv=folds, scoring=scoring)
        assert again.mean() == pytest.approx(found[0], abs=1e-9)


def test_costs_choose_exactly():
    X, u, _, _ = data("random", 60)
    y = np.where(u > 0.6, "yes", "no")
    costs, folds = [[0, 1], [7, 0]], StratifiedKFold(4)
    fitted = PathSVC(cv=folds, scoring=costs).fit(X, y)
    assert clone(fitted).scoring == costs
    fitted = PathSVC(cv=folds, scoring=np.array(costs)).fit(X, y)
    matrix = np.array(costs, dtype=float)

    def cost(model, rows, labels):
        return -matrix[1 * (labels == "yes"), 1 * (model.predict(rows) == "yes")].mean()

    pairs, grid = list(folds.split(X, y)), np.geomspace(1e-3, 1e3, 80)
    found = -scored(PathSVC(), "C", [fitted.C_, *grid], X, y, pairs, cost)
    assert fitted.cv_error_ == pytest.approx(found[0], abs=1e-12)
    assert found[0] <= found[1:].min() + 1e-12
    np.testing.assert_allclose(fitted.cv_path_(grid), found[1:], atol=1e-12)


@pytest.mark.parametrize("scoring", ["f1_macro", "f1_weighted", "recall_macro", "costs"])
@pytest.mark.parametrize("model", [PathSVC(), PathSVOR()], ids=["svc", "svor"])
def test_scores_of_three_classes_choose_exactly(model, scoring):
    X, u, _, _ = data("random", 60)
    y = NAMES[np.digitize(u, [-0.5, 1.5])]
    folds = KFold(3)
    fitted = clone(model).set_params(cv=folds, scoring=THREE if scoring == "costs" else scoring)
    fitted.fit(X, y)

    def cost(own, rows, labels):
        places = np.searchsorted(NAMES, labels), np.searchsorted(NAMES, own.predict(rows))
        return -THREE[places].mean()

    scorer = cost if scoring == "costs" else sk.get_scorer(scoring)
    pairs, grid = list(folds.split(X, y)), np.geomspace(1e-3, 1e2, 50)
    found = scored(model, "C", [fitted.C_, *grid], X, y, pairs, scorer)
    error = -found if scoring == "costs" else 1 - found
    assert fitted.cv_error_ == pytest.approx(error[0], abs=1e-12)
    np.testing.assert_allclose(fitted.cv_path_(grid), error[1:], atol=1e-12)
    assert error[0] <= error[1:].min() + 1e-12


REGRESSIONS = {
    "pinball": (
        KernelQuantileRegressor(tau=0.1, gamma=0.2),
        "pinball",
        lambda y, p: -sk.mean_pinball_loss(y, p, alpha=0.1),
    ),
    "its other name": (
        KernelQuantileRegressor(tau=0.1, gamma=0.2),
        "neg_mean_pinball_loss",
        lambda y, p: -sk.mean_pinball_loss(y, p, alpha=0.1),
    ),
    "d2 of its quantile": (
        KernelQuantileRegressor(tau=0.9, gamma=0.2),
        "d2_pinball_score",
        lambda y, p: sk.d2_pinball_score(y, p, alpha=0.9),
    ),
    "d2 of absolute errors": (PathSVR(), "d2_absolute_error_score", sk.d2_absolute_error_score),
    "r2": (PathLasso(), "r2", sk.r2_score),
    "a quantile of a median": (
        DrLAD(),
        ("pinball", 0.3),
        lambda y, p: -sk.mean_pinball_loss(y, p, alpha=0.3),
    ),
    "d2 of another quantile": (
        PathSVR(),
        ("d2_pinball_score", 0.7),
        lambda y, p: sk.d2_pinball_score(y, p, alpha=0.7),
    ),
    "pairs": (PathSVR(), "pairs", lambda y, p: 1 - discordant(np.round(p, 11), y)),
}


@pytest.mark.parametrize("name", REGRESSIONS)
def test_regressions_choose_by_the_error_that_is_named(name):
    model, scoring, score = REGRESSIONS[name]
    X, u, _, _ = data("random", 50)
    folds, own = KFold(4), model._parameter
    fitted = clone(model).set_params(cv=folds, scoring=scoring).fit(X, u)
    grid = np.geomspace(1e-3, 20, 60)
    chosen = getattr(fitted, f"{own}_")
    scores = []
    for train, test in folds.split(X):
        fold = clone(model).set_params(cv=None).fit(X[train], u[train])
        values = []
        for value in [chosen, *grid]:
            setattr(fold, f"{own}_", value)
            values.append(score(u[test], fold.predict(X[test])))
        scores.append(values)
    found = np.mean(scores, axis=0)
    loss = found if "pinball" not in str(scoring) or "d2" in str(scoring) else None
    errors = -found if loss is None else 1 - found
    assert fitted.cv_error_ == pytest.approx(errors[0], rel=1e-8)
    np.testing.assert_allclose(fitted.cv_path_(grid), errors[1:], rtol=1e-7)
    assert errors[0] <= errors[1:].min() * (1 + 1e-9)


def test_quantiles_are_chosen_and_scored_by_their_loss():
    X, u, new, v = data("random", 60)
    model = KernelQuantileRegressor(tau=0.8, cv=4).fit(X, u)
    named = KernelQuantileRegressor(tau=0.8, cv=4, scoring="neg_mean_pinball_loss").fit(X, u)
    assert model.lam_ == named.lam_
    expected = sk.d2_pinball_score(v, model.predict(new), alpha=0.8)
    assert model.score(new, v) == pytest.approx(expected)
    weights = np.arange(1.0, len(v) + 1)
    expected = sk.d2_pinball_score(v, model.predict(new), alpha=0.8, sample_weight=weights)
    assert model.score(new, v, weights) == pytest.approx(expected)


def test_an_interval_of_quantiles_covers_what_it_says():
    """Chosen by absolute errors it covered a third."""
    from sklearn.datasets import load_diabetes
    from sklearn.model_selection import train_test_split

    X, y = load_diabetes(return_X_y=True)
    X, new, y, v = train_test_split(X / X.std(0), y, random_state=0)
    low, high = (KernelQuantileRegressor(tau=t, cv=5).fit(X, y) for t in (0.05, 0.95))
    inside = (low.predict(new) <= v) & (v <= high.predict(new))
    assert 0.78 < inside.mean() < 0.95


SCORINGS = {
    "no quantile": (PathSVR(scoring="pinball", cv=3), "u", "needs a quantile"),
    "labels": (PathSVR(scoring="f1", cv=3), "u", "scoring must be one of squared, absolute"),
    "numbers": (PathSVC(scoring="squared", cv=3), "y", "scoring must be one of error, balanced"),
    "nothing": (PathSVC(scoring=None, cv=3), "y", "scoring must be one of error, balanced"),
    "an area of three": (
        PathSVC(scoring="roc_auc", cv=3),
        "c",
        "is of two classes, and there are 3",
    ),
    "f1 of three": (PathSVC(scoring="f1", cv=3), "c", "use f1_macro or f1_weighted"),
    "few costs": (PathSVC(scoring=np.eye(2), cv=3), "c", r"\(3, 3\) of them"),
    "one row": (PathSVR(scoring="r2", cv=KFold(40)), "u", "r2 needs two test rows in each fold"),
}


@pytest.mark.parametrize("what", SCORINGS)
def test_what_an_estimator_does_not_choose_by_is_said(what, some):
    model, target, said = SCORINGS[what]
    with pytest.raises(ValueError, match=said):
        model.fit(some["X"], some[target])
