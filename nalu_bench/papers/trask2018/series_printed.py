"""Printed errors on series of digits that contradict each other: Trask et al. 2018, Tables 2 and 10."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from nalu_bench.analysis.stats.ranges import read_printed
from nalu_bench.analysis.table.line import Printed
from nalu_bench.analysis.table.place import Place


@dataclass(frozen=True)
class Pair:
    """The mean absolute and the mean squared error of one model on one test, as they are printed.

    E|e| is at most the root of E[e²] for whatever errors e, so that both can be true only if ratio <= 1.
    """

    mae: str
    mse: str

    @property
    def ratio(self) -> float:
        """The mean absolute error as a multiple of the root of the mean squared one."""
        return read_printed(self.mae).value / math.sqrt(read_printed(self.mse).value)

    @property
    def impossible(self) -> bool:
        """Whether no two numbers that round to these can both be true."""
        return read_printed(self.mae).least > math.sqrt(read_printed(self.mse).most)

    @property
    def impossible_halved(self) -> bool:
        """The same, if both are twice what they should be."""
        return read_printed(self.mae).least / 2 > math.sqrt(read_printed(self.mse).most / 2)


def pairs(published: Mapping[Place, Printed]) -> dict[Place, Pair]:
    """Place of the mean absolute error -> both errors, where both are printed."""
    found = {}
    for place, printed in published.items():
        squared = published.get(place.at(metric="mse"))
        if place.metric == "mae" and printed.text and squared and squared.text:
            found[place] = Pair(printed.text, squared.text)
    return found
