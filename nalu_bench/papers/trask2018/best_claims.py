"""Claims on the best of several networks: that an error, or the ratio of two, lies on one side of a threshold."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from nalu_bench.analysis.stats.intervals import middle_range
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.table.claim import Claim, furthest_from_true
from nalu_bench.analysis.table.place import Place
from nalu_bench.papers.trask2018.best_draws import DRAWS, Best
from nalu_bench.papers.trask2018.numbers_claims import Sentence, told

Groups = Mapping[Place, Best | str]
"""A model, with the words of its setting among which nothing was chosen -> its draws, or why there are none."""


def tested(said: Sentence, where: Place, groups: Groups, measure: str) -> tuple[Claim, list[pd.DataFrame]]:
    """The claim where it is furthest from true, and the runs behind it.

    One number is the error there; two are the ratio of the first to the second. The claim is not tested unless all of
    its models have several draws. Its interval is the middle 95 % of the draws: what one best of several networks may
    show, as the paper shows one, with the chance that lies in our own training.

    Args:
        where: the task, and the words that all numbers share. groups: the draws of every group. measure: of errors.
    """
    numbers = said.places(where)
    behind = {place.cell(): groups.get(place.cell(), "no runs of ours") for number in numbers for place in number}
    draws = {place: best for place, best in behind.items() if isinstance(best, Best)}
    runs = [best.runs for best in draws.values()]
    reasons = [f"{told(place, where)}: {reason}" for place, best in behind.items() if (reason := _untested(best))]
    if reasons:
        return Claim.missing("; ".join(reasons)), runs
    threshold, above = said.limit
    claims = []
    for number in numbers:
        samples = [draws[place.cell()].of_winners(f"{place.split}_{measure}") for place in number]
        ratio = samples[0] / samples[1] if len(samples) == 2 else samples[0]
        quantity = " over ".join(told(place, where) for place in number)
        claims.append(Claim.estimated(quantity, partial(_range, ratio), threshold, above, resamples=DRAWS))
    return furthest_from_true(claims), runs


def _untested(best: Best | str) -> str:
    if isinstance(best, str):
        return best
    return f"{len(best.runs)} runs are too few for draws of {best.size}" if best.alone else ""


def _range(samples: Array, confidence: float) -> tuple[float, float, float]:
    return float(np.median(samples)), *middle_range(samples, confidence)
