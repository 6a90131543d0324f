"""The part of a run's record that `results/` commits: points of its curve, small matrices and gates."""

import numpy as np
import pandas as pd

POINTS = 500
"""Evaluations of one run that are kept for drawing."""

LARGEST = 1024
"""Numbers of the largest matrix that is committed; larger ones stay in the run store."""


def kept_points(curves: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The curves of a cell, thinned to `POINTS` evaluations common to all its runs, and for each run the evaluations
    at and just before its selected step and its solved step: from these both steps can be recomputed.

    Args:
        curves: one row a run and evaluation, sorted by both.
        runs: one row a run, with `selected_step`, and `solved_at` where the report judges it.
    """
    if curves.empty:
        return curves
    steps = np.unique(curves["step"].to_numpy())
    stride = -(-len(steps) // POINTS)
    common = np.union1d(steps[::stride], steps[-1:])
    kept = curves["step"].isin(common)
    before = dict(zip(steps[1:], steps[:-1], strict=True))
    for column in ("selected_step", "solved_at"):
        if column in runs:
            own = curves["seed"].map(runs.set_index("seed")[column]).astype("Float64")
            kept |= ((curves["step"] == own) | (curves["step"] == own.map(before))).fillna(False).astype(bool)
    return curves[kept].reset_index(drop=True)


def small_weights(weights: pd.DataFrame) -> pd.DataFrame:
    """The effective matrices and gates of at most `LARGEST` numbers."""
    if weights.empty:
        return weights
    return weights[weights["values"].map(len) <= LARGEST].reset_index(drop=True)
