"""Kernels, their centred forms beside a free bias, and columns and targets far from zero."""

from .kernel import KERNELS, LINEAR, Kernel

__all__ = ["KERNELS", "LINEAR", "Kernel"]
