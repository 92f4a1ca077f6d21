"""The walker, its stages, and what they need: the map, the factor, staircases, starts, traces."""
