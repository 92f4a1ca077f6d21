"""Exact solution paths of support vector machines and robust regressions."""

from .certify import Certificate
from .models.quantile_svm import quantile_svm_path
from .path import Best, Path, PathError
from .tolerances import Tolerances

__version__ = "0.1.0"

__all__ = [
    "Best",
    "Certificate",
    "Path",
    "PathError",
    "Tolerances",
    "__version__",
    "quantile_svm_path",
]
