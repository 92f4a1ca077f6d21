"""One folder for each paper: its data, experiments, outputs and published numbers."""
