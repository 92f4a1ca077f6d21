"""Weighted SVM paper: what is run. What is made of the results is in `weighted_svm_outputs`.

Settings are read from ``config["weighted_svm"]`` and overridden by
``config["suites"][suite]["weighted_svm"]``. Experiments, each a function below; each has one cell
for every cost C_0:

online      time series: instances enter and leave, all weights change (figure 3)
shift       covariate shift: from C_0 to C_0 times the importance (figure 4)
validation  the validation error along that path, exactly (figure 5)
regression  heteroscedastic regression: reweight by the residuals until they settle (figure 6)

Every method begins at the same exact solution, which isn't timed (the paper assumes it given), and
follows the same sequence of weights. Only the solver calls are timed, interleaved in one process.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ... import baselines
from ...baselines import (
    Answer,
    Stopwatch,
    Verdict,
    judge,
    smo,
)
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
)
from ...data import seed_sequence
from ...data.protocols import (
    Part,
    Split,
    biased_split,
    fit_scaler,
    principal_components,
)
from ...kernels import Kernel
from ...objectives import Hinge, Tube
from . import data as paper_data
from .outputs import (
    CAPTIONS,
    assumptions,
    claims,
    figures,
    tables,
)
from .ulsif import fit_ulsif

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

PAPER = "weighted_svm"
# A method whose first round took longer than this is not repeated.
SHORT_S = 2.0
# Of each sequence of solves, this many answers are judged: spread evenly, the last among them.
JUDGED = 5
# Objective values are compared with the oracle's up to this many samples, at these theta.
ORACLE_ROWS, ORACLE_THETAS = 1000, (0.5, 1.0)
# A decision value this near to 0 may count as either label in a comparison with brute force.
NO_SIGN = 1e-9


# ---------------------------------------------------------------- what is to be run


def cells(config: dict, suite: str) -> list[Cell]:
    """List every cell of a suite."""
    return list_cells(PAPER, _cells_of, config, suite)


def run_chunk(
    config: dict, suite: str, chunk: dict, out_dir: str | Path, progress: Report | None = None
) -> list[Path]:
    """Run the cells of a job that aren't there yet; return the files of all its cells.

    The parameters are those of `quantile_svm.run_chunk`.
    """

    def hyper(cell: Cell) -> dict[str, Any]:
        return {key: cell.settings[key] for key in ("C0", "gamma", "diagonal")}

    job = (config, suite, chunk, out_dir, progress)
    columns = {"hyper_parameters": hyper, "kernel": lambda cell: "rbf"}
    return run_job(PAPER, _cells_of, RUNNERS, *job, **columns)


def _cells_of(config: dict, suite: str, experiment: str, dataset: str, split: int) -> list[Cell]:
    """One cell for each cost."""
    paper = config[PAPER]
    lane, chosen = experiment_settings(config, suite, PAPER, experiment)
    data = {k: v for k, v in paper["datasets"][dataset].items() if k != "sources"}
    common = {"gamma": paper["gamma"], "diagonal": paper["diagonal"], **data}
    costs = chosen.pop("costs")
    return [
        Cell(experiment, dataset, split, lane, f"C{c:g}", {**common, **chosen, "C0": float(c)})
        for c in costs
    ]


# ---------------------------------------------------------------- data


def prepare(experiment: str, dataset: str, split: int, settings: dict, offline: bool) -> Split:
    """Return the training part and what comes later (``test``), scaled as in the paper.

    The paper's data sets are cut by `data.weighted_svm`; any other is cut the same way, and a
    generated one is drawn anew for each split.
    """
    sizes = {k: settings[k] for k in ("n", "n_new", "n_train", "n_test") if k in settings}
    if dataset in paper_data.ASSEMBLIES or dataset in paper_data.SHIFT_TASKS:
        return paper_data.assemble(dataset, split, offline=offline, **sizes)
    return OTHERS[experiment](dataset, split, sizes, offline)


def _other_series(dataset: str, split: int, sizes: dict, offline: bool) -> Split:
    """Treat the rows as a series, in their order."""
    n, n_new = sizes["n"], sizes["n_new"]
    data = load_seeded(dataset, seed_sequence(PAPER, dataset, split), offline, n=n + n_new)
    X = fit_scaler(data.X[:n], "unit_interval").transform(data.X)
    return Split(Part(X[:n], data.y[:n]), None, Part(X[n : n + n_new], data.y[n : n + n_new]))


def _other_shift(dataset: str, split: int, sizes: dict, offline: bool) -> Split:
    """Shift the inputs as `data.weighted_svm.covariate_shift` does."""
    seeds = seed_sequence(PAPER, dataset, split).spawn(2)
    data = load_seeded(dataset, seeds[0], offline)
    scores = principal_components(data.X, 4)
    rng, (n_train, n_test) = np.random.default_rng(seeds[1]), (sizes["n_train"], sizes["n_test"])
    parts = biased_split(scores[:, 0], n_train, n_test, rng, slope=paper_data.SLOPE)
    scaler = fit_scaler(scores[parts[0]], "unit_interval")
    train, test = (Part(scaler.transform(scores[r]), data.y[r]) for r in parts)
    return Split(train, None, test)


def _other_regression(dataset: str, split: int, sizes: dict, offline: bool) -> Split:
    """Take all rows of a regression."""
    data = load_seeded(dataset, seed_sequence(PAPER, dataset, split), offline, n=sizes.get("n"))
    X = fit_scaler(data.X, "symmetric").transform(data.X)
    return Split(Part(X, data.y), None, Part(X[:0], data.y[:0]))


OTHERS = {
    "online": _other_series,
    "shift": _other_shift,
    "validation": _other_shift,
    "regression": _other_regression,
}


# ---------------------------------------------------------------- one problem, three solvers


class Task:
    """Samples and a kernel: what the path, SMO and the judge are all given.

    Parameters
    ----------
    part : Part
    settings : dict
        ``gamma``: the kernel is exp(-gamma ||x - x'||^2 / p), p features; ``diagonal`` is added to
        the training matrix's diagonal.
    epsilon : float, optional
        Half-width of the tube: the task is a regression.
    """

    def __init__(self, part: Part, settings: dict, epsilon: float | None = None) -> None:
        self.X, self.y, self.epsilon = np.ascontiguousarray(part.X, float), part.y, epsilon
        self.gamma, self.diagonal = settings["gamma"] / self.X.shape[1], settings["diagonal"]

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.y)

    def kernel(self, X: np.ndarray) -> np.ndarray:
        """Kernel values of rows against the samples, without what is added to the diagonal."""
        return Kernel("rbf", self.gamma)(X, self.X)

    @cached_property
    def gram(self) -> np.ndarray:
        """Kernel matrix of the samples, without what is added to its diagonal."""
        return self.kernel(self.X)

    @cached_property
    def _objective(self) -> Hinge | Tube:
        options = {"kernel": Kernel("rbf", self.gamma), "diagonal": self.diagonal, "bias": "free"}
        if self.epsilon is not None:
            return Tube(self.X, self.y, epsilon0=self.epsilon, **options)
        return Hinge(self.X, self.y, **options)

    def path(self, before: np.ndarray, after: np.ndarray, report: Report | None = None) -> Any:
        """Return the path between two weight vectors, its start included."""
        from ... import weighted_svm_path, weighted_svr_path

        kernel = {"kernel": "rbf", "gamma": self.gamma, "diagonal": self.diagonal}
        if self.epsilon is None:
            return weighted_svm_path(self.X, self.y, before, after, callback=report, **kernel)
        ends = (before, after, self.epsilon)
        return weighted_svr_path(self.X, self.y, *ends, callback=report, **kernel)

    def base(self, weights: np.ndarray) -> Any:
        """Return the path that stays where it is, from which others can go on."""
        return self.path(weights, weights)

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

    def problem(self, weights: np.ndarray) -> Hinge | Tube:
        """Return the problem as the judge and the oracle take it."""
        return self._objective.with_costs(weights)

    def judge(self, weights: np.ndarray, alpha: np.ndarray, b: float) -> Verdict:
        """Score duals and a bias."""
        return judge(self.problem(weights), Answer(alpha=alpha, b=b))

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
    """Paths through a sequence of weights; what of their time the kernel matrices took."""

    paths: list[Any] = field(default_factory=list)
    kernel_cpu_s: float = 0.0
    certified: bool = False


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

    With ``clear_cache`` the whole kernel matrix is computed afresh at each update, which is more
    than a path needs, and counted.
    """
    run, cpu, wall, path = PathRun(), 0.0, 0.0, base
    for new in weights[1:]:
        if clear_cache:
            with Stopwatch() as watch:
                task.kernel(task.X)
            run.kernel_cpu_s += watch.cpu_s
            cpu, wall = cpu + watch.cpu_s, wall + watch.wall_s
        with Stopwatch() as watch:
            path = path.continue_to(new)
        cpu, wall = cpu + watch.cpu_s, wall + watch.wall_s
        run.paths.append(path)
    return Timing(cpu, wall, run)


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
            found = task.solve(machine, new, **options)
        cpu, wall, seed = cpu + watch.cpu_s, wall + watch.wall_s, found.alpha
        run.iterations += found.iterations
        if found.status != "solved" and wall >= limit_s:
            run.censored = True
            break
        run.done += 1
        run.inaccurate += found.status != "solved"
        if k in kept:
            run.answers.append((new, found.alpha, found.b))
    return Timing(cpu, wall, run)


# ---------------------------------------------------------------- the timing lane


class Lane:
    """Path and SMO taking turns; every repeat becomes a row.

    Parameters
    ----------
    task : Task
    rows : Rows
    settings : dict
        ``repeats``, ``limit_s`` (of a method's sequence), ``solvers`` (SMO's tolerances and
        seedings).
    report : callable
    """

    def __init__(self, task: Task, rows: Rows, settings: dict, report: Report) -> None:
        self.task, self.rows, self.settings, self.report = task, rows, settings, report
        self.calls: dict[Method, Callable[[], Timing]] = {}
        self.weights: dict[str, Sequence[np.ndarray]] = {}
        self.start: np.ndarray | None = None

    def solvers(self, name: str, cold: bool = False) -> list[Method]:
        """List the SMO methods of a name; a cold start has no seeding."""
        wanted = [
            (s["tolerance"], "none" if cold else s["seeding"]) for s in self.settings["solvers"]
        ]
        return [Method(name, *pair) for pair in dict.fromkeys(wanted)]

    def add_path(self, name: str, call: Callable[[], Timing]) -> None:
        """Add a path; the first that is added must come before SMO, which needs its weights."""
        self.calls[Method(name)] = call

    def add_smo(self, name: str, cold: bool = False, clear_cache: bool = False) -> None:
        """Add SMO through ``self.weights[name]`` in every variant of the settings."""
        for method in self.solvers(name, cold):
            self.calls[method] = lambda m=method: follow_smo(
                self.task,
                None if cold else self.start,
                self.weights[m.name],
                m,
                self.settings["limit_s"],
                clear_cache,
            )

    def run(self) -> None:
        """Time all methods in turns and write every repeat down."""
        first: dict[Method, Timing] = {}
        turns = interleaved(self.calls, self._repeats)
        gc.freeze()  # compilers leave many objects behind, which no collection need look at
        for count, (method, repeat, timing) in enumerate(turns, start=1):
            gc.collect()  # what earlier repeats left, outside every timing
            if isinstance(timing.result, PathRun):
                first.setdefault(method, timing)
                self._record_path(method, repeat, timing, first[method])
            else:
                self._record_smo(method, repeat, timing)
            self.report(min(0.99, count / (len(self.calls) * self.settings["repeats"])))

    def _repeats(self, method: Method, first_s: float) -> int:
        return self.settings["repeats"] if first_s <= SHORT_S else 1

    def _record_path(self, method: Method, repeat: int, timing: Timing, first: Timing) -> None:
        columns = {"method": method.name, "repeat": repeat}
        if timing is first:
            judged, first.result.certified = certificates(
                self.rows, method.name, timing.result.paths
            )
            columns |= judged
            self.rows.add("updates", len(timing.result.paths), method=method.name)
            first.result.paths.clear()  # they hold every breakpoint's duals
        if not first.result.certified:
            # A time to a wrong answer is none: it stays in the table, and out of every comparison.
            columns |= {"status": "certificate failed", "message": "the path is not certified"}
        seconds = {"cpu_s": timing.cpu_s, "wall_s": timing.wall_s}
        self.rows.add("time", timing.cpu_s, **seconds, **columns)
        if timing.result.kernel_cpu_s:
            self.rows.add("kernel_time", timing.result.kernel_cpu_s, **columns)
        timing.result.paths.clear()

    def _record_smo(self, method: Method, repeat: int, timing: Timing) -> None:
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
            columns["kkt"] = or_none(max(v.kkt for v in verdicts))
            columns["gap"] = or_none(max(v.gap for v in verdicts))
        self.rows.add(
            "time",
            timing.cpu_s,
            cpu_s=timing.cpu_s,
            wall_s=timing.wall_s,
            method=method.name,
            method_version=smo.version(),
            repeat=repeat,
            hyper_parameters=hyper,
            **columns,
        )


def certificates(rows: Rows, method: str, paths: Sequence[Any]) -> tuple[dict[str, Any], bool]:
    """Add the certificate of each path as a row; return columns for all, and if all hold."""
    found = [path.certify() for path in paths]
    for k, (path, own) in enumerate(zip(paths, found, strict=True)):
        rows.add(
            "certificate",
            float(own.ok),
            method=method,
            n_breakpoints=len(path.breakpoints),
            kkt=or_none(own.kkt),
            gap=or_none(own.gap),
            status="ok" if own.ok else "certificate failed",
            message=f"{own.n_points} points; worst KKT violation at theta = {own.kkt_at:.6g}, "
            f"worst gap at {own.gap_at:.6g}",
            hyper_parameters={"update": k + 1},
        )
    together = {
        "n_breakpoints": sum(len(path.breakpoints) for path in paths),
        "kkt": or_none(max(own.kkt for own in found)),
        "gap": or_none(max(own.gap for own in found)),
    }
    return together, all(own.ok for own in found)


def warm_up() -> None:
    """Absorb compilation: a few samples through all that will be timed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0)
    settings = {"gamma": 1.0, "diagonal": 1e-6}
    for task in (Task(Part(X, y), settings), Task(Part(X, X[:, 1] ** 2), settings, 0.05)):
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


def _run_online(cell: Cell, rows: Rows, report: Report, offline: bool) -> None:
    """Five updates: new instances enter, the oldest leave, and all weights change.

    Once with the kernel cache cleared at each update, as in the paper, and once with the kernel
    matrix given to both, which shows the work of the solvers alone.
    """
    settings = cell.settings
    parts = prepare("online", cell.dataset, cell.split, settings, offline)
    both = (parts.train, parts.test)
    stream = Part(np.vstack([p.X for p in both]), np.concatenate([p.y for p in both]))
    n, total, updates = len(parts.train.y), len(stream.y), settings["updates"]
    if (total - n) % updates:
        raise ValueError(f"{total - n} new instances can't be cut into {updates} equal updates.")
    batch, shape = (total - n) // updates, (settings["C0"], settings["slope"])
    weights = [series_weights(n, total, k * batch, *shape) for k in range(updates + 1)]
    task = Task(stream, settings)
    _describe(rows, parts)
    warm_up()
    lane = Lane(task, rows, settings, report)
    lane.start = task.base(weights[0]).dual(1.0)
    lane.weights = {"smo": weights, "smo_given": weights}
    for suffix, clear in (("", True), ("_given", False)):

        def path(clear: bool = clear) -> Timing:
            return follow_path(task, task.base(weights[0]), weights, clear)

        lane.add_path(f"path{suffix}", path)
        lane.add_smo(f"smo{suffix}", clear_cache=clear)
    lane.run()


def _describe(rows: Rows, parts: Split) -> None:
    for name, part in {"train": parts.train, "test": parts.test}.items():
        rows.add(f"n_{name}", len(part.y), method="data")


# ---------------------------------------------------------------- covariate shift


def importance_weights(cell: Cell, parts: Split, rows: Rows) -> list[np.ndarray]:
    """Return [C_0 everywhere, C_0 times the importance of each training point by uLSIF]."""
    seed = seed_sequence(PAPER, f"{cell.dataset}/ulsif", cell.split)
    ratio = fit_ulsif(parts.train.X, parts.test.X, seed=seed)
    importance, cost = ratio(parts.train.X), cell.settings["C0"]
    rows.add("importance_zero_share", np.mean(importance == 0.0), method="ulsif")
    rows.add("importance_largest", importance.max(), method="ulsif")
    for name in ("width", "ridge"):
        rows.add(f"ulsif_{name}", getattr(ratio, name), method="ulsif")
    return [np.full(len(importance), cost), cost * importance]


def _line(ends: list[np.ndarray], thetas: np.ndarray) -> list[np.ndarray]:
    """Weights at some theta between two ends."""
    return [ends[0] + theta * (ends[1] - ends[0]) for theta in thetas]


def _run_shift(cell: Cell, rows: Rows, report: Report, offline: bool) -> None:
    """From uniform weights to the importance, against SMO at every breakpoint and on a grid."""
    settings = cell.settings
    parts = prepare("shift", cell.dataset, cell.split, settings, offline)
    _describe(rows, parts)
    ends, task = importance_weights(cell, parts, rows), Task(parts.train, settings)
    warm_up()
    lane = Lane(task, rows, settings, report)
    lane.start = task.base(ends[0]).dual(1.0)
    lane.weights = {
        "smo_grid": _line(ends, np.linspace(0.0, 1.0, settings["grid"] + 1)),
        "smo_end": ends,
        "smo_cold": ends,
    }

    def path() -> Timing:
        timing = follow_path(task, task.base(ends[0]), ends)
        bends = timing.result.paths[0].breakpoints
        thetas = np.unique(np.concatenate([[0.0], bends[bends > 0.0], [1.0]]))
        lane.weights.setdefault("smo_breakpoints", _line(ends, thetas))
        return timing

    def whole() -> Timing:
        with Stopwatch() as watch:
            found = task.path(*ends)
        return Timing(watch.cpu_s, watch.wall_s, PathRun([found]))

    lane.add_path("path", path)
    lane.add_path("path_whole", whole)
    for name in ("smo_breakpoints", "smo_grid", "smo_end"):
        lane.add_smo(name)
    lane.add_smo("smo_cold", cold=True)
    lane.run()


def _run_validation(cell: Cell, rows: Rows, report: Report, offline: bool) -> None:
    """Figure 5: the validation error as an exact step function of theta, and its minimiser."""
    settings = cell.settings
    parts = prepare("validation", cell.dataset, cell.split, settings, offline)
    _describe(rows, parts)
    ends, task = importance_weights(cell, parts, rows), Task(parts.train, settings)
    path, validation = task.path(*ends, report=report), parts.test
    carried = {"method": "path", **certificates(rows, "path", [path])[0]}
    edges, error = path.error_steps(validation.X, validation.y)
    for left, value in zip(edges[:-1], error, strict=True):
        rows.add("step_validation_error", value, hyper_parameters={"theta": left}, **carried)
    best = path.best(validation.X, validation.y, metric="zero_one")
    for low, high in best.intervals:
        hyper = {"low": low, "high": high, "theta": best.parameter}
        rows.add("validation_error_best", best.value, hyper_parameters=hyper, **carried)
    for theta in (0.0, 1.0):
        wrong = (path.decision_function(validation.X, theta) >= 0) != (validation.y > 0)
        rows.add("validation_error", wrong.mean(), hyper_parameters={"theta": theta}, **carried)
    looked, errors = brute_force_errors(task, path, validation, edges, error, best.value)
    rows.add("step_errors", errors, hyper_parameters={"points": looked}, **carried)
    if task.n <= ORACLE_ROWS:
        _against_oracle(task, path, ends, rows, carried)


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


def _against_oracle(
    task: Task, path: Any, ends: list[np.ndarray], rows: Rows, carried: dict[str, Any]
) -> None:
    """Largest relative difference of the objective from Clarabel's, solved cold."""
    worst = 0.0
    for theta in ORACLE_THETAS:
        problem = task.problem(_line(ends, np.array([theta]))[0])
        theirs = judge(problem, baselines.solve("clarabel", problem)).primal
        ours = judge(problem, Answer(alpha=path.dual(theta), b=path.intercept(theta))).primal
        worst = max(worst, abs(ours - theirs) / abs(theirs))
    rows.add("objective_difference", worst, **carried)


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


def _run_regression(cell: Cell, rows: Rows, report: Report, offline: bool) -> None:
    """Reweight by the residuals until they settle; SMO follows the path's weights."""
    settings = cell.settings
    parts = prepare("regression", cell.dataset, cell.split, settings, offline)
    _describe(rows, parts)
    task = Task(parts.train, settings, settings["epsilon"])
    uniform = np.full(task.n, settings["C0"])
    warm_up()
    lane = Lane(task, rows, settings, report)
    lane.start = task.base(uniform).dual(1.0)

    def path() -> Timing:
        if "smo" in lane.weights:
            return follow_path(task, task.base(uniform), lane.weights["smo"])
        timing, lane.weights["smo"] = _reweight_until_settled(task, uniform, settings, rows)
        return timing

    lane.add_path("path", path)
    lane.add_smo("smo")
    lane.run()


def _reweight_until_settled(
    task: Task, uniform: np.ndarray, settings: dict, rows: Rows
) -> tuple[Timing, list[np.ndarray]]:
    """Time the path through the rounds of step 2; return the weights of all rounds as well."""
    cost, floor = settings["C0"], settings["floor"]
    path, run, weights, cpu, wall = task.base(uniform), PathRun(), [uniform], 0.0, 0.0
    residual, change = task.y - task.fitted(path, 1.0), np.inf
    while change > settings["change"] and len(run.paths) < settings["rounds"]:
        weights.append(reweighted(residual, cost, floor))
        with Stopwatch() as watch:
            path = path.continue_to(weights[-1])
        cpu, wall = cpu + watch.cpu_s, wall + watch.wall_s
        run.paths.append(path)
        old, residual = residual, task.y - task.fitted(path, 1.0)
        change = relative_change(old, residual, floor)
    rows.add("rounds", len(run.paths), method="path")
    rows.add("last_change", change, method="path")
    return Timing(cpu, wall, run), weights


RUNNERS: dict[str, Callable[[Cell, Rows, Report, bool], None]] = {
    "online": _run_online,
    "shift": _run_shift,
    "validation": _run_validation,
    "regression": _run_regression,
}
