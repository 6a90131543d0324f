"""A sentence of a paper and the number that tests it, one class for all papers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from nalu_bench.analysis.stats.compare import claim_truth, compare_claim
from nalu_bench.analysis.stats.verdicts import Comparison, not_comparable
from nalu_bench.analysis.table.line import NOTHING, Line, Printed, Row, Value
from nalu_bench.analysis.table.place import Place


@dataclass(frozen=True)
class Claim:
    """The test of a claim in words: a number, and the side of a threshold on which the claim says it lies.

    The quote is the printed text of the same place; the verdict is that of `compare_claim`.

    Attributes:
        quantity: the number in words.
        ours: the number with its interval.
        limit: the threshold, which is ours. above: the claimed side. words: the threshold in words, if these say more.
        exact: whether the number is computed and not estimated, so that it has no interval.
        untested: why the claim cannot be tested; empty if it can.
    """

    quantity: str
    ours: Value
    limit: float
    above: bool = True
    words: str = ""
    exact: bool = False
    untested: str = ""

    @classmethod
    def missing(cls, reason: str) -> "Claim":
        """A claim of which nothing was measured, and why."""
        return cls("", NOTHING, math.nan, untested=reason)

    def row(self, place: Place, behind: Sequence[pd.DataFrame] = (), *notes: str) -> Row:
        """The row of the table. `behind`: the runs of every group; the seeds are those of the smallest."""
        seeds, steps = min(map(len, behind), default=0), int(behind[0]["steps"].iloc[0]) if behind else 0
        told = tuple(filter(None, [self.quantity, *notes]))
        return Row(place, self.ours, seeds, steps, self._compare, told)

    def _compare(self, printed: Printed) -> Comparison:
        if self.untested:
            return not_comparable(self.untested)
        ends = (self.ours.value,) * 2 if self.exact else (self.ours.low, self.ours.high)
        return compare_claim(*ends, self.limit, self.words, self.above)


def furthest_from_true(claims: Iterable[Claim]) -> Claim:
    """The test of a claim that must hold in several places: the one that is furthest from true.

    It needs no correction for the number of places: the claim is the intersection of what it says of each.
    """
    return min(claims, key=lambda each: claim_truth(each.ours.low, each.ours.high, each.limit, each.above))


def tested_by(line: Line) -> str:
    """The number that tests a claim, and our threshold, for a column of a table."""
    limit = f", our threshold: {line.threshold}" if line.threshold else ""
    return "; ".join(line.notes) + limit
