"""Tables whose columns are models: as many side by side as fit, the others below."""

from collections.abc import Iterator, Mapping, Sequence

from nalu_bench.analysis.render.text import text
from nalu_bench.analysis.table.layout import Shown, Table

WIDEST = 120
"""Characters of a table: about as many as GitHub shows without a scroll bar (our choice)."""

Column = tuple[str, Sequence[Shown]]
"""A heading, and what stands below it."""


def side_by_side(name: str, about: str, first: Sequence[Column], blocks: Mapping[str, Sequence[Column]]) -> list[Table]:
    """Tables with the columns `first`, and as many blocks of columns behind them as fit into `WIDEST`.

    The title is name and `about`; where there are several tables, with the names of their first and last blocks.
    """
    packed = list(_packed(first, blocks))
    return [
        _table(
            f"{name}{': ' + _named(labels) if len(packed) > 1 else ''}. {about}",
            [*first, *(column for label in labels for column in blocks[label])],
        )
        for labels in packed
    ]


def _named(labels: Sequence[str]) -> str:
    """`NAU`, `NAU and NMU`, or `NAU to ReLU` of more."""
    return " and ".join(labels) if len(labels) <= 2 else f"{labels[0]} to {labels[-1]}"


def _table(title: str, columns: Sequence[Column]) -> Table:
    rows = [list(row) for row in zip(*(shown for _, shown in columns), strict=True)]
    return Table(title, [header for header, _ in columns], rows)


def _packed(first: Sequence[Column], blocks: Mapping[str, Sequence[Column]]) -> Iterator[list[str]]:
    """The names of the blocks that stand side by side, behind the first columns, in a table of at most `WIDEST`."""
    names: list[str] = []
    width = start = _width(first)
    for name, block in blocks.items():
        if names and width + _width(block) > WIDEST:
            yield names
            names, width = [], start
        names, width = [*names, name], width + _width(block)
    yield names


def _width(columns: Sequence[Column]) -> int:
    """The characters of columns in Markdown."""
    return sum(3 + max(len(header), *(len(text(shown)) for shown in column)) for header, column in columns)
