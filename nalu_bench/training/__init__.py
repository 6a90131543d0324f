"""Training: the loop of one cell over a stacked axis of seeds."""

TRAINER_VERSION = 2
"""Raised whenever a change of this package alters the numbers of a run."""
