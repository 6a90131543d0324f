"""Criterion of a solved run, and the step at which it is first met. Thresholds come from the task."""

import pandas as pd

from nalu_bench.tasks.task import Task


def solved_facts(runs: pd.DataFrame, curves: pd.DataFrame, threshold: float, task: Task) -> pd.DataFrame:
    """`runs` with the columns `solved` and `solved_at`.

    solved: the judging measure at the selected step passes the threshold, see `Task.solves`. A run that diverges later
        stays solved; one that failed or was never evaluated is not.
    solved_at: the first evaluation after step 0 that passes it, for solved runs only.

    Source: Madsen & Johansen 2020, section 4.1; their code. Deviations: step 0 is left out, as in the selection. This
    matters only if an untrained model solves the task.

    Args:
        runs: one row per seed.
        curves: one row per seed and evaluation, sorted by both, not thinned.
        threshold: in the unit of the judging measure.
        task: names the measure.
    """
    solved = task.solves(runs[task.judges], threshold)
    passing = curves[task.solves(curves[task.judges], threshold) & (curves["step"] > 0)]
    first = passing.groupby("seed")["step"].min()
    solved_at = runs["seed"].map(first).where(solved).astype("Int64")
    return runs.assign(solved=solved, solved_at=solved_at)
