"""A kind of report with these runs gives these lines: the words in which its tests speak."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.render.text import texts
from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.layout import Table
from nalu_bench.analysis.table.line import Line


def runs_of(model: str, seeds: int, **columns: Any) -> pd.DataFrame:
    """Finished runs of one cell, all that were asked for; further columns, and other values, by name."""
    usual = {"role": "cell", "task": "arithmetic", "setting": "", "operation": "", "steps": 100, "log_every": 1000}
    facts = usual | {"model": model, "asked": seeds, "status": "finished"} | columns
    cell = "/".join(str(facts[word]) for word in ("role", "model", "operation", "setting"))
    return pd.DataFrame({"seed": range(seeds), "cell": cell} | facts)


def measured_of(*cells: pd.DataFrame, **further: pd.DataFrame) -> Measured:
    """The measurements of some cells, with curves, predictions or weights."""
    return Measured(pd.concat(cells, ignore_index=True), **further)


def lines_of(kind: Kind, measured: Measured) -> list[Line]:
    """Our numbers beside the printed ones, with their verdicts."""
    return kind.lines(measured)


def table_of(kind: Kind, measured: Measured) -> pd.DataFrame:
    """`lines_of` as the frame that `table.csv` holds."""
    return frame(lines_of(kind, measured))


def lines_with(lines: Sequence[Line], **words: str) -> list[Line]:
    """The lines whose places have these words, such as model="nmu"."""
    return [line for line in lines if words.items() <= line.place.words().items()]


def line_with(lines: Sequence[Line], **words: str) -> Line:
    """The only line whose place has these words."""
    (line,) = lines_with(lines, **words)
    return line


def verdicts_of(lines: Sequence[Line], word: str = "metric") -> dict[str, str]:
    """A word of the place -> the verdict; "" where nothing is compared."""
    return {line.place.words()[word]: str(line.verdict or "") for line in lines}


def claims_of(lines: Sequence[Line], **words: str) -> list[Line]:
    """The lines of claims whose places have these words."""
    return [line for line in lines_with(lines, **words) if line.place.metric.startswith("claim_")]


def cells_of(table: Table) -> list[list[str]]:
    """The rows of a table as text."""
    return texts(table)
