"""Tables that fit into a terminal: cells are wrapped, and columns that still do not fit follow below."""

import itertools
import re
import textwrap
from collections.abc import Sequence

from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.text import texts
from nalu_bench.analysis.table.layout import Table

GAP = "  "
"""Between two columns."""

HELD = re.compile(r"\[[^]]*\]|\(\d+ \w+\)|\d %")
"""An interval, a count and a percentage are not broken."""

SPACE, HARD = " ", "\N{NO-BREAK SPACE}"

Row = Sequence[str]


def fitted(table: Table, width: int, footnotes: Footnotes | None = None) -> str:
    """The table with its title, no line longer than `width` unless a single word is."""
    rows = [table.header, *([_held(text) for text in row] for row in texts(table, footnotes))]
    parts = ["\n".join(_drawn(part, _widths(part, width))) for part in _parts(rows, width, _naming(table))]
    return "\n\n".join([textwrap.fill(table.title, width), *parts]).replace(HARD, SPACE)


def _held(text: str) -> str:
    return HELD.sub(lambda found: found[0].replace(SPACE, HARD), text)


def _naming(table: Table) -> int:
    """The number of leading columns of names that tell the rows apart; no more than the first two if none do."""
    for count in range(1, len(table.header)):
        names = [tuple(row[:count]) for row in table.rows]
        if not all(isinstance(shown, str) for row in names for shown in row):
            break
        if len(set(names)) == len(names):
            return count
    return min(2, len(table.header))


def _parts(rows: Sequence[Row], width: int, naming: int) -> list[list[Row]]:
    """The table cut at columns, so that every part fits when its cells are wrapped.

    Every part begins with the first `naming` columns.
    """
    least = [max(map(_longest_word, column)) for column in zip(*rows, strict=True)]
    kept = list(range(naming))
    parts, chosen = [], kept
    for column in range(len(kept), len(least)):
        if len(chosen) > len(kept) and _total([least[each] for each in [*chosen, column]]) > width:
            parts.append(chosen)
            chosen = kept
        chosen = [*chosen, column]
    return [[[row[column] for column in part] for row in rows] for part in [*parts, chosen]]


def _widths(rows: Sequence[Row], width: int) -> list[int]:
    """Widths of the columns: the widest shrink, down to their longest word, until the table fits."""
    columns = list(zip(*rows, strict=True))
    least = [max(map(_longest_word, column)) for column in columns]
    widths = [max(map(len, column)) for column in columns]
    while _total(widths) > width and widths != least:
        spare = [wide if wide > narrow else 0 for wide, narrow in zip(widths, least, strict=True)]
        widths[spare.index(max(spare))] -= 1
    return widths


def _drawn(rows: Sequence[Row], widths: Sequence[int]) -> list[str]:
    """Header, rule and rows. An empty line divides rows of several lines, unless they share their first column."""
    cells = [[_wrapped(text, wide) for text, wide in zip(row, widths, strict=True)] for row in rows]
    apart = any(len(cell) > 1 for row in cells[1:] for cell in row)
    lines = [*_lines(cells[0], widths), GAP.join("-" * wide for wide in widths)]
    for number, row in enumerate(cells[1:]):
        if apart and number and row[0][0]:
            lines.append("")
        lines += _lines(row, widths)
    return lines


def _lines(row: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    return [
        GAP.join(text.ljust(wide) for text, wide in zip(line, widths, strict=True)).rstrip()
        for line in itertools.zip_longest(*row, fillvalue="")
    ]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _longest_word(text: str) -> int:
    return max(map(len, text.split(SPACE)))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)
