"""Tables that fit into a terminal: columns that do not fit follow below, and every line has its label."""

import itertools
import re
import textwrap
from collections.abc import Sequence

from nalu_bench.analysis.render.columns import GAP, SPACE, Column, parts, total, widths
from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.names import Names
from nalu_bench.analysis.render.text import text
from nalu_bench.analysis.table.layout import EMPTY, Table

HELD = re.compile(r"\[[^]]*\]|\(\d+ \w+\)|\d %")
"""An interval, a count and a percentage are not broken."""

HARD = "\N{NO-BREAK SPACE}"

Row = Sequence[str]
Wrapped = Sequence[list[str]]


def fitted(table: Table, width: int, footnotes: Footnotes | None = None) -> str:
    """The table with its title, no line longer than `width` unless a single word is."""
    drawn = below(table, Names.of(table), width, footnotes)
    return "\n\n".join([textwrap.fill(table.title, width), *("\n".join(part) for part in drawn)])


def below(table: Table, names: Names, width: int, footnotes: Footnotes | None = None) -> list[list[str]]:
    """The lines of each part of a table, without its title."""
    columns = _columns(table, names, footnotes)
    chosen = [[columns[each] for each in part] for part in parts(columns, names.count, width)]
    return [_lines_of(_rows(part, names), widths(part, width)) for part in chosen]


def together(tables: Sequence[Table], names: Names, width: int) -> list[list[str]]:
    """The lines of tables with the same header, with the same widths, only the first with the header.

    None if they do not fit beside each other.
    """
    columns = [_columns(table, names) for table in tables]
    wide = [max(max(map(len, one.texts)) for one in same) for same in zip(*columns, strict=True)]
    if total(wide) > width:
        return []
    drawn = [_lines_of(_rows(each, names), wide) for each in columns]
    return [drawn[0], *(lines[2:] for lines in drawn[1:])]


def _columns(table: Table, names: Names, footnotes: Footnotes | None = None) -> list[Column]:
    found = []
    for number, title in enumerate(table.header):
        shown = [row[number] for row in names.filled(table)]
        texts = [title, *(_held(text(each, footnotes)) for each in shown)]
        found.append(Column.of(shown, texts, number < names.count))
    return found


def _held(shown: str) -> str:
    return HELD.sub(lambda found: found[0].replace(SPACE, HARD), shown)


def _rows(columns: Sequence[Column], names: Names) -> list[Row]:
    """The header, and the rows without what the one above says, too."""
    header, *rows = zip(*(column.texts for column in columns), strict=True)
    return [header, *names.bare(_telling(rows, names) if names.labels else rows)]


def _telling(rows: Sequence[Row], names: Names) -> list[Row]:
    """The rows without those that show nothing, if another one of the same thing shows something."""
    tells = [any(shown.strip() != EMPTY for shown in row[names.count :]) for row in rows]
    told = {tuple(row[: names.thing]) for row, tell in zip(rows, tells, strict=True) if tell}
    return [row for row, tell in zip(rows, tells, strict=True) if tell or tuple(row[: names.thing]) not in told]


def _lines_of(rows: Sequence[Row], wide: Sequence[int]) -> list[str]:
    """Header and rule, if there is a heading, and rows. An empty line sets a thing apart whose lines are wrapped."""
    header, *cells = [[_wrapped(shown, width) for shown, width in zip(row, wide, strict=True)] for row in rows]
    lines = [*_lines(header, wide), GAP.join("-" * width for width in wide)] if any(rows[0]) else []
    before = False
    for number, thing in enumerate(_things(cells)):
        apart = any(len(cell) > 1 for row in thing for cell in row)
        lines += [""] if number and (apart or before) else []
        lines += [line for row in thing for line in _lines(row, wide)]
        before = apart
    return lines


def _things(cells: Sequence[Wrapped]) -> list[list[Wrapped]]:
    """The rows in groups; each begins with a row that has a first name."""
    found: list[list[Wrapped]] = []
    for row in cells:
        if not found or row[0] != [""]:
            found.append([])
        found[-1].append(row)
    return found


def _lines(row: Wrapped, wide: Sequence[int]) -> list[str]:
    return [
        GAP.join(shown.ljust(width) for shown, width in zip(line, wide, strict=True)).rstrip().replace(HARD, SPACE)
        for line in itertools.zip_longest(*row, fillvalue="")
    ]


def _wrapped(shown: str, width: int) -> list[str]:
    if len(shown) <= width:
        return [shown]
    return textwrap.wrap(shown, width, break_long_words=False, break_on_hyphens=False) or [""]
