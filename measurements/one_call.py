"""What one call costs: without its check, with it, and beside what it replaces.

Usage: python measurements/one_call.py [output.csv]; the table goes to output.md, too.

Each row is one call. Of paths: CPU milliseconds without the look before they are returned, with it
(the default), and of `certify`; the look's share is that of the call without it. Of estimators:
with the check of what is used, and without. The last columns name what does the same or what one
would do instead, once, and how often that fits into the call. One thread, medians of 7 interleaved
repeats (3 where one takes longer than a second), after a warm-up that absorbs compilation.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from problems import use_mirror
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LassoLarsCV, QuantileRegressor, enet_path, lars_path
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from tables import write_table
from threadpoolctl import threadpool_limits

import solution_paths as paths
from path_benchmark.data.sources import load

REPEATS, FEW, LONG_S = 7, 3, 1.0
NONE = "–"  # of what a row doesn't have


def drawn(n, d, seed=0):
    """Draw Gaussian columns, five of which count, and real targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=n)


def stored(name, scaled=True):
    """Return a data set of the papers, columns standardised."""
    found = load(name)
    X = found.X.toarray() if sp.issparse(found.X) else np.asarray(found.X, dtype=float)
    return (StandardScaler().fit_transform(X) if scaled else X), found.y


def path(name, follow, data, other=None, instead=None):
    """Return a case of a path function."""
    X, y = data
    calls = {
        "unchecked": lambda: follow(X, y, check="ignore"),
        "checked": lambda: follow(X, y),
        "certify": follow(X, y).certify,
        "instead": None if instead is None else lambda: instead(X, y),
    }
    return name, calls, other


def estimator(name, model, data, other, instead):
    """Return a case of an estimator."""
    X, y = data
    unchecked = type(model)(**(model.get_params() | {"check": "ignore"}))
    calls = {
        "unchecked": lambda: unchecked.fit(X, y),
        "checked": lambda: model.fit(X, y),
        "certify": None,
        "instead": lambda: instead.fit(X, y),
    }
    return name, calls, other


def every_percent(X, y):
    """Fit 99 quantiles by scikit-learn, which gives each to HiGHS."""
    for tau in np.linspace(0.01, 0.99, 99):
        QuantileRegressor(quantile=tau, alpha=0.0).fit(X, y)


def cases():
    """Yield all cases."""
    X, y = drawn(100, 5)
    yield path(
        "svm_path 100 x 5", paths.svm_path, (X, np.sign(y)), "SVC, once", SVC(kernel="linear").fit
    )
    yield path(
        "elastic_net_path 500 x 20", paths.elastic_net_path, drawn(500, 20), "enet_path", enet_path
    )
    X, y = load_diabetes(return_X_y=True)
    centred = (X - X.mean(axis=0), y - y.mean())
    lars = lambda X, y: lars_path(X, y, method="lasso")  # noqa: E731
    yield path("lasso_path diabetes", paths.lasso_path, centred, "lars_path", lars)
    follow = paths.quantile_regression_path
    data, other = drawn(1000, 8), "QuantileRegressor, 99 quantiles"
    yield path("quantile_regression_path 1000 x 8", follow, data, other, every_percent)
    X, y = drawn(300, 3)
    yield path("svor_path 300 x 3, 3 classes", paths.svor_path, (X, np.digitize(y, [-1.0, 1.0])))
    lasso = paths.PathLasso(cv=5), stored("cadata", scaled=False), "LassoLarsCV", LassoLarsCV(cv=5)
    yield estimator("PathLasso(cv=5) cadata", *lasso)
    model = paths.PathQuantileRegressor(quantiles=[0.9], penalty="l1", cv=5)
    grid = {"alpha": np.geomspace(1e-3, 10.0, 10)}
    scoring = make_scorer(mean_pinball_loss, greater_is_better=False, alpha=0.9)
    quantile = GridSearchCV(QuantileRegressor(quantile=0.9), grid, scoring=scoring, cv=5)
    data = load_diabetes(return_X_y=True)
    yield estimator("PathQuantileRegressor(cv=5) diabetes", model, data, "grid of 10", quantile)
    grid = {"C": np.geomspace(1e-2, 100.0, 10)}
    own = {"kernel": "rbf", "gamma": 1 / 24}
    model, svc = paths.PathSVC(cv=5, C_max=100.0, **own), GridSearchCV(SVC(**own), grid, cv=5)
    yield estimator("PathSVC(rbf, cv=5) german", model, stored("german_numer"), "grid of 10", svc)
    own, grid = {"kernel": "rbf", "gamma": 1 / 13}, {"C": np.geomspace(1e-2, 100.0, 9)}
    model, svr = paths.PathSVR(cv=5, C_max=100.0, **own), GridSearchCV(SVR(**own), grid, cv=5)
    yield estimator("PathSVR(rbf, cv=5) housing", model, stored("housing"), "grid of 9", svr)


def timed(call):
    """Return CPU seconds."""
    start = time.process_time()
    call()
    return time.process_time() - start


def compare(name, calls, other):
    """Return one row: medians of interleaved repeats."""
    calls = {key: call for key, call in calls.items() if call is not None}
    first = {key: timed(call) for key, call in calls.items()}
    repeats = FEW if max(first.values()) > LONG_S else REPEATS
    found = [{key: timed(call) for key, call in calls.items()} for _ in range(repeats)]
    median = {key: 1e3 * float(np.median([row[key] for row in found])) for key in calls}
    share = median["checked"] / median["unchecked"] - 1.0
    row = {f"{key}_ms": median.get(key) for key in ("unchecked", "checked", "certify", "instead")}
    ratio = median["checked"] / median["instead"] if "instead" in median else None
    return {"case": name} | row | {"look_share": share, "other": other, "in_others": ratio}


def shown(case):
    """Return one row, and its cells."""
    row = compare(*case)
    times = [_digits(row[f"{key}_ms"]) for key in ("unchecked", "checked", "certify", "instead")]
    cells = [row["case"], *times[:2], f"{row['look_share']:.0%}", times[2]]
    return row, [*cells, row["other"] or NONE, times[3], _digits(row["in_others"], 2)]


def _digits(value, digits=1):
    """Return a number for the table, or a dash."""
    return NONE if value is None else f"{value:.{digits}f}"


def main(output):
    """Print the table and write it."""
    warnings.simplefilter("ignore")
    heads = ["call", "unchecked ms", "checked ms", "the look's share", "certify ms", "instead"]
    heads += ["its ms", "call in these"]
    write_table(output, "What one call costs", __doc__, heads, map(shown, cases()))


if __name__ == "__main__":
    use_mirror()
    default = Path(__file__).parents[1] / "results" / "measurements" / "one_call.csv"
    with threadpool_limits(1):
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
