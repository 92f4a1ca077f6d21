"""Typed stand-ins for scikit-learn's base classes, which have no types.

A type checker accepts any constructor call of a class with an untyped base.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["BaseEstimator", "ClassifierMixin", "OutlierMixin", "RegressorMixin"]

if TYPE_CHECKING:

    class BaseEstimator:
        """An object with parameters."""

        def __getattr__(self, name: str) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """A predictor of labels."""

    class OutlierMixin:
        """A detector of outliers."""

    class RegressorMixin:
        """A predictor of numbers."""

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin
