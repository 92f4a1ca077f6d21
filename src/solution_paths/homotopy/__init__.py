"""The homotopy: one loop that follows the optima of a problem along a parameter."""
