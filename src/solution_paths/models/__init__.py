"""One file for each model: its staircases, its map, and what moves."""
