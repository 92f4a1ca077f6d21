"""Robust SVM."""
