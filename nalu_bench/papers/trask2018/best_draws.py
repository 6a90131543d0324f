"""The best of several runs of each of several settings, as a number that could be drawn again."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.stats.redrawn import redrawn

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
        """Draw `count` runs of every setting, see `redrawn`, and take the one with the smallest `by`; many times.

        The winners of groups with other names are drawn independently of each other. A run without a finite error is
        the worst. Settings with fewer than `ENOUGH` runs for a draw make one, of their first runs.
        """
        runs = pd.concat(settings, ignore_index=True)
        errors = medians.finite_or_worst(runs[by])
        generator = np.random.default_rng([SEED, zlib.crc32(name.encode())])
        alone = any(len(each) < ENOUGH * count for each in settings)
        starts = np.cumsum([0, *(len(each) for each in settings[:-1])])
        drawn = np.hstack(
            [
                start + (np.arange(count)[None] if alone else redrawn(generator, len(each), count, DRAWS))
                for start, each in zip(starts, settings, strict=True)
            ]
        )
        winners = np.take_along_axis(drawn, errors[drawn].argmin(axis=1)[:, None], axis=1)[:, 0]
        return cls(runs, winners, count * len(settings))

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
