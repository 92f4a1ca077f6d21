"""Hyper-parameters on lines: whole paths along them, other solvers at their points.

A model's grid is a list of lines, each a path in one parameter at fixed others. Along a line
validation errors are exact functions of a coordinate u in which solutions are piecewise linear: s,
lam1, or 1 / lam.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from solution_paths import (
    dm_drsvm_grid,
    dm_ksvm_path,
    drlad_grid,
    drlad_path,
    drsvm_path,
    l1_svm_path,
    svm_path,
)
from solution_paths.kernels import LINEAR, Kernel
from solution_paths.solution.curves import Curve, mean_curve

from ...runs.judging import data_of
from ...solvers import GridSolver
from ...solvers.programmes import (
    DoubleMargin,
    DoublyRegularised,
    FactoredDoubleMargin,
    LeastDeviations,
    Programme,
)

Floats = np.ndarray
Folds = Sequence[tuple[np.ndarray, np.ndarray]]  # rows to fit, rows to judge
# Losses that differ by less, relatively, are tied: solvers' answers are no more exact than that.
TIED = 1e-6
# Decisions that are no larger are zero, and stand for +1: at w = 0, b = 0 signs are rounding.
ZERO = 1e-8


class Line(NamedTuple):
    """Values of one parameter, from the most regularised one on, at fixed others."""

    fixed: dict[str, float]
    vary: str
    values: Floats

    @property
    def inverse(self) -> bool:
        """Whether losses are piecewise quadratic in the inverse of what varies."""
        return self.vary in ("lam", "lam2")

    def at(self, k: int) -> dict[str, float]:
        """Return all parameters of a point."""
        return {**self.fixed, self.vary: float(self.values[k])}


class Choice(NamedTuple):
    """The chosen line, the chosen value on it, and its loss in cross-validation."""

    line: int
    value: float
    loss: float


# Whether paths are checked, as users' are: "warn" while they are timed.
CHECK: ContextVar[str] = ContextVar("CHECK", default="ignore")

# ---------------------------------------------------------------- losses


def squared_loss(y: Floats, f: Floats) -> Floats:
    """Return the mean squared error of predictions (m,) or (m, k)."""
    return ((f.T - y) ** 2).mean(axis=-1)


def balanced_loss(y: Floats, f: Floats) -> Floats:
    """Return 1 - (TPR + TNR) / 2 of decisions (m,) or (m, k); of one class its own rate alone."""
    wrong = (f.T >= -ZERO) != (y > 0)
    return np.mean([wrong[..., y == c].mean(axis=-1) for c in (-1.0, 1.0) if (y == c).any()], 0)


def area_under_curve(y: Floats, f: Floats) -> float:
    """Return the area under the ROC curve of decisions: the share of pairs in right order."""
    from scipy.stats import rankdata  # half a second to load

    positive = y > 0
    p, n = positive.sum(), (~positive).sum()
    return float((rankdata(f)[positive].sum() - p * (p + 1) / 2) / (p * n)) if p and n else np.nan


# ---------------------------------------------------------------- models


@dataclass(frozen=True)
class Model:
    """A model with a grid of hyper-parameters.

    Attributes
    ----------
    name : str
    trace : function
        (X, y, line) -> path.
    programme : function
        (X, y, line) -> the same model for other solvers; X is a Gram matrix with a kernel.
    unit : function
        Number of rows -> u at 1 of the path's own parameter, where that is no inverse of u.
    kernel : Kernel
    regression : bool
    """

    name: str
    trace: Callable[[Floats, Floats, Line], Any]
    programme: Callable[[Floats, Floats, Line], Programme]
    unit: Callable[[int], float] = lambda n: 1.0
    kernel: Kernel = LINEAR
    gram: bool = False  # whether the programme is given kernel values
    regression: bool = False
    surface: Callable[[Floats, Floats, list[Line]], list[Any]] | None = None

    def traced(self, X: Floats, y: Floats, lines: Sequence[Line]) -> list[Any]:
        """Return the paths of lines: of a surface at once where the model has one."""
        if self.surface is None:
            return [self.trace(X, y, line) for line in lines]
        return self.surface(X, y, list(lines))

    def loss(self, y: Floats, f: Floats) -> Floats:
        """Return the loss that is minimised by cross-validation."""
        return squared_loss(y, f) if self.regression else balanced_loss(y, f)

    def places(self, path: Any, line: Line, values: Floats) -> Floats:
        """Return the path's parameter at values; outside its range the solution stands still."""
        at = np.asarray(values, dtype=np.float64)
        if path.parameter != line.vary:
            at = coordinate(line, at) / self.unit(data_of(path).shape[0])
        low, high = path.range
        # behind the last breakpoint in s nothing changes
        return np.clip(at, low, path.breakpoints[-1] if line.vary == "s" else high)

    def decisions(self, path: Any, line: Line, X: Floats) -> Floats:
        """Return f at the rows of X and the points of a line, (m, k)."""
        return path.decision_function(X, self.places(path, line, line.values))

    def curve(self, path: Any, line: Line, X: Floats, y: Floats) -> Curve:
        """Return the loss along a line as an exact function of u."""
        if self.regression:
            errors = path.error_curve(X, y, "squared")
        else:
            classes = [y == c for c in (-1.0, 1.0) if (y == c).any()]
            errors = mean_curve([path.error_curve(X[members], y[members]) for members in classes])
        if path.parameter != line.vary:
            return errors.scaled(self.unit(data_of(path).shape[0]))
        return errors.inverted(1.0) if line.inverse else errors


def coordinate(line: Line, values: Floats) -> Floats:
    """Return u at values of a line's parameter, or these at u."""
    return 1.0 / np.asarray(values) if line.inverse else np.asarray(values)


def losses_of_path(
    model: Model, lines: Sequence[Line], X: Floats, y: Floats, folds: Folds
) -> tuple[list[Floats], list[Curve]]:
    """Return mean losses at the points of lines, and curves along them, by cross-validation."""
    losses, curves = [np.zeros(len(line.values)) for line in lines], [[] for _ in lines]
    for fit, judge in folds:
        paths = model.traced(X[fit], y[fit], lines)
        for j, (line, path) in enumerate(zip(lines, paths, strict=True)):
            f = model.decisions(path, line, X[judge])
            losses[j] += model.loss(y[judge], f) / len(folds)
            curves[j].append(model.curve(path, line, X[judge], y[judge]))
    return losses, [mean_curve(each) for each in curves]


def losses_of_solver(
    name: str, model: Model, lines: Sequence[Line], X: Floats, y: Floats, folds: Folds
) -> tuple[list[Floats], int]:
    """Return mean losses at the points of lines by an outside solver, and how many calls failed."""
    losses, failed = [np.zeros(len(line.values)) for line in lines], 0
    for fit, judge in folds:
        rows, new = X[fit], X[judge]
        if model.gram:
            rows, new = model.kernel(rows, rows), model.kernel(new, rows)
        for at, j, k, solver in points_of(name, model, lines, rows, y[fit]):
            answer = solver.solve(at)
            failed += not answer.solved
            if answer.solution is None:
                losses[j][k] = np.nan
                continue
            f = solver.programme.decision(answer.solution, new)
            losses[j][k] += model.loss(y[judge], f) / len(folds)
    return losses, failed


def points_of(
    name: str, model: Model, lines: Sequence[Line], X: Floats, y: Floats, **options: Any
) -> Iterator[tuple[dict[str, float], int, int, GridSolver]]:
    """Yield (parameters, line, point, solver); lines of one programme share a solver."""
    solvers: dict[float | None, GridSolver] = {}
    for j, line in enumerate(lines):
        kappa = line.fixed.get("kappa")
        if kappa not in solvers:
            solvers[kappa] = GridSolver(name, model.programme(X, y, line), **options)
        for k in range(len(line.values)):
            yield line.at(k), j, k, solvers[kappa]


def chosen(losses: Sequence[Floats], lines: Sequence[Line]) -> Choice:
    """Return the point of least loss; ties go to the first line and to its first point."""
    least = min(float(np.nanmin(losses_on_line)) for losses_on_line in losses)
    for j, losses_on_line in enumerate(losses):
        near = np.flatnonzero(losses_on_line <= least + TIED * abs(least) + 1e-15)
        if len(near):
            return Choice(j, float(lines[j].values[near[0]]), float(losses_on_line[near[0]]))
    raise ValueError("No point of the grid has a loss: every call of the solver failed.")


def chosen_exactly(lines: Sequence[Line], curves: Sequence[Curve]) -> Choice:
    """Return the exact minimiser along the lines, in the range of u that their points span."""
    best = None
    for j, (line, curve) in enumerate(zip(lines, curves, strict=True)):
        u = coordinate(line, line.values)
        low, high = float(u.min()), float(u.max())
        if low < high:
            least = curve.over(low, high).best(log=line.vary != "s")
            choice = Choice(j, float(coordinate(line, least.parameter)), least.value)
        else:
            at = np.clip(low, curve.edges[0], curve.edges[-1])
            choice = Choice(j, float(line.values[0]), float(curve(at)))
        if best is None or choice.loss < best.loss - TIED * abs(best.loss):
            best = choice
    return best


@dataclass
class Fitted:
    """A model fitted with chosen parameters."""

    model: Model
    line: Line
    path: Any
    value: float

    @property
    def place(self) -> float:
        """The path's own parameter."""
        return float(self.model.places(self.path, self.line, np.array([self.value]))[0])

    def decision(self, X: Floats) -> Floats:
        """Return f at rows."""
        return self.path.decision_function(X, self.place)

    @property
    def coef(self) -> Floats:
        """Coefficients of a linear model."""
        return self.path.coef(self.place)


def refit(model: Model, lines: Sequence[Line], choice: Choice, X: Floats, y: Floats) -> Fitted:
    """Fit at the chosen parameters."""
    line = lines[choice.line]
    return Fitted(model, line, model.trace(X, y, line), choice.value)


def folds_of(n: int, parts: Sequence[np.ndarray]) -> Folds:
    """Return (rows to fit, rows to judge) of each part."""
    return [(np.setdiff1d(np.arange(n), part), np.sort(part)) for part in parts]


# ---------------------------------------------------------------- the models


def _traced(path: Callable[..., Any]) -> Callable[[Floats, Floats, Line], Any]:
    def trace(X: Floats, y: Floats, line: Line) -> Any:
        least = {"lam2_min": float(line.values.min())} if line.vary == "lam2" else {}
        return path(X, y, vary=line.vary, **line.fixed, **least, check=CHECK.get())

    return trace


def deviations(name: str, surface: bool = False) -> Model:
    """Return LAD, l1-LAD, l2-LAD or DrLAD: what tells them apart are their lines."""
    return Model(
        name,
        _traced(drlad_path),
        lambda X, y, line: LeastDeviations(X, y),
        regression=True,
        surface=_deviation_surface if surface else None,
    )


def _deviation_surface(X: Floats, y: Floats, lines: list[Line]) -> list[Any]:
    lam2 = [line.fixed["lam2"] for line in lines]
    return drlad_grid(X, y, lines[0].values, lam2, check=CHECK.get()).paths


def _margin_surface(X: Floats, y: Floats, lines: list[Line]) -> list[Any]:
    """Trace the lines of each kappa, which stand together."""
    paths = []
    for kappa, group in groupby(lines, lambda line: line.fixed["kappa"]):
        group = list(group)
        lam2 = [line.fixed["lam2"] for line in group]
        paths += dm_drsvm_grid(X, y, kappa, group[0].values, lam2, check=CHECK.get()).paths
    return paths


def l1_machine() -> Model:
    """Return the l1-SVM; its path's lam is n lam1."""
    return Model(
        "l1_svm",
        lambda X, y, line: l1_svm_path(X, y, check=CHECK.get()),
        lambda X, y, line: DoublyRegularised(X, y),
        lambda n: 1.0 / n,
    )


def l2_machine() -> Model:
    """Return the l2-SVM; its path's C is 1 / (n lam2)."""
    return Model(
        "l2_svm",
        lambda X, y, line: svm_path(X, y, C_max=_largest_cost(y, line), check=CHECK.get()),
        lambda X, y, line: DoublyRegularised(X, y),
        float,
    )


def doubly_regularised() -> Model:
    """Return the DrSVM."""
    return Model("drsvm", _traced(drsvm_path), lambda X, y, line: DoublyRegularised(X, y))


def double_margin_regularised() -> Model:
    """Return the DM-DrSVM."""

    def programme(X: Floats, y: Floats, line: Line) -> Programme:
        return DoubleMargin(X, y, line.fixed["kappa"])

    def trace(X: Floats, y: Floats, line: Line) -> Any:
        return _margin_surface(X, y, [line])[0]

    return Model("dm_drsvm", trace, programme, surface=_margin_surface)


def kernel_machine(name: str, kernel: Kernel) -> Model:
    """Return the usual machine in lam; its path's C is 1 / (n lam)."""

    def trace(X: Floats, y: Floats, line: Line) -> Any:
        options = {"C_max": _largest_cost(y, line), **_stated(kernel)}
        return svm_path(X, y, **options, check=CHECK.get())

    return Model(
        name,
        trace,
        lambda X, y, line: FactoredDoubleMargin(X, y, kappa=np.inf),
        float,
        kernel,
        gram=True,
    )


def double_margin_machine(name: str, kernel: Kernel) -> Model:
    """Return the DM-SVM or the DM-KSVM."""

    def trace(X: Floats, y: Floats, line: Line) -> Any:
        options = {"lam_min": float(line.values.min()), **_stated(kernel)}
        return dm_ksvm_path(X, y, line.fixed["kappa"], **options, check=CHECK.get())

    def programme(X: Floats, y: Floats, line: Line) -> Programme:
        return FactoredDoubleMargin(X, y, line.fixed["kappa"])

    return Model(name, trace, programme, kernel=kernel, gram=True)


def _largest_cost(y: Floats, line: Line) -> float:
    """Return C at the least penalty of a line; a little more, as it is rounded."""
    return (1.0 + 1e-9) / (len(y) * float(line.values.min()))


def _stated(kernel: Kernel) -> dict[str, Any]:
    names = {"rbf": ("gamma",), "poly": ("gamma", "degree", "coef0")}.get(kernel.name, ())
    return {"kernel": kernel.name} | {name: getattr(kernel, name) for name in names}


# ---------------------------------------------------------------- their grids


def logarithmic(low: float, high: float, size: int) -> Floats:
    """Return values at even steps of their logarithm, falling; a single one is the middle."""
    if size == 1:
        return np.array([np.sqrt(low * high)])
    return np.geomspace(high, low, size)


SPACINGS = ("logarithmic", "linear", "linear_of_sums")


def spaced(how: str, low: float, high: float, size: int, n: int) -> Floats:
    """Return values up to high, falling.

    ``logarithmic`` ones from low on; ``linear`` ones at even steps from 0, which is none of them;
    ``linear_of_sums`` are those of an objective with the sum of n losses, not their mean.
    """
    if how == "logarithmic":
        return logarithmic(low, high, size)
    even = high * np.arange(size, 0, -1) / size
    return even / n if how == "linear_of_sums" else even


def largest_length(X: Floats, y: Floats) -> float:
    """Return ||w||_1 of the LAD: the radius from which on the ball doesn't bind."""
    path = drlad_path(X, y, vary="s", lam2=0.0, check="ignore")
    return float(path.breakpoints[-1])


def largest_penalty(X: Floats, y: Floats) -> float:
    """Return a lam1 at which w = 0: just above max |X'a| for duals of as many rows of each class.

    Of the larger class the first rows; b is its label.
    """
    rows = [np.flatnonzero(y == label) for label in (-1.0, 1.0)]
    some = np.concatenate([part[: min(map(len, rows))] for part in rows])
    return 1.001 * float(np.abs(X[some].T @ y[some]).max()) / len(y)


def radii(largest: float, size: int) -> Floats:
    """Return s = k largest / size: the even steps of Algorithm 3.3."""
    return largest * np.arange(1, size + 1) / size


def lines_over(fixed: str, values: Floats, vary: str, along: Floats) -> list[Line]:
    """Return a line for each value of a fixed parameter."""
    return [Line({fixed: float(value)}, vary, along) for value in values]
