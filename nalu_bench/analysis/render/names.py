"""The names of a table's rows: which columns hold them, and what an empty one stands for."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from nalu_bench.analysis.table.layout import EMPTY, Shown, Table

Row = Sequence[Shown]


@dataclass(frozen=True)
class Names:
    """The leading columns of a table that name its rows.

    Attributes:
        count: how many there are.
        labels: whether the last one says what a line is, such as `ours`, and not of what: it has no heading.
    """

    count: int
    labels: bool

    @classmethod
    def of(cls, table: Table) -> "Names":
        """Those that tell the rows apart, with the names that an empty one repeats.

        A column without a heading, such as a rank, takes the next name with it. If none tell the rows apart, all
        leading columns of names; no more than two in a table of names alone.
        """
        count = _telling(table)
        return cls(count, count > 1 and not table.header[count - 1])

    @property
    def thing(self) -> int:
        """The number of names of a thing, which may have several lines or rows."""
        return self.count - 1

    def filled(self, table: Table) -> list[list[Shown]]:
        """The rows with the names that an empty one repeats; the last name is a row's own."""
        return _repeated(table.rows, self.thing)

    def bare(self, rows: Sequence[Sequence[str]]) -> list[list[str]]:
        """The rows without names that the row above has, too; the last name is a row's own."""
        found: list[list[str]] = []
        for number, row in enumerate(rows):
            above = rows[number - 1][: self.thing] if number else []
            same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(above, row, strict=False))))
            found.append([""] * same + list(row[same:]))
        return found


def _telling(table: Table) -> int:
    leading = len(list(takewhile(_of_names, zip(*table.rows, strict=True))))
    rows, header = _repeated(table.rows, leading), table.header
    for count in range(1, min(leading, len(header) - 1) + 1):
        if len({tuple(row[:count]) for row in rows}) == len(rows):
            return count + (count < leading and not any(header[:count]) and header[count] != "")
    return leading if 0 < leading < len(header) else min(2, len(header))


def _of_names(column: Sequence[Shown]) -> bool:
    return all(isinstance(shown, str) for shown in column) and any(shown != EMPTY for shown in column)


def _repeated(rows: Sequence[Row], count: int) -> list[list[Shown]]:
    """The rows with the names of the row above in place of empty ones at their beginning."""
    found: list[list[Shown]] = []
    for row in rows:
        empty = len(list(takewhile(lambda shown: shown == "", row[:count]))) if found else 0
        found.append([*(found[-1][:empty] if empty else []), *row[empty:]])
    return found
