"""Paths of generalised linear models, which are curves: straight lines within a proved bound."""

from .follow import Lines, follow
from .losses import LOSSES, Loss

__all__ = ["LOSSES", "Lines", "Loss", "follow"]
