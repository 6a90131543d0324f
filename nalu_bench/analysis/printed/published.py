"""Printed numbers, stored beside the experiment that should reproduce them.

A `<artifact>.published.csv` has one row per printed number, with the keys of `table.csv` and the text as printed:

    task, setting, operation, split, model, metric, printed, printed_low, printed_high, n_seeds, printed_model, source
"""

import contextlib
import csv
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import pandas as pd

from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.table.line import NUMBER, Printed
from nalu_bench.analysis.table.place import KEYS, Place
from nalu_bench.errors import UsageError, unknown
from nalu_bench.files import require_file
from nalu_bench.plan.names import check_texts

COLUMNS = [*KEYS, "printed", "printed_low", "printed_high", "n_seeds", "printed_model", "source"]


def read(path: Path) -> pd.DataFrame:
    """Read the printed numbers of an experiment as text, "" where nothing is printed. No file means no rows."""
    return read_keyed(path, COLUMNS) if path.exists() else pd.DataFrame(columns=COLUMNS, dtype=str)


def typed(frame: pd.DataFrame) -> dict[Place, Printed]:
    """The printed number of every place."""
    return {Place.parse(row, KEYS): _printed(row) for row in frame.to_dict("records")}


def _printed(row: Mapping[Hashable, str]) -> Printed:
    seeds = row["n_seeds"]
    return Printed(
        row["printed"], row["printed_low"], row["printed_high"], int(seeds) if seeds else None, row["source"]
    )


def read_keyed(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read a CSV with these columns as text. Every key has one row.

    Raises:
        UsageError for a file that is no such table, for two rows with one key, for a count or limit that is no number,
        and for a low limit above the high one.
    """
    try:
        require_file(path)
        with path.open(encoding="utf-8-sig", newline="") as stream:
            header, *rows = [row for row in csv.reader(stream, strict=True) if row] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(
            f"{path.name} must be a CSV in UTF-8 with the columns {', '.join(columns)}: {error}."
        ) from None
    if header != list(columns):
        raise UsageError(f"{path.name} must have the columns {', '.join(columns)}, got {', '.join(header) or 'none'}.")
    for number, row in enumerate(rows):
        if len(row) != len(columns):
            raise UsageError(f"{line(path, number)} must have {len(columns)} fields, got {len(row)}.")
        check_texts(line(path, number), row)
        _check_numbers(line(path, number), dict(zip(columns, row, strict=True)))
    frame = pd.DataFrame(rows, columns=list(columns), dtype=str)
    repeated = frame.index[frame.duplicated(KEYS)]
    if len(repeated):
        where, keys = line(path, repeated[0]), ", ".join(filter(None, frame.loc[repeated[0], KEYS]))
        raise UsageError(f"{where}: {path.name} has two rows for {keys}.")
    return frame


def line(path: Path, number: object) -> str:
    """Name a row of a file for messages, as in `table1.published.csv, row 3`. The header is row 1."""
    return f"{path.name}, row {int(str(number)) + 2}"


def check_metrics(frame: pd.DataFrame, path: Path, column: str, metrics: Mapping[str, Span | None]) -> None:
    """Refuse metrics that are not among `metrics` (names or patterns), and numbers outside of their spans.

    A metric without a span may have any text in `column`. ">999" counts as 999, "<.0001" as .0001. An empty field is
    always accepted.
    """
    for number, row in frame.iterrows():
        where, name = line(path, number), row["metric"]
        spans = [span for pattern, span in metrics.items() if fnmatchcase(name, pattern)]
        if not spans:
            raise unknown(f"metric in {where}", name, metrics)
        if spans[0] is not None:
            for key in (column, "printed_low", "printed_high"):
                _check_span(f"{where}: {key} of {name}", row.get(key, "").lstrip("<>"), spans[0])


def check_words(frame: pd.DataFrame, path: Path, known: Mapping[str, set[str]]) -> None:
    """Refuse a word in a column if no cell of the experiment has it there; `known` may have more than columns."""
    for column, words in ((column, words) for column, words in known.items() if column in frame):
        for number, word in frame[column].items():
            if word and word not in words:
                raise unknown(f"{column} in {line(path, number)}", word, words)


def _check_numbers(where: str, row: Mapping[str, str]) -> None:
    if not re.fullmatch(r"[0-9]{0,9}", row["n_seeds"]):
        raise UsageError(
            f"{where}: n_seeds must be a whole number from 0 up or empty, got {row['n_seeds']!r:.60}; write it with "
            "nine digits at most."
        )
    given = {key: _number(f"{where}: {key}", row[key]) for key in ("printed_low", "printed_high") if row.get(key)}
    if len(given) == 2 and given["printed_low"] > given["printed_high"]:
        raise UsageError(f"{where}: printed_low must not be above printed_high, got {row['printed_low']} and "
                         f"{row['printed_high']}.")  # fmt: skip
    with contextlib.suppress(ValueError):  # words, which the metric may allow
        printed = float(row.get("printed") or math.nan)
        _number(f"{where}: printed", row.get("printed", ""))
        if printed < given.get("printed_low", -math.inf) or printed > given.get("printed_high", math.inf):
            raise UsageError(f"{where}: printed must lie in its interval, got {row['printed']} and "
                             f"[{row['printed_low']}, {row['printed_high']}].")  # fmt: skip


def _check_span(what: str, text: str, span: Span) -> None:
    if text and not (math.isfinite(_number(what, text)) and span[0] <= _number(what, text) <= span[1]):
        raise UsageError(f"{what} must lie between {span[0]:g} and {span[1]:g}, got {text}.")


def _number(what: str, text: str) -> float:
    """The number; Python alone reads others, such as 0.9_1, nan, or one of another alphabet's digits."""
    try:
        if NUMBER.fullmatch(text):
            return float(text or math.nan)
    except ValueError:
        pass
    raise UsageError(f"{what} must be a number such as 0.91 or 9e-5, or empty, got {text!r:.60}.")
