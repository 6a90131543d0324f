"""The best of several runs of each of several settings, as a number that could be drawn again."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, prod

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.medians import Array

ENOUGH = 3
"""Runs of every setting for one of a draw. Draws of fewer runs share so many that their range says too little."""

DRAWS = 10_000
"""Draws behind a distribution."""

SEED = 20_181_125
"""Of the generator of all draws (our choice)."""


@dataclass(frozen=True)
class Best:
    """The best runs of many draws, and all runs of which they were drawn.

    Attributes:
        runs: of all settings.
        winners: the place of the best run among them, draw by draw; one alone if a setting has not `ENOUGH` runs.
        size: number of runs in a draw.
    """

    runs: pd.DataFrame
    winners: NDArray[np.int64]
    size: int

    @classmethod
    def of(cls, settings: Sequence[pd.DataFrame], count: int, by: str, name: str) -> "Best":
        """Draw `count` runs of every setting without replacement, and take the one with the smallest `by`; many times.

        The winners of groups with other names are drawn independently of each other. A run without a finite error is
        the worst.
        """
        runs = pd.concat(settings, ignore_index=True)
        errors = [medians.finite_or_worst(each[by]) for each in settings]
        chances = shares(errors, count)
        generator = np.random.default_rng([SEED, zlib.crc32(name.encode())])
        winners = generator.choice(len(runs), DRAWS, p=chances)
        alone = any(len(each) < ENOUGH * count for each in settings)
        return cls(runs, winners[:1] if alone else winners, count * len(settings))

    @property
    def alone(self) -> bool:
        """Whether there are too few runs for more than one draw."""
        return len(self.winners) == 1

    def of_winners(self, column: str) -> Array:
        """A number of the best run, draw by draw; infinite if it is not finite."""
        return medians.finite_or_worst(self.runs[column])[self.winners]

    def told(self) -> str:
        """`best of 40, drawn from 120 runs; 17 different networks`, or `best of 40, one draw from 60 runs`."""
        if self.alone:
            return f"best of {self.size}, one draw from {len(self.runs)} runs"
        found = np.unique(self.winners).size
        return f"best of {self.size}, drawn from {len(self.runs)} runs; {found} different networks"


def shares(errors: Sequence[Array], count: int) -> Array:
    """The share of all draws in which each run is the best, groups one after the other.

        P(the b best runs are not drawn) = Π_g C(n_g - b_g, count) / C(n_g, count)

    with n_g runs in group g, of which b_g are among the b best. The share of a run is the difference of two of these.

    >>> shares([np.array([3.0, 1.0, 2.0])], 2).round(3).tolist()  # 1.0 is in two of three draws
    [0.0, 0.667, 0.333]
    """
    group = np.repeat(np.arange(len(errors)), [len(each) for each in errors])
    order = np.argsort(np.concatenate(errors), kind="stable")
    left = [len(each) for each in errors]
    every = prod(comb(n, count) for n in left)
    ways, found = every, np.zeros(len(group))
    for place in order:
        left[group[place]] -= 1
        fewer = prod(comb(n, count) for n in left)
        found[place] = (ways - fewer) / every
        ways = fewer
    return found
