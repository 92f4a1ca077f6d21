"""Experiments of the robust SVM paper; `outputs` makes tables, figures and claims of them.

errors           test errors of five methods, local solutions, stability (Tables 3 to 6)
errors_rescaled  the same for regression, with other noise and inputs scaled again after it
noise            the standard machine alone under other noise: which has the printed errors?
bias             the standard machine with a free bias: is that the printed one?
candidates       CPU seconds of model selection against the number of candidates (Figure 6)
cost             the same with CCCP's five candidates: how do both grow over the data sets?
optima           ends of paths and solutions of CCCP: how often are they the best of all partitions?
toys             standard and robust machines on toy data (Figure 1)
solution_space   weights along a path in the plane, and its polytopes (Figure 4)
dual_path        duals along a path with jumps (Figure 5)
explore          whole paths, for the interactive page
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from solution_paths import outlier_svm_path, outlier_svr_path
from solution_paths.kernels import LINEAR, Kernel
from solution_paths.models.outlier import robust_svm_path, robust_svr_path
from solution_paths.models.samples import Samples
from solution_paths.solution.outliers import OutlierPath

from ...data import load
from ...data.protocols import Split
from ...objectives.robust import Robust, robust_hinge, robust_tube
from ...runs.cells import Cell, Report
from ...runs.config import DataSetSettings
from ...runs.exploring import add_exploration
from ...runs.judging import add_given_certificate, describe
from ...runs.paper import Paper
from ...runs.rows import Rows, or_none
from ...runs.timing import stopwatch
from ...settings import Count, Counts, Positive, Positives, Settings, Share, Shares
from ...solvers import cccp
from .data import assemble

HOMOTOPIES = ("theta", "s")
OBJECTIVE_ROUNDING = 1e-12  # relative rounding error of objectives
KNOWN_TO = 10.0  # times another solver's tolerance: error of a candidate from its answer
PRECOMPUTED = Kernel("precomputed")
PARTS = ("validation", "test")
LIBSVM_ITERATIONS = 10_000_000  # limit: on some linear machines LIBSVM doesn't end at large costs
LABELS = np.array([-1.0, 1.0])
Floats = np.ndarray


Rescaling = Literal["none", "symmetric", "unit_interval"]

# ---------------------------------------------------------------- settings


class Common(Settings):
    """``threshold``: s of regression's OP-theta; ``tolerance``: of CCCP's convex solver."""

    threshold: Positive
    tolerance: Positive


class DataSet(DataSetSettings):
    """``task``, the paper's ``id`` (empty: not the paper's), and ``rows`` to use (default all)."""

    task: Literal["svc", "svr"]
    id: str = Field(default="", exclude=True)
    rows: Count | None = None

    def complaints(self, name: str, n: int | None) -> Iterator[str]:
        """Yield a complaint if more rows are requested than there are."""
        if n is not None and self.rows is not None and self.rows > n:
            yield f"rows are {self.rows}, and it has {n}"


class Errors(Settings):
    """``kernels`` and ``costs`` to choose from, CCCP's candidates, points of a certificate.

    ``thetas`` and, as shares of s_C or s_R, ``shares_svc`` and ``shares_svr``.
    """

    kernels: tuple[Literal["linear", "rbf"], ...]
    costs: Positives
    thetas: Shares
    shares_svc: Shares
    shares_svr: Shares
    points: Count


class RescaledErrors(Errors):
    """``amplitude`` and ``share`` of regression's noise, and how inputs are scaled after it."""

    amplitude: Positive
    share: Share
    rescaling: Rescaling


class Noise(Settings):
    """``kernels`` and ``costs``; all combinations of the noise's settings, see `assemble`."""

    kernels: tuple[Literal["linear", "rbf"], ...]
    costs: Positives
    amplitudes: Positives
    shares: Shares
    rescalings: Annotated[tuple[Rescaling, ...], Field(min_length=1)]


class Bias(Settings):
    """``kernels`` and ``costs`` to choose from."""

    kernels: tuple[Literal["linear", "rbf"], ...]
    costs: Positives


class Candidates(Settings):
    """``kernels``, ``costs``, numbers of ``candidates`` and ``repeats``.

    ``tolerances``: of CCCP's convex solver; objectives are compared with those at the finest.
    """

    tolerances: Positives
    kernels: tuple[Literal["linear", "rbf"], ...]
    costs: Positives
    candidates: Counts
    repeats: Count


class Optima(Settings):
    """``rows`` of each of ``problems`` random problems, at each of ``costs``."""

    rows: Count
    problems: Count
    costs: Positives
    gamma: Positive


class Toys(Settings):
    """Costs of a sample; ``gamma`` of regression's kernel."""

    cost_svc: Positive
    cost_svr: Positive
    gamma: Positive


class Space(Settings):
    """Cost of a sample, and how many ``rows`` of the data."""

    cost: Positive
    rows: Count


class Duals(Settings):
    """``cost`` of a sample, ``gamma`` of the kernel."""

    cost: Positive
    gamma: Positive


class Explorations(Settings):
    """``costs`` of the paths, and the ``grid`` of theta that is drawn for comparison."""

    costs: Positives
    grid: Shares


def _columns(cell: Cell) -> dict[str, Any]:
    if cell.each == "kernels":
        return {"hyper_parameters": {"kernel": cell.value}, "kernel": cell.value}
    return {}


PAPER = Paper("robust_svm", Common, DataSet, _columns)


# ---------------------------------------------------------------- problems


@dataclass
class Problem:
    """One split with one kernel, shared by all costs and methods."""

    parts: Split
    classification: bool
    X: Any  # rows, or the training Gram matrix
    others: dict[str, Any]  # rows of other parts, or their kernel values
    kernel: Kernel
    threshold: float
    solver: Any
    samples: Samples

    def objective(self, C: float, homotopy: str) -> Robust:
        """Return the objective in theta or s."""
        y, options = self.parts.train.y, {"kernel": self.kernel}
        if self.classification:
            return robust_hinge(self.X, y, C, homotopy, **options)
        return robust_tube(self.X, y, C, homotopy, self.threshold, **options)

    def path(self, C: float, homotopy: str, guess: Floats, check: str = "ignore") -> OutlierPath:
        """Return the outlier path from the standard machine's solution."""
        samples, y, options = self.samples, self.parts.train.y, {"near": guess, "check": check}
        if self.classification:
            return robust_svm_path(samples, y, LABELS, C, homotopy, **options)
        s = self.threshold if homotopy == "theta" else None
        return robust_svr_path(samples, y, C, homotopy, s, **options)

    def signed(self, path: OutlierPath, t: float) -> Floats:
        """Return the signed duals of a path at t."""
        signs = self.parts.train.y if self.classification else 1.0
        return np.asarray(signs * path.dual(t))

    def predicted(self, a: Floats, part: str) -> Floats:
        """Return f at the rows of a part, for signed duals (n,) or (n, k)."""
        X = self.others[part]
        return np.asarray(X @ (self.X.T @ a)) if self.kernel is LINEAR else X @ a

    def error(self, f: Floats, part: str) -> Floats:
        """Return the mean 0-1 or absolute error of predictions (m,) or (m, k)."""
        y = getattr(self.parts, part).y
        y = y if f.ndim == 1 else y[:, None]
        if not self.classification:
            return np.abs(f - y).mean(axis=0)
        return (self.objective(1.0, "theta").positive(f) != (y > 0)).mean(axis=0)

    def candidates(self, homotopy: str, values: Floats, grid: Any) -> list[float]:
        """Return CCCP's candidates for theta or s.

        ``grid`` holds values of theta, or fractions of s_C or s_R, which ``values`` of the standard
        machine determine.
        """
        if homotopy == "theta":
            return [float(theta) for theta in grid]
        y = self.parts.train.y
        end = min((y * values).min(), 0.0) if self.classification else np.abs(y - values).max()
        return [float(share * end) for share in grid]

    def grid(self, homotopy: str, settings: Errors) -> tuple[float, ...]:
        """Return the paper's grid of candidates, which begins at the standard machine."""
        if homotopy == "theta":
            return settings.thetas
        return settings.shares_svc if self.classification else settings.shares_svr


def _problem(cell: Cell, kernel: str, **noise: Any) -> Problem:
    parts = assemble(cell.dataset, cell.split, n=cell.data.rows, offline=cell.offline, **noise)
    X, rows = parts.train.X, {"train": parts.train.X, "validation": parts.validation.X}
    rows["test"] = parts.test.X
    svc, used = cell.data.task == "svc", LINEAR
    if kernel == "rbf":
        rbf = Kernel("rbf", 1.0 / X.shape[1])
        rows = {name: rbf(part, X) for name, part in rows.items()}
        X, used = rows["train"], PRECOMPUTED
    samples = Samples.of(X, "linear" if used is LINEAR else used.name)
    problem = Problem(parts, svc, X, rows, used, cell.common.threshold, None, samples)
    problem.solver = cccp.solver_of(problem.objective(1.0, "theta"), X)
    return problem


# ---------------------------------------------------------------- methods


@dataclass
class CandidateSolutions:
    """Solutions of one method at one cost: signed duals (n, k) of k candidates, and seconds.

    ``message`` says why they are inaccurate, "" where they aren't.
    """

    C: float
    parameters: list[float]
    duals: Floats
    cpu_s: float
    path: OutlierPath | None = None
    problems: int = 0
    message: str = ""


def _run_cccp(
    problem: Problem,
    C: float,
    homotopy: str,
    start: tuple,
    parameters: list[float],
    tolerance: float,
) -> CandidateSolutions:
    """Run CCCP at its candidates, each started at the solution of the previous one."""
    objective, duals, count = problem.objective(C, homotopy), [], 0
    a, _, message = start
    for t in parameters:
        a, _, problems, why = cccp.procedure(objective.at(t), problem.solver, tolerance, a)
        duals.append(a)
        count, message = count + problems, message or why
    return CandidateSolutions(C, parameters, np.stack(duals, axis=1), np.nan, None, count, message)


def _status(message: str) -> dict[str, str]:
    """Return the columns of rows about solutions that may be inaccurate."""
    return {"status": "inaccurate", "message": message} if message else {}


def _candidates_of(path: OutlierPath, low: float, high: float) -> tuple[list[float], Floats]:
    """Return OP's candidates: all recorded points between two parameters, both sides of jumps."""
    t = path.points.t
    nodes = np.flatnonzero((t >= low) & (t <= high))
    return t[nodes].tolist(), nodes


def _decisions(path: OutlierPath, nodes: Floats, rows: Any) -> Floats:
    """Return f (m, k) at rows, for k recorded points."""
    reading = path.reading
    return reading.decisions(reading.checked(rows), *path.variables_at(nodes))[:, 0]


def _clipped(path: OutlierPath, t: float) -> float:
    return float(np.clip(t, *path.range))


def _at_candidate(path: OutlierPath, t: float, tolerance: float) -> float:
    """Return a candidate within the path's range, at a jump if it is there as far as is known.

    The first candidate of s is where the first sample becomes an outlier, by another solver's
    standard machine: its tolerance must not decide on which side of that jump the candidate is.
    """
    t, jumps = _clipped(path, t), np.array([jump.parameter for jump in path.jumps])
    nearest = jumps[np.abs(jumps - t).argmin()] if len(jumps) else np.inf
    known_to = KNOWN_TO * tolerance * max(1.0, abs(t))
    return float(nearest) if abs(nearest - t) <= known_to else t


# ---------------------------------------------------------------- errors


@PAPER.experiment(settings=Errors, each="kernels")
def errors(cell: Cell, rows: Rows, report: Report) -> None:
    """Choose C and theta or s by the validation part for every method; score on the test part."""
    _errors(cell, rows, report, _problem(cell, cell.value))


@PAPER.experiment(settings=RescaledErrors, each="kernels")
def errors_rescaled(cell: Cell, rows: Rows, report: Report) -> None:
    """Run `errors` with other noise and inputs scaled again after it."""
    noise = cell.settings.model_dump(include={"amplitude", "rescaling"})
    problem = _problem(cell, cell.value, noisy=cell.settings.share, **noise)
    _errors(cell, rows, report, problem)


@PAPER.experiment(settings=Noise, each="amplitudes")
def noise(cell: Cell, rows: Rows, report: Report) -> None:
    """Score the standard machine under noise of one amplitude, for each share and rescaling."""
    settings = cell.settings
    variants = list(product(settings.kernels, settings.shares, settings.rescalings))
    for k, (kernel, share, rescaling) in enumerate(variants):
        options = {"amplitude": cell.value, "noisy": share, "rescaling": rescaling}
        problem = _problem(cell, kernel, **options)
        tried, why = [], ""
        for C in sorted(settings.costs):
            a, _, message = _standard(problem, C, cell.common.tolerance)
            why = why or message
            f = (problem.predicted(a, part) for part in PARTS)
            tried.append(
                [float(problem.error(values, p)) for values, p in zip(f, PARTS, strict=True)]
            )
        hyper = {"amplitude": cell.value, "share": share, "rescaling": rescaling}
        _add_standard(rows, kernel, tried, hyper, why)
        report((k + 1) / len(variants))


@PAPER.experiment(settings=Bias, each="kernels")
def bias(cell: Cell, rows: Rows, report: Report) -> None:
    """Score the standard machine with a free bias, by LIBSVM; the paper's has no bias."""
    from sklearn.svm import SVC

    parts = assemble(cell.dataset, cell.split, n=cell.data.rows, offline=cell.offline)
    options = {"kernel": cell.value, "gamma": 1.0 / parts.train.X.shape[1], "cache_size": 1000}
    tried, why = [], ""
    for k, C in enumerate(sorted(cell.settings.costs)):
        machine = SVC(C=C, max_iter=LIBSVM_ITERATIONS, **options)
        machine.fit(parts.train.X, parts.train.y)
        if machine.fit_status_:
            why = f"LIBSVM stopped at its limit of {LIBSVM_ITERATIONS:,} iterations"
        tried.append([1.0 - machine.score(*getattr(parts, part)) for part in PARTS])
        report((k + 1) / len(cell.settings.costs))
    _add_standard(rows, cell.value, tried, {"bias": "free"}, why)


def _add_standard(
    rows: Rows, kernel: str, errors: list[list[float]], hyper: dict, message: str
) -> None:
    """Add the test error at the cost that is best on the validation part, ties to the smaller."""
    least = min(errors, key=lambda pair: pair[0])
    columns = {"method": "standard", "kernel": kernel, "hyper_parameters": hyper}
    columns |= _status(message)
    for name, value in zip(("validation_error", "test_error"), least, strict=True):
        rows.add(name, value, **columns)


def _errors(cell: Cell, rows: Rows, report: Report, problem: Problem) -> None:
    settings = cell.settings
    describe(rows, problem.parts)
    scores: dict[str, list[tuple]] = {}
    inaccurate: dict[str, str] = {}
    for k, C in enumerate(sorted(settings.costs)):
        standard = _standard(problem, C, cell.common.tolerance)
        _score(problem, scores, "standard", C, [np.inf], standard[0][:, None])
        messages = {"standard": standard[2]}
        for homotopy in HOMOTOPIES:
            theirs = _compare(cell, rows, problem, scores, C, homotopy, standard)
            messages[f"cccp_{homotopy}"] = theirs.message
        inaccurate = {method: inaccurate.get(method) or why for method, why in messages.items()}
        report((k + 1) / len(settings.costs))
    for method, method_scores in scores.items():
        _add_choice(rows, method, method_scores, inaccurate.get(method, ""))


def _standard(problem: Problem, C: float, tolerance: float) -> tuple[Floats, Floats, str]:
    """Return the standard machine's signed duals, training values, and why they are inaccurate."""
    return cccp.standard(problem.objective(C, "theta").at(1.0), problem.solver, tolerance)


def _compare(
    cell: Cell,
    rows: Rows,
    problem: Problem,
    scores: dict[str, list[tuple]],
    C: float,
    homotopy: str,
    standard: tuple[Floats, Floats, str],
) -> CandidateSolutions:
    """Score CCCP's and OP's candidates at one cost, add their comparison; return CCCP's."""
    settings, hyper = cell.settings, {"C": C, "homotopy": homotopy}
    parameters = problem.candidates(homotopy, standard[1], problem.grid(homotopy, settings))
    theirs = _run_cccp(problem, C, homotopy, standard, parameters, cell.common.tolerance)
    path = problem.path(C, homotopy, standard[0])
    _score(problem, scores, f"cccp_{homotopy}", C, parameters, theirs.duals)
    # nodes on both sides of jumps, between the ends of CCCP's range
    at = [_at_candidate(path, t, cell.common.tolerance) for t in parameters]
    inside, nodes = _candidates_of(path, min(at), max(at))
    f = {p: _decisions(path, nodes, problem.others[p]) for p in ("validation", "test")}
    _score_values(problem, scores, f"op_{homotopy}", C, inside, f)
    ours = np.stack([problem.signed(path, t) for t in at], axis=1)
    _score(problem, scores, f"op_{homotopy}_at_five", C, parameters, ours)
    _add_local_solutions(rows, problem, path, theirs, ours, hyper)
    _add_path(rows, path, settings.points, hyper)
    _add_stability(rows, problem, theirs, ours, f["test"], hyper)
    return theirs


def _score(
    problem: Problem, scores: dict, method: str, C: float, parameters: list[float], duals: Floats
) -> None:
    f = {part: problem.predicted(duals, part) for part in ("validation", "test")}
    _score_values(problem, scores, method, C, parameters, f)


def _score_values(
    problem: Problem,
    scores: dict,
    method: str,
    C: float,
    parameters: list[float],
    f: dict[str, Floats],
) -> None:
    mean_errors = (problem.error(f["validation"], "validation"), problem.error(f["test"], "test"))
    scores.setdefault(method, []).append((C, np.asarray(parameters), *mean_errors))


def _add_choice(rows: Rows, method: str, scores: list[tuple], message: str) -> None:
    """Add a method's test error at the least validation error.

    Ties go to the smaller C, then to the least robust parameter: candidates of theta and of
    regression's s fall as they grow robust, those of classification's s rise.
    """
    best = None
    for C, parameters, validation, test in scores:
        least = validation.min()
        tied = np.flatnonzero(validation <= least + 1e-12)
        k = tied[np.argmax(np.abs(parameters[tied]))]
        if best is None or least < best[0] - 1e-12:
            best = (least, C, parameters[k], test[k])
    path_best = min(test.min() for _, _, _, test in scores)
    hyper = {"C": best[1], "parameter": or_none(best[2])}
    columns = {"method": method, **_status(message)}
    rows.add("test_error", best[3], hyper_parameters=hyper, **columns)
    rows.add("validation_error", best[0], hyper_parameters=hyper, **columns)
    rows.add("chosen_C", best[1], **columns)
    if np.isfinite(best[2]):
        rows.add("chosen_parameter", best[2], **columns)
    rows.add("regret", best[3] - path_best, **columns)


def _add_local_solutions(
    rows: Rows,
    problem: Problem,
    path: OutlierPath,
    theirs: CandidateSolutions,
    ours: Floats,
    hyper: dict,
) -> None:
    """Add J_OP / J_CCCP - 1 at each of CCCP's candidates."""
    for k, t in enumerate(theirs.parameters):
        if abs(t - _clipped(path, t)) > 1e-9 * max(1.0, abs(t)):
            continue  # all residuals vanish: there are no outliers
        objective = problem.objective(hyper["C"], hyper["homotopy"]).at(t)
        values = [
            objective.energy(problem.predicted(a, "train"), a, 0.0)
            for a in (ours[:, k], theirs.duals[:, k])
        ]
        hyper_parameters = {**hyper, "candidate": k}
        rows.add(
            "objective_ratio",
            values[0] / values[1] - 1.0,
            method="op",
            hyper_parameters=hyper_parameters,
            **_status(theirs.message),
        )


def _add_path(rows: Rows, path: OutlierPath, points: int, hyper: dict) -> None:
    """Add a path's certificate, its jumps and local optimality."""
    certificate = path.certify(n_random=points)
    method = f"op_{hyper['homotopy']}"
    columns = add_given_certificate(rows, path, certificate, method=method, hyper_parameters=hyper)
    jumps = path.jumps
    rows.add("jumps", len(jumps), **columns)
    falls = np.array([(jump.before - jump.after) / jump.before for jump in jumps])
    rows.add("rises", int((falls < -1e-9).sum()), **columns)
    rows.add("no_fall", int((np.abs(falls) <= OBJECTIVE_ROUNDING).sum()), **columns)
    if len(falls):
        rows.add("least_fall", falls.min(), **columns)
    rows.add("at_threshold", certificate.at_threshold, **columns)
    rows.add("not_local", certificate.not_local, **columns)
    rows.add("undecided_local", certificate.undecided_local, **columns)
    changes = [_jump_change(path, jump.parameter) for jump in jumps[:50]]
    if changes:
        rows.add("jump_change", float(np.median(changes)), **columns)
    if hyper["homotopy"] == "s":
        rows.add("moves_between_jumps", _largest_change_between_jumps(path), **columns)


def _jump_change(path: OutlierPath, t: float) -> float:
    """Return ||change of alpha|| / ||alpha|| at a jump."""
    before, after = path.before.dual(t), path.dual(t)
    return float(np.linalg.norm(after - before) / max(np.linalg.norm(before), 1e-300))


def _largest_change_between_jumps(path: OutlierPath) -> float:
    """Return the largest relative change of alpha between two jumps."""
    edges = np.unique([*(jump.parameter for jump in path.jumps), *path.range])
    worst = 0.0
    for low, high in list(pairwise(edges))[:200]:
        first, last = (path.before, path) if path.falls else (path, path.before)
        ends = first.dual(low), last.dual(high)
        size = max(np.linalg.norm(ends[0]), 1e-300)
        worst = max(worst, float(np.linalg.norm(ends[1] - ends[0]) / size))
    return worst


def _add_stability(
    rows: Rows,
    problem: Problem,
    theirs: CandidateSolutions,
    ours: Floats,
    f: Floats,
    hyper: dict,
) -> None:
    """Add the relative change of f between neighbouring candidates, and the range of errors."""
    compared = ("cccp", theirs.duals, _status(theirs.message)), ("op", ours, {})
    for method, duals, status in compared:
        values = problem.predicted(duals, "test")
        size = np.maximum(np.linalg.norm(values[:, :-1], axis=0), 1e-300)
        moved = np.linalg.norm(np.diff(values, axis=1), axis=0) / size
        columns = {"method": f"{method}_{hyper['homotopy']}", "hyper_parameters": hyper}
        rows.add("step", float(moved.mean()), **columns, **status)
    error = problem.error(f, "test")
    columns = {"method": f"op_{hyper['homotopy']}", "hyper_parameters": hyper}
    rows.add("error_range", float(np.ptp(error)), **columns)


# ---------------------------------------------------------------- times


def _selection(cell: Cell, rows: Rows, report: Report) -> None:
    """Time model selection, including Gram matrix, standard machines and validation errors.

    Paths are computed with their default check; its share of the time is a separate metric.
    """
    settings, kernel = cell.settings, cell.value
    _warm_up(_problem(cell, kernel), min(settings.costs), cell.common.tolerance)
    for repeat in range(settings.repeats):
        for homotopy in HOMOTOPIES:
            unchecked = _select(cell, kernel, homotopy, 0, cell.common.tolerance, "ignore")
            timing = stopwatch(
                lambda h=homotopy: _select(cell, kernel, h, 0, cell.common.tolerance, "warn")
            )
            selection = timing.result
            _add_time(rows, f"op_{homotopy}", 0, cell.common.tolerance, repeat, timing)
            share = 1.0 - unchecked.method_s / selection.method_s
            rows.add("check_share", share, method=f"op_{homotopy}", repeat=repeat)
            for k, tolerance in product(settings.candidates, settings.tolerances):
                timing = stopwatch(
                    lambda h=homotopy, k=k, t=tolerance: _select(cell, kernel, h, k, t)
                )
                _add_time(rows, f"cccp_{homotopy}", k, tolerance, repeat, timing)
                if not repeat and tolerance > min(settings.tolerances):
                    _add_excess(rows, cell, f"cccp_{homotopy}", k, tolerance, timing.result)
        report((repeat + 1) / settings.repeats)


def _add_excess(
    rows: Rows, cell: Cell, method: str, k: int, tolerance: float, selection: Selection
) -> None:
    """Add the largest relative excess of CCCP's objectives over those at the finest tolerance."""
    problem, homotopy = _problem(cell, cell.value), method.removeprefix("cccp_")
    finest = _select(cell, cell.value, homotopy, k, min(cell.settings.tolerances))
    values = [np.array(_energies(problem, homotopy, one.solutions)) for one in (selection, finest)]
    hyper = {"candidates": k, "tolerance": tolerance}
    excess = float((values[0] / values[1] - 1.0).max())
    status = _status(selection.message or finest.message)
    rows.add("excess", excess, method=method, hyper_parameters=hyper, **status)


def _warm_up(problem: Problem, C: float, tolerance: float) -> None:
    """Load the compiled functions."""
    standard = _standard(problem, C, tolerance)
    for homotopy in HOMOTOPIES:
        problem.path(C, homotopy, standard[0])
        parameters = problem.candidates(homotopy, standard[1], (1.0, 0.5))
        _run_cccp(problem, C, homotopy, standard, parameters, tolerance)


@dataclass
class Selection:
    """A model selection: least validation error, CPU seconds of method and machines, solutions."""

    least: float = np.inf
    method_s: float = 0.0
    standard_s: float = 0.0
    solutions: list[CandidateSolutions] = field(default_factory=list)

    @property
    def message(self) -> str:
        """Why solutions are inaccurate, "" where none is."""
        return next((one.message for one in self.solutions if one.message), "")


def _add_time(rows: Rows, method: str, k: int, tolerance: float, repeat: int, timing: Any) -> None:
    columns = {"method": method, "repeat": repeat, **_status(timing.result.message)}
    columns |= {"hyper_parameters": {"candidates": k, "tolerance": tolerance}}
    rows.add("time", timing.cpu_s, **timing.seconds, **columns)
    rows.add("own_time", timing.result.method_s, **columns)
    rows.add("standard_time", timing.result.standard_s, **columns)


def _select(
    cell: Cell, kernel: str, homotopy: str, k: int, tolerance: float, check: str = "ignore"
) -> Selection:
    """Select by the validation part among k candidates of CCCP, or all of OP's (k = 0)."""
    problem, selection = _problem(cell, kernel), Selection()
    for C in sorted(cell.settings.costs):
        timing = stopwatch(lambda C=C: _standard(problem, C, tolerance))
        standard, selection.standard_s = timing.result, selection.standard_s + timing.cpu_s
        last = 0.0 if homotopy == "theta" or problem.classification else 0.2
        parameters = problem.candidates(homotopy, standard[1], np.linspace(1.0, last, max(k, 2)))
        if k:
            timing = stopwatch(
                lambda C=C, s=standard, a=parameters: _run_cccp(
                    problem, C, homotopy, s, a, tolerance
                )
            )
            f = problem.predicted(timing.result.duals, "validation")
            selection.solutions.append(timing.result)
        else:
            timing = stopwatch(lambda C=C, s=standard: problem.path(C, homotopy, s[0], check))
            path = timing.result
            _, nodes = _candidates_of(path, min(parameters), max(parameters))
            f = _decisions(path, nodes, problem.others["validation"])
        selection.method_s += timing.cpu_s
        error = float(problem.error(f, "validation").min(initial=np.inf))
        selection.least = min(selection.least, error)
    return selection


def _energies(problem: Problem, homotopy: str, solutions: list[CandidateSolutions]) -> list[float]:
    """Return the objectives of CCCP's solutions at all costs and candidates."""
    return [
        problem.objective(candidates.C, homotopy)
        .at(t)
        .energy(problem.predicted(a, "train"), a, 0.0)
        for candidates in solutions
        for t, a in zip(candidates.parameters, candidates.duals.T, strict=True)
    ]


@PAPER.experiment(lane="timing", settings=Candidates, each="kernels")
def candidates(cell: Cell, rows: Rows, report: Report) -> None:
    """Time model selection against the number of candidates, for figure 6."""
    _selection(cell, rows, report)


@PAPER.experiment(lane="timing", settings=Candidates, each="kernels")
def cost(cell: Cell, rows: Rows, report: Report) -> None:
    """Time OP and CCCP with five candidates."""
    describe(rows, _problem(cell, cell.value).parts)
    _selection(cell, rows, report)


# ---------------------------------------------------------------- all partitions


@PAPER.experiment(settings=Optima)
def optima(cell: Cell, rows: Rows, report: Report) -> None:
    """Compare objectives at theta = 0, s = 0 with the best of all partitions' optima."""
    settings = cell.settings
    for number in range(settings.problems):
        rng = np.random.default_rng([cell.split, number])
        X = rng.normal(size=(settings.rows, 3))
        y = np.where(X[:, 0] + 0.5 * rng.normal(size=settings.rows) > 0, 1.0, -1.0)
        y[rng.random(settings.rows) < 0.25] *= -1
        for C in settings.costs:
            K = Kernel("rbf", settings.gamma)(X, X)
            _compare_optima(rows, K, y, C, {"C": C, "problem": number}, cell.common.tolerance)
        report((number + 1) / settings.problems)


def _compare_optima(
    rows: Rows, K: Floats, y: Floats, C: float, hyper: dict, tolerance: float
) -> None:
    objective = robust_hinge(K, y, C, kernel=PRECOMPUTED).at(0.0)
    best = conditional_optima(K, y, C).min()
    solver = cccp.solver_of(objective, K)
    objectives = {}
    for homotopy in HOMOTOPIES:
        path = outlier_svm_path(K, y, C, homotopy=homotopy, kernel="precomputed", check="ignore")
        objectives[f"op_{homotopy}"] = path.objective_value(0.0)
        threshold, columns = (
            path.at_threshold(0.0),
            {"method": f"op_{homotopy}", "hyper_parameters": hyper},
        )
        rows.add("at_threshold", len(threshold.samples), **columns)
        rows.add("local", float(threshold.local is True), **columns)
    a, _, _, message = cccp.procedure(objective, solver, min(tolerance, 1e-8))
    objectives["cccp"] = objective.energy(K @ a, a, 0.0)
    for method, value in objectives.items():
        columns = {"method": method, "hyper_parameters": hyper}
        status = _status(message) if method == "cccp" else {}
        rows.add("excess", value / best - 1.0, **columns, **status)


def conditional_optima(K: Floats, y: Floats, C: float, sweeps: int = 3000) -> Floats:
    """Return the optimum of the conditional problem of each partition, at theta = 0 and s = 0.

    Coordinate ascent computes the duals of all partitions at once. The linear term of the dual
    objective has slope 1 up to C and 0 beyond it for an inlier, 0 below 0 for an outlier. The dual
    of an infeasible partition is unbounded, and its value grows without end.
    """
    n, Q = len(y), K * y[:, None] * y[None, :]
    outlier = np.array(list(product((False, True), repeat=n)))
    alpha = np.zeros(outlier.shape)
    for _ in range(sweeps):
        before = alpha.copy()
        for i in range(n):
            rest = alpha @ Q[i] - alpha[:, i] * Q[i, i]
            sloped = np.clip((1.0 - rest) / Q[i, i], 0.0, C)
            inner = np.where(sloped < C, sloped, np.maximum(-rest / Q[i, i], C))
            alpha[:, i] = np.where(outlier[:, i], np.minimum(-rest / Q[i, i], 0.0), inner)
        if np.abs(alpha - before).max() < 1e-11 * C:
            break
    margins = alpha @ Q
    loss = np.where(margins >= 0, np.maximum(1.0 - margins, 0.0), 1.0)
    return 0.5 * (alpha * margins).sum(axis=1) + C * loss.sum(axis=1)


# ---------------------------------------------------------------- toys


@PAPER.experiment(settings=Toys)
def toys(cell: Cell, rows: Rows, report: Report) -> None:
    """Record the standard machine and the end of OP-s, for figure 1."""
    data, settings = load(cell.dataset, offline=cell.offline), cell.settings
    X, y = data.X - data.X[:-2].mean(axis=0), data.y
    svc = cell.data.task == "svc"
    if svc:
        path = outlier_svm_path(X, y, settings.cost_svc, homotopy="s")
    else:
        options: dict[str, Any] = {"kernel": "rbf", "gamma": settings.gamma}
        path = outlier_svr_path(X, y, settings.cost_svr, homotopy="s", **options)
    _add_path(rows, path, 50, {"homotopy": "s"})
    ends = path.range if svc else path.range[::-1]
    rows.add_curve("points", X[:, 0], X[:, 1] if svc else y, method="data", weight=_weights(y, svc))
    for name, t in zip(("standard", "robust"), ends, strict=True):
        if svc:
            for k, value in enumerate(path.coef(t)):
                rows.add(f"w{k}", value, method=name)
        else:
            x = np.linspace(X[:, 0].min(), X[:, 0].max(), 200)
            rows.add_curve(name, x, path.predict(x[:, None], t), method=name)
        outliers = np.flatnonzero(path.outliers(t))
        rows.add("outliers", len(outliers), method=name)
        rows.add_curve(f"outliers of {name}", outliers, np.zeros(len(outliers)), method=name)


def _distinct_points(path: OutlierPath) -> np.ndarray:
    """Return the recorded points that differ from the point before."""
    unknowns, t = path.points.at(np.arange(len(path.points))), path.points.t
    moved = (np.diff(unknowns, axis=0) != 0.0).any(axis=1)
    return np.flatnonzero(np.append(True, moved | (np.diff(t) != 0.0)))


def _weights(y: Floats, svc: bool) -> Floats:
    return (y > 0).astype(float) if svc else np.ones(len(y))


@PAPER.experiment(settings=Duals)
def dual_path(cell: Cell, rows: Rows, report: Report) -> None:
    """Record duals along OP-theta, with both ends of each jump, for figure 5."""
    data = load(cell.dataset, offline=cell.offline)
    keep = slice(0, cell.data.rows)
    X = data.X[keep] - data.X.mean(axis=0)
    path = outlier_svm_path(
        X, data.y[keep], cell.settings.cost, kernel="rbf", gamma=cell.settings.gamma
    )
    _add_path(rows, path, 50, {"homotopy": "theta"})
    nodes = _distinct_points(path)
    duals, t = path.duals_at(nodes), path.points.t[nodes]
    moved = np.abs(np.diff(duals, axis=1)).sum(axis=1)
    for i in np.sort(np.argsort(-moved, kind="stable")[:5]):
        rows.add_curve(f"dual {i + 1}", t, duals[i], method="op_theta")
    parameters = [jump.parameter for jump in path.jumps]
    rows.add_curve(
        "jumps", parameters, [jump.before - jump.after for jump in path.jumps], method="op_theta"
    )


@PAPER.experiment(settings=Space)
def solution_space(cell: Cell, rows: Rows, report: Report) -> None:
    """Record OP-theta in the plane of two weights, and the polytopes' borders, for figure 4."""
    data = load(cell.dataset, offline=cell.offline)
    keep = slice(0, cell.settings.rows)
    X, y = data.X[keep] - data.X[keep].mean(axis=0), data.y[keep]
    path = outlier_svm_path(X, y, cell.settings.cost)
    _add_path(rows, path, 50, {"homotopy": "theta"})
    signed = X * y[:, None]
    nodes = _distinct_points(path)
    w, _ = path.variables_at(nodes)
    rows.add_curve("weights", *w.T, weight=path.points.t[nodes], method="op_theta")
    rows.add_curve("sides", *signed.T, method="data")
    parameters = [jump.parameter for jump in path.jumps]
    rows.add_curve("jumps", parameters, np.zeros(len(parameters)), method="op_theta")


# ---------------------------------------------------------------- the explorer


@PAPER.experiment(settings=Explorations)
def explore(cell: Cell, rows: Rows, report: Report) -> None:
    """Record OP-theta for each cost, with the linear kernel, for the page's explorer."""
    problem = _problem(cell, "linear")
    parts = problem.parts
    for k, C in enumerate(cell.settings.costs):
        start = _standard(problem, C, cell.common.tolerance)[0]
        path, hyper = problem.path(C, "theta", start), {"C": C}
        _add_path(rows, path, 50, {**hyper, "homotopy": "theta"})
        add_exploration(rows, path, parts.validation, parts.test, hyper_parameters=hyper)
        report((k + 1) / len(cell.settings.costs))
