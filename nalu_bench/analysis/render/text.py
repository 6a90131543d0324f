"""The text of what a table shows, the same in every kind of file."""

from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.table.formats import interval
from nalu_bench.analysis.table.layout import EMPTY, Ours, Shown, Table, Theirs
from nalu_bench.analysis.table.line import Value


def text(shown: Shown, footnotes: Footnotes | None = None) -> str:
    """It as text; a verdict has the marks of its notes."""
    match shown:
        case str():
            return shown
        case Ours(line, form, after, alone):
            number = interval(*(Value(line.ours.value) if alone else line.ours), form)
            return f"{number} {after}".rstrip()
        case Theirs():
            return _printed(shown)
        case _:
            marks = footnotes.marks(shown.line) if footnotes else ""
            return f"{shown.line.shown()} {marks}".strip() or EMPTY


def _printed(shown: Theirs) -> str:
    printed = shown.line.printed
    if printed is None or not printed.text:
        return EMPTY
    if shown.form is None:
        return printed.text
    if shown.alone:
        return shown.form(printed.number())
    low, high = (float(limit or "nan") for limit in (printed.low, printed.high))
    return interval(printed.number(), low, high, shown.form)


def texts(table: Table, footnotes: Footnotes | None = None) -> list[list[str]]:
    """All rows of a table as text."""
    return [[text(shown, footnotes) for shown in row] for row in table.rows]
