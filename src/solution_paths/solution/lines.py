"""A model with two parameters: exact paths in one of them, at several values of the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from .. import plots
from ..certify import Certificate, Verdict, summary
from ..curves import Curve
from ..surface import BestOnSurface
from ..validation import Floats, Rows, check_number, check_vector
from .path import SolutionPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PathLines:
    """The solutions of a model with two parameters, exact along each of its lines.

    Attributes
    ----------
    paths : list of SolutionPath
    parameter : str
        The parameter along lines.
    fixed : str
        The one that stands still on each.
    fixed_values : (k,) array
    """

    def __init__(self, paths: Sequence[SolutionPath], fixed: str, fixed_values: Floats):
        self.paths, self.fixed, self.fixed_values = list(paths), fixed, fixed_values
        self.parameter = self.paths[0].parameter

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return (
            f"<PathLines: {len(self)} lines in {self.parameter}, {self.fixed} from "
            f"{self.fixed_values.min():g} to {self.fixed_values.max():g}>"
        )

    def error(self, X_val: Rows, y_val: ArrayLike, metric: str | None = None) -> list[Curve]:
        """Return a validation error along each line.

        Parameters
        ----------
        X_val, y_val
            Validation data.
        metric : str, optional
            See `SolutionPath.error_curve`.
        """
        return [path.error_curve(X_val, y_val, metric) for path in self.paths]

    def best(self, X_val: Rows, y_val: ArrayLike, metric: str | None = None) -> BestOnSurface:
        """Return the exact minimiser of a validation error over all lines.

        Parameters
        ----------
        X_val, y_val
            Validation data.
        metric : str, optional
            See `SolutionPath.error_curve`.
        """
        found = [curve.best() for curve in self.error(X_val, y_val, metric)]
        line = int(np.argmin([own.value for own in found]))
        best = found[line]
        fixed = float(self.fixed_values[line])
        return BestOnSurface(best.value, line, fixed, best.parameter, best.intervals)

    def plot(
        self, X_val: Rows, y_val: ArrayLike, metric: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Plot a validation error along each line, and where it is the least of all.

        Parameters
        ----------
        X_val, y_val
            Validation data.
        metric : str, optional
            See `SolutionPath.error_curve`.
        ax : matplotlib Axes, optional
        """
        best, curves = self.best(X_val, y_val, metric), self.error(X_val, y_val, metric)
        return plots.draw_surface(cast(Any, self), curves, ax, (best.line, best.parameter))

    def certify(self, n_random: int = 20, seed: int = 0) -> Certificate:
        """Judge every line as `SolutionPath.certify` does; return the worst of what was found.

        Parameters
        ----------
        n_random : int, default 20
            Points of each line.
        seed : int, default 0
        """
        check_number(n_random, "n_random", least=0, whole=True)
        places, found = [], []
        for path in self.paths:
            s, own = path._judged(*path._some(n_random, seed, None))
            places.append(path.scale.value(s))
            found.append(own)
        return summary(np.concatenate(places), Verdict.together(found))


def path_lines(
    function: Callable[[float], SolutionPath], fixed: str, values: ArrayLike
) -> PathLines:
    """Compute paths in one parameter at several values of another one.

    Parameters
    ----------
    function : callable
        Of one value, returns a path.
    fixed : str
        What the other parameter is called.
    values : (k,) array
        Its values.

    Returns
    -------
    PathLines

    Examples
    --------
    Quantile regression over tau and lam; the best of all, exactly along each line:

    >>> import numpy as np
    >>> from solution_paths import kernel_quantile_path, path_lines
    >>> X = np.linspace(0, 3, 12)[:, None]
    >>> y = np.sin(2 * X[:, 0])
    >>> lines = path_lines(lambda lam: kernel_quantile_path(X, y, lam=lam), "lam", [0.01, 0.1])
    >>> lines
    <PathLines: 2 lines in tau, lam from 0.01 to 0.1>
    >>> lines.best(X, y, "absolute").fixed
    0.01
    >>> path = lines.paths[0]
    >>> path.certify().ok
    True
    """
    values = check_vector(values, np.size(values), fixed, scalar=False, of="the grid")
    if not len(values):
        raise ValueError(f"{fixed} must hold one value at least: give some.")
    return PathLines([function(float(value)) for value in values], fixed, values)
