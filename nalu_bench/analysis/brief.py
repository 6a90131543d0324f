"""A few lines on some cells, for the terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nalu_bench.store.reader import Store

if TYPE_CHECKING:
    from nalu_bench.runner import Request


def brief(store: Store, requests: "Sequence[Request]") -> str:
    """One line a cell: seeds stored, solved, and the median extrapolation error at the selected step."""
    return "\n".join(_line(store, request) for request in requests)


def _line(store: Store, request: "Request") -> str:
    cell = request.cell
    runs = store.runs(cell)
    runs = runs[runs["seed"].isin(request.seeds)]
    text = f"{cell.label():50} {len(runs):4}/{len(request.seeds)} runs"
    if runs.empty:
        return text
    judge = f"{cell.task.evaluated[-1]}_mse"
    threshold = cell.task.threshold("task")
    if threshold is not None:
        text += f"  solved {int((runs[judge] < threshold).sum())}"
    diverged = int((runs["status"] == "diverged").sum())
    text += f"  median extrapolation MSE {runs[judge].median():.3g}" + (f"  diverged {diverged}" if diverged else "")
    return text
