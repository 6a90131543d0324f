"""Claims on agents that tell the time: on their success, on their T50, and on the differences between two of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.intervals import mean_difference, welch_p_value
from nalu_bench.analysis.stats.verdicts import holm
from nalu_bench.analysis.table.claim import Claim, furthest_from_true
from nalu_bench.analysis.table.line import Value
from nalu_bench.errors import UsageError

Array = NDArray[np.float64]

LONGER, SHORTER, ALIKE = "longer", "shorter", "not told apart"


@dataclass
class Sentence:
    """What a claim says: a limit, `at_least` or `at_most`, which must hold for all `models` or all `pairs`.

    Attributes:
        models, times: the mean success of each model over the times from the first to the second, or its T50.
        pairs: the difference of T50, first model minus second.
        fitted: whether the agents were chosen in view of the outcome.
    """

    models: list[str] = field(default_factory=list)
    times: list[int] | None = None
    pairs: list[list[str]] = field(default_factory=list)
    at_least: float | None = None
    at_most: float | None = None
    fitted: bool = False

    def check(self, name: str) -> None:
        """Raise UsageError for a claim on nothing or without one limit."""
        if bool(self.models) == bool(self.pairs):
            raise UsageError(f"the claim {name} must be on models or on pairs of them, and not on both.")
        if (self.at_least is None) == (self.at_most is None):
            raise UsageError(f"the claim {name} must have one limit, at_least or at_most.")

    def agents(self) -> set[str]:
        """The agents that it is about."""
        return {*self.models, *(model for pair in self.pairs for model in pair)}


class Difference(NamedTuple):
    """The difference of two agents' mean T50 with Welch's 95 % interval, and what Holm's correction leaves of it."""

    scale: str
    pair: tuple[str, str]
    ours: Value
    says: str


def tested(
    said: Sentence,
    agents: Mapping[str, pd.DataFrame],
    t50: Callable[[pd.DataFrame], Array],
    mean: Callable[[pd.DataFrame, Sequence[int]], Array],
) -> tuple[Claim, list[pd.DataFrame]] | None:
    """The claim where it is furthest from true, and the runs behind it; None unless all of its agents have runs.

    Args:
        agents: model -> runs. t50: the T50 of every seed. mean: mean success of every seed over the times.
    """
    above = said.at_least is not None
    threshold = said.at_least if said.at_least is not None else said.at_most
    assert threshold is not None
    if not said.agents() <= set(agents):
        return None
    claims: list[Claim] = []
    behind: dict[str, list[pd.DataFrame]] = {}
    for model in said.models:
        runs, times = agents[model], said.times
        samples = t50(runs) if times is None else mean(runs, times)
        quantity = f"{style.label(model)}, {'T50' if times is None else _words(times)}"
        median = partial(medians.exact_of, samples)
        claims.append(Claim.estimated(quantity, median, threshold, above))
        behind[quantity] = [runs]
    for one, other in said.pairs:
        both = [agents[one], agents[other]]
        quantity = f"T50 of {style.label(one)} − {style.label(other)}"
        difference = partial(mean_difference, t50(both[0]), t50(both[1]))
        claims.append(Claim.estimated(quantity, difference, threshold, above))
        behind[quantity] = both
    worst = replace(furthest_from_true(claims), fitted=said.fitted)
    return worst, behind[worst.quantity]


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
        yield Difference(scale, pair, Value(*interval), ALIKE if not apart else LONGER if interval[0] > 0 else SHORTER)
