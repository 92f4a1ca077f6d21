"""Survey."""
