"""Solution paths of any `solution_paths.problem.Problem`: followed, read, judged, kept in files."""

from .follow import Callback, solution_path
from .lines import PathLines, path_lines
from .path import SolutionPath
from .reading import Reading, Scale

__all__ = [
    "Callback",
    "PathLines",
    "Reading",
    "Scale",
    "SolutionPath",
    "path_lines",
    "solution_path",
]
