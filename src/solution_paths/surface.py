"""Surfaces: the solutions of a model with two parameters, exact along lines of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import plots
from .certify import Certificate, Verdict, summary
from .curves import Curve
from .nodes import Floats
from .path import Parameters, Path
from .validation import Rows, check_number, check_vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class BestOnSurface(NamedTuple):
    """The exact minimiser of an error over all lines of a surface.

    ``value`` is the least error, reached first on line ``line``, where the parameter that stands
    still is ``fixed``; ``parameter`` and ``intervals`` are as in `Best`, on that line.
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
    paths : list of k Path
        The lines.
    parameter : str
        The parameter along lines.
    fixed : str
        The one that stands still on each.
    fixed_values : (k,) array
        Its values, in the order of the lines.
    values : (m,) array
        The values of ``parameter`` that were asked for.

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

    def __init__(self, paths: Sequence[Path], values: Floats, fixed: str, fixed_values: Floats):
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
        """Return parameters on line i; beyond a last lam1, where all is zero, it stays so."""
        end = self.paths[i].range[1] if self.parameter == "lam1" else np.inf
        return np.minimum(t, end) if np.ndim(t) else min(t, end)  # type: ignore[type-var]

    def coef(self, i: int, t: float | Parameters) -> Floats:
        """Return the (d,) coefficients on line i at t, or (d, k) at k parameters."""
        return self.paths[i].coef(self._inside(i, t))

    def intercept(self, i: int, t: float | Parameters) -> float | Floats:
        """Return the bias on line i at t, or (k,) of them."""
        return self.paths[i].intercept(self._inside(i, t))

    def decision_function(self, i: int, X_new: Rows, t: float | Parameters) -> Floats:
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
        if values is None:
            return self.values
        return check_vector(values, np.size(values), "values", scalar=False, of="the grid")

    def objective(self, i: int, t: float) -> float:
        """Return the objective's value on line i at t, recomputed from the data."""
        path, at = self.paths[i], check_number(t, self.parameter, least=0)
        own = path._check(self._inside(i, at))
        found = path.objective.terms(np.array([own]), path._solutions_at(np.array([own])))
        value = float(found.primal[0])
        return value * at if path.objective.inverse else value

    def error(self, X_val: Rows, y_val: ArrayLike, metric: str | None = None) -> list[Curve]:
        """Return a validation error along each line, as exact functions of the parameter.

        Parameters
        ----------
        X_val, y_val : (m, d), (m,)
            Validation data.
        metric : {"zero_one", "absolute", "squared"}, optional
            By default the 0-1 error of classes, and the mean absolute error in regression.
        """
        if metric is None:
            metric = "zero_one" if len(self.paths[0].objective.classes) else "absolute"
        curves = [path.error_curve(X_val, y_val, metric) for path in self.paths]
        last = float(self.values.max())  # behind its last breakpoint a line stays what it is
        return [own.over(own.edges[0], max(own.edges[-1], last)) for own in curves]

    def best(self, X_val: Rows, y_val: ArrayLike, metric: str | None = None) -> BestOnSurface:
        """Return the exact minimiser of a validation error over all lines; see `error`."""
        found = [curve.best() for curve in self.error(X_val, y_val, metric)]
        line = int(np.argmin([best.value for best in found]))
        fixed, best = float(self.fixed_values[line]), found[line]
        return BestOnSurface(best.value, line, fixed, best.parameter, best.intervals)

    def plot(
        self, X_val: Rows, y_val: ArrayLike, metric: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Plot a validation error along each line, and where it is the least of all; see `error`.

        Parameters
        ----------
        X_val, y_val, metric
            See `error`.
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        best = self.best(X_val, y_val, metric)
        curves = self.error(X_val, y_val, metric)
        return plots.draw_surface(self, curves, ax, (best.line, best.parameter))

    def certify(self, n_random: int = 20, seed: int = 0) -> Certificate:
        """Check every line as `Path.certify` does; return the worst of what was found.

        Parameters
        ----------
        n_random : int, default 20
            See `Path.certify`; of each line.
        seed : int, default 0
        """
        points, found = zip(*(path._judged(n_random, seed) for path in self.paths), strict=True)
        return summary(np.concatenate(points), Verdict.together(found))
