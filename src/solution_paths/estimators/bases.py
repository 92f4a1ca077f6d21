"""scikit-learn's bases, which have no types: a type checker reads these in their place.

Below a base without types it would let a constructor take anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["BaseEstimator", "ClassifierMixin", "OutlierMixin", "RegressorMixin"]

if TYPE_CHECKING:

    class BaseEstimator:
        """What has parameters."""

        def __getattr__(self, name: str) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """What predicts labels."""

    class OutlierMixin:
        """What tells outliers."""

    class RegressorMixin:
        """What predicts numbers."""

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin
