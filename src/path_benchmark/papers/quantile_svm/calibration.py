"""Calibration of a path's decision values at one tau by scikit-learn: Platt, isotonic."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from ...data.protocols import Part


def calibrated(path: Any, tau: float, method: str, part: Part) -> CalibratedClassifierCV:
    """Fit a map from decision values at tau to probabilities; method: "sigmoid" or "isotonic"."""
    machine = CalibratedClassifierCV(FrozenEstimator(AtTau(path, tau)), method=method)
    return machine.fit(part.X, part.y)


class AtTau(ClassifierMixin, BaseEstimator):
    """The path's classifier at one tau as a scikit-learn estimator; there is nothing to fit."""

    def __init__(self, path: Any, tau: float) -> None:
        self.path, self.tau = path, tau
        self.classes_ = np.array([-1.0, 1.0])

    def fit(self, X: Any = None, y: Any = None) -> AtTau:
        """Do nothing: the path is given."""
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values at this tau."""
        return self.path.decision_function(X, self.tau)

    def predict(self, X: Any) -> np.ndarray:
        """Return labels -1 and +1."""
        return np.where(self.decision_function(X) >= 0.0, 1.0, -1.0)
