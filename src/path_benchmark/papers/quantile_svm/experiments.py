"""Experiments of the quantile SVM paper; `outputs` makes tables, figures and claims of them.

path           the whole path, its certificate, exact test rates against tau (Tables 1, 2)
scaling        kinks under other scalings and kinds of bias: which has the paper's number?
choose_lam     validation accuracy at tau = 1/2 against lam: is Table 1's lam the best?
timing         CPU seconds of the path, of recovering a solution, and of the solvers (Table 2)
published      the paper's Algorithm 1 with conjugate gradients: seconds, kinks, accuracy
start_sets     its kinks where index sets come from the start's gradient, as the paper defines them
boundary       the decision boundary at a few tau, in the plane (Figure 1)
kinks          number of kinks against n: does it grow as n log n?
extremes       CPU seconds of the solvers if the costs of one class are 0, or nearly 0: footnote 5
probability    P(y = +1 | x) from the path: as good as Platt's and isotonic calibration?
known          the same compared with the truth on data of a known distribution: does it converge?
explore        whole paths, for the interactive page
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from functools import partial
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
from ...runs.timing import Contest, Timing, stopwatch
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

# A sample with |margin - 1| up to this is on the margin.
MARGIN_TOLERANCE = 1e-8
# Breakpoints are one event, a tie up to rounding, if their distance is at most this fraction of
# their distance to the path's end. (Spam has thousands of true kinks below 1e-5.)
TIE_TOLERANCE = 1e-12
# The path with a free bias runs from this tau to 1 minus it: at 0 and 1 the bias is undetermined.
FREE_BIAS_END = 1e-9
ORACLE_TAUS = 10
# Wall seconds of a method in the timing lane after which it gets no further solves.
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
        """Yield complaints about sizes that are impossible."""
        in_paper = name in ("diabetes", "spam", "splice")
        if self.sizes is None:
            if not in_paper:
                yield "it needs sizes, of training, validation and test part"
            return
        prefix, total = f"sizes are {list(self.sizes)}", sum(self.sizes)
        if name == "spam":
            yield f"{prefix}, but its parts are its three inboxes"
        elif max(self.sizes) <= 1.0 and (in_paper or total > 1.0 + 1e-12):
            wanted = "rows" if in_paper else "fractions that add up to at most 1"
            yield f"{prefix}: they should be {wanted}"
        elif max(self.sizes) > 1.0 and any(size != int(size) for size in self.sizes):
            yield f"{prefix}: they should be whole numbers of rows, or fractions that add up to 1"
        elif name == "splice" and len(set(self.sizes)) > 1:
            yield f"{prefix}, but its parts should have equally many rows"
        elif n is not None and max(self.sizes) > 1.0 and total > n:
            yield f"{prefix}, {total:g} rows in all, and it has {n}"


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


class StartSets(Settings):
    """``scalings``; ``margins``: sizes up to which entries of the gradient are zero.

    ``residual``, ``taus`` and ``limit_s`` as of `Published`.
    """

    scalings: Annotated[tuple[Scaling, ...], Field(min_length=1)]
    margins: Positives
    residual: Positive
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
    """Values of lam of the paths, and the ``grid`` of tau that is drawn for comparison."""

    lams: Positives
    grid: Shares


class Probabilities(Settings):
    """``methods`` to compare, and the number of equal ``bins`` of the reliability curve."""

    methods: tuple[Literal["path", "platt", "isotonic"], ...]
    bins: Count


def _columns(cell: Cell) -> dict[str, Any]:
    return {"hyper_parameters": {"lam": cell.data.lam, "scaling": _scaling(cell)}}


def _scaling(cell: Cell) -> str:
    return cell.value if cell.each == "scalings" else cell.data.scaling


PAPER = Paper("quantile_svm", Common, DataSet, _columns)


# ---------------------------------------------------------------- data, problem, path


def _parts(cell: Cell, **changed: Any) -> Split:
    """Return the cell's training, validation and test parts."""
    options = {name: getattr(cell.data, name) for name in ("sizes", "positives")}
    options |= {"scaling": _scaling(cell), "offline": cell.offline, **changed}
    return prepare(cell.dataset, cell.split, **options)


def _objective(cell: Cell, part: Part, lam: float | None = None) -> Hinge:
    """Return the objective in tau; ``.at(tau)`` is the problem of a solver."""
    scaling = cell.common.intercept_scaling
    return quantile_hinge(part.X, part.y, lam or cell.data.lam, intercept_scaling=scaling)


def _path(
    cell: Cell,
    part: Part,
    report: Report | None = None,
    lam: float | None = None,
    check: str = "ignore",
) -> Any:
    """Return the path on one part, which is certified afterwards."""
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
    ends = [
        cost * np.where(part.y > 0, 1.0 - tau, tau) for tau in (FREE_BIAS_END, 1.0 - FREE_BIAS_END)
    ]
    return weighted_svm_path(part.X, part.y, *ends, callback=report, check="ignore")


def n_events(path: Any) -> int:
    """Count the distinct tau in (0, 1) at which the active set changes."""
    inner = path.breakpoints[(path.breakpoints > 0.0) & (path.breakpoints < 1.0)]
    tau = np.unique(inner)
    tie = np.maximum(TIE_TOLERANCE * np.minimum(tau, 1.0 - tau), 4.0 * np.finfo(float).eps * tau)
    return int(np.count_nonzero(np.diff(tau, prepend=-1.0) > tie))


def _certified(path: Any, rows: Rows, **columns: Any) -> dict[str, Any]:
    """Add a path's certificate, its kinks and events; return the columns of its other rows."""
    carried = add_certificate(rows, path, **columns)
    rows.add("kinks", len(path.kinks()), **carried)
    rows.add("events", n_events(path), **carried)
    return carried


# ---------------------------------------------------------------- exact functions of tau


def probabilities(first: np.ndarray, crossings: list[np.ndarray]) -> np.ndarray:
    """Return P(y = +1 | x) of each row: the measure of the tau at which it is classified as +1.

    If a row's label changes once, from +1 to -1, this is the tau of the change, in agreement with
    the paper's "+1 if P(Y=1|x) >= tau". If it changes more often, this is the change of the
    monotone rearrangement of its labels.
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
    solution_path = timing.result
    carried = _certified(solution_path, rows)
    # Not a measured time, as other jobs may run at the same time; see the timing lane.
    rows.add("path_seconds", timing.cpu_s, **timing.seconds, **carried)
    for name, value in solution_path.diagnostics.items():
        if isinstance(value, int | float | np.number):
            rows.add(f"diagnostic_{name}", value, **carried)
    _margin_share(solution_path, parts.train, rows)
    _rates(solution_path, parts.test, rows, carried)
    _chosen_tau(solution_path, parts, rows, carried)
    taus = np.random.default_rng(cell.split).uniform(size=ORACLE_TAUS)
    add_oracle_comparison(rows, solution_path, taus, **carried)
    rows.add("peak_memory_mb", _peak_memory_mb(), method="path")


def _margin_share(path: Any, train: Part, rows: Rows) -> None:
    """Add the share of the training samples on the margin, at tau = 0, .1, ..., 1."""
    taus = np.round(np.linspace(0.0, 1.0, 11), 1)
    margins = [train.y * path.decision_function(train.X, tau) for tau in taus]
    shares = [np.mean(np.abs(margin - 1.0) <= MARGIN_TOLERANCE) for margin in margins]
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
    """Add test errors at tau = 1/2 and at the tau that is exactly best on the validation part."""
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
    """Count the kinks under one scaling; one that sparse data can't have is a row with a reason."""
    try:
        parts = _parts(cell)
    except ValueError as error:
        rows.add("kinks", None, method="path", status="not applicable", message=str(error))
        return
    X = parts.train.X
    zeros = 1.0 - (X.count_nonzero() if sp.issparse(X) else np.count_nonzero(X)) / np.prod(X.shape)
    rows.add("zero_percent_scaled", 100.0 * zeros, method="data")
    for bias in cell.settings.biases:
        solution_path = _path_with(cell, parts.train, bias, report)
        carried = _certified(solution_path, rows, hyper_parameters={"bias": bias})
        wrong = (solution_path.decision_function(parts.test.X, 0.5) >= 0.0) != (parts.test.y > 0)
        rows.add("test_error_half", np.mean(wrong), **carried)
        if bias == "penalised":
            _margin_share(solution_path, parts.train, rows)


@PAPER.experiment(settings=Grid)
def choose_lam(cell: Cell, rows: Rows, report: Report) -> None:
    """Score each lam at tau = 1/2 by every solver, and by the answer of lowest objective."""
    parts, grid = _parts(cell), cell.settings.grid
    rows.add("n_validation", len(parts.validation.y), method="data")
    for k, lam in enumerate(sorted(grid, reverse=True)):
        problem = _objective(cell, parts.train, lam).at(0.5)
        hyper, scores, bound = {"lam": lam}, [], None
        for name in ("lbfgsb", "liblinear", "clarabel"):
            answer = solvers.solve(name, problem)
            verdict = judge(problem, answer, lower_bound=bound)
            bound = verdict.dual if bound is None else bound
            accuracy = _accuracy(problem, answer, parts.validation)
            scores.append((verdict.primal, accuracy))
            columns = solver_columns(name, answer, verdict)
            rows.add("validation_accuracy", accuracy, **columns, hyper_parameters=hyper)
        finite = [pair for pair in scores if np.isfinite(pair[0])]
        if finite:
            best = min(finite)[1]
            method = "lowest objective"
            rows.add("validation_accuracy", best, method=method, hyper_parameters=hyper)
        report((k + 1) / len(grid))


def _accuracy(problem: Hinge, answer: Answer, part: Part) -> float | None:
    f = decision(problem, answer, part.X)
    return None if f is None else float(np.mean((f >= 0.0) == (part.y > 0)))


@PAPER.experiment(settings=Boundaries, version=1)
def boundary(cell: Cell, rows: Rows, report: Report) -> None:
    """Record the weights at a few tau, and the points, for figure 1."""
    train = _parts(cell).train
    if train.X.shape[1] != 2:
        raise ValueError(f"boundary needs two features, {cell.dataset} has {train.X.shape[1]}.")
    solution_path = _path(cell, train, report)
    carried = _certified(solution_path, rows)
    for tau in cell.settings.taus:
        w, b = solution_path.coef(tau), solution_path.intercept(tau)
        for name, value in {"w0": w[0], "w1": w[1], "b": b}.items():
            rows.add(f"boundary_{name}", value, hyper_parameters={"tau": tau}, **carried)
    for label, name in ((1.0, "points of +1"), (-1.0, "points of -1")):
        points = train.X[train.y == label]
        rows.add_curve(name, points[:, 0], points[:, 1], method="data")


@PAPER.experiment(settings=Sizes, each="sizes", version=1)
def kinks(cell: Cell, rows: Rows, report: Report) -> None:
    """Count the kinks at one n; the training part of a fixed data set is subsampled."""
    train = _sample(cell, cell.value)
    timing = stopwatch(lambda: _path(cell, train, report))
    carried = _certified(timing.result, rows, hyper_parameters={"n": cell.value})
    rows.add("path_seconds", timing.cpu_s, **timing.seconds, **carried)


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
    """Time all methods in turn in one process, with one BLAS thread; every repeat is a row."""
    methods = _Methods(cell, _parts(cell).train, rows)
    methods.warm_up()
    contest = Contest(rows, cell.settings.repeats, BUDGET_S, report)
    methods.enter(contest)
    contest.run()
    _certified(methods.path, rows)


@PAPER.experiment(lane="timing", settings=Timings)
def extremes(cell: Cell, rows: Rows, report: Report) -> None:
    """Time the solvers as ``timing`` does, at tau = 0 and near it: footnote 5."""
    timing(cell, rows, report)


@PAPER.experiment(lane="timing", settings=Published, each="residuals")
def published(cell: Cell, rows: Rows, report: Report) -> None:
    """Run Algorithm 1 as published; judge its solutions like those of any solver."""
    train, settings = _parts(cell).train, cell.settings
    objective, taus = _objective(cell, train), sorted(settings.taus)
    small = _few_of_each_class(train, 40)
    dual_path_finding(
        _objective(cell, small), taus, cell.value, settings.limit_s
    )  # loads imports and caches
    dual_path = dual_path_finding(objective, taus, cell.value, settings.limit_s)
    columns = {"method": "published", "hyper_parameters": {"residual": cell.value}}
    status = {"status": "censored", "message": dual_path.stopped} if dual_path.stopped else {}
    rows.add("time", dual_path.cpu_s, cpu_s=dual_path.cpu_s, **columns, **status)
    rows.add("kinks", len(dual_path.kinks), **columns, **status)
    rows.add("reached", dual_path.reached, **columns)
    rows.add("gradients_share", dual_path.gradients_cpu_s / dual_path.cpu_s, **columns)
    rows.add("iterations", dual_path.iterations / max(dual_path.solves, 1), **columns)
    for tau, alpha in dual_path.duals.items():
        verdict = judge(objective.at(tau), Answer(alpha=alpha))
        tau_columns = {**columns, "hyper_parameters": {"residual": cell.value, "tau": tau}}
        name = "solution_gap" if tau else "start_gap"
        rows.add(name, or_none(verdict.gap), **tau_columns, **verdict_columns(verdict))


@PAPER.experiment(settings=StartSets, each="scalings")
def start_sets(cell: Cell, rows: Rows, report: Report) -> None:
    """Count the kinks of Algorithm 1 where the start's gradient gives the index sets, (11)."""
    settings = cell.settings
    objective = _objective(cell, _parts(cell).train)
    margins = (None, *sorted(settings.margins))
    for k, margin in enumerate(margins):
        dual_path = dual_path_finding(
            objective, sorted(settings.taus), settings.residual, settings.limit_s, margin
        )
        hyper = {"margin": "duals" if margin is None else margin}
        columns = {"method": "published", "hyper_parameters": hyper}
        status = {"status": "censored", "message": dual_path.stopped} if dual_path.stopped else {}
        rows.add("kinks", len(dual_path.kinks), **columns, **status)
        gaps = [judge(objective.at(t), Answer(alpha=a)).gap for t, a in dual_path.duals.items()]
        rows.add("solution_gap", or_none(max(gaps)), **columns)
        report((k + 1) / len(margins))


def _few_of_each_class(part: Part, n: int) -> Part:
    """Return n random rows of each class."""
    rng, y = np.random.default_rng(0), part.y
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == s))[:n] for s in (1.0, -1.0)])
    return Part(part.X[rows], y[rows])


class _Methods:
    """The path and the solvers, on the same arrays."""

    def __init__(self, cell: Cell, train: Part, rows: Rows) -> None:
        self.cell, self.train, self.rows = cell, train, rows
        self.objective = _objective(cell, train)
        self.path: Any = None
        self.spent: dict[str, float] = {}
        self._starts: dict[str, Answer] = {}
        self._bounds: dict[float, float] = {}

    def warm_up(self) -> None:
        """Compile and import on a small part of the same data, outside the measured times."""
        small = _few_of_each_class(self.train, 40)
        path = _path(self.cell, small, check="warn")
        path.dual(0.3), path.coef(0.3), path.intercept(0.3)
        for name in set(self.cell.settings.methods) & set(solvers.BASELINES):
            solvers.solve(name, _objective(self.cell, small).at(0.3))

    def enter(self, contest: Contest) -> None:
        """Enter the path, and each other method at each tau; the path comes first."""
        contest.enter(
            "path", self._find_path, lambda _, t: {"n_breakpoints": len(t.result.breakpoints)}
        )
        readings = {"recover": self._recover, "recover_w": self._recover_w}
        for method in self.cell.settings.methods:
            for tau in self.cell.settings.taus:
                if method == "recover":
                    for name, read in readings.items():
                        contest.enter(name, partial(read, tau), partial(self._judge_path, tau))
                elif method != "path":
                    call, judged = partial(self._solve, method, tau), partial(self._judge, method)
                    contest.enter(method, call, partial(judged, tau), _set_up)

    def _find_path(self) -> Timing:
        """Time the call with its default check; the first time also without it."""
        timing = stopwatch(lambda: _path(self.cell, self.train, check="warn"))
        if self.path is None:
            plain = stopwatch(lambda: _path(self.cell, self.train))
            share = 1.0 - plain.cpu_s / timing.cpu_s
            self.rows.add("check_share", share, method="path")
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
        problem = self.objective.at(tau)
        answer = solvers.solve(method, problem, start=self._starts.get(method))
        self._starts[method] = answer
        self.spent[method] = self.spent.get(method, 0.0) + np.nan_to_num(answer.wall_s)
        return Timing(answer.cpu_s, answer.wall_s, answer)

    def _bound(self, tau: float) -> float:
        """Return the path's dual objective, a lower bound for answers without duals."""
        if tau not in self._bounds:
            answer = Answer(alpha=self.path.dual(tau))
            self._bounds[tau] = judge(self.objective.at(tau), answer).dual
        return self._bounds[tau]

    def _judge_path(self, tau: float, repeat: int, timing: Timing) -> dict[str, Any]:
        """Return the columns of a solution that was read from the path."""
        verdict = judge(self.objective.at(tau), answer_of(self.path, tau))
        return {"hyper_parameters": {"tau": tau}, **verdict_columns(verdict)}

    def _judge(self, method: str, tau: float, repeat: int, timing: Timing) -> dict[str, Any]:
        """Return the columns of a solver's answer."""
        verdict = judge(self.objective.at(tau), timing.result, lower_bound=self._bound(tau))
        return {"hyper_parameters": {"tau": tau}, **solver_columns(method, timing.result, verdict)}


def _set_up(repeat: int, timing: Timing) -> dict[str, float]:
    """Return what it cost to convert the data, the first time."""
    setup = timing.result.setup_cpu_s
    return {"setup_time": setup} if repeat == 0 and setup > 0.0 else {}


# ---------------------------------------------------------------- probabilities


@PAPER.experiment(settings=Probabilities, version=1)
def probability(cell: Cell, rows: Rows, report: Report) -> None:
    """Score P(y = +1 | x) on the test part: from the path, and by calibrating f at tau = 1/2."""
    parts = _parts(cell)
    solution_path = _path(cell, parts.train, report)
    carried = _certified(solution_path, rows)
    first, crossings = sign_changes(solution_path, parts.test.X)
    flips = np.array([len(c) for c in crossings])
    rows.add("flips_more_than_once", np.mean(flips > 1), **carried)
    rows.add("never_flips", np.mean(flips == 0), **carried)
    clip = 0.5 / len(parts.train.y)
    for method in cell.settings.methods:
        if method == "path":
            p = probabilities(first, crossings)
        else:
            p = _calibrated(solution_path, parts, method)
        _score(p, parts.test.y > 0, clip, method, cell.settings.bins, rows)


@PAPER.experiment(settings=KnownLaw, each="sizes", version=1)
def known(cell: Cell, rows: Rows, report: Report) -> None:
    """Compare P(y = +1 | x) of the path with the truth; lam is proportional to 1 / sqrt(n)."""
    n, first_n = cell.value, 100
    parts = _parts(cell, sizes=(n, 0, cell.settings.n_test))
    hyper = {"n": n, "lam": cell.data.lam * np.sqrt(first_n / n)}
    solution_path = _path(cell, parts.train, report, hyper["lam"])
    carried = _certified(solution_path, rows, hyper_parameters=hyper)
    truth = true_probability(parts.test.X, registry()[cell.dataset].parameters)
    errors = np.abs(probabilities(*sign_changes(solution_path, parts.test.X)) - truth)
    rows.add("probability_error", errors.mean(), **carried)


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
    index = np.minimum((p * bins).astype(int), bins - 1)
    masks = [index == k for k in np.unique(index)]
    predicted, observed = ([v[mask].mean() for mask in masks] for v in (p, hit))
    counts = [mask.sum() for mask in masks]
    rows.add_curve("reliability", predicted, observed, weight=counts, method=method)


# ---------------------------------------------------------------- the explorer


@PAPER.experiment(settings=Explorations, each="lams", version=1)
def explore(cell: Cell, rows: Rows, report: Report) -> None:
    """Record a whole path at one lam, for the page's explorer."""
    parts, lam = _parts(cell), {"lam": cell.value}
    solution_path = _path(cell, parts.train, report, cell.value)
    _certified(solution_path, rows, hyper_parameters=lam)
    add_exploration(rows, solution_path, parts.validation, parts.test, hyper_parameters=lam)
