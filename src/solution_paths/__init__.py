"""Exact solution paths of support vector machines and robust regressions."""

from .certify import Certificate
from .curves import Best, Curve
from .engine.tolerances import Tolerances
from .errors import PathError, PathWarning
from .models.l1_svm import l1_svm_path
from .models.lasso import lasso_path
from .models.quantile_svm import quantile_svm_path
from .models.svm import svm_path
from .models.weighted_svm import update_instances, weighted_svm_path
from .models.weighted_svr import weighted_svr_path
from .path import Path

__version__ = "0.1.0"

__all__ = [
    "Best",
    "Certificate",
    "Curve",
    "Path",
    "PathError",
    "PathWarning",
    "Tolerances",
    "__version__",
    "l1_svm_path",
    "lasso_path",
    "quantile_svm_path",
    "svm_path",
    "update_instances",
    "weighted_svm_path",
    "weighted_svr_path",
]
