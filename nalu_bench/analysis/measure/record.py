"""The part of a run's record that `results/` commits: points of its curve, small matrices and gates."""

import numpy as np
import pandas as pd

POINTS = 500
"""Number of evaluations of a run that are kept for drawing."""

LARGEST = 1024
"""Largest number of entries of a committed matrix. Larger matrices stay in the run store."""


def kept_points(curves: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Thin the curves of a cell to `POINTS` evaluations common to all its runs, and a few more of each run.

    These are the evaluations at and just before its selected step and its solved steps, from which these steps can be
    recomputed.

    Args:
        curves: one row per run and evaluation, sorted by both.
        runs: one row per run, with `selected_step`, and `solved_at` or several `solved_at_...` if the report judges it.
    """
    if curves.empty:
        return curves
    steps = np.unique(curves["step"].to_numpy())
    stride = -(-len(steps) // POINTS)
    common = np.union1d(steps[::stride], steps[-1:])
    kept = curves["step"].isin(common)
    before = dict(zip(steps[1:], steps[:-1], strict=True))
    for column in (name for name in runs if str(name).startswith(("selected_step", "solved_at"))):
        own = curves["seed"].map(runs.set_index("seed")[column]).astype("Float64")
        kept |= ((curves["step"] == own) | (curves["step"] == own.map(before))).fillna(False).astype(bool)
    return curves[kept].reset_index(drop=True)


def small_weights(weights: pd.DataFrame) -> pd.DataFrame:
    """The effective matrices, gates and arrays with at most `LARGEST` entries."""
    if weights.empty:
        return weights
    return weights[weights["values"].map(len) <= LARGEST].reset_index(drop=True)
