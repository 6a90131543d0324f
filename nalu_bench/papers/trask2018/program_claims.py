"""Claims on programs: that a share of matching digits, or the difference of two, lies on one side of a threshold."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pandas as pd

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.intervals import mean_difference, student_mean
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.table.claim import Claim, furthest_from_true
from nalu_bench.analysis.table.place import Place
from nalu_bench.papers.trask2018.numbers_claims import Sentence, told

PERCENT = 100
SHARES: Span = (0, PERCENT)
IN = {"train": "training", "test": "the test"}


def tested(said: Sentence, where: Place, cells: Mapping[Place, pd.DataFrame]) -> tuple[Claim, list[pd.DataFrame]]:
    """The claim where it is furthest from true, and the runs behind it; untested unless all of its cells have runs.

    One number is the mean share of matching digits at the selected step, in percent; two are the difference, the first
    minus the second.

    Args:
        where: the task of numbers that name none. cells: the runs by the place of their cell.
    """
    numbers = said.places(where)
    behind = dict.fromkeys(place.cell() for number in numbers for place in number)
    missing = [f"{style.label(place.model)} on {place.task}" for place in behind if place not in cells]
    if missing:
        return Claim.missing(f"no runs of ours: {', '.join(missing)}"), []
    threshold, above = said.limit
    claims, several = [], len(numbers) > 1
    for number in numbers:
        samples = [shares(cells[place.cell()], f"{place.split}_digits") for place in number]
        alone = " − ".join(told(place, where) for place in number)
        at = " − ".join(f"{told(place.at(split=''), where)} in {IN.get(place.split, place.split)}" for place in number)
        quantity = "digits in %" if several else alone
        claim = Claim.estimated(quantity, partial(_estimated, samples), threshold, above)
        claims.append(replace(claim, where=at if several else ""))
    return furthest_from_true(claims), [cells[place] for place in behind]


def shares(runs: pd.DataFrame, column: str) -> Array:
    """A share of every seed in percent; a run without any, which diverged at once, has none."""
    return PERCENT * runs[column].fillna(0.0).to_numpy(float)


def _estimated(samples: list[Array], confidence: float) -> tuple[float, float, float]:
    one, *other = samples
    return mean_difference(one, other[0], confidence) if other else student_mean(one, confidence, SHARES)
