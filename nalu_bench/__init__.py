"""Reproducible experiments with neural arithmetic units: configuration, training, statistics, verdicts."""

__version__ = "0.1.0"
