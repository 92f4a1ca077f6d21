"""The error of a path that could not be followed, and the warning about what may spoil one."""

from __future__ import annotations

from typing import Any


class PathWarning(UserWarning):
    """The data or a path are such that accuracy may be lost."""


class PathError(RuntimeError):
    """The path could not be followed to its end.

    Attributes
    ----------
    path : Path, SolutionPath or None
        The part of the path that the judge of its ``certify`` has passed; None when there is none.
    surface : Surface or None
        Of a grid: the lines that could be followed; None when there are none.
    """

    def __init__(self, message: str, path: Any, surface: Any = None):
        super().__init__(message)
        self.path, self.surface = path, surface

    def __reduce__(self) -> tuple[type[PathError], tuple[Any, ...]]:
        # an error that can't be pickled breaks the pool of processes in which it is raised
        return type(self), (self.args[0], self.path, self.surface)


class NoOptimum(PathError):
    """There is no optimum at, or beyond, some parameter; a direction proves it.

    Attributes
    ----------
    path : SolutionPath or None
        See `PathError`.
    direction : tuple of arrays
        Of (w, v) along which the objective falls for ever; or of the losses' duals along which the
        dual objective rises for ever, so that constraints contradict each other.
    slope : float
        Of the objective along it, < 0; or of the dual objective, > 0.
    """

    def __init__(self, message: str, path: Any, direction: Any, slope: float):
        super().__init__(message, path)
        self.direction, self.slope = direction, slope

    def __reduce__(self) -> tuple[type[PathError], tuple[Any, ...]]:
        return type(self), (self.args[0], self.path, self.direction, self.slope)
