"""Weighted SVM."""
