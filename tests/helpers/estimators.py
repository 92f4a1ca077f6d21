"""Small data for estimators, and estimators fitted to them."""

from sklearn.base import is_classifier

from helpers.known import CLASSES, COUNTS, U, X, Y
from solution_paths import estimators
from solution_paths.estimators.base import PathEstimator

BY_NAME = {"ids": lambda model: type(model).__name__}
# All but those around another estimator.
ESTIMATORS = [
    name for name in estimators.__all__ if issubclass(getattr(estimators, name), PathEstimator)
]

FAST = {"PathLogisticRegression": {"eps": 1e-2}, "PathPoissonRegressor": {"eps": 1e-2}}


def targets_of(make):
    if make.__name__ == "PathPoissonRegressor":
        return COUNTS
    if make.__name__ == "PathSVOR":
        return CLASSES
    return Y if is_classifier(make()) else U


def fitted(make, y=None, rows=X, **options):
    model = make(**FAST.get(make.__name__, {}), **options)
    y = targets_of(make) if y is None else y
    return model.fit(rows) if make.__name__ == "PathOneClassSVM" else model.fit(rows, y)
