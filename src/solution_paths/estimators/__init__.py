"""Estimators in scikit-learn's manner, each standing on an exact path."""

from .classifiers import L1SVC, PathSVC, QuantileSVC
from .lasso import PathLasso
from .outlier import OutlierSVC, OutlierSVR
from .weighted import WeightedSVC, WeightedSVR

__all__ = [
    "L1SVC",
    "OutlierSVC",
    "OutlierSVR",
    "PathLasso",
    "PathSVC",
    "QuantileSVC",
    "WeightedSVC",
    "WeightedSVR",
]
