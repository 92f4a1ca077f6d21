"""Quantile SVM paper: what is run. What is made of the results is in `outputs`.

path           the whole path, its certificate, exact test rates against tau
scaling        the path's number of kinks under other scalings, and with other kinds of bias
choose_lam     validation accuracy at tau = 1/2 against lam
timing         CPU seconds of the path, of recovering a solution, and of the solvers
published      the paper's Algorithm 1 with conjugate gradients: seconds, kinks, accuracy
boundary       the decision boundary at a few tau, in the plane
kinks          number of kinks against n
extremes       CPU seconds of the solvers where one class costs nothing, or hardly anything
probability    P(y = +1 | x) read off the path, beside Platt and isotonic calibration
known          the same beside the true one, against n, on data whose law is known
explore        whole paths, written down so that the page can turn them by hand
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import AfterValidator, Field

from path_benchmark import solvers
from solution_paths import quantile_svm_path, weighted_svm_path

from ...data import registry
from ...data.protocols import SCALINGS, Part, Split, split_sizes
from ...objectives import Hinge, decision, judge, quantile_hinge
from ...runs.cells import Cell, Report
from ...runs.config import DataSetSettings
from ...runs.exploring import add_exploration, sign_changes, step_rates
from ...runs.judging import (
    add_certificate,
    add_oracle_comparison,
    answer_of,
    describe,
    solver_columns,
    verdict_columns,
)
from ...runs.paper import Paper
from ...runs.rows import Rows, or_none
from ...runs.timing import Lane, Timing, stopwatch
from ...settings import (
    Count,
    Counts,
    NotNegative,
    Positive,
    Positives,
    Settings,
    Shares,
)
from ...solvers import Answer
from .data import prepare, true_probability
from .dual_path_finding import dual_path_finding

# A sample counts as on the margin when its margin is 1 up to this.
ON_MARGIN = 1e-8
# Breakpoints nearer to each other than this share of the distance to the path's end are one event,
# a tie up to rounding. (Spam has thousands of true kinks below 1e-5.)
SAME_TAU = 1e-12
# A free bias is undetermined where one class costs nothing: its path begins and ends so near to it.
INNER = 1e-9
ORACLE_TAUS = 10
# A method that has used this much wall time in the timing lane gets no further solves.
BUDGET_S = 240.0


# ---------------------------------------------------------------- settings


def _known_scaling(name: str) -> str:
    if name not in SCALINGS:
        raise ValueError(f"known scalings are {', '.join(SCALINGS)}")
    return name


Scaling = Annotated[str, AfterValidator(_known_scaling)]


class Common(Settings):
    """``intercept_scaling``: value of the feature whose weight is the bias."""

    intercept_scaling: NotNegative


class DataSet(DataSetSettings):
    """``sizes`` of training, validation and test part: rows, or fractions where all are below 1.

    ``positives``: how many positives each part draws.
    """

    lam: Positive
    scaling: Scaling
    sizes: tuple[Positive, Positive, Positive] | None = None
    positives: Count | None = None

    def complaints(self, name: str, n: int | None) -> Iterator[str]:
        """Say which sizes can't be had."""
        published = name in ("diabetes", "spam", "splice")
        if self.sizes is None:
            if not published:
                yield "it needs sizes, of training, validation and test part"
            return
        told, total = f"sizes are {list(self.sizes)}", sum(self.sizes)
        if name == "spam":
            yield f"{told}, but its parts are its three inboxes"
        elif max(self.sizes) <= 1.0 and (published or total > 1.0 + 1e-12):
            wanted = "rows" if published else "fractions that add up to at most 1"
            yield f"{told}: they should be {wanted}"
        elif max(self.sizes) > 1.0 and any(size != int(size) for size in self.sizes):
            yield f"{told}: they should be whole numbers of rows, or fractions that add up to 1"
        elif name == "splice" and len(set(self.sizes)) > 1:
            yield f"{told}, but its parts should have equally many rows"
        elif n is not None and max(self.sizes) > 1.0 and total > n:
            yield f"{told}, {total:g} rows in all, and it has {n}"


class Scalings(Settings):
    """Scalings to compare, each with these kinds of bias."""

    scalings: Annotated[tuple[Scaling, ...], Field(min_length=1)]
    biases: Annotated[tuple[Literal["penalised", "free", "none"], ...], Field(min_length=1)]


class Grid(Settings):
    """Values of lam to choose from."""

    grid: Positives


class Timings(Settings):
    """``methods`` that take turns, at the quantiles ``taus``, ``repeats`` times."""

    methods: tuple[Literal["path", "recover", "liblinear", "lbfgsb", "cvxpy", "clarabel"], ...]
    taus: Shares
    repeats: Count


class Published(Settings):
    """``residuals`` at which conjugate gradients stop; ``taus`` at which solutions are judged.

    ``limit_s``: CPU seconds after which a run is stopped.
    """

    residuals: Positives
    taus: Shares
    limit_s: Positive


class Boundaries(Settings):
    """Quantiles at which the boundary is drawn."""

    taus: Shares


class Sizes(Settings):
    """Numbers of training samples."""

    sizes: Counts


class KnownLaw(Settings):
    """Numbers of training samples ``sizes``, and of the points at which P(y = +1 | x) is read."""

    sizes: Counts
    n_test: Count


class Explorations(Settings):
    """Values of lam, each with its path; the ``grid`` of tau that is drawn beside it."""

    lams: Positives
    grid: Shares


class Probabilities(Settings):
    """``methods`` beside each other; reliability in so many equal ``bins``."""

    methods: tuple[Literal["path", "platt", "isotonic"], ...]
    bins: Count


def _columns(cell: Cell) -> dict[str, Any]:
    return {"hyper_parameters": {"lam": cell.data.lam, "scaling": _scaling(cell)}}


def _scaling(cell: Cell) -> str:
    return cell.value if cell.each == "scalings" else cell.data.scaling


PAPER = Paper("quantile_svm", Common, DataSet, _columns)


# ---------------------------------------------------------------- data, problem, path


def _parts(cell: Cell, **changed: Any) -> Split:
    """Return the cell's training, validation and test part."""
    options = {name: getattr(cell.data, name) for name in ("sizes", "positives")}
    options |= {"scaling": _scaling(cell), "offline": cell.offline, **changed}
    return prepare(cell.dataset, cell.split, **options)


def _objective(cell: Cell, part: Part, lam: float | None = None) -> Hinge:
    """Return what is minimised, in tau; ``.at(tau)`` is a solver's problem."""
    scaling = cell.common.intercept_scaling
    return quantile_hinge(part.X, part.y, lam or cell.data.lam, intercept_scaling=scaling)


def _path(
    cell: Cell,
    part: Part,
    report: Report | None = None,
    lam: float | None = None,
    check: str = "ignore",
) -> Any:
    """Run the path algorithm on one part; it is certified at length afterwards."""
    scaling = cell.common.intercept_scaling
    options = {"intercept_scaling": scaling, "callback": report, "check": check}
    return quantile_svm_path(part.X, part.y, lam or cell.data.lam, **options)


def _path_with(cell: Cell, part: Part, bias: str, report: Report) -> Any:
    """Return the path with a bias that is penalised, free, or none."""
    if bias == "penalised":
        return _path(cell, part, report)
    if bias == "none":
        options = {"intercept_scaling": 0.0, "callback": report, "check": "ignore"}
        return quantile_svm_path(part.X, part.y, cell.data.lam, **options)
    cost = 2.0 / len(part.y) / cell.data.lam
    ends = [cost * np.where(part.y > 0, 1.0 - tau, tau) for tau in (INNER, 1.0 - INNER)]
    return weighted_svm_path(part.X, part.y, *ends, callback=report, check="ignore")


def n_events(path: Any) -> int:
    """Count the distinct tau in (0, 1) at which the active set changes."""
    inner = path.breakpoints[(path.breakpoints > 0.0) & (path.breakpoints < 1.0)]
    tau = np.unique(inner)
    tie = np.maximum(SAME_TAU * np.minimum(tau, 1.0 - tau), 4.0 * np.finfo(float).eps * tau)
    return int(np.count_nonzero(np.diff(tau, prepend=-1.0) > tie))


def _certified(path: Any, rows: Rows, **columns: Any) -> dict[str, Any]:
    """Add a path's certificate, its kinks and events; return what its other rows carry."""
    carried = add_certificate(rows, path, **columns)
    rows.add("kinks", len(path.kinks()), **carried)
    rows.add("events", n_events(path), **carried)
    return carried


# ---------------------------------------------------------------- exact functions of tau


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


@PAPER.experiment(version=1)
def path(cell: Cell, rows: Rows, report: Report) -> None:
    """Follow the whole path: kinks, certificate, margin, exact rates on the test part."""
    parts = _parts(cell)
    describe(rows, parts, _parts(cell, scaling="none").train.X)
    timing = stopwatch(lambda: _path(cell, parts.train, report))
    found = timing.result
    carried = _certified(found, rows)
    # Not a timing: other jobs may have run beside this one. The timing lane is for that.
    rows.add("path_seconds", timing.cpu_s, cpu_s=timing.cpu_s, wall_s=timing.wall_s, **carried)
    for name, value in found.diagnostics.items():
        if isinstance(value, int | float | np.number):
            rows.add(f"diagnostic_{name}", value, **carried)
    _margin_share(found, parts.train, rows)
    _rates(found, parts.test, rows, carried)
    _chosen_tau(found, parts, rows, carried)
    taus = np.random.default_rng(cell.split).uniform(size=ORACLE_TAUS)
    add_oracle_comparison(rows, found, taus, **carried)
    rows.add("peak_memory_mb", _peak_memory_mb(), method="path")


def _margin_share(path: Any, train: Part, rows: Rows) -> None:
    """Share of the training samples on the margin, at tau = 0, .1, ..., 1."""
    taus = np.round(np.linspace(0.0, 1.0, 11), 1)
    margins = [train.y * path.decision_function(train.X, tau) for tau in taus]
    shares = [np.mean(np.abs(margin - 1.0) <= ON_MARGIN) for margin in margins]
    rows.add_curve("margin_share", taus, shares, method="path")


def _rates(path: Any, test: Part, rows: Rows, carried: dict) -> None:
    first, crossings = sign_changes(path, test.X)
    for name, (tau, value) in step_rates(test.y, first, crossings).items():
        rows.add_curve(name, tau, value, method="path")
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


def _peak_memory_mb() -> float:
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


@PAPER.experiment(settings=Scalings, each="scalings", version=1)
def scaling(cell: Cell, rows: Rows, report: Report) -> None:
    """Kinks under one scaling; a scaling that sparse data can't have is a row that says so."""
    try:
        parts = _parts(cell)
    except ValueError as error:
        rows.add("kinks", None, method="path", status="not applicable", message=str(error))
        return
    X = parts.train.X
    zeros = 1.0 - (X.count_nonzero() if sp.issparse(X) else np.count_nonzero(X)) / np.prod(X.shape)
    rows.add("zero_percent_scaled", 100.0 * zeros, method="data")
    for bias in cell.settings.biases:
        found = _path_with(cell, parts.train, bias, report)
        carried = _certified(found, rows, hyper_parameters={"bias": bias})
        wrong = (found.decision_function(parts.test.X, 0.5) >= 0.0) != (parts.test.y > 0)
        rows.add("test_error_half", np.mean(wrong), **carried)
        if bias == "penalised":
            _margin_share(found, parts.train, rows)


@PAPER.experiment(settings=Grid)
def choose_lam(cell: Cell, rows: Rows, report: Report) -> None:
    """Score each lam at tau = 1/2 by every solver; the answer with the lowest objective counts."""
    parts, grid = _parts(cell), cell.settings.grid
    rows.add("n_validation", len(parts.validation.y), method="data")
    for k, lam in enumerate(sorted(grid, reverse=True)):
        problem = _objective(cell, parts.train, lam).at(0.5)
        hyper, scored, bound = {"lam": lam}, [], None
        for name in ("lbfgsb", "liblinear", "clarabel"):
            answer = solvers.solve(name, problem)
            verdict = judge(problem, answer, lower_bound=bound)
            bound = verdict.dual if bound is None else bound
            accuracy = _accuracy(problem, answer, parts.validation)
            scored.append((verdict.primal, accuracy))
            columns = solver_columns(name, answer, verdict)
            rows.add("validation_accuracy", accuracy, **columns, hyper_parameters=hyper)
        known = [pair for pair in scored if np.isfinite(pair[0])]
        if known:
            best = min(known)[1]
            method = "lowest objective"
            rows.add("validation_accuracy", best, method=method, hyper_parameters=hyper)
        report((k + 1) / len(grid))


def _accuracy(problem: Hinge, answer: Answer, part: Part) -> float | None:
    f = decision(problem, answer, part.X)
    return None if f is None else float(np.mean((f >= 0.0) == (part.y > 0)))


@PAPER.experiment(settings=Boundaries, version=1)
def boundary(cell: Cell, rows: Rows, report: Report) -> None:
    """Figure 1: weights at a few tau, and the points themselves."""
    train = _parts(cell).train
    if train.X.shape[1] != 2:
        raise ValueError(f"boundary needs two features, {cell.dataset} has {train.X.shape[1]}.")
    found = _path(cell, train, report)
    carried = _certified(found, rows)
    for tau in cell.settings.taus:
        w, b = found.coef(tau), found.intercept(tau)
        for name, value in {"w0": w[0], "w1": w[1], "b": b}.items():
            rows.add(f"boundary_{name}", value, hyper_parameters={"tau": tau}, **carried)
    for label, name in ((1.0, "points of +1"), (-1.0, "points of -1")):
        points = train.X[train.y == label]
        rows.add_curve(name, points[:, 0], points[:, 1], method="data")


@PAPER.experiment(settings=Sizes, each="sizes", version=1)
def kinks(cell: Cell, rows: Rows, report: Report) -> None:
    """Count the kinks at one n; a fixed data set is subsampled from its training part."""
    train = _sample(cell, cell.value)
    timing = stopwatch(lambda: _path(cell, train, report))
    carried = _certified(timing.result, rows, hyper_parameters={"n": cell.value})
    rows.add("path_seconds", timing.cpu_s, cpu_s=timing.cpu_s, wall_s=timing.wall_s, **carried)


def _sample(cell: Cell, n: int) -> Part:
    known = registry()
    if cell.dataset in known and "n" in known[cell.dataset].parameters:
        return _parts(cell, sizes=(n, 0, 0)).train
    train = _parts(cell).train
    rng = np.random.default_rng(cell.seed(f"kinks/{n}"))
    (rows,) = split_sizes(len(train.y), [n], rng, y=train.y)
    return Part(train.X[rows], train.y[rows])


# ---------------------------------------------------------------- timing


@PAPER.experiment(lane="timing", settings=Timings)
def timing(cell: Cell, rows: Rows, report: Report) -> None:
    """Every method in one process, interleaved, BLAS on one thread; every repeat is a row."""
    contest = _Contest(cell, _parts(cell).train, rows)
    contest.warm_up()
    lane = Lane(cell.settings.repeats, BUDGET_S, report)
    contest.enter(lane)
    lane.run()
    _certified(contest.path, rows)


@PAPER.experiment(lane="timing", settings=Timings)
def extremes(cell: Cell, rows: Rows, report: Report) -> None:
    """Time the solvers as ``timing`` does, at tau = 0 and near it: footnote 5."""
    timing(cell, rows, report)


@PAPER.experiment(lane="timing", settings=Published, each="residuals")
def published(cell: Cell, rows: Rows, report: Report) -> None:
    """Run Algorithm 1 as the paper has it; judge its solutions as any solver's."""
    train, settings = _parts(cell).train, cell.settings
    objective, taus = _objective(cell, train), sorted(settings.taus)
    small = _some(train, 40)
    dual_path_finding(
        _objective(cell, small), taus, cell.value, settings.limit_s
    )  # imports, caches
    found = dual_path_finding(objective, taus, cell.value, settings.limit_s)
    told = {"method": "published", "hyper_parameters": {"residual": cell.value}}
    status = {"status": "censored", "message": found.stopped} if found.stopped else {}
    rows.add("time", found.cpu_s, cpu_s=found.cpu_s, **told, **status)
    rows.add("kinks", len(found.kinks), **told, **status)
    rows.add("reached", found.reached, **told)
    rows.add("gradients_share", found.gradients_cpu_s / found.cpu_s, **told)
    rows.add("iterations", found.iterations / max(found.solves, 1), **told)
    for tau, alpha in found.duals.items():
        verdict = judge(objective.at(tau), Answer(alpha=alpha))
        at = {**told, "hyper_parameters": {"residual": cell.value, "tau": tau}}
        name = "solution_gap" if tau else "start_gap"
        rows.add(name, or_none(verdict.gap), **at, **verdict_columns(verdict))


def _some(part: Part, n: int) -> Part:
    """Return so many random rows of each class."""
    rng, y = np.random.default_rng(0), part.y
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == s))[:n] for s in (1.0, -1.0)])
    return Part(part.X[rows], y[rows])


class _Contest:
    """Path and solvers on the same arrays."""

    def __init__(self, cell: Cell, train: Part, rows: Rows) -> None:
        self.cell, self.train, self.rows = cell, train, rows
        self.objective = _objective(cell, train)
        self.path: Any = None
        self.spent: dict[str, float] = {}
        self._starts: dict[str, Answer] = {}
        self._bounds: dict[float, float] = {}

    def warm_up(self) -> None:
        """Absorb compilation and imports on a small part of the same data."""
        small = _some(self.train, 40)
        path = _path(self.cell, small, check="warn")
        path.dual(0.3), path.coef(0.3), path.intercept(0.3)
        for name in set(self.cell.settings.methods) & set(solvers.BASELINES):
            solvers.solve(name, _objective(self.cell, small).at(0.3))

    def enter(self, lane: Lane) -> None:
        """Enter the path, and each other method at each tau; the path comes first."""
        lane.add(self._find_path, self._record_path, "path")
        for method in self.cell.settings.methods:
            for tau in self.cell.settings.taus:
                if method == "recover":
                    self._add(lane, "recover", tau, self._recover)
                    self._add(lane, "recover_w", tau, self._recover_w)
                elif method != "path":
                    self._add(lane, method, tau, self._solve)

    def _add(self, lane: Lane, method: str, tau: float, call: Any) -> None:
        lane.add(lambda: call(method, tau), lambda *r: self._record(method, tau, *r), method)

    def _find_path(self) -> Timing:
        """Time the call as a user makes it, with its check; the first time without it, too."""
        timing = stopwatch(lambda: _path(self.cell, self.train, check="warn"))
        if self.path is None:
            plain = stopwatch(lambda: _path(self.cell, self.train))
            share = 1.0 - plain.cpu_s / timing.cpu_s
            self.rows.add("check_share", share, method="path")
        self.path = timing.result
        return timing

    def _recover(self, method: str, tau: float) -> Timing:
        return stopwatch(lambda: self.path.dual(tau), shortest_s=0.005)

    def _recover_w(self, method: str, tau: float) -> Timing:
        return stopwatch(lambda: (self.path.coef(tau), self.path.intercept(tau)), shortest_s=0.005)

    def _solve(self, method: str, tau: float) -> Timing:
        if self.spent.get(method, 0.0) > BUDGET_S:
            reason = f"not run: {method} had used up {BUDGET_S:.0f} s"
            return Timing(np.nan, np.nan, Answer(status="skipped", message=reason))
        problem = self.objective.at(tau)
        answer = solvers.solve(method, problem, start=self._starts.get(method))
        self._starts[method] = answer
        self.spent[method] = self.spent.get(method, 0.0) + np.nan_to_num(answer.wall_s)
        return Timing(answer.cpu_s, answer.wall_s, answer)

    def _bound(self, tau: float) -> float:
        """Return the path's dual objective, for answers that have none."""
        if tau not in self._bounds:
            answer = Answer(alpha=self.path.dual(tau))
            self._bounds[tau] = judge(self.objective.at(tau), answer).dual
        return self._bounds[tau]

    def _record_path(self, repeat: int, timing: Timing) -> None:
        size = len(timing.result.breakpoints)
        seconds = {"cpu_s": timing.cpu_s, "wall_s": timing.wall_s}
        columns = {"method": "path", "repeat": repeat, "n_breakpoints": size, **seconds}
        self.rows.add("time", timing.cpu_s, **columns)

    def _record(self, method: str, tau: float, repeat: int, timing: Timing) -> None:
        """Write a repeat down, beside the accuracy that the judge finds in its answer."""
        problem, answer = self.objective.at(tau), timing.result
        columns = {"repeat": repeat, "hyper_parameters": {"tau": tau}}
        if method.startswith("recover"):
            verdict = judge(problem, answer_of(self.path, tau))
            seconds = {"cpu_s": timing.cpu_s, "wall_s": timing.wall_s}
            columns |= {"method": method, **seconds, **verdict_columns(verdict)}
        else:
            verdict = judge(problem, answer, lower_bound=self._bound(tau))
            columns |= solver_columns(method, answer, verdict)
        self.rows.add("time", or_none(timing.cpu_s), **columns)
        if repeat == 0 and isinstance(answer, Answer) and answer.setup_cpu_s > 0.0:
            self.rows.add("setup_time", answer.setup_cpu_s, **columns)


# ---------------------------------------------------------------- probabilities


@PAPER.experiment(settings=Probabilities, version=1)
def probability(cell: Cell, rows: Rows, report: Report) -> None:
    """P(y = +1 | x) on the test part: read off the path, and by calibrating f at tau = 1/2."""
    parts = _parts(cell)
    found = _path(cell, parts.train, report)
    carried = _certified(found, rows)
    first, crossings = sign_changes(found, parts.test.X)
    flips = np.array([len(c) for c in crossings])
    rows.add("flips_more_than_once", np.mean(flips > 1), **carried)
    rows.add("never_flips", np.mean(flips == 0), **carried)
    clip = 0.5 / len(parts.train.y)
    for method in cell.settings.methods:
        if method == "path":
            p = probabilities(first, crossings)
        else:
            p = _calibrated(found, parts, method)
        _score(p, parts.test.y > 0, clip, method, cell.settings.bins, rows)


@PAPER.experiment(settings=KnownLaw, each="sizes", version=1)
def known(cell: Cell, rows: Rows, report: Report) -> None:
    """Compare P(y = +1 | x) of the path with the true one; lam falls as 1 / sqrt(n)."""
    n, first_n = cell.value, 100
    parts = _parts(cell, sizes=(n, 0, cell.settings.n_test))
    hyper = {"n": n, "lam": cell.data.lam * np.sqrt(first_n / n)}
    found = _path(cell, parts.train, report, hyper["lam"])
    carried = _certified(found, rows, hyper_parameters=hyper)
    truth = true_probability(parts.test.X, registry()[cell.dataset].parameters)
    off = np.abs(probabilities(*sign_changes(found, parts.test.X)) - truth)
    rows.add("probability_error", off.mean(), **carried)


def _calibrated(path: Any, parts: Split, method: str) -> np.ndarray:
    """Fit Platt's sigmoid or an isotonic map to f(x, tau = 1/2) on the validation part."""
    from .calibration import calibrated as fitted

    kind = {"platt": "sigmoid", "isotonic": "isotonic"}[method]
    calibrated = fitted(path, 0.5, kind, parts.validation)
    return calibrated.predict_proba(parts.test.X)[:, list(calibrated.classes_).index(1.0)]


def _score(p: np.ndarray, hit: np.ndarray, clip: float, method: str, bins: int, rows: Rows) -> None:
    """Add Brier score, log loss (p kept within [clip, 1 - clip]), reliability by equal bins."""
    rows.add("brier", np.mean((p - hit) ** 2), method=method)
    q = np.clip(p, clip, 1.0 - clip)
    loss = -np.mean(np.where(hit, np.log(q), np.log1p(-q)))
    rows.add("log_loss", loss, method=method, hyper_parameters={"clip": clip})
    slot = np.minimum((p * bins).astype(int), bins - 1)
    inside = [slot == k for k in np.unique(slot)]
    predicted, observed = ([v[members].mean() for members in inside] for v in (p, hit))
    counts = [members.sum() for members in inside]
    rows.add_curve("reliability", predicted, observed, weight=counts, method=method)


# ---------------------------------------------------------------- paths to be turned by hand


@PAPER.experiment(settings=Explorations, each="lams", version=1)
def explore(cell: Cell, rows: Rows, report: Report) -> None:
    """Write down a whole path at one lam, for the page's explorer."""
    parts, lam = _parts(cell), {"lam": cell.value}
    found = _path(cell, parts.train, report, cell.value)
    _certified(found, rows, hyper_parameters=lam)
    add_exploration(rows, found, parts.validation, parts.test, hyper_parameters=lam)
