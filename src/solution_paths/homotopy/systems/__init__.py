"""The linear systems of the homotopy: given the places of all coordinates, the point."""

from __future__ import annotations

from .dense import System
from .kernels import Direction

__all__ = ["Direction", "System"]
