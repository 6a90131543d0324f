"""Our numbers beside the printed ones, with the verdicts of the whole experiment."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nalu_bench.analysis.stats.verdicts import NOTHING_PRINTED, Comparison, not_comparable, settle
from nalu_bench.analysis.table.line import NOTHING, Line, Printed, Row
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import nearest


def compared(rows: Sequence[Row], published: Mapping[Place, Printed], incomparable: str = "") -> list[Line]:
    """Put the printed numbers beside ours and settle the verdicts over the whole experiment.

    Rows without a printed number get no verdict. Printed numbers without a row of ours stay, as `not comparable`.
    `incomparable` is why none of ours is compared, if none is.
    """
    printed = dict(published)
    matched = [printed.pop(row.place, None) for row in rows]
    verdicts = [_alone(row, match, incomparable) for row, match in zip(rows, matched, strict=True)]
    lines = [
        _line(row, match, verdict)
        for row, match, verdict in zip(rows, matched, _settled(matched, verdicts), strict=True)
    ]
    made = {row.place.metric: any(row.place.metric == place.metric for place in published) for row in rows}
    return lines + [_line(Row(place, NOTHING, 0, 0), match, _missing(place, made)) for place, match in printed.items()]


def _alone(row: Row, printed: Printed | None, incomparable: str) -> Comparison | None:
    """The comparison of one number, before Holm's correction; a recomputed one needs seeds, and no printed text."""
    if printed is None:
        return None
    if incomparable:
        return not_comparable(incomparable)
    if row.compare is None:
        return None
    return row.compare(printed) if printed.text or row.place.recomputed else not_comparable(NOTHING_PRINTED)


def _settled(printed: Sequence[Printed | None], alone: Sequence[Comparison | None]) -> list[Comparison | None]:
    """The verdicts after Holm's correction: one family of printed numbers, one of claims, one of our own claims."""
    families: dict[tuple[bool, bool], dict[int, Comparison]] = {}
    for place, (match, verdict) in enumerate(zip(printed, alone, strict=True)):
        if match and verdict:
            families.setdefault((bool(verdict.threshold), match.own), {})[place] = verdict
    settled = {
        place: one for each in families.values() for place, one in zip(each, settle([*each.values()]), strict=True)
    }
    return [settled.get(place) for place in range(len(alone))]


def _missing(place: Place, made: Mapping[str, bool]) -> Comparison:
    """Why a printed number has none of ours beside it. `made`: metric of ours -> whether it is printed anywhere."""
    if made and place.metric not in made:
        near = nearest(place.metric, [metric for metric, printed in made.items() if not printed])
        hint = f"; perhaps '{near}' is meant" if near else ""
        return not_comparable(f"no runs of ours, and the report makes {', '.join(made)} alone{hint}")
    return not_comparable("no runs of ours")


def _line(row: Row, printed: Printed | None, comparison: Comparison | None) -> Line:
    line = Line(row.place, row.ours, row.n_seeds, row.steps, printed, notes=row.notes)
    if comparison is None:
        return line
    return replace(
        line, verdict=comparison.verdict, by=comparison.by, reason=comparison.reason,
        notes=(*row.notes, *comparison.notes), threshold=comparison.threshold, held=comparison.held,
    )  # fmt: skip
