"""A table with one line for each thing: our number, the printed one and a sign of the verdict share a cell.

Intervals, and by how much a number differs, are left to the whole table.
"""

from collections.abc import Sequence
from dataclasses import replace

from nalu_bench.analysis.render.names import Names
from nalu_bench.analysis.render.text import text
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Shown, Table, Theirs

SIGNS = {
    Verdict.EXACT: "==", Verdict.AGREES: "=", Verdict.FITTED: "*", Verdict.UNINFORMATIVE: ".", Verdict.DIFFERS: "≠",
    Verdict.INCONCLUSIVE: "~", Verdict.NOT_COMPARABLE: "", Verdict.SAME_SEEDS: "s",
}  # fmt: skip
"""What stands for a verdict behind the numbers; `legend` says it in words."""

BETWEEN = " | "
"""Between our number and the printed one."""

Cell = tuple[Shown, ...]
"""What a folded table shows at one place: several places of the whole table."""

Row = list[Cell]


def folded(table: Table) -> tuple[Table, Names]:
    """The table with lines and columns of printed numbers and verdicts folded into those of ours, and its names."""
    names, header = Names.of(table), list(table.header)
    if not table.rows:
        return table, names
    rows, last = _of_lines(table, names), names.count - 1
    if names.labels and len({row[last] for row in rows}) == 1:
        names = Names(last, labels=False)
        del header[last]
        rows = [[*row[:last], *row[last + 1 :]] for row in rows]
    kept, rows = _of_columns(rows, names.count)
    columns = [_texts(column, each >= names.count) for each, column in zip(kept, zip(*rows, strict=True), strict=True)]
    return Table(table.title, [header[each] for each in kept], [*zip(*columns, strict=True)]), names


def legend(tables: Sequence[Table]) -> str:
    """What a cell of these tables holds once they are folded; empty if there is no printed number in them."""
    shown = [one for table in tables for row in table.rows for one in row]
    found = {one.line.verdict for one in shown if isinstance(one, Judged)}
    signs = [f"{sign or 'no sign:'} {verdict}" for verdict, sign in SIGNS.items() if verdict in found]
    if not any(isinstance(one, Theirs) for one in shown):
        return ""
    return f"ours{BETWEEN}printed" + (f"   {', '.join(signs)}" if signs else "")


def _of_lines(table: Table, names: Names) -> list[Row]:
    """The lines; one of printed numbers or verdicts is joined with the one above it, and an empty one left out."""
    found: list[Row] = []
    for row in names.filled(table):
        above, new = found[-1] if found else [], row[names.count :]
        same = names.labels and bool(found) and [cell[0] for cell in above[: names.thing]] == row[: names.thing]
        if same and _follows(new):
            joined = [(*cell, one) for cell, one in zip(above[names.count :], new, strict=True)]
            found[-1] = [*above[: names.count], *joined]
        elif not same or any(one != EMPTY for one in new):
            found.append([(one,) for one in row])
    return found


def _of_columns(rows: Sequence[Row], count: int) -> tuple[list[int], list[Row]]:
    """The numbers of the columns that stay, and the lines with the others joined to the one before them."""
    kept: list[int] = []
    joined: list[list[Cell]] = []
    for number, column in enumerate(zip(*rows, strict=True)):
        before = [one for cell in joined[-1] for one in cell] if number > count else []
        if _follows([one for cell in column for one in cell]) and any(not isinstance(one, str) for one in before):
            joined[-1] = [(*first, *second) for first, second in zip(joined[-1], column, strict=True)]
        else:
            kept.append(number)
            joined.append(list(column))
    return kept, [list(row) for row in zip(*joined, strict=True)]


def _follows(shown: Sequence[Shown]) -> bool:
    """Whether a line or a column holds printed numbers or verdicts, and none of ours."""
    return any(isinstance(one, Theirs | Judged) for one in shown) and not any(isinstance(one, Ours) for one in shown)


def _texts(column: Sequence[Cell], numbers: bool) -> list[str]:
    """The cells of a column as text; where two numbers stand beside each other, they stand below each other, too."""
    ours, theirs, signs = zip(*map(_told, column), strict=True)
    if not numbers or not any(theirs):
        return [f"{mine} {sign}".strip() for mine, sign in zip(ours, signs, strict=True)]
    left, right = max(map(len, ours)), max(map(len, theirs))
    return [
        f"{mine:>{left}}{BETWEEN}{printed:{right}} {sign}".rstrip() if printed else f"{mine:>{left}}"
        for mine, printed, sign in zip(ours, theirs, signs, strict=True)
    ]


def _told(cell: Cell) -> tuple[str, str, str]:
    """Our number or a name, the printed number, and the sign of the verdict; empty if there is none."""
    ours, theirs, sign = "", "", ""
    for one in cell:
        match one:
            case Theirs():
                theirs = text(replace(one, alone=True)).replace(EMPTY, "")
            case Judged():
                sign = SIGNS[one.line.verdict] if one.line.verdict else ""
            case Ours():
                ours = text(replace(one, alone=True))
            case _:
                ours = ours or one
    return ours, theirs, sign
