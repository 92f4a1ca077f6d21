"""One file for each model: its arguments, and the `Problem` that they state."""
