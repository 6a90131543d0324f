"""Pieces of pages: tables whose verdicts tell their reason when they are pressed."""

import html
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nalu_bench.analysis.measure.measured import CELL_KEYS, records
from nalu_bench.analysis.pages.environment import environment
from nalu_bench.analysis.stats.verdicts import Verdict

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded

TOKEN = re.compile("\ue000(\\d+)\ue001")
"""Stands for the verdict of a row of the table while a kind of report lays it out."""


def tables(loaded: "Loaded") -> str:
    """The tables of a report in the layout of the paper. Every verdict is a button that shows its reason."""
    table = loaded.table
    tokens = [f"\ue000{index}\ue001" if verdict else "" for index, verdict in table["verdict"].items()]
    layouts = loaded.kind.tables(table.assign(verdict=tokens))
    cells = {tuple(line[key] for key in CELL_KEYS): line["cell"] for line in records(loaded.runs)}
    rows = {index: _row(index, line, cells) for index, line in enumerate(records(table)) if line["verdict"]}
    shown = [
        {
            "title": layout.title,
            "header": layout.header,
            "rows": [[_cell(text, rows) for text in row] for row in layout.rows],
        }
        for layout in layouts
    ]
    return environment().get_template("tables.html").render(tables=shown, rows=list(rows.values()))


def _cell(text: str, rows: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """A cell of text, and the row whose verdict it shows."""
    found = TOKEN.search(text)
    return {"text": TOKEN.sub("", text), "row": rows[int(found[1])] if found else None}


def anchor(cell: str) -> str:
    """The anchor of a cell's runs on a page."""
    return f"cell-{cell}"


def _row(index: int, line: dict[str, Any], cells: Mapping[tuple[str, ...], str]) -> dict[str, Any]:
    """A row of `table.csv` as a page tells it, with the anchor of its cell's runs if it is about one cell."""
    verdict = Verdict(line["verdict"])
    cell = cells.get(tuple(line[key] for key in CELL_KEYS), "")
    words = [str(line[key]) for key in (*CELL_KEYS, "split", "metric") if line[key]]
    return line | {
        "id": f"row-{index}",
        "words": ", ".join(words),
        "look": verdict.name.lower(),
        "shown": f"{verdict}, {line['by']}" if line["by"] and verdict is Verdict.DIFFERS else str(verdict),
        "runs": anchor(cell) if cell else "",
        "ours": number(line["ours"]),
        "ours_low": number(line["ours_low"]),
        "ours_high": number(line["ours_high"]),
    }


def number(value: float) -> str:
    """A number with four digits; empty for nan."""
    return "" if value != value else f"{value:.4g}"


def escaped(text: object) -> str:
    """Text for HTML."""
    return html.escape(str(text))
