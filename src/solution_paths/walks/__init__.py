"""Walks along staircases: what the models are made of, read by the homotopy."""
