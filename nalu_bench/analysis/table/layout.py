"""Tables in the layout of a paper: names, and numbers of lines with the format in which they will be shown.

Terminal, Markdown, LaTeX and HTML are renderers in `analysis/render`: they read a layout and change nothing of it.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

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


Show = Callable[[Line], Shown]
"""A way to show a line."""

At = TypeVar("At", bound=Hashable)


def beside(name: str, ours: Show, lines: Iterable[Line]) -> dict[str, Show]:
    """Name -> way to show some lines: ours; where one has a printed number, that and its verdict, too."""
    if not any(line.printed_text for line in lines):
        return {name: ours}
    return {name: ours, "printed": Theirs, "verdict": lambda line: Judged(line) if line.printed_text else EMPTY}


def stacked(
    head: Sequence[str], ways: Mapping[str, Show], lines: Mapping[At, Line], columns: Sequence[At]
) -> list[list[Shown]]:
    """A row for each way to show some lines: the head, in the first row alone; the way's name; the columns' lines."""
    return [
        [*([""] * len(head) if number else head), name, *(show(lines[at]) if at in lines else EMPTY for at in columns)]
        for number, (name, show) in enumerate(ways.items())
    ]
