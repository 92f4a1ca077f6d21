"""What every paper's experiments share: cells, rows, timing, certificates, settings."""
