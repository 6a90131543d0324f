"""The threshold that a solved run passes: the same for the progress bar, the terminal and the tables."""

import math
from typing import Any

from nalu_bench.errors import FAILURES, UsageError, named
from nalu_bench.plan.cell import Cell

SAMPLES = 1_000_000
"""Examples from which a threshold is simulated."""

REFERENCE = "reference"
"""A criterion computed from the experiment's runs of this role; its threshold is unknown while they train."""


def threshold(cell: Cell, criterion: str = "task") -> float | None:
    """The value of the judging measure that a solved run of the cell passes, see `Task.solves`.

    It is rounded to ten digits: further ones depend on how a processor orders its sums.

    Returns:
        None if the task has no criterion, if its values have no threshold, or if the criterion comes from other runs.

    Raises:
        UsageError for a criterion that the task does not know.
    """
    if criterion == REFERENCE:
        return None
    try:
        value: Any = cell.task.threshold(criterion, samples=SAMPLES)
    except UsageError:
        raise
    except FAILURES as error:  # whatever a task of another package raises
        raise UsageError(f"the threshold of the task {cell.task.kind} cannot be computed: {named(error)}.") from error
    no_number = isinstance(value, bool | str) or not hasattr(value, "__float__")
    if value is not None and (no_number or math.isnan(float(value))):
        raise UsageError(f"the threshold of the task {cell.task.kind} must be a number or None, got {value!r:.60}.")
    return None if value is None else float(f"{float(value):.10g}")


def judged_by(cell: Cell, criterion: str = "task") -> dict[str, Any]:
    """The criterion of a cell as manifests hold it: empty if its task has none, without a threshold if its values do.

    The key `none` then holds the reason, see `Task.without_threshold`.
    """
    limit = threshold(cell, criterion)
    if limit is not None:
        return {"criterion": criterion, "threshold": limit}
    reason = "" if criterion == REFERENCE else cell.task.without_threshold(criterion)
    return {"criterion": criterion, "none": reason} if reason else {}


def needed(cell: Cell, criterion: str, report: str) -> dict[str, Any]:
    """The criterion of a cell for a report that cannot do without; raises UsageError if there is no threshold."""
    found = judged_by(cell, criterion)
    if "threshold" not in found:
        reason = f": {found['none']}" if found else ""
        raise UsageError(f"{report} needs tasks with a threshold, and {cell.label()} has none{reason}.")
    return found
