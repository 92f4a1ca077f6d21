"""What a user writes, for `make types`: mypy reads the installed package's hints, nothing runs.

Each ``type: ignore`` marks a mistake that mypy must find: one that it doesn't is an error too.
"""

from io import BytesIO
from typing import Any, assert_type

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.sparse import csr_array

from solution_paths import (
    HHSVC,
    L1SVC,
    Best,
    BestOnSurface,
    Certificate,
    Curve,
    DmDrSVC,
    DmKSVC,
    DrLAD,
    ElasticNetSVC,
    Jump,
    MeanCurve,
    MulticategorySVC,
    OutlierPath,
    OutlierSVC,
    OutlierSVR,
    PathError,
    PathFusedLasso,
    PathLasso,
    PathQuantileRegressor,
    PathRankingSVM,
    PathSVC,
    PredictedDistribution,
    QuantileSVC,
    SolutionPath,
    Surface,
    WeightedSVC,
    WeightedSVR,
    dm_drsvm_grid,
    dm_drsvm_path,
    dm_ksvm_path,
    dr_regression_path,
    drlad_grid,
    drlad_path,
    drsvm_path,
    l1_svm_path,
    lasso_path,
    noncrossing_quantiles_path,
    outlier_svm_path,
    outlier_svr_path,
    quantile_regression_path,
    quantile_svm_path,
    svm_path,
    update_instances,
    weighted_svm_path,
    weighted_svr_path,
)

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 3.0]])
labels = ["no", "no", "yes", "yes"]


def told(done: float, n_events: int) -> None:
    print(f"{done:.0%} after {n_events} events")


path = quantile_svm_path(X, labels, lam=0.1, kernel="rbf", gamma="scale", callback=told)
assert_type(path, SolutionPath)
assert_type(quantile_svm_path(pd.DataFrame(X), pd.Series(labels), 0.1), SolutionPath)
assert_type(svm_path(csr_array(X), np.array(labels), C_max=10.0, check="raise"), SolutionPath)
assert_type(quantile_svm_path(X.tolist(), labels, 0.1), SolutionPath)
assert_type(l1_svm_path(X.tolist(), labels), SolutionPath)
assert_type(lasso_path(X, [0.0, 1.0, 2.0, 3.0]), SolutionPath)
assert_type(
    weighted_svr_path(X, np.arange(4), 1.0, [1.0, 1.0, 0.0, 2.0], epsilon=0.1), SolutionPath
)
weighted = weighted_svm_path(X, labels, 1.0, 2.0)
assert_type(update_instances(weighted, leave=[0], weight=2.0), SolutionPath)
assert_type(weighted.continue_to([1.0, 1.0, 2.0, 2.0]), SolutionPath)

assert_type(drlad_path(X, np.arange(4), lam2=0.1), SolutionPath)
assert_type(
    dr_regression_path(X, np.arange(4), ("quantile", 0.3), vary="lam2", s=1.0), SolutionPath
)
assert_type(dr_regression_path(X, np.arange(4), ([-1.0, 1.0], [-1.0, 0.0, 2.0])), SolutionPath)
assert_type(quantile_regression_path(X, np.arange(4), penalty="l1", tau=0.3), SolutionPath)
assert_type(noncrossing_quantiles_path(csr_array(X), [0, 1, 2, 3], [0.2, 0.8]), SolutionPath)
assert_type(drsvm_path(X, labels, vary="lam2", lam1=0.1), SolutionPath)
assert_type(dm_drsvm_path(X, labels, 2.0, vary="lam1", lam2=0.1), SolutionPath)
assert_type(dm_ksvm_path(X, labels, kappa=3.0, kernel="rbf"), SolutionPath)
surface = drlad_grid(X, np.arange(4), [1.0, 2.0], [0.0, 0.1])
assert_type(surface, Surface)
assert_type(surface.coef(0, 1.5), NDArray[np.float64])
assert_type(surface.objective(0, 1.5), float)
assert_type(surface.error(X, np.arange(4)), list[Curve])
assert_type(surface.best(X, np.arange(4)), BestOnSurface)
assert_type(dm_drsvm_grid(X, labels, 2.0, [0.1], [0.1, 1.0]).certify(), Certificate)

robust = outlier_svm_path(X, labels, C=1.0, homotopy="s")
assert_type(robust, OutlierPath)
assert_type(robust.jumps, list[Jump])
assert_type(robust.before.dual(0.0), NDArray[np.float64])
assert_type(robust.outliers(0.0), NDArray[np.bool_])
assert_type(robust.objective_value(0.0), float)
assert_type(robust.objective_value([0.0, 0.5]), NDArray[np.float64])
assert_type(outlier_svr_path(X, np.arange(4), C=1.0).objective_value(0.5), float)
outlier_svm_path(X, labels, homotopie="s")  # type: ignore[call-arg]

assert_type(path.breakpoints, NDArray[np.float64])
assert_type(path.parameter, str)
assert_type(path.range, tuple[float, float])
assert_type(path.linear, bool)
assert_type(path.objective_value(0.5), float)
assert_type(path.dual(0.5), NDArray[np.float64])
assert_type(path.coef(0.5), NDArray[np.float64])
assert_type(path.coef([0.2, 0.5]), NDArray[np.float64])
assert_type(robust.intercept(0.5), float)
assert_type(robust.intercept(np.array([0.2, 0.5])), NDArray[np.float64])
assert_type(path.decision_function(pd.DataFrame(X), 0.5), NDArray[np.float64])
assert_type(path.predict(X, [0.2, 0.5]), NDArray[Any])
assert_type(path.error_curve(X, labels), Curve)
assert_type(path.error_curve(X, labels).best(log=True).intervals, NDArray[np.float64])
assert_type(path.error_curve(X, labels, ("f1", 1), queries=None), Curve)
assert_type(path.best(X, labels, [[0.0, 1.0], [5.0, 0.0]]).value, float)
assert_type(path.crossings(X), list[NDArray[np.float64]])
assert_type(path.best(X, labels), Best)
assert_type(path.best(X, labels).parameter, float)
assert_type(path.certify(n_random=10), Certificate)
assert_type(path.certify().status, str)
assert_type(path.certify().ok, bool)
assert_type(path.plot(), Axes)
path.save(BytesIO())
assert_type(SolutionPath.load("path.npz"), SolutionPath)
assert_type(PathError("lost", None).path, Any)

model = PathSVC(cv=5, gamma="scale").fit(pd.DataFrame(X), labels)
assert_type(model, PathSVC)
assert_type(model.predict(X), NDArray[Any])
assert_type(model.decision_function(csr_array(X)), NDArray[np.float64])
assert_type(model.cv_path_, MeanCurve)
assert_type(model.cv_error_, float)
assert_type(PathLasso(0.1).fit(X, [0.0, 1.0, 2.0, 3.0]).coef_, NDArray[np.float64])
quantiles = PathQuantileRegressor(quantiles=[0.2, 0.8], penalty="l1", cv=2).fit(X, np.arange(4))
assert_type(quantiles.predict_interval(X, 0.5), NDArray[np.float64])
assert_type(quantiles.predict_distribution(X), PredictedDistribution)
assert_type(quantiles.predict_distribution(X)[:2].crps([0.0, 1.0]), NDArray[np.float64])
assert_type(WeightedSVC().fit(X, labels, [1, 1, 1, 0]).update(enter=[3]), WeightedSVC)
assert_type(WeightedSVR().fit(X, [0, 1, 2, 3]).reweight([1, 1, 2, 2]), WeightedSVR)
assert_type(L1SVC(cv=2).fit(X, labels).intercept_, NDArray[np.float64])
assert_type(OutlierSVC(cv=2).fit(X, labels).predict(X), NDArray[Any])
assert_type(OutlierSVR(C=1.0).fit(X, np.arange(4)), OutlierSVR)
assert_type(QuantileSVC(0.3).fit(X, labels).predict(X), NDArray[Any])

assert_type(DrLAD(cv=2).fit(X, np.arange(4)).coef_, NDArray[np.float64])
assert_type(DmKSVC(cv=2).fit(X, labels), DmKSVC)
assert_type(DmDrSVC(0.1).fit(X, labels).intercept_, NDArray[np.float64])
counted = np.array([1.0, 2.0, 0.0, 1.0])
assert_type(HHSVC(lam2=0.1).fit(X, labels, counted), HHSVC)
assert_type(ElasticNetSVC(callback=told).fit(X, labels).coef_, NDArray[np.float64])
assert_type(MulticategorySVC(cv=2).fit(X, labels).n_support_, NDArray[np.int64])
assert_type(PathRankingSVM().fit(X, [0, 1, 2, 0], queries=[1, 1, 2, 2]), PathRankingSVM)
assert_type(PathFusedLasso(D=np.eye(2)).fit(X, np.arange(4)).intercept_, float)
assert_type(PathLasso(positive=True, bounds=(0.0, [1.0, 2.0])).fit(X, np.arange(4)), PathLasso)
svm_path(X, labels, sample_weight=counted, C_max=9.0, callback=told)
drlad_path(X, labels, vari="s")  # type: ignore[call-arg]

PathSVC(1.0, 5)  # type: ignore[call-arg]
PathSVC(C="1")  # type: ignore[arg-type]
WeightedSVC(cv=5)  # type: ignore[call-arg]
path.intercept("0.5")  # type: ignore[arg-type]
quantile_svm_path(X, labels)  # type: ignore[call-arg]
quantile_svm_path(X, labels, lam="0.1")  # type: ignore[arg-type]
quantile_svm_path(X, labels, 0.1, gama=1.0)  # type: ignore[call-arg]
svm_path(X, labels, callback=0.5)  # type: ignore[arg-type]
svm_path(path, labels)  # type: ignore[arg-type]
update_instances(X, enter=[0])  # type: ignore[arg-type]
path.bets(X, labels)  # type: ignore[attr-defined]
