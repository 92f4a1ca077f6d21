"""Weighted SVM paper: what is run. What is made of the results is in `outputs`.

Every experiment but growth, which has a cell for each n, has one for each cost C_0:

online      time series: instances enter and leave, all weights change (figure 3)
shift       covariate shift: from C_0 to C_0 times the importance (figure 4)
validation  the validation error along that path, exactly (figure 5)
regression  heteroscedastic regression: reweight by the residuals until they settle (figure 6)
growth      events of the path to a series' weights, and what one costs, against n (section 3.3)
regions     critical regions in the plane of two weights, and a path through them (figure 1)
explore     the covariate-shift path, written down so that the page can turn it by hand

Every method begins at the same exact solution, which isn't timed (the paper assumes it given), and
follows the same sequence of weights. Only the solver calls are timed, interleaved in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations, pairwise
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from solution_paths import weighted_svm_path, weighted_svr_path
from solution_paths.kernels import Kernel
from solution_paths.verify.verdict import Verdict

from ...data.protocols import Part, Split
from ...objectives import Hinge, Tube, judge
from ...runs.cells import Cell, Report
from ...runs.config import DataSetSettings
from ...runs.exploring import add_exploration
from ...runs.judging import add_certificate, add_oracle_comparison, describe
from ...runs.paper import Paper
from ...runs.rows import Rows, or_none
from ...runs.timing import Contest, Timing
from ...settings import Count, Counts, NotNegative, Positive, Positives, Settings
from ...solvers import Answer, Stopwatch, smo
from .data import prepare
from .ulsif import fit_ulsif

# Wall seconds that the repeats of a method may take in all.
BUDGET_S = 10.0
# Of each sequence of solves, this many answers are judged: spread evenly, the last among them.
JUDGED = 5
# Objective values are compared with the oracle's at these theta.
ORACLE_THETAS = (0.5, 1.0)
# A decision value this near to 0 may count as either label in a comparison with brute force.
NO_SIGN = 1e-9


# ---------------------------------------------------------------- settings


class Common(Settings):
    """The kernel is exp(-gamma ||x - x'||^2 / p), p features.

    ``diagonal`` is added to the training matrix's diagonal.
    """

    gamma: Positive
    diagonal: NotNegative


class DataSet(DataSetSettings):
    """Sizes, where they are not the paper's.

    ``n``: training instances; ``n_new``: those that arrive later (online); ``n_train`` and
    ``n_test`` of a covariate-shift task.
    """

    n: Count | None = None
    n_new: Count | None = None
    n_train: Count | None = None
    n_test: Count | None = None

    def complaints(self, name: str, n: int | None) -> Iterator[str]:
        """Say where more rows are asked for than there are."""
        asked = max((self.n or 0) + (self.n_new or 0), (self.n_train or 0) + (self.n_test or 0))
        if n is not None and asked > n:
            yield f"its sizes ask for {asked} rows, and it has {n}"


class Solver(Settings):
    """SMO's tolerance, and how a solve starts from the one before: clip (the paper's) | follow."""

    tolerance: Positive
    seeding: Literal["clip", "follow"]


class Costs(Settings):
    """Values of C_0, one cell for each."""

    costs: Positives


class Timed(Costs):
    """What the timing experiments share.

    ``repeats`` of each method; ``limit_s``: wall seconds after which a method's sequence of solves
    is stopped and its row says so; ``solvers``: variants of SMO.
    """

    repeats: Count
    limit_s: Positive
    solvers: Annotated[tuple[Solver, ...], Field(min_length=1)]


class Online(Timed):
    """``updates`` of a time series; ``slope`` is the paper's a."""

    slope: NotNegative
    updates: Count


class Growth(Settings):
    """Numbers of instances ``sizes``, whose weights are ``cost`` C_0; ``slope`` as in Online."""

    sizes: Counts
    cost: Positive
    slope: NotNegative
    repeats: Count


class Regions(Costs):
    """The first ``rows`` of the data; ``lines`` paths each way through the plane of two weights."""

    rows: Annotated[int, Field(ge=4)]
    lines: Annotated[int, Field(ge=2)]


class Shift(Timed):
    """SMO at every breakpoint, at ``grid`` evenly spaced weights, and at the end only."""

    grid: Count


class Explorations(Costs):
    """``grid``: so many evenly spaced theta are drawn beside each path."""

    grid: Annotated[int, Field(ge=2)]


class Regression(Timed):
    """Step 2: until the mean relative change is at most ``change``, at most ``rounds`` times.

    ``epsilon`` is in the target's unit; |e_i| counts as at least ``floor`` sigma (open in the
    paper).
    """

    epsilon: NotNegative
    change: Positive
    rounds: Count
    floor: Positive


def _columns(cell: Cell) -> dict[str, Any]:
    varied = {"n": cell.value, "C0": cell.settings.cost} if cell.each == "sizes" else {}
    hyper = {"C0": cell.value, **varied, **cell.common.model_dump()}
    return {"hyper_parameters": hyper, "kernel": "rbf"}


PAPER = Paper("weighted_svm", Common, DataSet, _columns)


def _parts(kind: str, cell: Cell) -> Split:
    """Return the training part and what comes later."""
    sizes = cell.data.model_dump(include={"n", "n_new", "n_train", "n_test"}, exclude_none=True)
    return prepare(kind, cell.dataset, cell.split, offline=cell.offline, **sizes)


# ---------------------------------------------------------------- one problem, three solvers


class Task:
    """Samples and a kernel: what the path, SMO and the judge are all given.

    Parameters
    ----------
    part : Part
    common : Common
    epsilon : float, optional
        Half-width of the tube: the task is a regression.
    """

    def __init__(self, part: Part, common: Common, epsilon: float | None = None) -> None:
        self.X, self.y, self.epsilon = np.ascontiguousarray(part.X, float), part.y, epsilon
        self.gamma, self.diagonal = common.gamma / self.X.shape[1], common.diagonal

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.y)

    def kernel(self, X: np.ndarray) -> np.ndarray:
        """Kernel values of rows against the samples, without what is added to the diagonal."""
        return Kernel("rbf", gamma=self.gamma)(X, self.X)

    @cached_property
    def gram(self) -> np.ndarray:
        """Kernel matrix of the samples, without what is added to its diagonal."""
        return self.kernel(self.X)

    def path(
        self,
        before: np.ndarray,
        after: np.ndarray,
        report: Report | None = None,
        check: str = "ignore",
    ) -> Any:
        """Return the path between two weight vectors, its start included.

        ``check``: "warn" as users call it; all are certified at length, outside every timing.
        """
        options = {"kernel": "rbf", "gamma": self.gamma, "diagonal": self.diagonal}
        options |= {"callback": report, "check": check}
        if self.epsilon is None:
            return weighted_svm_path(self.X, self.y, before, after, **options)
        return weighted_svr_path(self.X, self.y, before, after, self.epsilon, **options)

    def base(self, weights: np.ndarray, check: str = "ignore") -> Any:
        """Return the path that stays where it is, from which others go on, checked as it is."""
        return self.path(weights, weights, check=check)

    def machine(self, from_rows: bool = False) -> smo.SMO:
        """Return SMO, with the whole kernel matrix at hand or (``from_rows``) an empty cache."""
        if from_rows:
            return smo.SMO(self.X, kernel="rbf", gamma=self.gamma, ridge=self.diagonal)
        return smo.SMO(self.gram, kernel="precomputed", ridge=self.diagonal)

    def solve(self, machine: smo.SMO, weights: np.ndarray, **options: Any) -> smo.SmoResult:
        """Solve by SMO."""
        if self.epsilon is None:
            return machine.solve_svc(self.y, weights, **options)
        return machine.solve_svr(self.y, weights, self.epsilon, **options)

    @cached_property
    def _objective(self) -> Hinge | Tube:
        """Return what is minimised, whatever the weights."""
        data = {"kernel": Kernel("precomputed"), "diagonal": self.diagonal}
        if self.epsilon is None:
            return Hinge(self.gram, self.y, **data)
        return Tube(self.gram, self.y, epsilon0=self.epsilon, **data)

    def judge(self, weights: np.ndarray, alpha: np.ndarray, b: float) -> Verdict:
        """Score duals and a bias."""
        return judge(self._objective.with_costs(weights), Answer(alpha=alpha, b=b))

    def fitted(self, path: Any, theta: float) -> np.ndarray:
        """Predictions at the samples, as at any other point: without the added diagonal."""
        signed = path.dual(theta) if self.epsilon is not None else self.y * path.dual(theta)
        return self.gram @ signed + path.intercept(theta)


# ---------------------------------------------------------------- sequences of weights


class Method(NamedTuple):
    """A line in a figure: a name, and for SMO its tolerance and how it is started."""

    name: str
    tolerance: float | None = None
    seeding: str | None = None


@dataclass
class PathRun:
    """Paths through a sequence of weights; what of their time the kernel columns took.

    ``columns``: of the kernel matrix, that their events add up; see `columns_added`.
    """

    paths: list[Any] = field(default_factory=list)
    kernel_cpu_s: float = 0.0
    columns: int = 0

    def add(self, path: Any, old: np.ndarray, new: np.ndarray) -> None:
        """Add the path from old to new weights."""
        self.paths.append(path)
        self.columns += columns_added(path, [old, new])


@dataclass
class SmoRun:
    """Solves along a sequence of weights: how many, how it ended, and answers for the judge."""

    wanted: int
    done: int = 0
    iterations: int = 0
    censored: bool = False
    inaccurate: int = 0
    answers: list[tuple[np.ndarray, np.ndarray, float]] = field(default_factory=list)


def follow_path(
    task: Task, base: Any, weights: Sequence[np.ndarray], clear_cache: bool = False
) -> Timing:
    """Time the path through ``weights[1:]``, from ``base``, which ends at ``weights[0]``.

    With ``clear_cache`` the kernel columns of the rows that are ever on the margin or at their
    weight are computed afresh at each update, and counted: all that a path needs.
    """
    run, cpu, wall, path = PathRun(), 0.0, 0.0, base
    for old, new in pairwise(weights):
        with Stopwatch() as watch:
            path = path.continue_to(new)
        cpu, wall = cpu + watch.cpu_s, wall + watch.wall_s
        if clear_cache:
            needed = task.X[supporting(path)]
            with Stopwatch() as watch:
                task.kernel(needed)
            run.kernel_cpu_s += watch.cpu_s
            cpu, wall = cpu + watch.cpu_s, wall + watch.wall_s
        run.add(path, old, new)
    return Timing(cpu, wall, run)


def supporting(path: Any) -> np.ndarray:
    """Return the rows whose dual is not 0 somewhere on the path."""
    return np.flatnonzero(np.any(path.dual(path.breakpoints) != 0.0, axis=1))


def on_margin(path: Any, ends: Sequence[np.ndarray], thetas: np.ndarray) -> np.ndarray:
    """Count at each theta the duals strictly between 0 and their weight."""
    most = np.array(_line(ends, thetas)).T
    share = np.abs(path.dual(thetas)) / np.where(most > 0.0, most, np.inf)
    return np.count_nonzero((share > 1e-9) & (share < 1.0 - 1e-9), axis=0)


def columns_added(path: Any, ends: Sequence[np.ndarray]) -> int:
    """Count the kernel columns that the path's events add up, whatever the machine.

    To find where a segment ends takes the columns of the rows on the margin (11), and that of the
    row that came or left. SMO adds up two in an iteration. Both begin with the columns of all rows
    whose dual is not 0, which are not counted.
    """
    inner = 0.5 * (path.breakpoints[1:] + path.breakpoints[:-1])
    return int(np.sum(on_margin(path, ends, inner) + 1)) if len(inner) else 0


def follow_smo(
    task: Task,
    start: np.ndarray | None,
    weights: Sequence[np.ndarray],
    method: Method,
    limit_s: float,
    clear_cache: bool = False,
) -> Timing:
    """Time SMO through ``weights[1:]``, each solve started from the one before.

    Parameters
    ----------
    task : Task
    start : (n,) array or None
        Solution at ``weights[0]``; None for a cold start.
    weights : sequence of (n,) arrays
    method : Method
        ``seeding``: "clip" makes the old solution feasible (the paper's alpha seeding), "follow"
        also lets a dual that stood at its weight stay there.
    limit_s : float
        Wall seconds for the whole sequence; what is left then is not solved, and nothing is
        extrapolated.
    clear_cache : bool
        Begin every solve with an empty kernel cache; else the whole matrix is at hand.
    """
    run, cpu, wall, seed = SmoRun(wanted=len(weights) - 1), 0.0, 0.0, start
    kept = {int(k) for k in np.linspace(0, run.wanted - 1, JUDGED)}
    machine = None if clear_cache else task.machine()
    for k, (old, new) in enumerate(pairwise(weights)):
        options = {"tol": method.tolerance, "time_limit": max(limit_s - wall, 0.0)}
        if seed is not None:
            options["start"] = seed
            options["start_costs"] = old if method.seeding == "follow" else None
        with Stopwatch() as watch:
            if clear_cache:
                machine = task.machine(from_rows=True)
            answer = task.solve(machine, new, **options)
        cpu, wall, seed = cpu + watch.cpu_s, wall + watch.wall_s, answer.alpha
        run.iterations += answer.iterations
        if answer.status != "solved" and wall >= limit_s:
            run.censored = True
            break
        run.done += 1
        run.inaccurate += answer.status != "solved"
        if k in kept:
            run.answers.append((new, answer.alpha, answer.b))
    return Timing(cpu, wall, run)


# ---------------------------------------------------------------- the timing lane


class PathAndSmo(Contest):
    """A contest of path and SMO on the same task.

    Parameters
    ----------
    task : Task
    settings : Timed
    start : (n,) array
        Solution at the first weights, from which SMO begins.
    rows, report : Rows, callable
    """

    def __init__(
        self, task: Task, settings: Timed, start: np.ndarray, rows: Rows, report: Report
    ) -> None:
        super().__init__(rows, settings.repeats, BUDGET_S, report)
        self.task, self.settings, self.start = task, settings, start
        self.weights: dict[str, Sequence[np.ndarray]] = {}
        self._certified: dict[str, dict[str, Any]] = {}

    def solvers(self, name: str, cold: bool = False) -> list[Method]:
        """List the SMO methods of a name; a cold start has no seeding."""
        wanted = [(s.tolerance, "none" if cold else s.seeding) for s in self.settings.solvers]
        return [Method(name, *pair) for pair in dict.fromkeys(wanted)]

    def enter_path(self, name: str, call: Callable[[], Timing]) -> None:
        """Enter a path; the first that is entered must come before SMO, which needs its weights."""
        self.enter(name, call, partial(self._judge_path, name), _kernel_time)

    def enter_smo(self, name: str, cold: bool = False, clear_cache: bool = False) -> None:
        """Enter SMO through ``self.weights[name]`` in every variant of the settings."""
        start = None if cold else self.start
        for method in self.solvers(name, cold):

            def call(method: Method = method) -> Timing:
                weights, limit = self.weights[method.name], self.settings.limit_s
                return follow_smo(self.task, start, weights, method, limit, clear_cache)

            self.enter(name, call, partial(self._judge_smo, method), group=method)

    def _judge_path(self, name: str, repeat: int, timing: Timing) -> dict[str, Any]:
        """Judge the first round's paths; return the columns of all rounds."""
        run = timing.result
        if name not in self._certified:
            self._certified[name] = certificates(self.rows, name, run.paths)
            self.rows.add("updates", len(run.paths), method=name)
            self.rows.add("columns", run.columns, method=name)
        run.paths.clear()  # they hold every breakpoint's duals
        return self._certified[name]

    def _judge_smo(self, method: Method, repeat: int, timing: Timing) -> dict[str, Any]:
        """Return how the run ended, and in the first round its worst verdict."""
        run = timing.result
        hyper = {"tolerance": method.tolerance, "seeding": method.seeding}
        hyper |= {"solves": run.wanted, "solved": run.done, "iterations": run.iterations}
        columns = {"status": "ok", "message": ""}
        if run.inaccurate:
            reason = f"{run.inaccurate} of {run.done} solves stalled above the tolerance"
            columns = {"status": "inaccurate", "message": reason}
        if run.censored:
            reason = f"stopped after {run.done} of {run.wanted} solves in {timing.wall_s:.4g} s"
            columns = {"status": "censored", "message": reason}
        if repeat == 0 and run.answers:
            verdicts = [self.task.judge(*answer) for answer in run.answers]
            for name in ("kkt", "gap", "rounding"):
                columns[name] = or_none(max(getattr(v, name) for v in verdicts))
        return {**columns, "hyper_parameters": hyper, "method_version": smo.version()}


def _kernel_time(repeat: int, timing: Timing) -> dict[str, float]:
    seconds = timing.result.kernel_cpu_s
    return {"kernel_time": seconds} if seconds else {}


def certificates(rows: Rows, method: str, paths: Sequence[Any]) -> dict[str, Any]:
    """Add the certificate of each path as a row; return columns for rows about all of them.

    A time to a wrong answer is none: rows about a path that isn't certified say so in their status,
    stay in the table, and out of every comparison.
    """
    columns = [
        add_certificate(rows, path, method=method, hyper_parameters={"update": k})
        for k, path in enumerate(paths, start=1)
    ]
    together = {"n_breakpoints": sum(one["n_breakpoints"] for one in columns)}
    for name in ("kkt", "gap", "rounding"):
        values = [one[name] for one in columns]
        together[name] = None if None in values else max(values)
    held = [row["status"] == "ok" for row in rows.rows[-len(paths) :]]
    if not all(held):
        together |= {"status": "certificate failed", "message": "the path is not certified"}
    return together


def warm_up() -> None:
    """Absorb compilation: a few samples through all that will be timed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0)
    common = Common(gamma=1.0, diagonal=1e-6)
    for task in (Task(Part(X, y), common), Task(Part(X, X[:, 1] ** 2), common, 0.05)):
        weights = [np.ones(30), rng.uniform(0.5, 2.0, size=30)]
        base = task.base(weights[0])
        start = base.dual(1.0)
        follow_path(task, base, weights).result.paths[0].certify()
        for clear in (True, False):
            for seeding in ("clip", "follow"):
                follow_smo(task, start, weights, Method("", 1e-3, seeding), 10.0, clear)


# ---------------------------------------------------------------- online time series


def series_weights(n: int, total: int, first: int, cost: float, slope: float) -> np.ndarray:
    """Weights C_i = C_0 2 / (1 + exp(a - 2 a i/n)) of instances first, ..., first + n - 1, else 0.

    i = 1 is the oldest instance that counts and i = n the newest; a is ``slope``.
    """
    weights = np.zeros(total)
    i = np.arange(1, n + 1)
    weights[first : first + n] = cost * 2.0 / (1.0 + np.exp(slope - 2.0 * slope * i / n))
    return weights


@PAPER.experiment(lane="timing", settings=Online, each="costs", version=1)
def online(cell: Cell, rows: Rows, report: Report) -> None:
    """Five updates: new instances enter, the oldest leave, and all weights change.

    Once with the kernel cache cleared at each update, as in the paper, and once with the kernel
    matrix given to both, which shows the work of the solvers alone. The paper's times hold no
    check; a path with its check is timed beside.
    """
    parts, updates = _parts("series", cell), cell.settings.updates
    both = (parts.train, parts.test)
    stream = Part(np.vstack([p.X for p in both]), np.concatenate([p.y for p in both]))
    n, total = len(parts.train.y), len(stream.y)
    if (total - n) % updates:
        raise ValueError(f"{total - n} new instances can't be cut into {updates} equal updates.")
    batch, shape = (total - n) // updates, (cell.value, cell.settings.slope)
    weights = [series_weights(n, total, k * batch, *shape) for k in range(updates + 1)]
    task = Task(stream, cell.common)
    describe(rows, parts)
    warm_up()
    start = task.base(weights[0]).dual(1.0)
    contest = PathAndSmo(task, cell.settings, start, rows, report)
    contest.weights = {"smo": weights, "smo_given": weights}

    def path(check: str = "ignore", clear: bool = True) -> Timing:
        return follow_path(task, task.base(weights[0], check), weights, clear)

    contest.enter_path("path", path)
    contest.enter_path("path_checked", lambda: path("warn"))
    contest.enter_smo("smo", clear_cache=True)
    contest.enter_path("path_given", lambda: path(clear=False))
    contest.enter_smo("smo_given")
    contest.run()


@PAPER.experiment(lane="timing", settings=Growth, each="sizes")
def growth(cell: Cell, rows: Rows, report: Report) -> None:
    """Let the first n instances of a series forget: from C_0 everywhere to the series' weights.

    Counts the events and the samples on the margin, and times the path.
    """
    n, settings = cell.value, cell.settings
    parts = prepare("series", cell.dataset, cell.split, offline=cell.offline, n=n, n_new=0)
    weights = [np.full(n, settings.cost), series_weights(n, n, 0, settings.cost, settings.slope)]
    task = Task(parts.train, cell.common)
    warm_up()

    def columns(repeat: int, timing: Timing) -> dict[str, Any]:
        (path,) = timing.result.paths
        if repeat == 0:
            carried = certificates(rows, "path", [path])
            active = on_margin(path, weights, np.linspace(0.0, 1.0, 21))
            rows.add("margin_samples", np.mean(active), method="path", **carried)
        return {"n_breakpoints": len(path.breakpoints)}

    contest = Contest(rows, settings.repeats, BUDGET_S, report)
    contest.enter("path", lambda: follow_path(task, task.base(weights[0]), weights), columns)
    contest.run()


# ---------------------------------------------------------------- covariate shift


def importance_weights(cell: Cell, parts: Split, rows: Rows) -> list[np.ndarray]:
    """Return [C_0 everywhere, C_0 times the importance of each training point by uLSIF]."""
    ratio = fit_ulsif(parts.train.X, parts.test.X, seed=cell.seed("ulsif"))
    importance, cost = ratio(parts.train.X), cell.value
    rows.add("importance_zero_share", np.mean(importance == 0.0), method="ulsif")
    rows.add("importance_largest", importance.max(), method="ulsif")
    for name in ("width", "ridge"):
        rows.add(f"ulsif_{name}", getattr(ratio, name), method="ulsif")
    return [np.full(len(importance), cost), cost * importance]


def _line(ends: Sequence[np.ndarray], thetas: np.ndarray) -> list[np.ndarray]:
    """Weights at some theta between two ends."""
    return [ends[0] + theta * (ends[1] - ends[0]) for theta in thetas]


@PAPER.experiment(lane="timing", settings=Shift, each="costs", version=1)
def shift(cell: Cell, rows: Rows, report: Report) -> None:
    """From uniform weights to the importance, against SMO at every breakpoint and on a grid."""
    parts = _parts("shift", cell)
    describe(rows, parts)
    ends = importance_weights(cell, parts, rows)
    task = Task(parts.train, cell.common)
    warm_up()
    start = task.base(ends[0]).dual(1.0)
    contest = PathAndSmo(task, cell.settings, start, rows, report)
    contest.weights = {
        "smo_grid": _line(ends, np.linspace(0.0, 1.0, cell.settings.grid + 1)),
        "smo_end": ends,
        "smo_cold": ends,
    }

    def path(check: str = "ignore") -> Timing:
        timing = follow_path(task, task.base(ends[0], check), ends)
        bends = timing.result.paths[0].breakpoints
        thetas = np.unique(np.concatenate([[0.0], bends[bends > 0.0], [1.0]]))
        contest.weights.setdefault("smo_breakpoints", _line(ends, thetas))
        return timing

    def whole() -> Timing:
        with Stopwatch() as watch:
            path = task.path(*ends, check="warn")
        run = PathRun()
        run.add(path, *ends)
        return Timing(watch.cpu_s, watch.wall_s, run)

    contest.enter_path("path", path)
    contest.enter_path("path_checked", lambda: path("warn"))
    contest.enter_path("path_whole", whole)
    for name in ("smo_breakpoints", "smo_grid", "smo_end"):
        contest.enter_smo(name)
    contest.enter_smo("smo_cold", cold=True)
    contest.run()


@PAPER.experiment(settings=Costs, each="costs")
def validation(cell: Cell, rows: Rows, report: Report) -> None:
    """Figure 5: the validation error as an exact step function of theta, and its minimiser."""
    parts = _parts("shift", cell)
    describe(rows, parts)
    ends, task = importance_weights(cell, parts, rows), Task(parts.train, cell.common)
    path, data = task.path(*ends, report=report), parts.test
    carried = {"method": "path", **certificates(rows, "path", [path])}
    curve = path.error_curve(data.X, data.y, "zero_one")
    edges, error = curve.edges, curve.left
    rows.add_curve("validation_error", edges[:-1], error, method="path")
    best = path.best(data.X, data.y, metric="zero_one")
    for low, high in best.intervals:
        hyper = {"low": low, "high": high, "theta": best.parameter}
        rows.add("validation_error_best", best.value, hyper_parameters=hyper, **carried)
    for theta in (0.0, 1.0):
        wrong = (path.decision_function(data.X, theta) >= 0) != (data.y > 0)
        rows.add("validation_error", wrong.mean(), hyper_parameters={"theta": theta}, **carried)
    looked, errors = brute_force_errors(task, path, data, edges, error, best.value)
    rows.add("step_errors", errors, hyper_parameters={"points": looked}, **carried)
    add_oracle_comparison(rows, path, ORACLE_THETAS, **carried)


@PAPER.experiment(settings=Regions, each="costs")
def regions(cell: Cell, rows: Rows, report: Report) -> None:
    """Figure 1, computed: where paths in one of two weights bend, and a path in both.

    The other weights stay at C_0; the two go from 0 to 2 C_0. They are the pair with most events.
    """
    train, cost = _parts("series", cell).train, cell.value
    members = np.sort(
        np.concatenate([np.flatnonzero(train.y == c)[: cell.settings.rows // 2] for c in (-1, 1)])
    )
    task = Task(Part(train.X[members], train.y[members]), cell.common)

    def events(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, Any]:
        path = task.path(before, after)
        bends = path.breakpoints
        return bends[(bends > 0.0) & (bends < 1.0)], path

    def weights(pair: Sequence[int], values: Sequence[float]) -> np.ndarray:
        moved = np.full(task.n, cost)
        moved[list(pair)] = values
        return moved

    low, high = 0.0, 2.0 * cost
    ends = {
        pair: (weights(pair, (0.25 * cost, 0.1 * cost)), weights(pair, (1.75 * cost, 1.9 * cost)))
        for pair in combinations(range(task.n), 2)
    }
    pair = max(ends, key=lambda p: len(events(*ends[p])[0]))
    bends, path = events(*ends[pair])
    certificates(rows, "path", [path])
    shown = np.array([w[list(pair)] for w in _line(list(ends[pair]), np.array([0.0, *bends, 1.0]))])
    rows.add_curve("path", *shown.T, method="path")
    for k, value in enumerate(np.linspace(low, high, cell.settings.lines)):
        for across in (0, 1):
            both = [(value, end) if across else (end, value) for end in (low, high)]
            moved = (high - low) * events(*(weights(pair, v) for v in both))[0] + low
            still = np.full(len(moved), value)
            rows.add_curve("border", *((still, moved) if across else (moved, still)), method="path")
        report((k + 1) / cell.settings.lines)


@PAPER.experiment(settings=Explorations, each="costs")
def explore(cell: Cell, rows: Rows, report: Report) -> None:
    """Write down the whole covariate-shift path at one C_0, for the page's explorer."""
    parts = _parts("shift", cell)
    ends, task = importance_weights(cell, parts, rows), Task(parts.train, cell.common)
    path = task.path(*ends, report=report)
    certificates(rows, "path", [path])
    add_exploration(rows, path, parts.test)


def brute_force_errors(
    task: Task, path: Any, part: Part, edges: np.ndarray, error: np.ndarray, least: float
) -> tuple[int, int]:
    """Compare the steps, and their least value, with decisions computed at many theta.

    On a fine grid, on both sides of every crossing, and in the middle of every step the decisions
    are computed from the duals by this function's own formula.

    Returns
    -------
    looked, errors : int
        At how many theta, and at how many of them the two disagree by more than the rows whose
        decision is 0 up to rounding.
    """
    crossings = np.concatenate([np.empty(0), *path.crossings(part.X)])
    middles = 0.5 * (edges[1:] + edges[:-1])
    beside = [crossings + side * 1e-7 for side in (-1.0, 1.0)]
    thetas = np.clip(np.concatenate([np.linspace(0, 1, 1001), middles, *beside]), 0.0, 1.0)
    K, errors = task.kernel(part.X), 0
    for theta in thetas:
        f = K @ (task.y * path.dual(theta)) + path.intercept(theta)
        counted = np.count_nonzero((f >= 0) != (part.y > 0))
        unsure = np.count_nonzero(np.abs(f) <= NO_SIGN)
        k = np.clip(np.searchsorted(edges, theta, side="right") - 1, 0, len(error) - 1)
        # An edge belongs to either of its steps.
        near = {k, max(k - 1, 0)} if theta - edges[k] <= 1e-12 else {k}
        stated = [round(error[j] * len(part.y)) for j in near]
        missed = min(abs(counted - value) for value in stated) > unsure
        errors += missed or counted + unsure < round(least * len(part.y))
    return len(thetas), int(errors)


# ---------------------------------------------------------------- heteroscedastic regression


def reweighted(residual: np.ndarray, cost: float, floor: float) -> np.ndarray:
    """Weights C_0 sigma / |e_i|, where |e_i| counts as at least ``floor`` sigma.

    sigma is the root of the mean square of the residuals.
    """
    sigma = np.sqrt(np.mean(residual**2))
    return cost / np.maximum(np.abs(residual) / sigma, floor)


def relative_change(old: np.ndarray, new: np.ndarray, floor: float) -> float:
    """Mean of |(old - new) / old|, where |old| counts as at least ``floor`` sigma."""
    least = floor * np.sqrt(np.mean(old**2))
    return float(np.mean(np.abs(old - new) / np.maximum(np.abs(old), least)))


@PAPER.experiment(lane="timing", settings=Regression, each="costs", version=1)
def regression(cell: Cell, rows: Rows, report: Report) -> None:
    """Reweight by the residuals until they settle; SMO follows the path's weights."""
    parts = _parts("regression", cell)
    describe(rows, parts)
    task = Task(parts.train, cell.common, cell.settings.epsilon)
    uniform = np.full(task.n, cell.value)
    warm_up()
    start = task.base(uniform).dual(1.0)
    contest = PathAndSmo(task, cell.settings, start, rows, report)

    def path(check: str = "ignore") -> Timing:
        if "smo" in contest.weights:
            return follow_path(task, task.base(uniform, check), contest.weights["smo"])
        timing, contest.weights["smo"] = _reweight_until_settled(task, uniform, cell, rows)
        return timing

    contest.enter_path("path", path)
    contest.enter_path("path_checked", lambda: path("warn"))
    contest.enter_smo("smo")
    contest.run()


def _reweight_until_settled(
    task: Task, uniform: np.ndarray, cell: Cell, rows: Rows
) -> tuple[Timing, list[np.ndarray]]:
    """Time the path through the rounds of step 2; return the weights of all rounds as well."""
    cost, settings = cell.value, cell.settings
    floor = settings.floor
    path, run, weights, cpu, wall = task.base(uniform), PathRun(), [uniform], 0.0, 0.0
    residual, change = task.y - task.fitted(path, 1.0), np.inf
    while change > settings.change and len(run.paths) < settings.rounds:
        weights.append(reweighted(residual, cost, floor))
        with Stopwatch() as watch:
            path = path.continue_to(weights[-1])
        cpu, wall = cpu + watch.cpu_s, wall + watch.wall_s
        run.add(path, *weights[-2:])
        old, residual = residual, task.y - task.fitted(path, 1.0)
        change = relative_change(old, residual, floor)
    rows.add("rounds", len(run.paths), method="path")
    rows.add("last_change", change, method="path")
    return Timing(cpu, wall, run), weights
