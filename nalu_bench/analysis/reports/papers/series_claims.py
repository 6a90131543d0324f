"""Claims on series of several lengths: that some cells all hold, or all fail, at some lengths."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from nalu_bench.analysis.measure.measured import count_note
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Row, claimed, untested
from nalu_bench.analysis.stats.compare import claim_truth

HOLDS, FAILS = TESTS = ("holds", "fails")

Ratios = Mapping[tuple[str, int], tuple[float, float, float]]
"""(model, length) -> error as a multiple of the reference's, and its interval."""


@dataclass
class Claim:
    """A claim in words: these models all hold, or all fail, at these lengths."""

    models: list[str]
    lengths: list[int]
    verdict: str


def rows(
    report: Mapping[str, Any],
    where: Mapping[str, str],
    cells: Mapping[str, pd.DataFrame],
    reference: pd.DataFrame,
    ratios: Ratios,
) -> Iterator[Row]:
    """A row for every claim, tested on the model and length where it is furthest from true.

    Args:
        report: the settings of the report. where: the keys that all rows share. cells: model -> runs.
    """
    for name, claim in report["claims"].items():
        above, limit = claim["verdict"] == FAILS, report[claim["verdict"]]
        places = [(model, length) for model in claim["models"] for length in claim["lengths"]]
        missing = [place for place in places if place not in ratios]
        keys = {**where, "setting": "", "model": "", "metric": f"claim_{name}"}
        if missing == places:
            yield Row(keys, math.nan, math.nan, math.nan, 0, 0, untested(_missing(missing)))
            continue
        tested = {place: ratios[place] for place in places if place in ratios}
        worst = min(tested, key=lambda place: claim_truth(*tested[place][1:], limit, above))
        value, low, high = tested[worst]
        behind = [reference, *(cells[model] for model in claim["models"] if model in cells)]
        reason = _missing(missing) or _unready(behind, report["least_steps"])
        compare = untested(reason) if reason else claimed(low, high, limit, above=above)
        runs = cells[worst[0]]
        note = f"{style.label(worst[0])} at length {worst[1]:,}"
        yield Row(keys, value, low, high, len(runs), int(runs["steps"].iloc[0]), compare, note)


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
