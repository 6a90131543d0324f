"""Claims on agents that tell the time: on their success, on their T50, and on the differences between two of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.compare import claim_truth
from nalu_bench.analysis.stats.intervals import mean_difference, welch_p_value
from nalu_bench.analysis.stats.verdicts import holm
from nalu_bench.errors import UsageError

Array = NDArray[np.float64]

LONGER, SHORTER, ALIKE = "longer", "shorter", "not told apart"


@dataclass
class Claim:
    """A claim in words and its limit, `at_least` or `at_most`, which must hold for all `models` or all `pairs`.

    Attributes:
        models, times: the mean success of each model over the times from the first to the second, or its T50.
        pairs: the difference of T50, first model minus second.
    """

    models: list[str] = field(default_factory=list)
    times: list[int] | None = None
    pairs: list[list[str]] = field(default_factory=list)
    at_least: float | None = None
    at_most: float | None = None


Interval = tuple[float, float, float]
"""A number, and the low and the high limit of its 95 % interval."""


class Tested(NamedTuple):
    """A claim's number, that which is furthest from true.

    Attributes:
        runs: behind it. what: it is, in words. limit, above: the claimed side of it.
    """

    interval: Interval
    runs: list[pd.DataFrame]
    what: str
    limit: float
    above: bool


class Difference(NamedTuple):
    """The difference of two agents' mean T50 with Welch's 95 % interval, and what Holm's correction leaves of it."""

    scale: str
    pair: tuple[str, str]
    interval: Interval
    says: str


def check(name: str, claim: Mapping[str, object]) -> None:
    """Raise UsageError for a claim on nothing or without one limit."""
    if bool(claim["models"]) == bool(claim["pairs"]):
        raise UsageError(f"the claim {name} must be on models or on pairs of them, and not on both.")
    if (claim["at_least"] is None) == (claim["at_most"] is None):
        raise UsageError(f"the claim {name} must have one limit, at_least or at_most.")


def tested(
    claim: Claim,
    agents: Mapping[str, pd.DataFrame],
    t50: Callable[[pd.DataFrame], Array],
    mean: Callable[[pd.DataFrame, Sequence[int]], Array],
) -> Tested | None:
    """A claim's number; None unless all of its agents have runs.

    A claim that must hold for several agents is tested on the one furthest from true, which needs no correction for
    their number: the claim is the intersection of what it says of each.

    Args:
        agents: model -> runs. t50: the T50 of every seed. mean: mean success of every seed over the times.
    """
    above = claim.at_least is not None
    limit = claim.at_least if claim.at_least is not None else claim.at_most
    assert limit is not None
    if not {*claim.models, *(model for pair in claim.pairs for model in pair)} <= set(agents):
        return None
    found = []
    for model in claim.models:
        runs, times = agents[model], claim.times
        samples = t50(runs) if times is None else mean(runs, times)
        what = f"{style.label(model)}, {'T50' if times is None else _words(times)}"
        found.append(Tested(medians.bounds_of(samples), [runs], what, limit, above))
    for one, other in claim.pairs:
        both = [agents[one], agents[other]]
        what = f"T50 of {style.label(one)} − {style.label(other)}"
        found.append(Tested(mean_difference(t50(both[0]), t50(both[1])), both, what, limit, above))
    return min(found, key=lambda each: claim_truth(each.interval[1], each.interval[2], limit, above))


def _words(times: Sequence[int]) -> str:
    first, last = times
    return f"success at T = {first}" if first == last else f"success at T = {first} to {last}"


def differences(pairs: Sequence[Sequence[str]], by_scale: Mapping[str, Mapping[str, Array]]) -> Iterator[Difference]:
    """Pairs of agents at every scale; Holm's correction is over all of them.

    Args:
        by_scale: scale -> model -> T50 of every seed.
    """
    sides = [
        (scale, (one, other), agents[one], agents[other])
        for scale, agents in by_scale.items()
        for one, other in pairs
        if one in agents and other in agents
    ]
    rejected = holm([welch_p_value(mine, others) for *_, mine, others in sides])
    for (scale, pair, mine, others), apart in zip(sides, rejected, strict=True):
        interval = mean_difference(mine, others)
        yield Difference(scale, pair, interval, ALIKE if not apart else LONGER if interval[0] > 0 else SHORTER)
