"""Our numbers beside the printed ones, with the verdicts of the whole experiment."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from nalu_bench.analysis.stats.verdicts import Comparison, not_comparable, settle
from nalu_bench.analysis.table.line import NOTHING, Line, Printed, Row
from nalu_bench.analysis.table.place import Place


def compared(rows: Sequence[Row], published: Mapping[Place, Printed]) -> list[Line]:
    """Put the printed numbers beside ours and settle the verdicts over the whole experiment.

    Rows without a printed number get no verdict. Printed numbers without a row of ours stay, as `not comparable`.
    """
    printed = dict(published)
    matched = [printed.pop(row.place, None) for row in rows]
    verdicts = [row.compare(match) if match and row.compare else None for row, match in zip(rows, matched, strict=True)]
    settled = iter(settle([verdict for verdict in verdicts if verdict]))
    lines = [
        _line(row, match, next(settled) if verdict else None)
        for row, match, verdict in zip(rows, matched, verdicts, strict=True)
    ]
    made = dict.fromkeys(row.place.metric for row in rows)
    return lines + [_line(Row(place, NOTHING, 0, 0), match, _missing(place, made)) for place, match in printed.items()]


def _missing(place: Place, made: Collection[str]) -> Comparison:
    """Why a printed number has none of ours beside it."""
    if made and place.metric not in made:
        return not_comparable(f"no runs of ours, and the report makes {', '.join(made)} alone")
    return not_comparable("no runs of ours")


def _line(row: Row, printed: Printed | None, comparison: Comparison | None) -> Line:
    line = Line(row.place, row.ours, row.n_seeds, row.steps, printed, notes=row.notes)
    if comparison is None:
        return line
    return replace(
        line, verdict=comparison.verdict, by=comparison.by, reason=comparison.reason,
        notes=(*row.notes, *comparison.notes), threshold=comparison.threshold,
    )  # fmt: skip
