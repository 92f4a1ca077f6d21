"""Solution paths of any `solution_paths.problem.Problem`: computed, read, judged, saved."""

from .follow import solution_path
from .path import Onward, SolutionPath
from .reading import Reading, Scale
from .telling import Callback

__all__ = [
    "Callback",
    "Onward",
    "Reading",
    "Scale",
    "SolutionPath",
    "solution_path",
]
