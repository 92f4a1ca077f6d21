"""Surfaces: solutions of a model with two parameters, exact along lines in one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import PathError
from ..validation import Floats, Rows, check_number, check_vector
from ..verify.verdict import Certificate, Verdict, summary
from . import Callback, SolutionPath, plots
from .callbacks import progress_of
from .curves import Curve
from .metrics import Judge
from .recorded import MISSING, Parameters

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class BestOnSurface(NamedTuple):
    """The exact minimiser of an error over all lines of a surface.

    ``value`` is the least error, reached first on line ``line``, where the other parameter is
    ``fixed``; ``parameter`` and ``intervals`` are as in `Best`, on that line.
    """

    value: float
    line: int
    fixed: float
    parameter: float
    intervals: Floats


class Surface:
    """The solutions of a model with two parameters, exact along each of its lines.

    Attributes
    ----------
    paths : list of k SolutionPath
        The lines.
    parameter : str
        The parameter along lines.
    fixed : str
        The other parameter, constant on each line.
    fixed_values : (k,) array
        Its values, in the order of the lines.
    values : (m,) array or None
        The values of ``parameter`` on the grid, if it has any.

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import drlad_grid
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [4.0, 0.0]])
    >>> y = X @ [1.0, 0.5]
    >>> surface = drlad_grid(X, y, [0.5, 1.0, 2.0], [0.01, 0.1])
    >>> surface.coef(0, 1.5).round(6).tolist()  # lam2 = 0.01, s = 1.5
    [1.0, 0.5]
    >>> surface.coefs().shape
    (2, 3, 2)
    >>> best = surface.best(X, y, "absolute")
    >>> round(best.value, 9), best.fixed
    (0.0, 0.01)
    """

    def __init__(
        self,
        paths: Sequence[SolutionPath],
        fixed: str,
        fixed_values: Floats,
        values: Floats | None = None,
    ):
        self.paths = list(paths)
        self.parameter = self.paths[0].parameter
        self.values, self.fixed, self.fixed_values = values, fixed, fixed_values

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return (
            f"<Surface of {len(self)} lines in {self.parameter}, {self.fixed} from "
            f"{self.fixed_values.min():g} to {self.fixed_values.max():g}>"
        )

    def _inside(self, i: int, t: float | Parameters) -> Any:
        """Return parameters on line i, clipped to the last lam1, beyond which all is zero."""
        end = self.paths[i].range[1] if self.parameter == "lam1" else np.inf
        numbers = isinstance(t, float | int | np.generic | np.ndarray | list | tuple)
        if end == np.inf or not numbers:  # the path refuses other types
            return t
        return np.minimum(t, end) if np.ndim(t) else min(t, end)  # type: ignore[type-var]

    def coef(self, i: int, t: float | Parameters = MISSING) -> Floats:
        """Return the (d,) coefficients on line i at t, or (d, k) at k parameters."""
        return self.paths[i].coef(self._inside(i, t))

    def intercept(self, i: int, t: float | Parameters = MISSING) -> float | Floats:
        """Return the bias on line i at t, or (k,) of them."""
        intercept: float | Floats = self.paths[i].intercept(self._inside(i, t))
        return intercept

    def decision_function(self, i: int, X_new: Rows, t: float | Parameters = MISSING) -> Floats:
        """Return f at the rows of X_new on line i at t: (m,), or (m, k) at k parameters."""
        return self.paths[i].decision_function(X_new, self._inside(i, t))

    def coefs(self, values: ArrayLike | None = None) -> Floats:
        """Return the (lines, values, d) coefficients on the grid, by default at ``values``."""
        values = self._asked(values)
        return np.stack([self.coef(i, values).T for i in range(len(self))])

    def intercepts(self, values: ArrayLike | None = None) -> Floats:
        """Return the (lines, values) biases on the grid, by default at ``values``."""
        values = self._asked(values)
        return np.stack([np.asarray(self.intercept(i, values)) for i in range(len(self))])

    def _asked(self, values: ArrayLike | None) -> Floats:
        if values is not None:
            return check_vector(values, np.size(values), "values", scalar=False, of="the grid")
        if self.values is None:
            raise ValueError(
                f"This surface has no grid of its own; give values of {self.parameter}."
            )
        return self.values

    def objective(self, i: int, t: float = MISSING) -> float:
        """Return the objective's value on line i at t, recomputed from the data."""
        at = check_number(t, self.parameter, least=0)
        return self.paths[i].objective_value(self._inside(i, at))

    def error(
        self,
        X_val: Rows,
        y_val: ArrayLike,
        metric: Judge | None = None,
        queries: ArrayLike | None = None,
    ) -> list[Curve]:
        """Return a validation error along each line, as exact functions of the parameter.

        Parameters
        ----------
        X_val, y_val : (m, d), (m,)
            Validation data.
        metric, queries
            See `SolutionPath.error_curve`.
        """
        curves = [path.error_curve(X_val, y_val, metric, None, queries) for path in self.paths]
        if self.parameter != "lam1":
            return curves
        last = max(float(curve.edges[-1]) for curve in curves)  # see `_inside`
        return [curve.over(float(curve.edges[0]), last) for curve in curves]

    def best(
        self,
        X_val: Rows,
        y_val: ArrayLike,
        metric: Judge | None = None,
        queries: ArrayLike | None = None,
    ) -> BestOnSurface:
        """Return the exact minimiser of a validation error over all lines; see `error`."""
        minima = [curve.best() for curve in self.error(X_val, y_val, metric, queries)]
        line = int(np.argmin([best.value for best in minima]))
        fixed, best = float(self.fixed_values[line]), minima[line]
        return BestOnSurface(best.value, line, fixed, best.parameter, best.intervals)

    def plot(
        self, X_val: Rows, y_val: ArrayLike, metric: Judge | None = None, ax: Axes | None = None
    ) -> Axes:
        """Plot a validation error along each line, and its minimum over all; see `error`.

        Parameters
        ----------
        X_val, y_val
            See `error`.
        metric
            See `SolutionPath.error_curve`.
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        best = self.best(X_val, y_val, metric)
        curves = self.error(X_val, y_val, metric)
        names = [f"{self.fixed} = {value:.3g}" for value in self.fixed_values.tolist()]
        return plots.draw_surface(curves, self.parameter, names, ax, (best.line, best.parameter))

    def certify(self, n_random: int = 20, seed: int = 0) -> Certificate:
        """Judge every line as `SolutionPath.certify` does; return the worst results.

        Parameters
        ----------
        n_random : int, default 20
            Number for each line: see `SolutionPath.certify`.
        seed : int, default 0
        """
        check_number(n_random, "n_random", least=0, whole=True)
        judged = [path._judged(*path._some(n_random, seed, None)) for path in self.paths]
        places = [path.scale.value(s) for path, (s, _) in zip(self.paths, judged, strict=True)]
        return summary(np.concatenate(places), Verdict.together([verdict for _, verdict in judged]))


def path_lines(function: Callable[[float], SolutionPath], fixed: str, values: ArrayLike) -> Surface:
    """Compute paths in one parameter at several values of another one.

    Parameters
    ----------
    function : callable
        Takes one value, returns a path.
    fixed : str
        Name of the other parameter.
    values : (k,) array
        Its values.

    Returns
    -------
    Surface

    Raises
    ------
    PathError
        A line can't be followed to its end: ``error.path`` is its certified part, and
        ``error.surface`` has the other lines.

    Examples
    --------
    Quantile regression over tau and lam; the best of all, exactly along each line:

    >>> import numpy as np
    >>> from solution_paths import kernel_quantile_path, path_lines
    >>> X = np.linspace(0, 3, 12)[:, None]
    >>> y = np.sin(2 * X[:, 0])
    >>> lines = path_lines(lambda lam: kernel_quantile_path(X, y, lam=lam), "lam", [0.01, 0.1])
    >>> lines
    <Surface of 2 lines in tau, lam from 0.01 to 0.1>
    >>> lines.best(X, y, "absolute").fixed
    0.01
    >>> path = lines.paths[0]
    >>> path.certify().ok
    True
    """
    values = check_vector(values, np.size(values), fixed, scalar=False, of="the grid")
    if not len(values):
        raise ValueError(f"{fixed} must hold one value at least: give some.")
    return lines_at(lambda value, _: function(value), fixed, values)


def lines_at(
    function: Callable[[float, Callback | None], SolutionPath],
    fixed: str,
    fixed_values: Floats,
    values: Floats | None = None,
    callback: Callback | None = None,
) -> Surface:
    """Return the surface of the paths that a function of one value and a callback returns.

    The error of the first line that can't be followed is raised when all others are computed. The
    callback gets the progress of all lines together.
    """
    paths: dict[int, SolutionPath] = {}
    errors: dict[int, PathError] = {}
    events, count = 0, len(fixed_values)
    with progress_of(callback) as progress:
        for k, value in enumerate(fixed_values):

            def report_of_line(
                done: float, own_events: int, k: int = k, before: int = events
            ) -> None:
                assert progress is not None
                progress((k + done) / count, before + own_events)

            try:
                paths[k] = function(float(value), None if progress is None else report_of_line)
                events += int(paths[k].diagnostics["events"])
            except PathError as error:
                errors[k] = error
    lines = list(paths.values())
    surface = Surface(lines, fixed, fixed_values[list(paths)], values) if lines else None
    if surface is not None and not errors:
        return surface
    k, first = next(iter(errors.items()))
    raise PathError(
        f"Line {k} of {count}, where {fixed} = {fixed_values[k]:g}, is lost, {len(lines)} are in "
        f"error.surface: {first}",
        first.path,
        surface,
    ) from first
