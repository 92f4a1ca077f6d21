"""Distributionally robust models."""
