"""Check that the facts of committed runs follow from the curves committed with them."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench import registry
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.tasks.task import Task


class Check(StrEnum):
    """Result of checking a fact.

    recomputed: the rows at and just before the step are kept, and give the same step.
    bracketed: the curve is thinned there. Kept points on both sides enclose the step, and none contradicts it.
    contradicted: a kept point contradicts the fact.
    """

    RECOMPUTED = "recomputed"
    BRACKETED = "bracketed"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True)
class Finding:
    """The check of one fact of one run; `why` explains a contradiction."""

    cell: str
    seed: int
    fact: str
    check: Check
    why: str = ""


def findings(measured: Measured, manifest: dict[str, Any]) -> Iterator[Finding]:
    """Check the selected step, the errors there and the solved step of every run with a curve.

    Args:
        measured: runs and curves.
        manifest: the manifest of the same folder, with the identities of the cells and their criteria.
    """
    curves = dict(list(measured.curves.groupby(["cell", "seed"])))
    for run in measured.runs.to_dict("records"):
        curve = curves.get((run["cell"], run.get("seed")))
        if curve is None:
            continue
        cell = manifest["cells"][run["cell"]]
        task: type[Task] = registry.tasks.load(cell["identity"]["task"]["kind"])
        yield from _of_run(run, curve, task, cell)


def _of_run(run: dict[Any, Any], curve: pd.DataFrame, task: type[Task], cell: dict[str, Any]) -> Iterator[Finding]:
    selecting = f"{task.evaluated[0]}_{task.selecting}"
    last = cell["identity"]["recipe"]["selection"] == "last"
    sign = -1.0 if task.larger_is_better else 1.0
    if not pd.isna(run["selected_step"]):
        yield _selected(run, curve, selecting, sign, last)
        at = curve[curve["step"] == run["selected_step"]]
        if len(at):
            yield _errors_there(run, at.iloc[0], task)
    elif np.isfinite(_candidates(run, curve)[selecting]).any():
        yield _finding(run, "selected_step", Check.CONTRADICTED, "none, and the curve has finite errors")
    judged = f"{(*task.evaluated, *task.tested)[-1]}_{task.judging}"
    if "solved" in run and not pd.isna(run["solved"]):
        yield _solved(run, curve, task, judged, cell["criteria"]["threshold"])
    for column, threshold in cell["criteria"].get("thresholds", {}).items():
        yield _solved(run, curve, task, column, threshold, f"_{column}")


def _selected(run: dict[Any, Any], curve: pd.DataFrame, column: str, sign: float, last: bool) -> Finding:
    """Check that the selected step has the first smallest finite error of the selecting split, or the last one."""
    step, fact = int(run["selected_step"]), "selected_step"
    errors = _candidates(run, curve)
    errors = errors[np.isfinite(errors[column])]
    values, steps = sign * errors[column].to_numpy(np.float32), errors["step"].to_numpy()
    best = sign * np.float32(run[column])
    wrong = steps > step if last else (values < best) | ((values == best) & (steps < step))
    if wrong.any():
        found = f"{column} at step {steps[wrong][0]:,} is {sign * values[wrong][0]:g}, at step {step:,} {sign * best:g}"
        return _finding(run, fact, Check.CONTRADICTED, found)
    return _finding(run, fact, _enclosed(step, curve, int(run["log_every"])))


def _candidates(run: dict[Any, Any], curve: pd.DataFrame) -> pd.DataFrame:
    """The evaluations that can be selected: all but that of step 0, unless nothing is trained."""
    return curve[curve["step"] > 0] if run["steps"] else curve


def _errors_there(run: dict[Any, Any], row: "pd.Series[Any]", task: type[Task]) -> Finding:
    """Check that the errors of a run are those of its curve at the selected step. Tested splits have no curve."""
    tested = tuple(f"{split}_" for split in task.tested if split not in task.evaluated)
    columns = [name for name in row.index if name in run and not name.startswith(("cell", "seed", "step", *tested))]
    for name in columns:
        if not np.array_equal(np.float32(run[name]), np.float32(row[name]), equal_nan=True):
            why = f"{name} is {run[name]:g}, and {row[name]:g} in its curve"
            return _finding(run, "errors", Check.CONTRADICTED, why)
    return _finding(run, "errors", Check.RECOMPUTED)


def _solved(
    run: dict[Any, Any], curve: pd.DataFrame, task: type[Task], column: str, threshold: float, suffix: str = ""
) -> Finding:
    """Check `solved` by the error at the selected step, and `solved_at` as the first step below the threshold.

    With a `suffix` these are `solved<suffix>` and `solved_at<suffix>`.
    """
    fact, at_fact = f"solved{suffix}", f"solved_at{suffix}"
    solved = bool(task.solves(np.float32(run[column]), threshold))
    if bool(run[fact]) != solved or pd.isna(run[at_fact]) == solved:
        why = f"{column} is {run[column]:g}, the threshold {threshold:g}"
        return _finding(run, fact, Check.CONTRADICTED, why)
    if not solved:
        return _finding(run, fact, Check.RECOMPUTED)
    step = int(run[at_fact])
    later = curve[curve["step"] > 0]
    before, at = later[later["step"] < step], later[later["step"] == step]
    if task.solves(before[column], threshold).any() or not task.solves(at[column], threshold).all():
        return _finding(run, at_fact, Check.CONTRADICTED, f"step {step:,}, and the curve says otherwise")
    return _finding(run, at_fact, _enclosed(step, curve, int(run["log_every"])))


def _enclosed(step: int, curve: pd.DataFrame, log_every: int) -> Check:
    """RECOMPUTED if the rows at and just before a step are kept, BRACKETED if only points around it are."""
    steps = set(curve["step"])
    first = step - log_every < min(steps)
    if step in steps and (first or step - log_every in steps):
        return Check.RECOMPUTED
    return Check.BRACKETED if min(steps) <= step <= max(steps) else Check.CONTRADICTED


def _finding(run: dict[Any, Any], fact: str, check: Check, why: str = "") -> Finding:
    return Finding(str(run["cell"]), int(run["seed"]), fact, check, why)
