"""Paths of generalised linear models, which are curves: straight lines within a proved bound."""

from .follow import Lines, follow

__all__ = ["Lines", "follow"]
