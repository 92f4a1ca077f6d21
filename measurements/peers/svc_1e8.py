"""scikit-learn's SVC, that is LIBSVM, cold at each value of C; tolerance 1e-8."""

from . import Run
from .svc_1e3 import grid_of_fits, refuses, version

__all__ = ["HOW", "NAME", "refuses", "solve", "version"]

NAME = "scikit-learn SVC, 100 cold, 1e-8"
HOW = "the same at tol=1e-8, beyond what LIBSVM's float32 kernel rows can carry"


def solve(problem) -> Run:
    """Fit along the grid at 1e-8."""
    return grid_of_fits(problem, 1e-8)
