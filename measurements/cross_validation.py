"""Exact cross-validation beside a grid: our estimators, and GridSearchCV over 100 values.

Usage: python measurements/cross_validation.py [output.csv]; the table goes to output.md, too.

Both have the same 5 folds, the same standardised features and the same range of the parameter
(ours all of it, the grid 100 values, evenly spaced in the logarithm), and end with a fit to all
rows. Times: CPU seconds, one thread, medians of 3 interleaved repeats (1 where a round takes more
than 20 s), after a warm-up that absorbs compilation. The error is the mean of the folds' errors
that each finds; "at its value" judges both by our curve, which knows the error of every value: the
grid's solver has a tolerance.
"""

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import Lasso
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tables import write_table
from threadpoolctl import threadpool_limits

from solution_paths import PathLasso, PathSVC

REPEATS = 3
LONG_S = 20.0
FOLDS, VALUES = 5, 100


@dataclass(frozen=True)
class Case:
    """Ours (with ``cv`` yet to be set), the grid's estimator, and the parameter's range."""

    name: str
    data: Callable[[], tuple[np.ndarray, np.ndarray]]
    ours: object
    theirs: object
    parameter: str
    low: float
    high: float
    scoring: str


def breast_cancer():
    """569 rows, 30 columns."""
    return load_breast_cancer(return_X_y=True)


def diabetes():
    """442 rows, 10 columns, real targets."""
    return load_diabetes(return_X_y=True)


def curved(n):
    """Draw a curved boundary in 10 dimensions, a tenth of the labels flipped."""

    def draw():
        rng = np.random.default_rng(n)
        X = rng.normal(size=(n, 10))
        y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=n) > 0
        return X, (y ^ (rng.random(n) < 0.1)).astype(int)

    return draw


def wide():
    """Draw 200 rows and 500 columns, ten of which matter."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 500))
    return X, X[:, :10] @ rng.normal(size=10) + rng.normal(size=200)


def machine(name, data, high, **kernel):
    """Return a case of a support vector classifier."""
    ours = PathSVC(C_max=high, check="ignore", **kernel)
    theirs = SVC(**{"kernel": "linear", **kernel}, cache_size=1000)
    return Case(name, data, ours, theirs, "C", 1e-3, high, "accuracy")


def lasso(name, data, high):
    """Return a case of the lasso."""
    ours, theirs = PathLasso(check="ignore"), Lasso(max_iter=100_000)
    return Case(name, data, ours, theirs, "alpha", 1e-3 * high, high, "neg_mean_squared_error")


CASES = [
    machine("breast cancer, linear", breast_cancer, 10.0),
    machine("breast cancer, rbf", breast_cancer, 1e3, kernel="rbf", gamma=1 / 30),
    machine("curved 1000, linear", curved(1000), 10.0),
    machine("curved 1000, rbf", curved(1000), 100.0, kernel="rbf", gamma=0.1),
    machine("curved 2000, rbf", curved(2000), 100.0, kernel="rbf", gamma=0.1),
    lasso("diabetes, lasso", diabetes, 50.0),
    lasso("200 x 500, lasso", wide, 3.0),
]


def split(X, y, case):
    """Return the folds of both."""
    kind = KFold if case.scoring.startswith("neg") else StratifiedKFold
    return list(kind(FOLDS, shuffle=True, random_state=0).split(X, y))


def timed(fit):
    """Return CPU seconds and what was fitted."""
    start = time.process_time()
    fitted = fit()
    return time.process_time() - start, fitted


def compare(case):
    """Return one row: medians of interleaved repeats, and errors."""
    X, y = case.data()
    X = StandardScaler().fit_transform(X)
    folds = split(X, y, case)
    grid = np.geomspace(case.low, case.high, VALUES)
    ours = case.ours.set_params(cv=folds)
    search = GridSearchCV(case.theirs, {case.parameter: grid}, scoring=case.scoring, cv=folds)
    times = []
    while len(times) < REPEATS and (not times or sum(times[0]) < LONG_S):
        own_s, own = timed(lambda: ours.fit(X, y))
        grid_s, found = timed(lambda: search.fit(X, y))
        times.append((own_s, grid_s))
    curve, score = own.cv_path_, found.best_score_
    chosen = found.best_params_[case.parameter]
    seconds = np.median(times, axis=0)
    return {
        "case": case.name,
        "n": X.shape[0],
        "d": X.shape[1],
        "repeats": len(times),
        "ours_s": seconds[0],
        "grid_s": seconds[1],
        "ratio": seconds[1] / seconds[0],
        "pieces": len(curve.left),
        "ours_value": getattr(own, f"{case.parameter}_"),
        "grid_value": chosen,
        "ours_error": own.cv_error_,
        "grid_error": 1 - score if case.scoring == "accuracy" else -score,
        "grid_error_at_its_value": float(curve(chosen)),
        "least_on_grid": float(curve(grid).min()),
    }


def main(path):
    """Print the table and write it."""
    warnings.simplefilter("ignore")
    for case in CASES:
        X, y = case.data()
        case.ours.set_params(cv=2).fit(X[:80, :], y[:80])
    heads = ["case", "ours s", "grid s", "ratio", "pieces", "our value", "grid's", "our error"]
    heads += ["grid's", "at its value", "least on grid"]
    write_table(
        path, "Exact cross-validation beside GridSearchCV", __doc__, heads, map(shown, CASES)
    )


def shown(case):
    """Return one row, and its cells."""
    row = compare(case)
    cells = [str(row["case"]), f"{row['ours_s']:.2f}", f"{row['grid_s']:.2f}"]
    cells += [f"{row['ratio']:.1f}", str(row["pieces"])]
    cells += [f"{row[key]:.4g}" for key in ("ours_value", "grid_value")]
    errors = "ours_error", "grid_error", "grid_error_at_its_value", "least_on_grid"
    return row, cells + [f"{row[key]:.6g}" for key in errors]


if __name__ == "__main__":
    default = Path(__file__).parents[1] / "results" / "measurements" / "cross_validation.csv"
    with threadpool_limits(1):
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
