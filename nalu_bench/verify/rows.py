"""Check that the tables of a folder of results have the form that reports write: text, types, order.

Nobody else writes these files, so another form was made by hand, although it is read as the same numbers.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.read import CURVES, FACTS, PREDICTIONS, RUNS_FILE, WEIGHTS, runs_text
from nalu_bench.plan.cell import Wanted

SORTED = {"runs": ["cell", "seed"], "curves": CURVES, "predictions": PREDICTIONS, "weights": WEIGHTS}
"""Table -> the columns by which its rows are sorted, the cells in the order of the plan."""

HELD = {
    "predictions": [*PREDICTIONS, "label", "target", "prediction"],
    "weights": [*WEIGHTS, "kind", "shape", "values"],
}
"""Table -> its columns, of those whose columns are the same for all tasks."""

SOLVED, SOLVED_AT = FACTS


def form_faults(folder: Path, measured: Measured, wanted: Sequence[Wanted]) -> Iterator[str]:
    """A line for every table of another form."""
    stated = (folder / RUNS_FILE).read_bytes().decode("utf-8")
    if stated != (again := runs_text(measured.runs)) and (why := _other_form(stated, again)):
        yield f"{RUNS_FILE} must be written as report writes it, and has {why}"
    for name in (name for name in map(str, measured.runs) if name.startswith(SOLVED) and SOLVED_AT not in name):
        if others := sorted({str(one) for one in measured.runs[name].dropna() if not isinstance(one, bool | np.bool_)}):
            yield f"{name} must be True or False in {RUNS_FILE}, got {others[0]:.60}"
    for name, columns in HELD.items():
        rows: pd.DataFrame = getattr(measured, name)
        if rows.empty and (folder / f"{name}.parquet").exists():
            yield f"{name} must be left out where they have no rows, and report writes no such file"
        elif len(rows) and list(rows) != columns:
            yield f"{name} must have the columns {', '.join(columns)}, got {', '.join(map(str, rows)):.200}"
    yield from _disordered(measured, wanted)


def _other_form(stated: str, again: str) -> str:
    """What the text of a table has that writing it again leaves out; empty if nothing."""
    rows, others = (list(csv.reader(io.StringIO(text, newline=""))) for text in (stated, again))
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerows(rows)
    if written.getvalue() != stated or len(rows) != len(others):
        return "other ends of lines, quotes or empty lines"
    for number, (row, other) in enumerate(zip(rows, others, strict=True), 1):
        if len(row) != len(other):
            return f"{len(row)} cells in line {number:,}, of {len(other)}"
        for text, must in zip(row, other, strict=True) if row != other else ():
            if text != must and not _single(text, must):
                return f"{text!r:.60} for {must!r:.60} in line {number:,}"
    return ""


def _single(text: str, number: str) -> bool:
    """Whether a text is how single precision, in which a run is stored, is written: 1e-04 for 0.0001."""
    try:
        return not number.isdigit() and str(np.float32(number)) == text
    except ValueError:
        return False


def _disordered(measured: Measured, wanted: Sequence[Wanted]) -> Iterator[str]:
    """A line for every table whose rows have another order; rows of other cells are a fault of their own."""
    order = {want.cell.digest: position for position, want in enumerate(wanted)}
    for name, columns in SORTED.items():
        rows: pd.DataFrame = getattr(measured, name).reindex(columns=columns)
        ranked = rows.assign(cell=rows["cell"].map(order)).dropna(subset="cell")
        if not pd.MultiIndex.from_frame(ranked).is_monotonic_increasing:
            yield f"{name} must have their rows in the order of the plan's cells and of {' and '.join(columns[1:])}"
