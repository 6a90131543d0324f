"""Claims on series of several lengths: that some cells all hold, or all fail, at some lengths."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from nalu_bench.analysis.measure.measured import count_note
from nalu_bench.analysis.render import style
from nalu_bench.analysis.table.claim import Claim, furthest_from_true
from nalu_bench.analysis.table.line import Row, Value
from nalu_bench.analysis.table.place import Place

if TYPE_CHECKING:
    from nalu_bench.papers.trask2018.series_errors import SeriesErrorsSettings

HOLDS, FAILS = TESTS = ("holds", "fails")

Ratios = Mapping[tuple[str, int], Value]
"""(model, length) -> error as a multiple of the reference's, and its interval."""


@dataclass
class Sentence:
    """What a claim says: these models all hold, or all fail, at these lengths."""

    models: list[str]
    lengths: list[int]
    verdict: str


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
        place = where.at(metric=f"claim_{name}")
        places = [(model, length) for model in said.models for length in said.lengths]
        missing = _missing([one for one in places if one not in ratios])
        tested = {one: _claim(*one, ratios[one], said.verdict, report) for one in places if one in ratios}
        if not tested:
            yield Claim.missing(missing).row(place)
            continue
        worst = furthest_from_true(tested.values())
        model = next(model for (model, _), claim in tested.items() if claim is worst)
        behind = [reference, *(cells[each] for each in said.models if each in cells)]
        untested = missing or _unready(behind, report.least_steps)
        yield replace(worst, untested=untested).row(place, [cells[model]])


def _claim(model: str, length: int, ratio: Value, verdict: str, report: "SeriesErrorsSettings") -> Claim:
    """The claim on one model at one length."""
    limit = report.fails if verdict == FAILS else report.holds
    return Claim(f"{style.label(model)} at length {length:,}", ratio, limit, above=verdict == FAILS)


def _missing(places: Sequence[tuple[str, int]]) -> str:
    """Which models have no runs at which lengths, in words; empty without any places."""
    labels = dict.fromkeys(style.label(model) for model, _ in places)
    at = dict.fromkeys(f"{length:,}" for _, length in places)
    return f"no runs of ours: {', '.join(labels)} at length {', '.join(at)}" if places else ""


def _unready(behind: Sequence[pd.DataFrame], least: int) -> str:
    """Why a claim on these cells cannot be tested yet: seeds are missing, or trained too shortly; empty if it can.

    Without this a verdict could turn over while the seeds come in.
    """
    for runs in behind:
        if count_note(runs):
            return f"unfinished: {style.label(runs['model'].iloc[0])}, {count_note(runs)}"
    steps = min(int(runs["steps"].iloc[0]) for runs in behind)
    return f"trained for {steps:,} steps, claims are tested from {least:,} on" if steps < least else ""
