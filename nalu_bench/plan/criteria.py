"""When a run counts as solved: the one threshold that the progress bar, the terminal and the tables ask for."""

from nalu_bench.plan.cell import Cell

SAMPLES = 1_000_000
"""Examples of a simulated threshold."""

REFERENCE = "reference"
"""The criterion that comes from runs of the same experiment, those of this role: unknown while they are trained."""


def threshold(cell: Cell, criterion: str = "task") -> float | None:
    """The error on the judging split under which a run of the cell counts as solved.

    Ten digits: more would depend on how a processor orders its sums.

    Returns:
        None where the task has no criterion, and where the criterion comes from other runs.

    Raises:
        UsageError for a criterion that the task does not know.
    """
    if criterion == REFERENCE:
        return None
    value = cell.task.threshold(criterion, samples=SAMPLES)
    return None if value is None else float(f"{value:.10g}")
