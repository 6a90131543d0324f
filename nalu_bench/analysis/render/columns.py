"""Columns of a table in a terminal: how wide each wants to be, and where a wide table is cut."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from nalu_bench.analysis.table.layout import Ours, Shown, Theirs

GAP = "  "
"""Between two columns."""

SPACE = " "

NAMES, PROSE = 30, 28
"""The columns that a name and a sentence may take before they are wrapped (our choice)."""


@dataclass(frozen=True)
class Column:
    """A column as it will be shown.

    Attributes:
        texts: its heading, then its cells.
        least: the width of its longest word.
        firm: the width at which no number is wrapped; all else may be.
        wanted: as `firm`, with verdicts and short names in one line, too.
        follows: whether it says something of the column before it: a printed number, or a verdict.
    """

    texts: Sequence[str]
    least: int
    firm: int
    wanted: int
    follows: bool

    @classmethod
    def of(cls, shown: Sequence[Shown], texts: Sequence[str], name: bool) -> "Column":
        """A column of these cells; `texts` has its heading, too. `name`: whether it names the rows."""
        least, full = max(map(longest_word, texts)), max(map(len, texts[1:]), default=0)
        words = all(isinstance(one, str) for one in shown)
        wanted = max(least, min(full, NAMES if name else PROSE) if words else full)
        numbers = [len(text) for one, text in zip(shown, texts[1:], strict=True) if isinstance(one, Ours | Theirs)]
        follows = not words and not any(isinstance(one, Ours) for one in shown)
        return cls(texts, least, max([least, *numbers]), wanted, follows)


WANTED, FIRM, LEAST = (operator.attrgetter(name) for name in ("wanted", "firm", "least"))


def longest_word(text: str) -> int:
    """The length of the longest word; what a hard space joins is one."""
    return max(map(len, text.split(SPACE)))


def total(widths: Sequence[int]) -> int:
    """The width of columns beside each other."""
    return sum(widths) + len(GAP) * (len(widths) - 1)


def parts(columns: Sequence[Column], naming: int, width: int) -> list[list[int]]:
    """The columns of each part of a table: those of names, and as many others as fit, about the same in each part.

    A number is wrapped only where it does not even fit alone, and stays beside its printed one and its verdict if all
    three fit.
    """
    groups = _groups(columns, naming, width)
    found = _packed(columns, groups, naming, width)
    for narrower in range(width - 1, 0, -1):
        again = _packed(columns, groups, naming, narrower)
        if len(again) > len(found):
            break
        found = again
    return found


def _groups(columns: Sequence[Column], naming: int, width: int) -> list[list[int]]:
    """Columns that stay together."""
    groups: list[list[int]] = []
    for number in range(naming, len(columns)):
        joined = [*groups[-1], number] if groups and columns[number].follows else []
        if joined and total([columns[each].firm for each in [*range(naming), *joined]]) <= width:
            groups[-1] = joined
        else:
            groups.append([number])
    return groups


def _packed(columns: Sequence[Column], groups: Sequence[list[int]], naming: int, width: int) -> list[list[int]]:
    names = list(range(naming))
    found = [names]
    for group in groups:
        longer = [*found[-1], *group]
        if found[-1] != names and total([columns[each].wanted for each in longer]) > width:
            found.append([*names, *group])
        else:
            found[-1] = longer
    return found


def widths(columns: Sequence[Column], width: int) -> list[int]:
    """Widths of the columns: the widest shrink until they fit, numbers last and no further than to a word."""
    found = [max(map(len, column.texts)) for column in columns]
    for least in (WANTED, FIRM, LEAST):
        floor = [least(column) for column in columns]
        while total(found) > width and found != floor:
            spare = [wide if wide > narrow else 0 for wide, narrow in zip(found, floor, strict=True)]
            found[spare.index(max(spare))] -= 1
    return found
