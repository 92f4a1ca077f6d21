"""The error of a path that could not be followed, and the warning about what may spoil one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .path import Path
    from .surface import Surface


class PathWarning(UserWarning):
    """The data or a path are such that accuracy may be lost."""


class PathError(RuntimeError):
    """The path could not be followed to its end.

    Attributes
    ----------
    path : Path or None
        The part of the path whose nodes the judge of `Path.certify` has passed; None when there is
        none.
    surface : Surface or None
        Of a grid: the lines that could be followed; None when there are none.
    """

    def __init__(self, message: str, path: Path | None, surface: Surface | None = None):
        super().__init__(message)
        self.path, self.surface = path, surface

    def __reduce__(self) -> tuple[type[PathError], tuple[str, Path | None, Surface | None]]:
        # an error that can't be pickled breaks the pool of processes in which it is raised
        return type(self), (self.args[0], self.path, self.surface)
