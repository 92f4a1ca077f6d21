"""Every estimator with its defaults on ordinary data sets, raw and standardised.

A fit's row says whether it raised, what it warned of, its seconds, and the relative gap of the
answer that a user gets: the objective of the coefficients (or of the expansion in training rows),
less a lower bound, both by `optimum.py`, which shares no code with the library. ``off`` is how far
predictions on the training rows are off those of the coefficients or the expansion. A bound is
made of the model's own duals where they say 1e-9, else of Clarabel's. Of several classes the worst.
An outlier path's answer is judged as the optimum of the problem in which every sample keeps its
side.

    python measurements/defaults.py --out results/defaults.jsonl
    python measurements/defaults.py --data iris wine --estimator PathSVC --rows 200
    python measurements/defaults.py --report results/defaults.jsonl

What stands in the file already is not run again.
"""

from __future__ import annotations

import argparse
import time
import warnings
from contextlib import suppress
from pathlib import Path as FilePath

import numpy as np
import pandas as pd
import scipy.sparse as sp
from cvxpy.error import SolverError
from optimum import (
    LONG,
    Penalty,
    bound,
    centred,
    clarabel_duals,
    double_margin,
    double_margin_in_ball,
    hinge,
    lasso,
    rbf,
    robust,
    roots,
    tube,
)
from problems import use_mirror
from resumed import resumed
from sklearn import datasets
from sklearn.base import is_classifier
from sklearn.preprocessing import StandardScaler

import solution_paths as library
from path_benchmark.data import load
from solution_paths import PathWarning

SURE = 1e-9  # a gap that needs no second bound
PROMISED, HARMFUL = 1e-8, 1e-6
KEYS = ("data", "estimator", "scaled", "rows")
ESTIMATORS = {
    "PathSVC": {},
    "PathSVC rbf": {"kernel": "rbf"},
    "PathSVC rbf scale": {"kernel": "rbf", "gamma": "scale"},
    "QuantileSVC": {},
    "L1SVC": {},
    "DmKSVC": {},
    "DmKSVC rbf": {"kernel": "rbf"},
    "DmDrSVC": {},
    "OutlierSVC": {},
    "WeightedSVC": {},
    "PathLasso": {},
    "DrLAD": {},
    "OutlierSVR": {},
    "WeightedSVR": {},
}
BUNDLED = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "linnerud": datasets.load_linnerud,
    "diabetes_targets": datasets.load_diabetes,
}
STORED = ("heart", "ionosphere", "sonar", "spambase", "german_numer", "diabetes", "australian")
STORED += ("housing", "auto_mpg", "prostate", "abalone")
DATA = (*BUNDLED, *STORED, "abalone_old")
TARGETS = ("linnerud", "diabetes_targets", "housing", "auto_mpg", "prostate", "abalone")


def rows_of(name: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return at most so many rows of a data set, drawn without order."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        y = y[:, 0] if y.ndim == 2 else y
    else:
        found = load("abalone" if name == "abalone_old" else name)
        X, y = found.X.toarray() if sp.issparse(found.X) else np.asarray(found.X), found.y
        y = np.where(y > np.median(y), "old", "young") if name == "abalone_old" else y
    if name.startswith("abalone") and X.shape[1] == 8:  # sex as three columns of zeros and ones
        X = np.column_stack([X[:, :1] == np.unique(X[:, 0]), X[:, 1:]]).astype(float)
    chosen = np.random.default_rng(0).permutation(len(y))[:most]
    return X[chosen], y[chosen]


# -- the judge --------------------------------------------------------------------------------


def judged(model, X, y):
    """Return the worst relative gap of a model's paths, and how far its predictions are off."""
    several = isinstance(model.path_, list)
    given = model.decision_function(X) if is_classifier(model) else model.predict(X)
    gaps, off = [], []
    for k, path in enumerate(model.path_ if several else [model.path_]):
        own = y == model.classes_[k if several else 1] if is_classifier(model) else None
        side = y.astype(LONG) if own is None else np.where(own, LONG(1), LONG(-1))
        answer = Answer(model, path, k, X)
        primal, lower = objective_and_bound(type(model).__name__, model, answer, X, side)
        # below the bound is what breaks a constraint
        gaps.append(abs(primal - lower) / max(abs(primal), abs(lower), LONG(1e-300)))
        f = given[:, k] if several else given
        off.append(np.abs(answer.f - f).max() / max(np.abs(answer.f).max(), LONG(1e-300)))
    return tuple(float(np.nan_to_num(max(found), nan=np.inf)) for found in (gaps, off))


class Answer:
    """What a fitted model hands out for one of its paths: w (None: a kernel's), b, duals, and f.

    f are the values on the training rows that w, or the duals, imply; `ridge` the weight of the
    penalty that divides the duals.
    """

    def __init__(self, model, path, k, X):
        name = getattr(model, "_parameter", "") or "theta"
        t = getattr(model, f"{name}_", 1.0) * (len(X) if name == "alpha" else 1)
        self.duals, self.w = None, None
        if path is not None:
            t = min(max(t, path.range[0]), path.range[1])
            self.duals, self.b = path.dual(t).astype(LONG), LONG(path.intercept(t))
            if len(path.line.start.losses) > 1:  # outer margins
                self.duals -= path.dual(t, 1)
        if hasattr(model, "coef_"):
            w, self.b = np.atleast_2d(model.coef_)[k], LONG(np.ravel(model.intercept_)[k])
            self.w = w.astype(LONG)
        elif getattr(model, "kernel", "linear") == "linear":
            self.w = path.coef(t).astype(LONG)
        self.f = None if self.w is None else X.astype(LONG) @ self.w + self.b


def objective_and_bound(kind, model, answer, X, y):
    """Return the objective of an answer, and a lower bound of the optimum."""
    n = len(y)
    if kind == "PathLasso":
        return lasso(X, y, answer.w, answer.b, model.alpha_)
    if kind == "DmDrSVC":
        given = y, answer.w, answer.f, y * answer.duals
        return double_margin_in_ball(*given, centred(X), model.kappa, model.lam1_, model.lam2)
    one, K = np.ones(n, dtype=LONG), None
    a = np.sign(y - answer.f) / n if answer.duals is None else answer.duals
    signed = kind == "L1SVC" or not is_classifier(model)
    a = a if signed else y * a
    ridge = {"QuantileSVC": "lam", "DmKSVC": "lam_"}.get(kind)
    ridge = LONG(getattr(model, ridge) if ridge else 1.0)
    if answer.w is None:
        K = rbf(X, 1 / LONG(X.shape[1]) / (1 if model.gamma is None else X.var()))
        answer.f = K @ a / ridge + answer.b
    losses, penalty = stated(kind, model, answer.f, a, y, one, ridge)
    if K is not None:
        Z, value = roots(K), a @ (K @ a) / (2 * ridge)
    else:
        Z, w = (centred(X) if penalty.free else X.astype(LONG)), answer.w
        if kind == "QuantileSVC":  # the bias is the coefficient of a column of ones
            Z, w = np.hstack([Z, one[:, None]]), np.append(w, answer.b)
        value = penalty(w)
    primal, lower = losses(answer.f).sum() + value, bound(losses, penalty, a, Z, K)
    if abs(primal - lower) > SURE * abs(primal):
        with suppress(SolverError):  # then the model's own duals are all there is
            lower = max(lower, bound(losses, penalty, clarabel_duals(losses, penalty, Z), Z, K))
    return primal, lower


def stated(kind, model, f, a, y, one, ridge):
    """Return the losses and the penalty of a model."""
    if kind in ("PathSVC", "WeightedSVC"):
        return hinge(y, one * model.C), Penalty(ridge)
    if kind == "WeightedSVR":
        return tube(y, one * model.C, model.epsilon), Penalty(ridge)
    if kind == "QuantileSVC":
        costs = 2 * np.where(y > 0, 1 - LONG(model.tau_), model.tau_) / len(y)
        return hinge(y, costs), Penalty(ridge, free=False)
    if kind == "L1SVC":
        return hinge(y, one), Penalty(lam1=model.lam_)
    if kind == "DrLAD":
        return tube(y, one / len(y)), Penalty(radius=model.s_)
    if kind == "DmKSVC":
        return double_margin(y, one / len(y), model.kappa), Penalty(ridge)
    s = 0.0 if is_classifier(model) else model.s
    return robust(y, f, a, model.C, s, is_classifier(model)), Penalty(ridge, free=False)


# -- the command ------------------------------------------------------------------------------


def run_one(name, estimator, scaled, most):
    """Return the row of one fit."""
    X, y = rows_of(name, most)
    X = StandardScaler().fit_transform(X) if scaled else X
    model = getattr(library, estimator.split()[0])(**ESTIMATORS[estimator])
    row = {"data": name, "estimator": estimator, "scaled": scaled, "rows": most}
    row |= {"n": len(y), "d": X.shape[1], "error": "", "alarms": [], "remarks": []}
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model.fit(X, y)
    except Exception as error:
        return row | {"error": f"{type(error).__name__}: {error}"[:300]}
    row["seconds"] = round(time.perf_counter() - begin, 3)
    for one in told:
        row["alarms" if about_the_answer(one) else "remarks"].append(str(one.message)[:200])
    gap, off = judged(model, X, y)
    return row | {"gap": gap, "off": off}


def about_the_answer(warning):
    """Tell whether a warning says that an answer is wrong, and not that columns differ in scale."""
    columns = str(warning.message).startswith("The columns of X")
    return issubclass(warning.category, PathWarning) and not columns


def problems(arguments):
    """Yield the fits that were asked for."""
    for name in arguments.data:
        for estimator in arguments.estimator:
            regression = not is_classifier(getattr(library, estimator.split()[0])())
            if (name in TARGETS) == regression:
                for scaled in (False, True):
                    yield name, estimator, scaled, arguments.rows


def summary(rows):
    """Return what is counted."""
    gap, off = rows["gap"].fillna(0.0), rows["off"].fillna(0.0)
    wrong, alarms = (gap > HARMFUL) | (off > HARMFUL), rows["alarms"].str.len() > 0
    return {
        "fits": len(rows),
        "exceptions": int((rows["error"] != "").sum()),
        "with an alarm": int(alarms.sum()),
        "with a remark": int((rows["remarks"].str.len() > 0).sum()),
        f"gap > {PROMISED:g}": int((gap > PROMISED).sum()),
        "silent": int((wrong & ~alarms).sum()),
        "false alarms": int((alarms & ~wrong & (rows["error"] == "")).sum()),
        "predictions off": int((off > PROMISED).sum()),
        "seconds": float(round(rows["seconds"].sum(), 1)),
    }


def main():
    """Fit what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    parser.add_argument("--estimator", nargs="+", choices=ESTIMATORS, default=ESTIMATORS)
    parser.add_argument("--rows", type=int, default=1500, help="most of a data set")
    parser.add_argument("--out", type=FilePath)
    parser.add_argument("--report", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    use_mirror()
    if arguments.report:
        rows = pd.concat([pd.read_json(f, lines=True) for f in arguments.report], ignore_index=True)
    else:
        found = []
        for row in resumed(arguments.out, problems(arguments), run_one, KEYS):
            found.append(row)
            if row["error"] or row["alarms"] or max(row["gap"], row["off"]) > PROMISED:
                print(row, flush=True)
        rows = pd.DataFrame(found)
    print(summary(rows))


if __name__ == "__main__":
    main()
