"""Sample weights of every function: a whole weight is as many rows, a weight of 0 is no row."""

import numpy as np
import pytest

import solution_paths as paths
from helpers.every_function import FUNCTIONS, KERNEL, N, data

pytestmark = pytest.mark.slow

KINDS = ("normal", "ties")


def places(*found):
    """Return parameters inside of what paths cover, and of their breakpoints' range."""
    low = max(own.range[0] for own in found)
    high = min(own.range[1] for own in found)
    last = max(own.breakpoints[-1] for own in found)
    high = min(high, 1.5 * last)
    low = max(low, 1e-3 * high)
    return np.geomspace(low, high, 23)[1:-1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_whole_weight_is_as_many_rows(name, kind):
    function, which, options = FUNCTIONS[name]
    X, u, y, classes, times = data(kind)
    own = {"u": u, "y": y, "classes": classes, "counts": np.maximum(np.round(u) + 2, 0)}[which]
    rows = np.repeat(np.arange(N), times)
    weighted = function(X, own, sample_weight=times, **options)
    repeated = function(X[rows], own[rows], **options)
    for path in (weighted, repeated):
        assert path.certify(at_breakpoints=True).ok, path
    t = places(weighted, repeated)
    values = [[path.objective_value(v) for v in t] for path in (weighted, repeated)]
    np.testing.assert_allclose(*values, rtol=1e-8, atol=1e-10)
    duals = weighted.dual(t)
    if len(duals) == N and "twin" not in name:  # whose duals are those of two planes
        assert not duals[times == 0].any()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_weights_that_are_none_are_refused(name):
    function, which, options = FUNCTIONS[name]
    X, u, y, classes, _ = data("normal")
    own = {"u": u, "y": y, "classes": classes, "counts": np.maximum(np.round(u) + 2, 0)}[which]
    for weights, said in ((np.zeros(N), "zero"), (-np.ones(N), "negative"), (np.ones(3), "shape")):
        with pytest.raises(ValueError, match=f"sample_weight .*{said}"):
            function(X, own, sample_weight=weights, **options)
    if which in ("y", "classes"):
        with pytest.raises(ValueError, match="zero for every instance of the class"):
            function(X, own, sample_weight=own == own[0], **options)


# ---------------------------------------------------------------- how far they go

# name: the argument that limits the range, and whether it is the least or the largest value
LIMITS = {
    "svm": ("C_max", max),
    "l1 svm": ("lam_min", min),
    "l1 constraint": ("s_max", max),
    "lasso": ("lam_min", min),
    "elastic net": ("lam1_min", min),
    "huber": ("lam_min", min),
    "squared hinge": ("lam_min", min),
    "hhsvm": ("lam1_min", min),
    "rlad": ("lam_min", min),
    "rlad in s": ("s_max", max),
    "drsvm": ("lam1_min", min),
    "drsvm in lam2": ("lam2_min", min),
    "drlad": ("s_max", max),
    "drlad in lam1": ("lam1_min", min),
    "drlad in lam2": ("lam2_min", min),
    "double margin": ("lam1_min", min),
    "double margin in lam2": ("lam2_min", min),
    "double margin, kernel": ("lam_min", min),
    "svr in C": ("C_max", max),
    "svr in lam": ("lam_min", min),
    "svr in epsilon": ("epsilon_min", min),
    "nu": ("nu_max", max),
    "kernel quantile in lam": ("lam_min", min),
    "one class": ("nu_min", min),
    "one class in lam": ("lam_min", min),
    "ordinal": ("C_max", max),
    "multicategory, rbf": ("lam_min", min),
    "pinball in C": ("C_max", max),
    "twin in C": ("C_max", max),
    "ranking": ("C_max", max),
    "fused": ("lam_min", min),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LIMITS)
def test_a_limited_path_is_a_part_of_the_whole(name, kind):
    function, which, options = FUNCTIONS[name]
    X, u, y, classes, _ = data(kind, 1)
    own = {"u": u, "y": y, "classes": classes}[which]
    whole = function(X, own, **options)
    limit, end = LIMITS[name]
    known = whole.breakpoints[np.isfinite(whole.breakpoints)]
    t = float(known[max(len(known) // 2, 1)]) * 1.01
    t = min(t, 0.9) if "nu" in limit else t
    part = function(X, own, **options, **{limit: t})
    assert end(part.range) == pytest.approx(t, rel=1e-15)
    assert part.certify(at_breakpoints=True).ok, part
    inside = part.breakpoints[np.isfinite(part.breakpoints) & (part.breakpoints != t)]
    places = np.unique([t, *inside, *(inside[1:] + inside[:-1]) / 2])
    for place in places:
        values = part.objective_value(place), whole.objective_value(place)
        assert values[0] == pytest.approx(values[1], rel=1e-8, abs=1e-10)
    beyond = 0.9 * t if end is min else 1.1 * t
    if limit != "nu_max":
        with pytest.raises(ValueError, match=rf"outside this path.*compute it with {limit}="):
            part.dual(beyond)
    with pytest.raises(ValueError, match=f"{limit} must be"):
        function(X, own, **options, **{limit: -1.0})


def stop(done, events):
    raise RuntimeError("enough")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_progress_is_told(name):
    function, which, options = FUNCTIONS[name]
    X, u, y, classes, _ = data("normal")
    own = {"u": u, "y": y, "classes": classes, "counts": np.maximum(np.round(u) + 2, 0)}[which]
    told = []
    function(X, own, callback=lambda done, events: told.append((done, events)), **options)
    done = [share for share, _ in told]
    assert done == sorted(done)
    assert done[-1] == 1.0
    with pytest.raises(TypeError, match="callback must be callable"):
        function(X, own, callback=1, **options)
    with pytest.raises(RuntimeError, match="enough"):
        function(X, own, callback=stop, **options)


# ---------------------------------------------------------------- paths of local optima


@pytest.mark.parametrize("kernel", [{}, KERNEL], ids=["linear", "rbf"])
@pytest.mark.parametrize("homotopy", ["theta", "s"])
@pytest.mark.parametrize("which", ["y", "u"])
def test_weights_of_outlier_paths(which, homotopy, kernel):
    """A weighted row jumps at once where its copies jump one after the other."""
    X, u, y, _, times = data("normal", 2)
    rows = np.repeat(np.arange(N), times)
    function, own = (paths.outlier_svm_path, y) if which == "y" else (paths.outlier_svr_path, u)
    options = {"homotopy": homotopy, **kernel}
    weighted = function(X, own, 0.5, sample_weight=times, **options)
    repeated = function(X[rows], own[rows], 0.5, **options)
    assert weighted.certify(at_breakpoints=True).ok
    assert repeated.certify(at_breakpoints=True).ok
    assert weighted.range == pytest.approx(repeated.range)
    begin = weighted.range[1] if which == "u" or homotopy == "theta" else weighted.range[0]
    values = [path.objective_value(begin) for path in (weighted, repeated)]
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    assert not weighted.dual(begin)[times == 0].any()
    f = [path.decision_function(X, begin) for path in (weighted, repeated)]
    np.testing.assert_allclose(*f, atol=1e-8)
    for path in (weighted, repeated):  # each end is a local optimum of the same objective
        assert path.at_threshold(path.range[0]).local is not False
