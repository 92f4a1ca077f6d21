"""The error of a path that could not be followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .path import Path


class PathError(RuntimeError):
    """The path could not be followed to its end.

    Attributes
    ----------
    path : Path or None
        The part of the path that is exact; None when not even its start was reached.
    """

    def __init__(self, message: str, path: Path | None):
        super().__init__(message)
        self.path = path
