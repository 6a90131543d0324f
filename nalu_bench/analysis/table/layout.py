"""Tables in the layout of a paper: names, and numbers of lines with the format in which they will be shown.

Terminal, Markdown, LaTeX and HTML are renderers in `analysis/render`: they read a layout and change nothing of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nalu_bench.analysis.table.formats import Format
from nalu_bench.analysis.table.line import Line


@dataclass(frozen=True)
class Ours:
    """Our number of a line with its interval. `after`: a word that follows. `alone`: without the interval."""

    line: Line
    form: Format
    after: str = ""
    alone: bool = False


@dataclass(frozen=True)
class Theirs:
    """The printed number of a line with its interval, or `alone`; without a format, the text as printed alone."""

    line: Line
    form: Format | None = None
    alone: bool = False


@dataclass(frozen=True)
class Judged:
    """The verdict of a line."""

    line: Line


Shown = str | Ours | Theirs | Judged
"""What a table shows at one place: a name, or a number or a verdict of a line."""

EMPTY = "–"
"""Stands for a number that is not there."""


@dataclass(frozen=True)
class Table:
    """A heading, column names, rows."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Shown]]


def ours(line: Line | None, form: Format) -> Shown:
    """Our number of a line, if there is one."""
    return Ours(line, form) if line else EMPTY
