"""The threshold that a solved run passes: the same for the progress bar, the terminal and the tables."""

from typing import Any

from nalu_bench.plan.cell import Cell

SAMPLES = 1_000_000
"""Examples from which a threshold is simulated."""

REFERENCE = "reference"
"""A criterion computed from the experiment's runs of this role; its threshold is unknown while they train."""


def threshold(cell: Cell, criterion: str = "task") -> float | None:
    """The value of the judging measure that a solved run of the cell passes, see `Task.solves`.

    It is rounded to ten digits: further ones depend on how a processor orders its sums.

    Returns:
        None if the task has no criterion, or if the criterion comes from other runs.

    Raises:
        UsageError for a criterion that the task does not know.
    """
    if criterion == REFERENCE:
        return None
    value = cell.task.threshold(criterion, samples=SAMPLES)
    return None if value is None else float(f"{value:.10g}")


def judged_by(cell: Cell, criterion: str = "task") -> dict[str, Any]:
    """The criterion of a cell as manifests hold it; empty if its task has none."""
    limit = threshold(cell, criterion)
    return {} if limit is None else {"criterion": criterion, "threshold": limit}
