"""Figures of one run that no network can have together: those of a split that is tested once have no curve."""

import itertools
import re
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.plan.cell import Wanted
from nalu_bench.tasks.measure import Measure
from nalu_bench.tasks.task import Task

ROUNDING = 1e-4
"""Share by which a mean in single precision may pass its bound; the most in committed runs is 8e-7."""

UNDERFLOW = 1e-30
"""Mean squares below this are not compared: squares of single precision vanish before their roots do."""


Bound = tuple[str, str, np.ndarray]
"""A column, the column that bounds it, and which runs break the bound."""


def impossible(measured: Measured, wanted: Sequence[Wanted]) -> Iterator[str]:
    """A line for every run that breaks one of these:

    (mean |e|)² <= mean e²;   accuracy within a tolerance <= accuracy within a larger one.
    """
    runs = dict(list(measured.runs.groupby("cell", sort=False)))
    for want in (one for one in wanted if one.cell.digest in runs):
        mine = runs[want.cell.digest]
        for small, large, broken in _broken(want.cell.task, mine):
            for seed, one, other in mine.loc[broken, ["seed", small, large]].itertuples(index=False, name=None):
                yield f"cell {want.cell.digest} seed {seed}: {small} is {one:g}, which {large} {other:g} rules out"


def _broken(task: Task, runs: pd.DataFrame) -> Iterator[Bound]:
    names = {measure.name for measure in task.measures}
    accuracies = [one.name for one in sorted(task.measures, key=_tolerance) if one.function == "accuracy"]
    for split in dict.fromkeys([*task.evaluated, *task.tested]):
        if {"mae", "mse"} <= names:
            yield from _means(split, runs)
        for less, more in itertools.pairwise(f"{split}_{name}" for name in accuracies):
            if {less, more} <= {*runs}:
                yield less, more, runs[less].to_numpy(float) > runs[more].to_numpy(float)


def _means(split: str, runs: pd.DataFrame) -> Iterator[Bound]:
    """The mean absolute errors of a split, perhaps by length, against the mean squared ones."""
    for column in map(str, runs):
        other = column.replace("_mae", "_mse")
        if re.fullmatch(rf"{split}_mae(_\d+)?", column) and other in runs:
            absolute, squared = (runs[name].to_numpy(float) for name in (column, other))
            above = absolute**2 > (1 + ROUNDING) * squared + UNDERFLOW
            yield column, other, above | ((absolute == 0) & (squared > UNDERFLOW))


def _tolerance(measure: Measure) -> float:
    return measure.options.get("tolerance", 0.0)
