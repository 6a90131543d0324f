"""A kind of report of one's own: its limits are checked, its claims are told once and with their operation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from reported import measured_of, runs_of

from nalu_bench.analysis import report
from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.report import Report
from nalu_bench.analysis.reports.kind import Kind, Settings
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.claim import Limit
from nalu_bench.analysis.table.claims import claims_table, parted
from nalu_bench.analysis.table.layout import Judged, Table
from nalu_bench.analysis.table.line import Line, Printed, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.plan import experiment

TABLE1 = experiment.load("madsen2020/table1")


@dataclass
class LeagueSettings(Settings):
    better: Limit


class League(Kind):
    """Verdicts in the opposite order of the lines, then the claims."""

    settings = LeagueSettings

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        claims, numbers = parted(lines)
        rows = [["", line.place.model, Judged(line)] for line in reversed(numbers)]
        return [Table("Numbers", ["", "", "verdict"], rows), *claims_table("All", claims, under=lambda _: "")]


def kind(**better: Any) -> League:
    return League(replace(TABLE1, report={"kind": "league", "better": better}))


@pytest.mark.parametrize("better", [{}, {"at_least": 0.5, "at_most": 1.0}])
def test_a_claim_of_ones_own_has_one_limit(better: dict[str, float]) -> None:
    assert kind(at_most=0.5).report.better.limit == (0.5, False)
    with pytest.raises(UsageError, match="the claim better must have one limit, at_least or at_most"):
        kind(**better)


def line(model: str, *notes: str, verdict: Verdict = Verdict.AGREES, printed: str = "1", **words: str) -> Line:
    place = Place("arithmetic", model=model, metric="error").at(**words)
    return Line(place, Value(1.0), 2, 10, Printed(printed), verdict, notes=notes)


LINES = [
    line("nac", "of few seeds", "beyond"), line("nau", "beyond", "far off"), line("nalu"),
    line("", "a ratio", printed="sums are exact", metric="claim_a", operation="add"),
    line("", "a count", printed="products fail", metric="claim_b", operation="mul", verdict=Verdict.DIFFERS),
]  # fmt: skip


def test_marks_follow_the_reader_and_reasons_of_claims_stand_beside_them_alone() -> None:
    league = kind(at_most=0.5)
    tables = league.tables(LINES)
    found = Report(
        league, measured_of(runs_of("nac", 2)), LINES, tables, [], Footnotes.of(report._marked(tables, LINES))
    )
    assert found.notes() == ["†: beyond", "‡: far off", "§: of few seeds"]
    text = "\n".join(found.claims(100))
    assert "* agrees: sums are exact (arithmetic, add)" in text
    assert "* differs: products fail (arithmetic, mul)" in text
