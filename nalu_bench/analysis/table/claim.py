"""A sentence of a paper and the number that tests it, one class for all papers."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from nalu_bench.analysis.stats.compare import Limits, claim_truth, compare_claim
from nalu_bench.analysis.stats.intervals import no_finer
from nalu_bench.analysis.stats.verdicts import Comparison, Verdict, not_comparable
from nalu_bench.analysis.table.formats import interval, number
from nalu_bench.analysis.table.line import EVERYWHERE, Printed, Row, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError

CLAIM = "claim_"
"""The start of the metric of a claim; its name follows."""

MOST_NAMED = 12
"""The most places of a claim whose numbers its notes list; those of more stand in the table alone."""

Statistic = Callable[[float], tuple[float, float, float]]
"""Confidence -> a number and the limits of its interval."""


@dataclass(kw_only=True)
class Said:
    """What a claim says, in the settings of a report.

    `fitted` tells that what it is about was chosen in view of the outcome: where the claim holds, this says nothing.
    """

    fitted: bool = False

    def check(self, name: str) -> None:
        """Raise UsageError for a claim, of this name, that cannot be tested."""

    def names(self) -> Iterator[tuple[str, str | None]]:
        """(task, operation, model, split or a word of the setting) -> value of what it is about; None for any."""
        return iter(())


@dataclass(kw_only=True)
class Limit(Said):
    """A threshold of ours in the settings of a report: a claim needs a number of at least, or at most, so much."""

    at_least: float | None = None
    at_most: float | None = None

    def check(self, name: str) -> None:
        """Raise UsageError for a claim without one limit."""
        if (self.at_least is None) == (self.at_most is None):
            raise UsageError(f"the claim {name} must have one limit, at_least or at_most.")

    @property
    def limit(self) -> tuple[float, bool]:
        """The threshold, and whether the claimed side is above it."""
        found = self.at_most if self.at_least is None else self.at_least
        assert found is not None
        return found, self.at_least is not None


@dataclass(frozen=True)
class Claim:
    """The test of a claim in words: a number, and the side of a threshold on which the claim says it lies.

    The quote is the printed text of the same place; the verdict is that of `compare_claim`.

    Attributes:
        quantity: the number in words. value: the number.
        limits: confidence -> its interval; None for a number that is computed and not estimated.
        threshold: ours. above: the claimed side. words: the threshold in words, if these say more.
        places: the number of places on which the claim must hold, of which this is the one furthest from true.
        picked: whether this place was picked by its own number, as the best of several.
        untested: why the claim cannot be tested; empty if it can.
        out_of_reach: why no number could lie on the claimed side, whatever is true; empty if one could.
        where: the place whose number this is, in words, if the claim is on several.
        everywhere: of several places that have names, the number of each.
    """

    quantity: str
    value: float
    limits: Limits | None
    threshold: float
    above: bool = True
    words: str = ""
    places: int = 1
    picked: bool = False
    untested: str = ""
    out_of_reach: str = ""
    where: str = ""
    everywhere: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def estimated(
        cls, quantity: str, statistic: Statistic, threshold: float, above: bool = True, resamples: int = 0
    ) -> "Claim":
        """A claim on a statistic of seeds: confidence -> value, low, high.

        `resamples` of a bootstrap: it knows no p-value below 2 / (resamples + 1).
        """

        def limits(confidence: float) -> tuple[float, float]:
            return statistic(confidence)[1:]

        return cls(quantity, statistic(0.95)[0], no_finer(limits, resamples) if resamples else limits, threshold, above)

    @classmethod
    def missing(cls, reason: str) -> "Claim":
        """A claim of which nothing was measured, and why."""
        return cls("", math.nan, None, math.nan, untested=reason)

    @property
    def ours(self) -> Value:
        """The number with its 95 % interval."""
        return Value(self.value, *self.limits(0.95)) if self.limits else Value(self.value)

    def row(self, place: Place, behind: Sequence[pd.DataFrame] = (), *notes: str) -> Row:
        """The row of the table. `behind`: the runs of every group; the seeds are those of the smallest."""
        seeds, steps = min(map(len, behind), default=0), int(behind[0]["steps"].iloc[0]) if behind else 0
        among = f" (of {self.places} places the furthest from true)" if self.places > 1 and not self.picked else ""
        quantity = f"{self.quantity}, at {self.where}{among}" if self.where else self.quantity
        named = self.everywhere if len(self.everywhere) <= MOST_NAMED else ()
        places = ", ".join(f"{where} {interval(*ours, number)}" for where, ours in named)
        told = tuple(filter(None, [quantity, places and f"{EVERYWHERE}{places}", *notes]))
        return Row(place, self.ours, seeds, steps, self._compare, told)

    def _compare(self, printed: Printed) -> Comparison:
        if self.untested:
            return not_comparable(self.untested)
        if self.limits is None:
            alone = compare_claim(lambda _: (self.value, self.value), self.threshold, self.words, self.above)
            return replace(alone, p_value=math.nan)
        found = compare_claim(self.limits, self.threshold, self.words, self.above, self.places, self.picked)
        if self.out_of_reach:
            return replace(found, verdict=Verdict.INCONCLUSIVE, p_value=math.nan, notes=(self.out_of_reach,))
        return found


def furthest_from_true(claims: Sequence[Claim]) -> Claim:
    """The test of a claim that must hold in several places: the one that is furthest from true, see `compare_claim`."""

    def truth(claim: Claim) -> tuple[int, float, float]:
        return claim_truth(claim.limits or (lambda _: (claim.value, claim.value)), claim.threshold, claim.above)

    everywhere = tuple((claim.where, claim.ours) for claim in claims if claim.where)
    return replace(min(claims, key=truth), places=len(claims), everywhere=everywhere)
