"""Estimators in scikit-learn's manner, each standing on an exact path."""

from .classifiers import L1SVC, PathSVC, QuantileSVC
from .conditional import ConditionalConformal
from .conformal import FullConformal, FullConformalClassifier, JackknifePlus
from .curved import PathLogisticRegression, PathPoissonRegressor
from .joint_classifiers import MulticategorySVC, PathNuSVC, PathSVOR
from .lasso import PathLasso
from .one_class import PathOneClassSVM
from .outlier import OutlierSVC, OutlierSVR
from .quantiles import PathQuantileRegressor
from .ranking import PathRankingSVM
from .regression import HuberPath, KernelQuantileRegressor, PathElasticNet, PathSVR
from .robust import DmDrSVC, DmKSVC, DrLAD
from .sparse import HHSVC, ElasticNetSVC, PathFusedLasso
from .weighted import WeightedSVC, WeightedSVR

__all__ = [
    "HHSVC",
    "L1SVC",
    "ConditionalConformal",
    "DmDrSVC",
    "DmKSVC",
    "DrLAD",
    "ElasticNetSVC",
    "FullConformal",
    "FullConformalClassifier",
    "HuberPath",
    "JackknifePlus",
    "KernelQuantileRegressor",
    "MulticategorySVC",
    "OutlierSVC",
    "OutlierSVR",
    "PathElasticNet",
    "PathFusedLasso",
    "PathLasso",
    "PathLogisticRegression",
    "PathNuSVC",
    "PathOneClassSVM",
    "PathPoissonRegressor",
    "PathQuantileRegressor",
    "PathRankingSVM",
    "PathSVC",
    "PathSVOR",
    "PathSVR",
    "QuantileSVC",
    "WeightedSVC",
    "WeightedSVR",
]
