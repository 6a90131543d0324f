"""Criterion of a solved run, and the step at which it is first met. Thresholds come from the task."""

import pandas as pd


def solved_facts(runs: pd.DataFrame, curves: pd.DataFrame, threshold: float, judge: str) -> pd.DataFrame:
    """`runs` with the columns `solved` and `solved_at`.

    solved: the error on the judging split at the selected step is below the threshold. A run that diverges later
        stays solved; one that failed or was never evaluated is not.
    solved_at: the first evaluation after step 0 whose error is below the threshold, for solved runs only.

    Source: Madsen & Johansen 2020, section 4.1; their code. Deviations: step 0 is left out, as in the selection. This
    matters only if an untrained model solves the task.

    Args:
        runs: one row per seed.
        curves: one row per seed and evaluation, sorted by both, not thinned.
        threshold: in squared target units.
        judge: the column with the error, such as `extrapolation_mse`.
    """
    solved = runs[judge] < threshold
    below = curves[(curves[judge] < threshold) & (curves["step"] > 0)]
    first = below.groupby("seed")["step"].min()
    solved_at = runs["seed"].map(first).where(solved).astype("Int64")
    return runs.assign(solved=solved, solved_at=solved_at)
