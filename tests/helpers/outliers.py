"""Data with outliers, and paths of local optima on them."""

from helpers.data_makers import clouds, line
from solution_paths import (
    outlier_svm_path,
    outlier_svr_path,
)
from solution_paths.problem import pieces

HOMOTOPIES = ("theta", "s")


def path_of(task, X, y, C, **options):
    return (outlier_svm_path if task == "svm" else outlier_svr_path)(X, y, C, **options)


def problem(task, **options):
    return clouds(**options) if task == "svm" else line(**options)


def capped(y, s):
    """Deviations of which a prediction's being too high costs twice as much, both s at most."""
    below = pieces([y - s], [0.0, 0.0], value=s, high=y - s)
    inside = pieces([y], [-1.0, 2.0], low=y - s, high=y + s / 2)
    above = pieces([y + s / 2], [0.0, 0.0], value=s, low=y + s / 2)
    return [below, inside, above]
