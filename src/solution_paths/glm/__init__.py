"""Paths of generalised linear models, which are curves: straight lines within a proved bound."""

from .columns import Columns
from .follow import Lines, follow
from .losses import LOSSES, Loss
from .newton import optimum
from .penalised import Penalised, Point

__all__ = ["LOSSES", "Columns", "Lines", "Loss", "Penalised", "Point", "follow", "optimum"]
