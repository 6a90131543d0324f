"""A short summary of cells for the terminal."""

from collections.abc import Sequence

from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.criteria import threshold
from nalu_bench.store.reader import Store
from nalu_bench.store.schema import Status


def brief(store: Store, wanted: Sequence[Wanted]) -> str:
    """One line per cell: seeds stored, seeds solved, and the median of the judging measure at the selected step."""
    return "\n".join(_line(store, want) for want in wanted)


def _line(store: Store, want: Wanted) -> str:
    cell = want.cell
    runs = store.runs(cell)
    runs = runs[runs["seed"].isin(want.seeds)]
    reported = len(set(want.seeds) & store.finished_seeds(cell)) - len(runs)
    text = f"{cell.digest}  {want.label():50} {len(runs):4}/{len(want.seeds)} runs" + (
        f", {reported} in results/" if reported else ""
    )
    if runs.empty:
        return text
    judge = cell.task.judges
    limit = threshold(cell, want.criterion)
    if limit is not None:
        text += f"  solved {int(cell.task.solves(runs[judge], limit).sum())}"
    diverged = int((runs["status"] == Status.DIVERGED).sum())
    return text + f"  median {judge} {runs[judge].median():.3g}" + (f"  diverged {diverged}" if diverged else "")
