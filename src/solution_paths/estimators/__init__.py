"""Estimators in scikit-learn's manner, each standing on an exact path."""

from .classifiers import L1SVC, PathSVC, QuantileSVC
from .lasso import PathLasso
from .weighted import WeightedSVC, WeightedSVR

__all__ = ["L1SVC", "PathLasso", "PathSVC", "QuantileSVC", "WeightedSVC", "WeightedSVR"]
