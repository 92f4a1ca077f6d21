"""Quantile SVM."""
