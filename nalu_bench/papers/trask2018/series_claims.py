"""Claims on series of several lengths: that some cells all hold, or all fail, at some lengths."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import TYPE_CHECKING

import pandas as pd

from nalu_bench.analysis.measure.measured import count_note
from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.medians import RATIOS
from nalu_bench.analysis.table.claim import CLAIM, Claim, Said, Statistic, furthest_from_true
from nalu_bench.analysis.table.line import Row
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError

if TYPE_CHECKING:
    from nalu_bench.papers.trask2018.series_errors import SeriesErrorsSettings

HOLDS, FAILS = TESTS = ("holds", "fails")

Ratios = Mapping[tuple[str, int], Statistic]
"""(model, length) -> error as a multiple of the reference's, with its interval by confidence."""


@dataclass
class Sentence(Said):
    """What a claim says: these models all hold, or all fail, at these lengths."""

    models: list[str]
    lengths: list[int]
    verdict: str

    def check(self, name: str) -> None:
        """Raise UsageError for a verdict that is none."""
        if self.verdict not in TESTS:
            raise UsageError(f"the claim {name} must say {HOLDS} or {FAILS}, got {self.verdict}.")

    def names(self) -> Iterator[tuple[str, str | None]]:
        return (("model", model) for model in self.models)


def rows(
    report: "SeriesErrorsSettings",
    where: Place,
    cells: Mapping[str, pd.DataFrame],
    reference: pd.DataFrame,
    ratios: Ratios,
) -> Iterator[Row]:
    """A row for every claim, tested on the model and length where it is furthest from true.

    Args:
        report: the settings of the report. where: the place that all rows share. cells: model -> runs.
    """
    for name, said in report.claims.items():
        place = where.at(metric=f"{CLAIM}{name}")
        places = [(model, length) for model in said.models for length in said.lengths]
        missing = _missing([one for one in places if one not in ratios])
        ways = {model: comb(len(runs) + len(reference), len(reference)) for model, runs in cells.items()}
        tested = {one: _claim(*one, ratios[one], said.verdict, report, ways[one[0]]) for one in places if one in ratios}
        if not tested:
            yield Claim.missing(missing).row(place)
            continue
        worst = furthest_from_true(list(tested.values()))
        model = next(model for (model, _), claim in tested.items() if claim.quantity == worst.quantity)
        behind = [reference, *(cells[each] for each in said.models if each in cells)]
        untested = missing or _unfinished(behind)
        yield replace(worst, untested=untested).row(place, [cells[model]])


def _claim(
    model: str, length: int, ratio: Statistic, verdict: str, report: "SeriesErrorsSettings", arrangements: int
) -> Claim:
    """The claim on one model at one length.

    `arrangements`: in how many ways the seeds of both sides can be told apart, which no p-value is finer than.
    """
    limit = report.fails if verdict == FAILS else report.holds
    quantity = f"ratio to the reference of {style.label(model)} at length {length:,}"
    return Claim.estimated(quantity, ratio, limit, above=verdict == FAILS, resamples=min(RATIOS, arrangements))


def _missing(places: Sequence[tuple[str, int]]) -> str:
    """Which models have no runs at which lengths, in words; empty without any places."""
    labels = dict.fromkeys(style.label(model) for model, _ in places)
    at = dict.fromkeys(f"{length:,}" for _, length in places)
    return f"no runs of ours: {', '.join(labels)} at length {', '.join(at)}" if places else ""


def _unfinished(behind: Sequence[pd.DataFrame]) -> str:
    """Which of these cells lacks seeds, so that a claim on them cannot be tested yet; empty if none does.

    Without this a verdict could turn over while the seeds come in.
    """
    for runs in behind:
        if count_note(runs):
            return f"unfinished: {style.label(runs['model'].iloc[0])}, {count_note(runs)}"
    return ""
