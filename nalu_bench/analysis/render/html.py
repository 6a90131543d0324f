"""Tables for a page: every verdict is a button that tells its reason when it is pressed."""

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from nalu_bench.analysis.measure.measured import cells as cells_of
from nalu_bench.analysis.render.environment import environment
from nalu_bench.analysis.render.measures import by_measure, labels
from nalu_bench.analysis.render.text import text
from nalu_bench.analysis.table.formats import four_digits
from nalu_bench.analysis.table.layout import Judged, Shown, Table
from nalu_bench.analysis.table.line import Line, Printed
from nalu_bench.analysis.table.place import Place

FOLDER = Path(__file__).parent / "templates"


MOST, LONG = 8, 4
"""Letters of a printed number, and digits before its point; one with more is written as ours are."""


def tables(layouts: Sequence[Table], lines: Sequence[Line], runs: pd.DataFrame | None = None) -> str:
    """Tables in the layout of the paper.

    Args:
        layouts: the tables. lines: all lines of the report. runs: the runs, for links from a verdict to its cell on
            the same page; None where the page does not list them.
    """
    reasons = _reasons(lines, runs)
    return _rendered("tables.html", tables=_shown(layouts, reasons), rows=list(reasons.values()))


def numbers(lines: Sequence[Line], runs: pd.DataFrame, named: Mapping[str, str]) -> str:
    """A table for every measure, a row for each printed number: ours, the verdict; empty without printed ones.

    Args:
        lines, runs: as of `tables`. named: words of metrics, see `Kind`.
    """
    parts = by_measure(lines, named)
    reasons = _reasons([line for part in parts.values() for line in part], runs)
    shown = [
        {
            "title": title,
            "printed": "recomputed" if part[0].place.recomputed else "printed",
            "compared": any(line.judged for line in part),
            "rows": [{"name": name, **reasons[id(line)]} for name, line in zip(labels(part), part, strict=True)],
        }
        for title, part in parts.items()
    ]
    if not shown:
        return ""
    return _rendered("numbers.html", tables=shown, rows=list(reasons.values()))


def _rendered(template: str, **values: Any) -> str:
    return environment(FOLDER).get_template(template).render(**values)


def _reasons(lines: Sequence[Line], runs: pd.DataFrame | None) -> dict[int, dict[str, Any]]:
    cells = {} if runs is None else cells_of(runs)
    return {id(line): _reason(number, line, cells) for number, line in enumerate(lines) if line.verdict}


def _shown(layouts: Sequence[Table], reasons: Mapping[int, dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for table in layouts:
        kept = _telling(table)
        rows = [[_entry(row[column], reasons) for column in kept] for row in table.rows]
        found.append({"title": table.title, "header": [table.header[column] for column in kept], "rows": rows})
    return found


def _telling(table: Table) -> list[int]:
    """The columns, but for those that have no heading and say the same in every row."""
    columns = enumerate(zip(table.header, *table.rows, strict=True))
    return [number for number, (name, *cells) in columns if name or len(set(cells)) > 1 or len(cells) == 1]


def _entry(shown: Shown, reasons: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    """A text, or the reason that a verdict tells."""
    if isinstance(shown, Judged) and id(shown.line) in reasons:
        return {"text": "", "row": reasons[id(shown.line)]}
    return {"text": text(shown), "row": None}


def anchor(cell: str) -> str:
    """The anchor of a cell's runs on a page."""
    return f"cell-{cell}"


def _reason(number: int, line: Line, cells: Mapping[Place, str]) -> dict[str, Any]:
    """A line as a page tells it, with the anchor of its cell's runs if it is about one cell."""
    assert line.verdict is not None
    cell, printed, place = cells.get(line.place.cell(), ""), line.printed or Printed(""), line.place
    words = [*place.cell().words().values(), place.split, place.metric]
    return {
        "id": f"row-{number}",
        "words": ", ".join(filter(None, words)),
        "look": line.verdict.name.lower(),
        "shown": line.shown(),
        "runs": anchor(cell) if cell else "",
        "printed": _printed(printed),
        "printed_low": _limit(printed.low),
        "printed_high": _limit(printed.high),
        "ours": _number(line.ours.value),
        "ours_low": _number(line.ours.low),
        "ours_high": _number(line.ours.high),
        "held": [*map(_number, line.held)] if line.held else [],
        "n_seeds": line.n_seeds,
        "steps": line.steps,
        "reason": line.reason,
        "note": "; ".join(line.told()),
    }


def _printed(printed: Printed) -> str:
    """A printed number as it stands in the source, but for the form of long ones, which may be computed."""
    number = printed.text.lstrip("<>")
    digits = number.partition(".")[0]
    if printed.in_words or not (len(number) > MOST or (digits.isdecimal() and len(digits) > LONG)):
        return printed.text
    return printed.text.removesuffix(number) + _limit(number)


def _limit(text: str) -> str:
    """A limit of a printed interval, which may be computed and then has many digits."""
    return _number(float(text)) if text else ""


def _number(value: float) -> str:
    """Four digits, as 1,396,000 rather than 1.396e+06."""
    text = four_digits(value)
    return f"{float(text):,.0f}" if 1e4 <= abs(value) < 1e9 else text


def escaped(text: object) -> str:
    """Text for HTML."""
    return html.escape(str(text))
