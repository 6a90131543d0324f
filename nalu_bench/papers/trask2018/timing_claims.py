"""Claims on agents that tell the time: on what they do, on their T50, and on the differences between two of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import pandas as pd

from nalu_bench.analysis.measure.measured import count_note
from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.stats.samples import log_rank
from nalu_bench.analysis.stats.verdicts import holm
from nalu_bench.analysis.table.claim import Claim, Limit, furthest_from_true
from nalu_bench.analysis.table.line import Row, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError, unknown
from nalu_bench.papers.trask2018 import timing_t50

SUCCESS = "success"
WORDS = {SUCCESS: "success", "never": "never arrives", "longest": "arrives as for the longest trained T"}
"""What a claim may be about besides T50: a share of the episodes."""

DIFFERENCE = "t50_difference"
LONGER, SHORTER, ALIKE = "longer", "shorter", "not told apart"


@dataclass
class Sentence(Limit):
    """What a claim says: a limit, `at_least` or `at_most`, that holds for each of `models` alone, or for all `pairs`.

    Attributes:
        models, times: the mean of `share` of a model over the times from the first to the second, or its T50.
        share: of the episodes: success, never, longest.
        pairs: the difference of T50, first model minus second.
    """

    models: list[str] = field(default_factory=list)
    times: list[int] | None = None
    share: str = SUCCESS
    pairs: list[list[str]] = field(default_factory=list)

    def check(self, name: str) -> None:
        """Raise UsageError for a claim on nothing, without one limit, or on a share that is not measured."""
        if bool(self.models) == bool(self.pairs):
            raise UsageError(f"the claim {name} must be on models or on pairs of them, and not on both.")
        super().check(name)
        if self.share not in WORDS:
            raise unknown(f"share of the claim {name}", self.share, WORDS)

    def names(self) -> Iterator[tuple[str, str | None]]:
        return (("model", model) for model in (*self.models, *(model for pair in self.pairs for model in pair)))


class Agents(NamedTuple):
    """The agents of one group: those that see the world, are rewarded and are told T in the same way.

    Attributes:
        place: with the words that they share. runs: model -> its runs. t50: model -> T50 of every seed.
        last: the last tested T.
    """

    place: Place
    runs: Mapping[str, pd.DataFrame]
    t50: Mapping[str, Array]
    last: int


Mean = Callable[[pd.DataFrame, str, Sequence[int]], Array]
"""Runs, a share and two times -> the mean of this share over the times from the first to the second, of every seed."""


def tested(said: Sentence, agents: Agents, mean: Mean) -> Iterator[tuple[str, Claim, list[pd.DataFrame]]]:
    """(model, claim, the runs behind it) of every model that has runs; without a model for a claim on pairs of them.

    A claim on pairs is tested where it is furthest from true, if all of its agents have runs.
    """
    threshold, above = said.limit
    for model in said.models:
        if model in agents.runs:
            runs = agents.runs[model]
            median = partial(timing_t50.median_of, agents.t50[model])
            if said.times is not None:
                median = partial(medians.exact_of, mean(runs, said.share, said.times))
            yield model, Claim.estimated(f"{style.label(model)}, {_quantity(said)}", median, threshold, above), [runs]
    if said.pairs and {model for pair in said.pairs for model in pair} <= set(agents.runs):
        claims = {}
        for one, other in said.pairs:
            quantity = f"T50 of {style.label(one)} − {style.label(other)}, restricted at T = {agents.last}"
            difference = partial(timing_t50.restricted_difference, agents.t50[one], agents.t50[other], agents.last)
            claims[quantity] = Claim.estimated(quantity, difference, threshold, above), (one, other)
        worst = furthest_from_true([claim for claim, _ in claims.values()])
        yield "", worst, [agents.runs[model] for model in claims[worst.quantity][1]]


def _quantity(said: Sentence) -> str:
    if said.times is None:
        return "T50"
    first, last = said.times
    return f"{WORDS[said.share]} at T = {first}" + (f" to {last}" if first < last else "")


def differences(pairs: Sequence[Sequence[str]], groups: Sequence[Agents]) -> Iterator[Row]:
    """The difference of the restricted mean T50 of pairs of agents of every group.

    Its first note is what Holm's correction over all pairs leaves of the log-rank test.
    """
    sides = [(agents, (one, other)) for agents in groups for one, other in pairs if {one, other} <= set(agents.runs)]
    rejected = holm([log_rank(*_both(agents, pair), agents.last, agents.last) for agents, pair in sides])
    for (agents, pair), apart in zip(sides, rejected, strict=True):
        ours = Value(*timing_t50.restricted_difference(*_both(agents, pair), agents.last))
        says = ALIKE if not apart else LONGER if ours.value > 0 else SHORTER
        runs = [agents.runs[model] for model in pair]
        notes = tuple(filter(None, [says, *map(count_note, runs), f"restricted at T = {agents.last}"]))
        place, smaller = agents.place.at(metric=" ".join([DIFFERENCE, *pair])), min(runs, key=len)
        yield Row(place, ours, len(smaller), int(smaller["steps"].iloc[0]), notes=notes)


def _both(agents: Agents, pair: tuple[str, str]) -> tuple[Array, Array]:
    return agents.t50[pair[0]], agents.t50[pair[1]]
