"""The part of a run's record that `results/` commits: points of its curve, small matrices and gates."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

POINTS = 125
"""A curve of at least twice as many evaluations is thinned to at least so many, unless its report needs fewer.

A run of a few measures then weighs less than 4 kB.
"""

LARGEST = 1024
"""Largest number of entries of a committed matrix. Larger matrices stay in the run store."""


def kept_points(curves: pd.DataFrame, runs: pd.DataFrame, points: int = POINTS) -> pd.DataFrame:
    """Thin the curves of a cell to so many evaluations, or a few more, that its runs share, and some of each run.

    The latter are the evaluations at and just before its selected step and its solved steps, from which these steps can
    be recomputed. Thinning what is thinned already changes nothing.

    Args:
        curves: one row per run and evaluation, sorted by both.
        runs: one row per run, with `log_every`, `selected_step`, and `solved_at` or several `solved_at_...` if the
            report judges it.
    """
    if curves.empty:
        return curves
    steps = _shared_steps(curves)
    kept = curves["step"].isin([*steps[:: max(1, len(steps) // points)], steps[-1]])
    every = int(runs["log_every"].iloc[0])
    for column in (name for name in runs if str(name).startswith(("selected_step", "solved_at"))):
        own = curves["seed"].map(runs.drop_duplicates("seed").set_index("seed")[column]).astype("Float64")
        kept |= ((curves["step"] == own) | (curves["step"] == own - every)).fillna(False).astype(bool)
    return curves[kept].reset_index(drop=True)


def _shared_steps(curves: pd.DataFrame) -> NDArray[np.int64]:
    """The steps at which most of the runs have an evaluation that go on for so long."""
    steps, counts = np.unique(curves["step"].to_numpy(), return_counts=True)
    ends = np.sort(curves.groupby("seed")["step"].max().to_numpy())
    running = len(ends) - np.searchsorted(ends, steps)
    shared: NDArray[np.int64] = steps[2 * counts > running]
    return shared


def small_weights(weights: pd.DataFrame) -> pd.DataFrame:
    """The effective matrices, gates and arrays with at most `LARGEST` entries."""
    if weights.empty:
        return weights
    return weights[weights["values"].map(len) <= LARGEST].reset_index(drop=True)
