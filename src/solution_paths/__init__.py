"""Exact solution paths of support vector machines and robust regressions."""

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import NoOptimum, PathError, PathWarning
from .models.almost_quadratic import almost_quadratic_path
from .models.asymmetric_svm import asymmetric_svm_path
from .models.conditional_conformal import conditional_conformal_path
from .models.dm_drsvm import dm_drsvm_path
from .models.dm_drsvm_grid import dm_drsvm_grid
from .models.dm_ksvm import dm_ksvm_path
from .models.dr_regression import dr_regression_path
from .models.drlad import drlad_path
from .models.drlad_grid import drlad_grid
from .models.drsvm import drsvm_path
from .models.elastic_net import elastic_net_path
from .models.generalized_lasso import generalized_lasso_path
from .models.hhsvm import hhsvm_path
from .models.kernel_quantile import kernel_quantile_path
from .models.l1_constrained_svm import l1_constrained_svm_path
from .models.l1_svm import l1_svm_path
from .models.lasso import lasso_path
from .models.logistic import logistic_path
from .models.multicategory_svm import multicategory_svm_path
from .models.noncrossing_quantiles import noncrossing_quantiles_path
from .models.nu_svm import nu_svm_path
from .models.one_class import one_class_path
from .models.outlier_svm import outlier_svm_path
from .models.outlier_svr import outlier_svr_path
from .models.pin_svm import pin_svm_path
from .models.pin_twin_svm import pin_twin_svm_path
from .models.poisson import poisson_path
from .models.quantile_regression import quantile_regression_path
from .models.quantile_svm import quantile_svm_path
from .models.ranking_svm import ranking_svm_path
from .models.rlad import rlad_path
from .models.roc import RocCurve, roc_curve, roc_path
from .models.svm import svm_path
from .models.svor import svor_path
from .models.svr import svr_path
from .models.update_instances import update_instances
from .models.weighted_svm import weighted_svm_path
from .models.weighted_svr import weighted_svr_path
from .solution import SolutionPath, solution_path
from .solution.approximate import ApproximatePath, GapCertificate
from .solution.branched import local_path
from .solution.conditional import ConditionalPath
from .solution.conformal import ConformalPath, conformal_path
from .solution.conformal_labels import ConformalLabels, conformal_labels
from .solution.curves import Best, Curve, MeanCurve
from .solution.distribution import PredictedDistribution
from .solution.leave_one_out import LeaveOneOut, leave_one_out
from .solution.leave_one_out_curve import leave_one_out_curve
from .solution.outliers import Jump, OutlierCertificate, OutlierPath
from .solution.surface import BestOnSurface, Surface, path_lines
from .verify.verdict import Certificate

if TYPE_CHECKING:
    from .estimators import (
        HHSVC,
        L1SVC,
        ConditionalConformal,
        DmDrSVC,
        DmKSVC,
        DrLAD,
        ElasticNetSVC,
        FullConformal,
        FullConformalClassifier,
        HuberPath,
        JackknifePlus,
        KernelQuantileRegressor,
        MulticategorySVC,
        OutlierSVC,
        OutlierSVR,
        PathElasticNet,
        PathFusedLasso,
        PathLasso,
        PathLogisticRegression,
        PathNuSVC,
        PathOneClassSVM,
        PathPoissonRegressor,
        PathQuantileRegressor,
        PathRankingSVM,
        PathSVC,
        PathSVOR,
        PathSVR,
        QuantileSVC,
        WeightedSVC,
        WeightedSVR,
    )

__version__ = "0.1.0"

__all__ = [
    "HHSVC",
    "L1SVC",
    "ApproximatePath",
    "Best",
    "BestOnSurface",
    "Certificate",
    "ConditionalConformal",
    "ConditionalPath",
    "ConformalLabels",
    "ConformalPath",
    "Curve",
    "DmDrSVC",
    "DmKSVC",
    "DrLAD",
    "ElasticNetSVC",
    "FullConformal",
    "FullConformalClassifier",
    "GapCertificate",
    "HuberPath",
    "JackknifePlus",
    "Jump",
    "KernelQuantileRegressor",
    "LeaveOneOut",
    "MeanCurve",
    "MulticategorySVC",
    "NoOptimum",
    "OutlierCertificate",
    "OutlierPath",
    "OutlierSVC",
    "OutlierSVR",
    "PathElasticNet",
    "PathError",
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
    "PathWarning",
    "PredictedDistribution",
    "QuantileSVC",
    "RocCurve",
    "SolutionPath",
    "Surface",
    "WeightedSVC",
    "WeightedSVR",
    "__version__",
    "almost_quadratic_path",
    "asymmetric_svm_path",
    "conditional_conformal_path",
    "conformal_labels",
    "conformal_path",
    "dm_drsvm_grid",
    "dm_drsvm_path",
    "dm_ksvm_path",
    "dr_regression_path",
    "drlad_grid",
    "drlad_path",
    "drsvm_path",
    "elastic_net_path",
    "generalized_lasso_path",
    "hhsvm_path",
    "kernel_quantile_path",
    "l1_constrained_svm_path",
    "l1_svm_path",
    "lasso_path",
    "leave_one_out",
    "leave_one_out_curve",
    "local_path",
    "logistic_path",
    "multicategory_svm_path",
    "noncrossing_quantiles_path",
    "nu_svm_path",
    "one_class_path",
    "outlier_svm_path",
    "outlier_svr_path",
    "path_lines",
    "pin_svm_path",
    "pin_twin_svm_path",
    "poisson_path",
    "quantile_regression_path",
    "quantile_svm_path",
    "ranking_svm_path",
    "rlad_path",
    "roc_curve",
    "roc_path",
    "solution_path",
    "svm_path",
    "svor_path",
    "svr_path",
    "update_instances",
    "weighted_svm_path",
    "weighted_svr_path",
]


def __getattr__(name: str) -> type:
    """Import estimators when they are asked for: scikit-learn takes a second."""
    if name in __all__:
        return getattr(import_module(".estimators", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}.")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
