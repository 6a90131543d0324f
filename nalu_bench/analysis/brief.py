"""A report on one page of a terminal: what became of the claims, the numbers without intervals, how many verdicts."""

import itertools
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nalu_bench.analysis.measure.manifest import overrides
from nalu_bench.analysis.render.folded import folded, legend
from nalu_bench.analysis.render.terminal import below, together
from nalu_bench.analysis.table.claims import about_claims, bullet
from nalu_bench.analysis.table.formats import part_of_scale
from nalu_bench.analysis.table.layout import Table

if TYPE_CHECKING:
    from nalu_bench.analysis.report import Report

LINES = 56
"""A page."""

CUT = "…"

Lines = list[str]


def brief(report: "Report", width: int = 100, lines: int = LINES, rest: str = "") -> str:
    """The whole report if it has no more lines than this, else the essence of it.

    `rest`: where everything is, for the last line of the essence.
    """
    whole = report.terminal(width)
    if whole.count("\n") < lines:
        return whole
    above, tables, under = _above(report, width), _tables(report, width), _under(report, width, rest)
    room = lines - len(above) - len(under) - 1
    claims = _claims(report, width, room)
    tables = _first(tables, room - len(claims))
    notes = _notes(report, width)
    told = [*under, *(notes if len(claims) + len(tables) + len(notes) <= room else [])]
    return "\n".join([*above, *claims, *tables, "", *told])


def _above(report: "Report", width: int) -> Lines:
    return textwrap.wrap(report.kind.experiment.heading, width)


def _under(report: "Report", width: int, rest: str) -> Lines:
    experiment, manifest = report.kind.experiment, report.measured.manifest
    typed = experiment.changes(overrides(manifest))  # the budget does not know of steps that are typed
    scale = "" if typed else part_of_scale(manifest["budget"]["steps"], experiment.printed_steps)
    counted = textwrap.wrap(" ".join(filter(None, [report.provenance(), scale, report.counted()])), width)
    return [*counted, *textwrap.wrap(rest, width, break_long_words=False, break_on_hyphens=False)]


def _notes(report: "Report", width: int) -> Lines:
    """The remarks; footnotes belong to marks that are not shown."""
    return [line for note in report.remarks for line in textwrap.wrap(f"* {note}.", width, subsequent_indent="  ")]


def _claims(report: "Report", width: int, most: int) -> Lines:
    """The sentences of the source and an empty line: no more than half of `most` lines, so that some are cut to one."""
    told = [line for text in report.claims(width) for line in text.splitlines()[1:]]
    if len(told) > most // 2:
        told = [
            bullet(found, _cut(text, width - len(bullet(found, "", where))), where)
            for found, text, where in report.sentences()
        ]
    return [*_first(told, most // 2), ""] if told else []


def _tables(report: "Report", width: int) -> Lines:
    """What the signs mean, and the tables but those of the claims; those of one header stand together."""
    tables = [table for table in report.tables if not about_claims(table)]  # they stand above
    named = [(_heading(table, report, width), *folded(table)) for table in tables]
    blocks: list[Lines] = []
    for (_, names), group in itertools.groupby(named, lambda each: (tuple(each[1].header), each[2])):
        titles, same, _ = zip(*group, strict=True)
        joined = together(same, names, width) if len(same) > 1 else []
        apart = [_spaced(below(table, names, width)) for table in same]
        blocks += [_stacked(titles, joined)] if joined else _titled(titles, apart)
    return [*textwrap.wrap(legend(tables), width), *_spaced(blocks)]


def _stacked(titles: Sequence[Lines], blocks: Sequence[Lines]) -> Lines:
    """Tables below one header, each with its title, which takes the place of a rule, above its first row."""
    header, first = blocks[0][: 1 if titles[0] else 2], blocks[0][2:]
    return [*header, *itertools.chain(*_titled(titles, [first, *blocks[1:]]))]


def _titled(titles: Sequence[Lines], blocks: Sequence[Lines]) -> list[Lines]:
    return [[*title, *lines] for title, lines in zip(titles, blocks, strict=True)]


def _spaced(blocks: Sequence[Lines]) -> Lines:
    """The lines of all, with an empty one between two of them."""
    return [line for number, lines in enumerate(blocks) for line in ([""] if number else []) + lines]


def _heading(table: Table, report: "Report", width: int) -> Lines:
    """The title of a table without that of the experiment."""
    title, experiment = table.title, report.kind.experiment
    for about in (experiment.heading, experiment.title):
        title = title.removesuffix(about).strip()
    return textwrap.wrap(title.removesuffix("."), width)


def _first(lines: Lines, room: int) -> Lines:
    """The lines, or the first ones and how many more there are: whole tables, if these fill half of the room."""
    if len(lines) <= room:
        return lines
    kept = max(room - 1, 0)
    ends = [number for number in range(room // 2, kept) if not lines[number]]
    kept = ends[-1] if ends else kept
    return [*lines[:kept], f"{CUT} {len(lines) - kept} more lines"]


def _cut(text: str, width: int) -> str:
    """A text in one line of this width."""
    return text if len(text) <= width else textwrap.shorten(text, max(width, len(CUT) + 1), placeholder=f" {CUT}")
