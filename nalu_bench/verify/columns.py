"""Check that runs and curves have the columns that their cells give them, and no others.

Which figures there are follows from the cell alone: from its task, its network and its recipe.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from nalu_bench.analysis.measure.asked import row_words
from nalu_bench.analysis.measure.measured import Measured, by_digest
from nalu_bench.analysis.measure.read import CURVES, RECORDED
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.store.schema import TRAINED

NOTE = "note"

UNTRAINED = ("seed", "status", NOTE)
"""The columns of a run that was not trained, beside what it was asked for as."""


def followed(cell: Cell) -> list[str]:
    """The figures of every evaluation: in the curves of a cell, and at the selected step in its runs."""
    own = ["sparsity_error", *cell.model.build(cell.task).followed(), "train_loss"]
    return [*_figures(cell, cell.task.evaluated), *own, *(["reinitialized"] if cell.recipe.reinitialize_after else [])]


def measured_in(cell: Cell) -> list[str]:
    """The figures of the runs of a cell."""
    tested = _figures(cell, [split for split in cell.task.tested if split not in cell.task.evaluated])
    return [*followed(cell), *tested]


def recorded(cell: Cell) -> list[str]:
    """The columns of the runs of a cell before a kind of report adds its facts."""
    return [*RECORDED, *measured_in(cell), NOTE]


def _figures(cell: Cell, splits: Sequence[str]) -> list[str]:
    return [f"{split}_{name}" for split in splits for name in cell.task.figures(split)]


def column_faults(measured: Measured, wanted: Sequence[Wanted]) -> Iterator[str]:
    """A line for every column that a cell lacks, or that its curves have and nothing follows.

    Further columns of its runs may be facts of a kind of report: see `facts`. The columns of other cells are empty.
    """
    trained = measured.runs["status"].isin(TRAINED)
    runs, cells = measured.runs[trained], set(measured.runs.loc[trained, "cell"])
    curves, names = by_digest(measured.curves), {*CURVES}
    for want in (one for one in wanted if one.cell.digest in cells):
        name, must = f"cell {want.cell.digest}", [*CURVES, *followed(want.cell)]
        names |= {*must}
        if absent := [column for column in recorded(want.cell) if column not in runs]:
            yield f"{name}: its runs must have the figures that its task measures, and lack {', '.join(absent)}"
        if absent := [column for column in must if column not in measured.curves]:
            yield f"{name}: its curves must have the figures that its task follows, and lack {', '.join(absent)}"
        rows = curves.get(want.cell.digest, pd.DataFrame())
        if foreign := [str(column) for column in rows if column not in must and rows[column].notna().any()]:
            yield f"{name}: its curves have {', '.join(foreign)}, and its task follows no such figure"
    for column in measured.curves.columns.difference([*names]):
        yield f"curves have the column {column}, which is a figure of no cell"
    yield from _untrained(measured.runs[~trained], wanted)


def _untrained(runs: pd.DataFrame, wanted: Sequence[Wanted]) -> Iterator[str]:
    """A line for every column in which a run that was not trained has a value."""
    asked = {*UNTRAINED, *(word for want in wanted[:1] for word in row_words(want))}
    for column in (column for column in runs if column not in asked):
        for cell in runs.loc[runs[column].notna() & (runs[column] != ""), "cell"].unique():
            yield f"cell {cell}: its runs that were not trained must have no {column}, and have one"
