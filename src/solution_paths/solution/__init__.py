"""Solution paths of any `solution_paths.problem.Problem`: computed, read, judged, saved."""

from .callbacks import Callback
from .follow import solution_path
from .path import Onward, SolutionPath
from .reading import Reading, Scale

__all__ = [
    "Callback",
    "Onward",
    "Reading",
    "Scale",
    "SolutionPath",
    "solution_path",
]
