"""Estimators in scikit-learn's manner, each standing on an exact path."""

from .classifiers import L1SVC, PathSVC, QuantileSVC
from .lasso import PathLasso
from .outlier import OutlierSVC, OutlierSVR
from .robust import DmDrSVC, DmKSVC, DrLAD
from .weighted import WeightedSVC, WeightedSVR

__all__ = [
    "L1SVC",
    "DmDrSVC",
    "DmKSVC",
    "DrLAD",
    "OutlierSVC",
    "OutlierSVR",
    "PathLasso",
    "PathSVC",
    "QuantileSVC",
    "WeightedSVC",
    "WeightedSVR",
]
