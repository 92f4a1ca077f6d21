"""Paths that break off half-way."""

import solution_paths
from solution_paths.solution.follow import _until


def first_half(path):
    """Return the first half of a path, which doesn't go on for ever."""
    if isinstance(path, solution_paths.SolutionPath):
        return _until(path, len(path.points) // 2)
    *legs, last = path._legs
    legs.append(last.cut(len(last.trace.t) // 2))
    return type(path)(path.parameter, legs, path.objective, {"ray": False})
