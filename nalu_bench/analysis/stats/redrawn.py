"""What a table made of a few runs might show: our runs drawn again, and a table's runs drawn from these."""

import numpy as np
from numpy.typing import NDArray


def redrawn(generator: np.random.Generator, runs: int, count: int, draws: int) -> NDArray[np.int64]:
    """The places (draws, count) of the runs behind so many tables of `count` runs.

        runs* = m of our m runs, with replacement;   table = `count` of runs*, with replacement

    The first draw stands for the chance of our own runs, the second for that of the table's. Together they make the
    spread σ² (1/m + 1/count) of the difference between our mean and a printed one. Source: ours; a bootstrap, Efron &
    Tibshirani 1993, An Introduction to the Bootstrap, chapter 6. Deviations: does not apply.

    Args:
        runs: m, of ours. count: runs of a table. draws: tables.
    """
    ours = generator.integers(runs, size=(draws, runs))
    return np.take_along_axis(ours, generator.integers(runs, size=(draws, count)), axis=1)
