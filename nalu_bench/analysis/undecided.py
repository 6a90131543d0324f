"""Which cells more seeds could decide: the rule by which a campaign goes on."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from nalu_bench.analysis import results
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.report import Report
from nalu_bench.analysis.reports.kind import place_of
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.line import Line
from nalu_bench.analysis.table.place import Place
from nalu_bench.plan.setting import Setting
from nalu_bench.store.reader import Store

if TYPE_CHECKING:
    from nalu_bench.plan.compose import Plan


def undecided(plan: "Plan", store: Store, earlier: Sequence[Measured] = ()) -> set[str]:
    """The addresses of the cells of which a verdict is `inconclusive`, on the seeds of the plan alone.

    A statistic that is not compared decides nothing, and neither does a claim about several cells. Which way a number
    points plays no part: `agrees` and `differs` are decided alike.
    """
    measured = results.measured(plan, store, earlier)
    if measured.runs.empty:
        return set()
    kind = results.kind_of(plan.experiment)
    found = places(Report.of(kind, measured).lines, kind.own_words)
    return {want.cell.digest for want in plan.cells if place_of(want) in found}


def places(lines: Sequence[Line], own: Collection[str] = ()) -> set[Place]:
    """The cells of which a verdict is `inconclusive`. `own`: words that lines have beside those of their cell."""
    found = [line.place.cell() for line in lines if line.verdict is Verdict.INCONCLUSIVE]
    return {
        place.at(setting=Setting({word: value for word, value in place.setting.items() if word not in own}))
        for place in found
    }
