"""The error of a path that could not be followed, and the warning of a loss of accuracy."""

from __future__ import annotations

from typing import Any


class PathWarning(UserWarning):
    """Accuracy may be lost, because of the data or of a path."""


class PathError(RuntimeError):
    """The path could not be followed to its end.

    All functions and estimators raise it with the part of the path that is certified. Bad arguments
    raise ValueError or TypeError instead; the message names the argument, what is wrong with it,
    and the remedy. A kernel matrix that exceeds the memory raises MemoryError.

    Attributes
    ----------
    path : SolutionPath or None
        The part of the path whose optimality was certified; None when there is none.
    surface : Surface or None
        Of a grid: the lines that could be followed; None when there are none.
    """

    def __init__(self, message: str, path: Any, surface: Any = None):
        super().__init__(message)
        self.path, self.surface = path, surface

    def __reduce__(self) -> tuple[type[PathError], tuple[Any, ...]]:
        # an error that can't be pickled breaks a pool of processes
        return type(self), (self.args[0], self.path, self.surface)


class NoOptimum(PathError):
    """There is no optimum at, or beyond, some parameter; a direction proves it.

    Attributes
    ----------
    path : SolutionPath or None
        See `PathError`.
    direction : tuple of arrays
        A direction (w, v) along which the objective falls without bound; or one of the losses'
        duals along which the dual objective rises without bound: the constraints are infeasible.
    slope : float
        The objective's slope along the direction, < 0; or the dual objective's, > 0.
    """

    def __init__(self, message: str, path: Any, direction: Any, slope: float):
        super().__init__(message, path)
        self.direction, self.slope = direction, slope

    def __reduce__(self) -> tuple[type[PathError], tuple[Any, ...]]:
        return type(self), (self.args[0], self.path, self.direction, self.slope)
