"""The homotopy: one loop that follows the optima of a problem along a parameter."""

from __future__ import annotations

from .solution import SolutionPath, solution_path

__all__ = ["SolutionPath", "solution_path"]
