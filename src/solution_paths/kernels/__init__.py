"""Kernels, centred kernels for models with a free bias, and shifts of columns and targets."""

from .kernel import KERNELS, LINEAR, Kernel

__all__ = ["KERNELS", "LINEAR", "Kernel"]
