"""Criterion of a solved run, and the step at which it is first met. Thresholds come from the task or other runs."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.errors import unknown
from nalu_bench.store.schema import Status
from nalu_bench.tasks.task import Task


def solved_facts(runs: pd.DataFrame, curves: pd.DataFrame, threshold: float, task: Task) -> pd.DataFrame:
    """`runs` with the columns `solved` and `solved_at`.

    solved: the judging measure at the selected step passes the threshold, see `Task.solves`. A run that diverges later
        stays solved; one that failed or was never evaluated is not.
    solved_at: the first evaluation after step 0 that passes it, for solved runs only; missing where the judging split
        is evaluated only at the end.

    Source: Madsen & Johansen 2020, section 4.1; their code. Deviations: step 0 is left out, as in the selection. This
    matters only if an untrained model solves the task.

    Args:
        runs: one row per seed.
        curves: one row per seed and evaluation, sorted by both, not thinned.
        threshold: in the unit of the judging measure.
        task: names the measure.
    """
    solved, solved_at = _solved_by(runs, curves, task, task.judges, threshold)
    return runs.assign(solved=solved, solved_at=solved_at)


def solved_facts_of(
    runs: pd.DataFrame, curves: pd.DataFrame, thresholds: Mapping[str, float], task: Task
) -> pd.DataFrame:
    """`runs` judged by several measures: the columns `solved_<measure>` and `solved_at_<measure>` of each.

    Args:
        runs, curves, task: as in `solved_facts`.
        thresholds: column of a followed measure, such as test_mse_10 -> its threshold.
    """
    facts: dict[str, Any] = {}
    for column, threshold in thresholds.items():
        solved, solved_at = _solved_by(runs, curves, task, column, threshold)
        facts |= {f"solved_{column}": solved, f"solved_at_{column}": solved_at}
    return runs.assign(**facts)


def solved_ones(runs: pd.DataFrame) -> "pd.Series[bool]":
    """Which runs are solved: one that failed, and so has no such fact, is not."""
    facts = runs["solved"] if "solved" in runs else pd.Series(False, index=runs.index)
    return facts.astype("boolean").fillna(False).astype(bool)


def all_failed(runs: pd.DataFrame) -> bool:
    """Whether no run of a cell was trained."""
    return bool((runs["status"] == Status.FAILED).all())


def passing(runs: pd.DataFrame, column: str, limit: float) -> NDArray[np.bool_]:
    """Which runs are below a limit in a column, at their selected step; those without a number there are not.

    Raises:
        UsageError if runs were finished and none has the column.
    """
    if column not in runs and all_failed(runs):
        return np.zeros(len(runs), bool)
    if column not in runs:
        raise unknown("column of the runs", column, [str(name) for name in runs])
    return runs[column].to_numpy(float) < limit


def _solved_by(
    runs: pd.DataFrame, curves: pd.DataFrame, task: Task, column: str, threshold: float
) -> "tuple[pd.Series[bool], pd.Series[int]]":
    solved = task.solves(runs[column], threshold)
    if column not in curves:
        return solved, pd.Series(pd.NA, index=runs.index, dtype="Int64")
    met = curves[task.solves(curves[column], threshold) & (curves["step"] > 0)]
    first = met.groupby("seed")["step"].min()
    return solved, runs["seed"].map(first).where(solved).astype("Int64")
