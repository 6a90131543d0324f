"""`table.csv`: the lines of a table as a file, one row each, and as a frame."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.line import IN_WORDS, OURS, OWN, Line, Printed, Value
from nalu_bench.analysis.table.place import KEYS, Place
from nalu_bench.files import require_file

COLUMNS = [
    *KEYS, "ours", "ours_low", "ours_high", "n_seeds", "steps", "printed", "printed_low", "printed_high", "verdict",
    "by", "reason", "note",
]  # fmt: skip

BETWEEN = "; "
"""Between two notes of a line."""


def frame(lines: Sequence[Line]) -> pd.DataFrame:
    """The lines as a frame with `COLUMNS`."""
    return pd.DataFrame([_row(line) for line in lines], columns=COLUMNS)


def text(table: pd.DataFrame, digits: int = 10) -> str:
    """CSV with so many significant digits: further ones differ between processors, which add in different orders."""
    return table.to_csv(index=False, lineterminator="\n", float_format=f"%.{digits}g")


def read(path: Path) -> list[Line]:
    """The lines of a file that `text` has written; raises UsageError if it is a pipe."""
    with require_file(path).open(encoding="utf-8", newline="") as stream:
        return [_line(row) for row in csv.DictReader(stream)]


def _row(line: Line) -> dict[str, object]:
    printed = line.printed or Printed("")
    return {
        **line.place.words(),
        "ours": line.ours.value, "ours_low": line.ours.low, "ours_high": line.ours.high, "n_seeds": line.n_seeds,
        "steps": line.steps, "printed": printed.text, "printed_low": printed.low, "printed_high": printed.high,
        "verdict": str(line.verdict or ""), "by": line.by, "reason": line.reason, "note": BETWEEN.join(line.told()),
    }  # fmt: skip


def _line(row: dict[str, str]) -> Line:
    ours = Value(*(float(row[key] or "nan") for key in ("ours", "ours_low", "ours_high")))
    notes = [note for note in row["note"].split(BETWEEN) if note]
    there = row["printed"] or row["verdict"]
    source = OURS if any(note.startswith(OWN) for note in notes) else ""
    printed = Printed(row["printed"], row["printed_low"], row["printed_high"], source=source) if there else None
    verdict = Verdict(row["verdict"]) if row["verdict"] else None
    starts = (OWN, IN_WORDS)
    thresholds = [note.partition(": ")[2] for note in notes if note.startswith(starts)]
    told = tuple(note for note in notes if not note.startswith(starts))
    return Line(
        Place.parse(row, KEYS), ours, int(row["n_seeds"]), int(row["steps"]), printed, verdict, row["by"],
        row["reason"], told, "".join(thresholds),
    )  # fmt: skip
