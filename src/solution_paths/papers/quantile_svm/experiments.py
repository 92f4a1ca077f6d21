"""Quantile SVM paper: what is run. What is made of the results is in `quantile_svm_outputs`.

Settings are read from ``config["quantile_svm"]`` (data sets, experiments) and overridden by
``config["suites"][suite]["quantile_svm"]``. Experiments, each a function below:

path           the whole path, its certificate, exact test rates against tau
preparation    the path's number of kinks under other scalings
choose_lam     validation accuracy at tau = 1/2 against lam
timing         CPU seconds of the path, of recovering a solution, and of the solvers
boundary       the decision boundary at a few tau, in the plane
kinks          number of kinks against n
probability    P(y = +1 | x) read off the path, beside Platt and isotonic calibration
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from ... import baselines
from ...baselines import Answer, judge
from ...benchmarking.common import (
    Cell,
    Report,
    Rows,
    Timing,
    collect,
    experiment_settings,
    interleaved,
    list_cells,
    load_seeded,
    or_none,
    run_job,
    stopwatch,
)
from ...data import registry, seed_sequence
from ...data.protocols import (
    Part,
    Split,
    fit_scaler,
    split_fractions,
    split_sizes,
)
from ...models.quantile_svm import quantile_hinge
from ...objectives import Hinge
from . import data as paper_data
from .outputs import (
    CAPTIONS,
    assumptions,
    claims,
    figures,
    tables,
)

__all__ = [
    "CAPTIONS",
    "assumptions",
    "cells",
    "claims",
    "collect",
    "figures",
    "run_chunk",
    "tables",
]

PAPER = "quantile_svm"
SCALINGS = {
    "raw": "none",
    "minus_one_one": "symmetric",
    "standardised": "standardise",
    "zero_one": "unit_interval",
    "unit_norm": "unit_rows",
}
# A sample counts as on the margin when its margin is 1 up to this.
ON_MARGIN = 1e-8
# Breakpoints nearer to each other than this share of the distance to the path's end are one kink,
# a tie up to rounding. (Spam has thousands of true kinks below 1e-5.)
SAME_TAU = 1e-12
# Objective values are compared with the oracle's where a solve takes well under a second.
ORACLE_ROWS, ORACLE_TAUS = 1000, 10
# A method that has used this much wall time in the timing lane gets no further solves.
BUDGET_S = 240.0


# ---------------------------------------------------------------- what is to be run


def cells(config: dict, suite: str) -> list[Cell]:
    """List every cell of a suite."""
    return list_cells(PAPER, _cells_of, config, suite)


def run_chunk(
    config: dict, suite: str, chunk: dict, out_dir: str | Path, progress: Report | None = None
) -> list[Path]:
    """Run the cells of a job that aren't there yet; return the files of all its cells.

    Parameters
    ----------
    config : dict
        The workflow's configuration.
    suite : str
    chunk : dict
        ``experiment``, ``dataset`` and ``splits`` (an iterable of numbers).
    out_dir : path
        Folder of the cells.
    progress : callable, optional
        Called as ``progress(what, done, events)``.
    """

    def hyper(cell: Cell) -> dict[str, Any]:
        return {key: cell.settings[key] for key in ("lam", "preparation")}

    job = (config, suite, chunk, out_dir, progress)
    return run_job(PAPER, _cells_of, RUNNERS, *job, hyper_parameters=hyper)


def _cells_of(config: dict, suite: str, experiment: str, dataset: str, split: int) -> list[Cell]:
    """One cell for each data set and split, or one for each scaling or size.

    None where the data set has fewer splits: spam is not cut at random and has one, and ``splits``
    in a data set's settings limits the expensive ones.
    """
    paper = config[PAPER]
    data = dict(paper["datasets"][dataset])
    most = data.pop("splits", 1 if dataset == "spam" else split + 1)
    if split >= most:
        return []
    lane, chosen = experiment_settings(config, suite, PAPER, experiment)
    common = {"intercept_scaling": paper["intercept_scaling"], **data}
    if experiment == "preparation":
        variants = {name: {**common, "preparation": name} for name in chosen["preparations"]}
    elif experiment == "kinks":
        whole = {"whole_sizes": data["sizes"]}
        variants = {f"n{n}": {**common, **whole, "sizes": [n, 0, 0]} for n in chosen["sizes"]}
    else:
        variants = {"": {**common, **chosen}}
    return [Cell(experiment, dataset, split, lane, label, s) for label, s in variants.items()]


# ---------------------------------------------------------------- data


def prepare(dataset: str, split: int, settings: dict, offline: bool = False) -> Split:
    """Return training, validation and test part, scaled as the settings say.

    The paper's three data sets are cut as in the paper; any other is split at random in the
    proportions ``sizes`` (each part with each class in proportion), and generated anew for each
    split.
    """
    scaling = SCALINGS[settings["preparation"]]
    if dataset in paper_data.ASSEMBLIES:
        options = {}
        if dataset == "splice":
            options = {"n": settings["sizes"][0], "n_positive": settings.get("positives")}
        return paper_data.assemble(dataset, split, scaling=scaling, offline=offline, **options)
    sizes = settings["sizes"]
    seeds = seed_sequence(PAPER, dataset, split).spawn(2)
    data = load_seeded(dataset, seeds[0], offline, n=int(sum(sizes)) if max(sizes) > 1 else None)
    rng = np.random.default_rng(seeds[1])
    cut = split_sizes if max(sizes) > 1 else split_fractions
    rows = cut(data.n, sizes, rng, y=data.y)
    scaler = fit_scaler(data.X[rows[0]], scaling)
    return Split(*(Part(scaler.transform(data.X[r]), data.y[r]) for r in rows))


def _prepared(cell: Cell, offline: bool) -> Split:
    return prepare(cell.dataset, cell.split, cell.settings, offline)


def _problem(part: Part, settings: dict, tau: float) -> Hinge:
    scaling = settings["intercept_scaling"]
    return quantile_hinge(part.X, part.y, settings["lam"], intercept_scaling=scaling).at(tau)


def _path(part: Part, settings: dict, report: Report | None = None) -> Any:
    """Run the path algorithm on one part."""
    from ... import quantile_svm_path

    def callback(done: float, events: int) -> None:
        if report is not None:
            report(done, events)

    return quantile_svm_path(
        part.X,
        part.y,
        settings["lam"],
        intercept_scaling=settings["intercept_scaling"],
        callback=callback if report is not None else None,
    )


def n_kinks(path: Any) -> int:
    """Count the distinct tau in (0, 1) at which the solution bends."""
    inner = path.breakpoints[(path.breakpoints > 0.0) & (path.breakpoints < 1.0)]
    tau = np.unique(inner)
    tie = np.maximum(SAME_TAU * np.minimum(tau, 1.0 - tau), 4.0 * np.finfo(float).eps * tau)
    return int(np.count_nonzero(np.diff(tau, prepend=-1.0) > tie))


def _certificate(path: Any, rows: Rows, **columns: Any) -> dict[str, Any]:
    """Add the certificate of a path as a row; return what other rows of the path carry."""
    found = path.certify()
    carried = {"n_breakpoints": len(path.breakpoints), "kkt": found.kkt, "gap": found.gap}
    carried |= {"method": "path", **columns}
    rows.add("kinks", n_kinks(path), **carried)
    rows.add(
        "certificate",
        float(found.ok),
        **{**carried, "status": "ok" if found.ok else "certificate failed"},
        message=f"{found.n_points} points; worst KKT violation at tau = {found.kkt_at:.6g}, worst "
        f"gap at {found.gap_at:.6g}",
    )
    return carried


# ---------------------------------------------------------------- exact functions of tau


def sign_changes(path: Any, X: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the decision of each row near tau = 0 (True is +1) and where in tau it changes.

    The signs are taken at tau = 1/2 and traced back through the exact crossings, so they hold on
    the open interval before the first crossing (at tau = 0 itself f may be exactly 0).
    """
    crossings = [np.asarray(c, float) for c in path.crossings(X)]
    below = np.array([np.count_nonzero(c < 0.5) for c in crossings])
    middle = path.decision_function(X, 0.5) >= 0.0
    return middle ^ (below % 2 == 1), crossings


def step_rates(
    y: np.ndarray, first: np.ndarray, crossings: list[np.ndarray]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """TPR, TNR and accuracy as exact step functions of tau.

    Returns
    -------
    dict of (tau, value)
        ``value[k]`` holds on ``(tau[k], tau[k + 1])``; ``tau[0]`` is 0.
    """
    lengths = [len(c) for c in crossings]
    tau = np.concatenate([np.empty(0), *crossings])
    row = np.repeat(np.arange(len(y)), lengths)
    turn = np.concatenate([np.arange(k) for k in lengths]) if len(tau) else np.empty(0)
    up = np.where(first[row] ^ (turn % 2 == 1), -1, 1)  # -1: this crossing ends a +1
    order = np.argsort(tau, kind="stable")
    tau, row, up = tau[order], row[order], up[order]
    positive = y[row] > 0
    last = np.append(tau[1:] != tau[:-1], True) if len(tau) else np.empty(0, bool)
    at = np.append(0.0, tau[last])

    def counted(start: int, change: np.ndarray) -> np.ndarray:
        return np.append(start, start + np.cumsum(change)[last])

    tp = counted(np.count_nonzero(first & (y > 0)), np.where(positive, up, 0))
    tn = counted(np.count_nonzero(~first & (y < 0)), np.where(positive, 0, -up))
    n_positive = np.count_nonzero(y > 0)
    n_negative = len(y) - n_positive
    return {
        "tpr": (at, tp / max(n_positive, 1)),
        "tnr": (at, tn / max(n_negative, 1)),
        "accuracy": (at, (tp + tn) / len(y)),
    }


def probabilities(first: np.ndarray, crossings: list[np.ndarray]) -> np.ndarray:
    """P(y = +1 | x) of each row: the length of the set of tau at which it is classified as +1.

    A row that flips once, from +1 to -1, gets the tau of its flip, which is the paper's reading
    "+1 if P(Y=1|x) >= tau". Where it flips more often this is the monotone rearrangement of its
    decisions: the length is kept and the intervals are put in order.
    """
    total = np.empty(len(first))
    for i, (positive, at) in enumerate(zip(first, crossings, strict=True)):
        ends = np.concatenate([[0.0], at, [1.0]])
        lengths = np.diff(ends)
        total[i] = lengths[0 if positive else 1 :: 2].sum()
    return np.clip(total, 0.0, 1.0)


# ---------------------------------------------------------------- the experiments


def _run_path(cell: Cell, rows: Rows, report: Report, offline: bool) -> None:
    """Follow the whole path: kinks, certificate, margin, exact rates on the test part."""
    parts, settings = _prepared(cell, offline), cell.settings
    _describe(cell, parts, rows, offline)
    timing = stopwatch(lambda: _path(parts.train, settings, report))
    path = timing.result
    carried = _certificate(path, rows)
    # Not a timing: other jobs may have run beside this one. The timing lane is for that.
    rows.add("path_seconds", timing.cpu_s, cpu_s=timing.cpu_s, wall_s=timing.wall_s, **carried)
    for name, value in path.diagnostics.items():
        if isinstance(value, int | float | np.number):
            rows.add(f"diagnostic_{name}", value, **carried)
    _margin_share(path, parts.train, rows, carried)
    _rates(path, parts.test, rows, carried)
    _chosen_tau(path, parts, rows, carried)
    if parts.train.X.shape[0] <= ORACLE_ROWS:
        _against_oracle(path, parts.train, cell, rows, carried)
    rows.add("peak_memory_mb", _peak_memory_mb(), method="path")


def _describe(cell: Cell, parts: Split, rows: Rows, offline: bool) -> None:
    """Table 1. Zeros are counted before any scaling, which would move them."""
    named = {"train": parts.train, "validation": parts.validation, "test": parts.test}
    for name, part in named.items():
        rows.add(f"n_{name}", len(part.y), method="data")
        rows.add(f"positive_share_{name}", float(np.mean(part.y > 0)), method="data")
    raw = prepare(cell.dataset, cell.split, {**cell.settings, "preparation": "raw"}, offline)
    X = raw.train.X
    filled = X.count_nonzero() if sp.issparse(X) else np.count_nonzero(X)
    rows.add("dim", X.shape[1], method="data")
    rows.add("zero_percent", 100.0 * (1.0 - filled / np.prod(X.shape)), method="data")


def _margin_share(path: Any, train: Part, rows: Rows, carried: dict) -> None:
    """Share of the training samples on the margin, at tau = 0, .1, ..., 1."""
    for tau in np.linspace(0.0, 1.0, 11):
        margin = train.y * path.decision_function(train.X, tau)
        share = np.mean(np.abs(margin - 1.0) <= ON_MARGIN)
        rows.add("margin_share", share, hyper_parameters={"tau": round(tau, 1)}, **carried)


def _rates(path: Any, test: Part, rows: Rows, carried: dict) -> None:
    first, crossings = sign_changes(path, test.X)
    for metric, (tau, value) in step_rates(test.y, first, crossings).items():
        for left, rate in zip(tau, value, strict=True):
            rows.add(f"step_{metric}", rate, hyper_parameters={"tau": float(left)}, **carried)
    rows.add("step_errors", _step_errors(path, test, first, crossings), **carried)
    for tau in (0.0, 1.0):
        share = np.mean(path.decision_function(test.X, tau) >= 0.0)
        rows.add("labelled_positive", share, hyper_parameters={"tau": tau}, **carried)


def _step_errors(path: Any, test: Part, first: np.ndarray, crossings: list[np.ndarray]) -> int:
    """Count the rows whose sign differs from the decision function at 20 tau between crossings."""
    errors = 0
    for tau in np.random.default_rng(0).uniform(size=20):
        f = path.decision_function(test.X, tau)
        turns = np.array([np.count_nonzero(c < tau) for c in crossings])
        errors += np.count_nonzero(((f >= 0.0) != (first ^ (turns % 2 == 1))) & (np.abs(f) > 1e-9))
    return errors


def _chosen_tau(path: Any, parts: Split, rows: Rows, carried: dict) -> None:
    """Test error at the tau that is exactly best on the validation part, beside tau = 1/2."""
    best = path.best(parts.validation.X, parts.validation.y, metric="zero_one")
    rows.add("validation_error_best", best.value, **carried)
    for name, tau in {"best": best.parameter, "half": 0.5}.items():
        wrong = (path.decision_function(parts.test.X, tau) >= 0.0) != (parts.test.y > 0)
        rows.add(f"test_error_{name}", np.mean(wrong), hyper_parameters={"tau": tau}, **carried)


def _against_oracle(path: Any, train: Part, cell: Cell, rows: Rows, carried: dict) -> None:
    """Largest relative difference of the objective from Clarabel's at random tau."""
    worst, start = 0.0, None
    for tau in np.random.default_rng(cell.split).uniform(size=ORACLE_TAUS):
        problem = _problem(train, cell.settings, tau)
        start = baselines.solve("clarabel", problem, start=start)
        theirs = judge(problem, start).primal
        ours = judge(problem, _ours(path, tau)).primal
        worst = max(worst, abs(ours - theirs) / abs(theirs))
    rows.add("objective_difference", worst, **{**carried, "method": "path"})


def _ours(path: Any, tau: float) -> Answer:
    """Return the path's solution, coefficients and dual as it states them, for the judge."""
    return Answer(alpha=path.dual(tau), w=path.coef(tau), b=path.intercept(tau))


def _peak_memory_mb() -> float:
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _run_preparation(cell: Cell, rows: Rows, report: Report, offline: bool) -> None:
    """Kinks under one scaling; a scaling that sparse data can't have is a row that says so."""
    try:
        parts = _prepared(cell, offline)
    except ValueError as error:
        rows.add("kinks", None, method="path", status="not applicable", message=str(error))
        return
    path = _path(parts.train, cell.settings, report)
    carried = _certificate(path, rows)
    wrong = (path.decision_function(parts.test.X, 0.5) >= 0.0) != (parts.test.y > 0)
    rows.add("test_error_half", np.mean(wrong), **carried)
    _margin_share(path, parts.train, rows, carried)


def _run_choose_lam(cell: Cell, rows: Rows, report: Report, offline: bool) -> None:
    """Score each lam at tau = 1/2 by every solver; the answer with the lowest objective counts."""
    parts = _prepared(cell, offline)
    grid, solvers = cell.settings["grid"], ("lbfgsb", "liblinear", "clarabel")
    rows.add("n_validation", len(parts.validation.y), method="data")
    for k, lam in enumerate(sorted(grid, reverse=True)):
        problem = _problem(parts.train, {**cell.settings, "lam": lam}, 0.5)
        scored = []
        for name in solvers:
            answer = baselines.solve(name, problem)
            bound = scored[0][1].dual if scored else None
            verdict = judge(problem, answer, lower_bound=bound)
            accuracy = _accuracy(problem, answer, parts.validation)
            scored.append((verdict.primal, verdict, accuracy))
            rows.add(
                "validation_accuracy",
                accuracy,
                **_solver_columns(name, answer, verdict),
                hyper_parameters={"lam": lam},
            )
        known = [s for s in scored if np.isfinite(s[0])]
        if known:
            best = min(known, key=lambda s: s[0])
            rows.add(
                "validation_accuracy",
                best[2],
                method="lowest objective",
                hyper_parameters={"lam": lam},
            )
        report((k + 1) / len(grid))


def _solver_columns(name: str, answer: Answer, verdict: Any) -> dict[str, Any]:
    """Columns of a row about a solver's answer, as the judge sees it."""
    finite = {"kkt": verdict.kkt, "gap": verdict.gap}
    return {
        "method": name,
        "method_version": baselines.get(name).version(),
        "cpu_s": or_none(answer.cpu_s),
        "wall_s": or_none(answer.wall_s),
        "status": "ok" if answer.status == "solved" else answer.status,
        "message": answer.message,
        **{k: or_none(v) for k, v in finite.items()},
    }


def _accuracy(problem: Hinge, answer: Answer, part: Part) -> float | None:
    if answer.w is None and answer.alpha is None:
        return None
    f = problem.decision(part.X, problem.stated(answer))
    return float(np.mean((f >= 0.0) == (part.y > 0)))


def _run_boundary(cell: Cell, rows: Rows, report: Report, offline: bool) -> None:
    """Figure 1: weights at a few tau, and the points themselves."""
    parts = _prepared(cell, offline)
    train = parts.train
    if train.X.shape[1] != 2:
        raise ValueError(f"boundary needs two features, {cell.dataset} has {train.X.shape[1]}.")
    path = _path(train, cell.settings, report)
    carried = _certificate(path, rows)
    for tau in cell.settings["taus"]:
        w, b = path.coef(tau), path.intercept(tau)
        for name, value in {"w0": w[0], "w1": w[1], "b": b}.items():
            rows.add(f"boundary_{name}", value, hyper_parameters={"tau": tau}, **carried)
    for (x0, x1), label in zip(train.X, train.y, strict=True):
        rows.add("point", label, method="data", hyper_parameters={"x0": x0, "x1": x1})


def _run_kinks(cell: Cell, rows: Rows, report: Report, offline: bool) -> None:
    """Count the kinks at one n; a fixed data set is subsampled from its training part."""
    n, settings = cell.settings["sizes"][0], cell.settings
    train = _sample(cell, n, offline)
    timing = stopwatch(lambda: _path(train, settings, report))
    carried = _certificate(timing.result, rows, hyper_parameters={"n": n})
    rows.add("path_seconds", timing.cpu_s, cpu_s=timing.cpu_s, wall_s=timing.wall_s, **carried)


def _sample(cell: Cell, n: int, offline: bool) -> Part:
    known = registry()
    if cell.dataset in known and "n" in known[cell.dataset].parameters:
        return _prepared(cell, offline).train
    whole = {**cell.settings, "sizes": cell.settings["whole_sizes"]}
    train = prepare(cell.dataset, cell.split, whole, offline).train
    rng = np.random.default_rng(seed_sequence(PAPER, f"{cell.dataset}/kinks/{n}", cell.split))
    (rows,) = split_sizes(len(train.y), [n], rng, y=train.y)
    return Part(train.X[rows], train.y[rows])


# ---------------------------------------------------------------- timing


def _run_timing(cell: Cell, rows: Rows, report: Report, offline: bool) -> None:
    """Every method in one process, interleaved, BLAS on one thread; every repeat is a row."""
    train, settings = _prepared(cell, offline).train, cell.settings
    done, most = 0.0, 1.0
    # A path's own progress is part of the step that the lane is at.
    lane = _TimingLane(train, settings, lambda part, events: report((done + part) / most, events))
    lane.warm_up()
    calls = lane.calls()
    most = len(calls) * settings["repeats"]
    for solved, (key, repeat, timing) in enumerate(interleaved(calls, lane.repeats), start=1):
        lane.record(rows, *key, repeat, timing)
        done = float(solved)
        report(done / most)
    _certificate(lane.path, rows)


class _TimingLane:
    """One process in which path and solvers take turns on the same arrays."""

    def __init__(self, train: Part, settings: dict, report: Report) -> None:
        self.train, self.settings, self.report = train, settings, report
        self.path: Any = None
        self.spent: dict[str, float] = {}
        self._starts: dict[str, Answer] = {}
        self._bounds: dict[float, float] = {}

    def warm_up(self) -> None:
        """Absorb compilation and imports on a small part of the same data."""
        rng = np.random.default_rng(0)
        y = self.train.y
        rows = np.concatenate([rng.permutation(np.flatnonzero(y == s))[:40] for s in (1.0, -1.0)])
        small = Part(self.train.X[rows], y[rows])
        path = _path(small, self.settings)
        path.dual(0.3), path.coef(0.3), path.intercept(0.3)
        for name in self._solvers():
            baselines.solve(name, _problem(small, self.settings, 0.3))

    def _solvers(self) -> list[str]:
        return [m for m in self.settings["methods"] if m in baselines.BASELINES]

    def calls(self) -> dict[tuple[str, float | None], Callable[[], Timing]]:
        """One call for the path, one for each other method and tau; the path comes first."""
        found: dict = {("path", None): self._find_path}
        for method in self.settings["methods"]:
            for tau in self.settings["taus"]:
                if method == "recover":
                    found["recover", tau] = lambda tau=tau: self._recover(tau)
                    found["recover_w", tau] = lambda tau=tau: self._recover_w(tau)
                elif method != "path":
                    found[method, tau] = lambda m=method, tau=tau: self._solve(m, tau)
        return found

    def repeats(self, key: tuple, first_s: float) -> int:
        """As many as asked for, fewer where all of a method's would exceed its budget."""
        if not np.isfinite(first_s):
            return 1  # not available, or over budget: one row says so
        solves = 1 if key[0] == "path" else len(self.settings["taus"])
        affordable = int(BUDGET_S / max(solves * first_s, 1e-9))
        return int(np.clip(affordable, 1, self.settings["repeats"]))

    def _find_path(self) -> Timing:
        timing = stopwatch(lambda: _path(self.train, self.settings, self.report))
        self.path = timing.result
        return timing

    def _recover(self, tau: float) -> Timing:
        return stopwatch(lambda: self.path.dual(tau), shortest_s=0.005)

    def _recover_w(self, tau: float) -> Timing:
        return stopwatch(lambda: (self.path.coef(tau), self.path.intercept(tau)), shortest_s=0.005)

    def _solve(self, method: str, tau: float) -> Timing:
        if self.spent.get(method, 0.0) > BUDGET_S:
            reason = f"not run: {method} had used up {BUDGET_S:.0f} s"
            return Timing(np.nan, np.nan, Answer(status="skipped", message=reason))
        problem = _problem(self.train, self.settings, tau)
        answer = baselines.solve(method, problem, start=self._starts.get(method))
        self._starts[method] = answer
        self.spent[method] = self.spent.get(method, 0.0) + np.nan_to_num(answer.wall_s)
        return Timing(answer.cpu_s, answer.wall_s, answer)

    def _bound(self, problem: Hinge, tau: float) -> float:
        if tau not in self._bounds:
            self._bounds[tau] = judge(problem, Answer(alpha=self.path.dual(tau))).dual
        return self._bounds[tau]

    def record(
        self, rows: Rows, method: str, tau: float | None, repeat: int, timing: Timing
    ) -> None:
        """Write a repeat down, beside the accuracy that the judge finds in its answer."""
        seconds = {"cpu_s": or_none(timing.cpu_s), "wall_s": or_none(timing.wall_s)}
        hyper = {} if tau is None else {"tau": tau}
        columns = {"method": method, "repeat": repeat, "hyper_parameters": hyper}
        if method == "path":
            size = len(timing.result.breakpoints)
            rows.add("time", seconds["cpu_s"], n_breakpoints=size, **seconds, **columns)
            return
        problem = _problem(self.train, self.settings, tau)
        if method.startswith("recover"):
            verdict = judge(problem, _ours(self.path, tau))
            judged = {"kkt": or_none(verdict.kkt), "gap": or_none(verdict.gap)}
            rows.add("time", seconds["cpu_s"], **judged, **seconds, **columns)
            return
        verdict = judge(problem, timing.result, lower_bound=self._bound(problem, tau))
        columns = {**_solver_columns(method, timing.result, verdict), **columns}
        rows.add("time", seconds["cpu_s"], **columns)
        if repeat == 0 and timing.result.setup_cpu_s > 0.0:
            rows.add("setup_time", timing.result.setup_cpu_s, **columns)


# ---------------------------------------------------------------- probabilities


def _run_probability(cell: Cell, rows: Rows, report: Report, offline: bool) -> None:
    """P(y = +1 | x) on the test part: read off the path, and by calibrating f at tau = 1/2."""
    parts = _prepared(cell, offline)
    path = _path(parts.train, cell.settings, report)
    carried = _certificate(path, rows)
    first, crossings = sign_changes(path, parts.test.X)
    flips = np.array([len(c) for c in crossings])
    rows.add("flips_more_than_once", np.mean(flips > 1), **carried)
    rows.add("never_flips", np.mean(flips == 0), **carried)
    clip = 0.5 / len(parts.train.y)
    for method in cell.settings["methods"]:
        if method == "path":
            p = probabilities(first, crossings)
        else:
            p = _calibrated(path, parts, method)
        _score(p, parts.test.y > 0, clip, method, cell.settings["bins"], rows)


def _calibrated(path: Any, parts: Split, method: str) -> np.ndarray:
    """Fit Platt's sigmoid or an isotonic map to f(x, tau = 1/2) on the validation part."""
    kind = {"platt": "sigmoid", "isotonic": "isotonic"}[method]
    machine = FrozenEstimator(AtTau(path, 0.5))
    calibrated = CalibratedClassifierCV(machine, method=kind)
    calibrated.fit(parts.validation.X, parts.validation.y)
    return calibrated.predict_proba(parts.test.X)[:, list(calibrated.classes_).index(1.0)]


def _score(p: np.ndarray, hit: np.ndarray, clip: float, method: str, bins: int, rows: Rows) -> None:
    """Add Brier score, log loss (p kept within [clip, 1 - clip]), reliability by equal bins."""
    rows.add("brier", np.mean((p - hit) ** 2), method=method)
    q = np.clip(p, clip, 1.0 - clip)
    loss = -np.mean(np.where(hit, np.log(q), np.log1p(-q)))
    rows.add("log_loss", loss, method=method, hyper_parameters={"clip": clip})
    slot = np.minimum((p * bins).astype(int), bins - 1)
    for k in np.unique(slot):
        inside = slot == k
        hyper = {"bin": int(k), "predicted": p[inside].mean(), "count": int(inside.sum())}
        rows.add("reliability", hit[inside].mean(), method=method, hyper_parameters=hyper)


class AtTau(ClassifierMixin, BaseEstimator):
    """The path's classifier at one tau, as scikit-learn sees it; there is nothing to fit."""

    def __init__(self, path: Any, tau: float) -> None:
        self.path, self.tau = path, tau
        self.classes_ = np.array([-1.0, 1.0])

    def fit(self, X: Any = None, y: Any = None) -> AtTau:
        """Do nothing: the path is given."""
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values at this tau."""
        return self.path.decision_function(X, self.tau)

    def predict(self, X: Any) -> np.ndarray:
        """Labels -1 and +1."""
        return np.where(self.decision_function(X) >= 0.0, 1.0, -1.0)


RUNNERS: dict[str, Callable[[Cell, Rows, Report, bool], None]] = {
    "path": _run_path,
    "preparation": _run_preparation,
    "choose_lam": _run_choose_lam,
    "timing": _run_timing,
    "boundary": _run_boundary,
    "kinks": _run_kinks,
    "probability": _run_probability,
}
