"""Check that the facts of committed runs follow from the curves committed with them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench import registry
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.store.schema import TRAINED, Status
from nalu_bench.tasks.task import Task

Run = dict[Any, Any]
"""A row of `runs`."""

Curve = Mapping[str, np.ndarray]
"""Column -> the values of one run, sorted by step. Arrays are ten times as fast here as frames."""


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

    def describe(self) -> str:
        """`cell 0f8ef8cf5a31560f seed 3: solved_at is contradicted by its curve (...)`."""
        return f"cell {self.cell} seed {self.seed}: {self.fact} is {self.check} by its curve ({self.why})"


def findings(measured: Measured, manifest: Mapping[str, Any]) -> Iterator[Finding]:
    """Check the end, the selected step, the errors there and the solved steps of every run that was trained.

    Args:
        measured: runs and curves.
        manifest: the manifest of the same folder, with the identities of the cells and their criteria.
    """
    curves = _by_run(measured.curves)
    for run in measured.runs.to_dict("records"):
        if run["status"] not in TRAINED:
            continue
        curve = curves.get((run["cell"], run["seed"]))
        if curve is None:
            yield _finding(run, "status", Check.CONTRADICTED, f"{run['status']}, and no curve is kept")
            continue
        cell = manifest["cells"][run["cell"]]
        task: type[Task] = registry.tasks.load(cell["identity"]["task"]["kind"])
        yield from _of_run(run, curve, task, cell)


def contradictions(measured: Measured, manifest: Mapping[str, Any]) -> list[str]:
    """A line for every fact that a curve contradicts."""
    return [one.describe() for one in findings(measured, manifest) if one.check == Check.CONTRADICTED]


def _by_run(curves: pd.DataFrame) -> dict[tuple[Any, Any], Curve]:
    """(cell, seed) -> its curve."""
    columns = {str(name): curves[name].to_numpy() for name in curves}
    groups: dict[Any, Any] = dict(curves.groupby(["cell", "seed"]).indices) if len(curves) else {}
    sliced = {key: {name: values[rows] for name, values in columns.items()} for key, rows in groups.items()}
    return {key: _rows(curve, np.argsort(curve["step"], kind="stable")) for key, curve in sliced.items()}


def _rows(curve: Curve, chosen: np.ndarray) -> Curve:
    """Some rows of a curve, by a mask or by their numbers."""
    return {name: values[chosen] for name, values in curve.items()}


FURTHER = "threshold_"
"""The start of the key of a further criterion's threshold; its name follows."""


def _of_run(run: Run, curve: Curve, task: type[Task], cell: Mapping[str, Any]) -> Iterator[Finding]:
    yield _ended(run, curve)
    selecting = f"{task.evaluated[0]}_{task.selecting}"
    if not _missing(run["selected_step"]):
        last = cell["identity"]["recipe"]["selection"] == "last"
        yield _selected(run, curve, selecting, -1.0 if task.larger_is_better else 1.0, last)
        at = np.flatnonzero(curve["step"] == run["selected_step"])
        if len(at):
            yield _errors_there(run, curve, at[0], task)
    elif np.isfinite(_candidates(run, curve)[selecting]).any():
        yield _finding(run, "selected_step", Check.CONTRADICTED, "none, and the curve has finite errors")
    elif stated := [name for name in _of_splits(run, *task.evaluated, *task.tested) if not _missing(run[name])]:
        why = f"{stated[0]} is {run[stated[0]]:g}, and no step is selected"
        yield _finding(run, "errors", Check.CONTRADICTED, why)
    judged = f"{(*task.evaluated, *task.tested)[-1]}_{task.judging}"
    if "threshold" in cell["criteria"]:
        yield _solved(run, curve, task, judged, cell["criteria"]["threshold"])
    for column, threshold in cell["criteria"].get("thresholds", {}).items():
        yield _solved(run, curve, task, column, threshold, f"_{column}")
    for key, threshold in cell["criteria"].items():
        if key.startswith(FURTHER):
            yield _passed(run, task, judged, threshold, f"solved_{key.removeprefix(FURTHER)}")


def _ended(run: Run, curve: Curve) -> Finding:
    """Check the outcome: a run that diverges has no loss from then on, and any other is trained to its last step."""
    diverged, last = run["status"] == Status.DIVERGED, int(run["last_step"])
    trained, selected = _rows(curve, curve["step"] > 0), run["selected_step"]
    if not _missing(selected) and int(selected) > last:
        why = f"{run['status']} at step {last:,}, and step {int(selected):,} is selected"
        return _finding(run, "status", Check.CONTRADICTED, why)
    if not np.isnan(curve["train_loss"][curve["step"] == 0]).all():
        return _finding(run, "status", Check.CONTRADICTED, "its curve has a loss of training before the first step")
    trains = np.isfinite(trained["train_loss"])  # a loss that is infinite ends a run as one that is no number does
    gone, kept = trained["step"][~trains], trained["step"][trains]
    if diverged:
        right = last == run["diverged_at"] and last <= min(gone, default=-1) and last > max(kept, default=0)
    else:
        right = _missing(run["diverged_at"]) and last == run["steps"] == curve["step"][-1] and not len(gone)
    if not right:
        lost = f" and none at step {gone[0]:,}" if len(gone) else ""
        why = f"{run['status']} at step {last:,}, and its curve has a loss up to step {max(kept, default=0):,}{lost}"
        return _finding(run, "status", Check.CONTRADICTED, why)
    return _finding(run, "status", Check.RECOMPUTED)


def _selected(run: Run, curve: Curve, column: str, sign: float, last: bool) -> Finding:
    """Check that the selected step has the first smallest finite error of the selecting split, or the last one."""
    step, fact = int(run["selected_step"]), "selected_step"
    errors = _candidates(run, curve)
    errors = _rows(errors, np.isfinite(errors[column]))
    values, steps = sign * errors[column].astype(np.float32), errors["step"]
    best = sign * np.float32(run[column])
    wrong = steps > step if last else (values < best) | ((values == best) & (steps < step))
    if wrong.any():
        found = f"{column} at step {steps[wrong][0]:,} is {sign * values[wrong][0]:g}, at step {step:,} {sign * best:g}"
        return _finding(run, fact, Check.CONTRADICTED, found)
    return _enclosed(run, fact, step, curve)


def _candidates(run: Run, curve: Curve) -> Curve:
    """The evaluations that can be selected: all but that of step 0, unless nothing is trained."""
    return _rows(curve, curve["step"] > 0) if run["steps"] else curve


def _errors_there(run: Run, curve: Curve, at: int, task: type[Task]) -> Finding:
    """Check that the errors of a run are those of its curve at the selected step.

    A split that is tested alone has no curve; all figures of the others must be there.
    """
    once = {*_of_splits(run, *(split for split in task.tested if split not in task.evaluated))}
    for name in dict.fromkeys([*curve, *_of_splits(run, *task.evaluated)]):
        if name not in run or name in once or name in ("cell", "seed", "step"):
            continue
        stated, found = np.float32(run[name]), np.float32(curve[name][at] if name in curve else np.nan)
        if stated != found and not (np.isnan(stated) and np.isnan(found)):
            why = f"{name} is {stated:g}, and {found:g} in its curve"
            return _finding(run, "errors", Check.CONTRADICTED, why)
    return _finding(run, "errors", Check.RECOMPUTED)


def _of_splits(run: Run, *splits: str) -> list[str]:
    """The figures of some splits in a run."""
    return [name for name in run if name.startswith(tuple(f"{split}_" for split in splits))]


def _solved(run: Run, curve: Curve, task: type[Task], column: str, threshold: float, suffix: str = "") -> Finding:
    """Check `solved` by the error at the selected step, and `solved_at` as the first step below the threshold.

    A split that is tested alone has no such step. With a `suffix` these are `solved<suffix>` and `solved_at<suffix>`.
    """
    fact, at_fact = f"solved{suffix}", f"solved_at{suffix}"
    solved = bool(task.solves(np.float32(run[column]), threshold))
    followed = column.startswith(tuple(f"{split}_" for split in task.evaluated))
    if _missing(run[fact]) or bool(run[fact]) != solved or _missing(run[at_fact]) == (solved and followed):
        why = f"{column} is {run[column]:g}, the threshold {threshold:g}"
        return _finding(run, fact, Check.CONTRADICTED, why)
    if not (solved and followed):
        return _finding(run, fact, Check.RECOMPUTED)
    step = int(run[at_fact])
    passes, steps = np.asarray(task.solves(curve[column], threshold)), curve["step"]
    if passes[(steps > 0) & (steps < step)].any() or not passes[steps == step].all():
        return _finding(run, at_fact, Check.CONTRADICTED, f"step {step:,}, and the curve says otherwise")
    return _enclosed(run, at_fact, step, curve)


def _passed(run: Run, task: type[Task], column: str, threshold: float, fact: str) -> Finding:
    """Check by the error at the selected step whether a run passes a further criterion."""
    passed = bool(task.solves(np.float32(run[column]), threshold))
    if _missing(run[fact]) or bool(run[fact]) != passed:
        return _finding(run, fact, Check.CONTRADICTED, f"{column} is {run[column]:g}, the threshold {threshold:g}")
    return _finding(run, fact, Check.RECOMPUTED)


def _enclosed(run: Run, fact: str, step: int, curve: Curve) -> Finding:
    """RECOMPUTED if the rows at and just before a step are kept, BRACKETED if only points around it are."""
    steps, every = set(curve["step"].tolist()), int(run["log_every"])
    if step in steps and (step - every < min(steps) or step - every in steps):
        return _finding(run, fact, Check.RECOMPUTED)
    if step % every or not min(steps) <= step <= max(steps):
        return _finding(run, fact, Check.CONTRADICTED, f"step {step:,}, which is no evaluation of its curve")
    return _finding(run, fact, Check.BRACKETED)


def _finding(run: Run, fact: str, check: Check, why: str = "") -> Finding:
    return Finding(str(run["cell"]), int(run["seed"]), fact, check, why)


def _missing(value: Any) -> bool:
    return bool(pd.isna(value))
