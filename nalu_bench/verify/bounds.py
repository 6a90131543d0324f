"""Figures of one run that no network can have, alone or together: those of a split tested once have no curve."""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench import registry
from nalu_bench.analysis.measure.measured import Measured, by_digest
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.tasks.measure import Measure
from nalu_bench.tasks.task import Task

ROUNDING = 1e-4
"""Share by which a mean in single precision may pass its bound; the most in committed runs is 8e-7."""

UNDERFLOW = 1e-30
"""Mean squares below this are not compared: squares of single precision vanish before their roots do."""


ENDS = {"lowest": -math.inf, "highest": math.inf}
"""What the registration of a measure or a loss may state of its figures, with the default."""

COUNTS = ("sparsity_error", "reinitialized")
"""Columns beside the figures of splits that cannot be negative."""

WHOLE = ("reinitialized",)
"""Those that count what the recipe restarts: whole numbers that never fall."""

LOSS = "train_loss"

Bound = tuple[str, str, np.ndarray]
"""A column, the column that bounds it, and which runs break the bound."""


def impossible(measured: Measured, wanted: Sequence[Wanted]) -> Iterator[str]:
    """A line for every run that breaks one of these:

    the ends of each measure, such as 0 <= accuracy <= 1;   (mean |e|)² <= mean e²;
    accuracy within a tolerance <= accuracy within a larger one.
    """
    runs, curves = (by_digest(frame) for frame in (measured.runs, measured.curves))
    for want in (one for one in wanted if one.cell.digest in runs):
        mine = runs[want.cell.digest]
        for frame in (mine, *([curves[want.cell.digest]] if want.cell.digest in curves else [])):
            yield from _beyond(want, frame)
            for small, large, broken in _broken(want.cell.task, frame):
                for seed, one, other in _wrong_rows(frame, broken, "seed", small, large):
                    yield f"cell {want.cell.digest} seed {seed}: {small} is {one:g}, which {large} {other:g} rules out"


def _beyond(want: Wanted, rows: pd.DataFrame) -> Iterator[str]:
    """A line for every run with a figure that its measure cannot have, at its selected step or in its curve."""
    for column, (lowest, highest) in _ends(want.cell, map(str, rows)).items():
        values = rows[column].to_numpy(float)
        wrong = (values < lowest) | (values > highest * (1 + ROUNDING))
        if column in WHOLE:
            wrong |= np.isfinite(values) & (np.floor(values) != values)
            wrong |= _falls(rows, column) if "step" in rows else False
        for seed, value in _wrong_rows(rows, wrong, "seed", column):
            yield f"cell {want.cell.digest} seed {seed}: {column} is {value:g}, which no network has"


def _wrong_rows(rows: pd.DataFrame, wrong: np.ndarray, *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of the first wrong row of every seed. Mostly none is wrong, and the frame is not searched."""
    if not wrong.any():
        return []
    return [*rows.loc[wrong, [*columns]].drop_duplicates("seed").itertuples(index=False, name=None)]


def _falls(curves: pd.DataFrame, column: str) -> np.ndarray:
    """Which points of curves lie below the one before them."""
    steps = curves.sort_values(["seed", "step"]).groupby("seed")[column].diff()
    return (steps < 0).reindex(curves.index).to_numpy()


def _ends(cell: Cell, columns: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Column -> the lowest and the highest that it can be.

    A figure of a task's own that begins as a measure is named, such as `mae_<target>`, is bounded as that measure is.
    The loss in training is bounded where it is the recipe's alone: penalties may have any sign.
    """
    task = cell.task
    functions = {name: name for name in registry.measures.entries} | {one.name: one.function for one in task.measures}
    known = {name: tuple(registry.measures.fact(function, end, limit) for end, limit in ENDS.items())
             for name, function in functions.items()} | dict.fromkeys(task.shares, (0.0, 1.0))  # fmt: skip
    found: dict[str, tuple[float, float]] = {}
    for column in columns:
        split, _, name = column.partition("_")
        if column in COUNTS:
            found[column] = (0.0, cell.recipe.reinitialize_times if column in WHOLE else math.inf)
        elif column == LOSS and not cell.model.penalties and type(task).objective is Task.objective:
            lowest = [registry.losses.fact(loss, "lowest", -math.inf) for loss in cell.recipe.losses().values()]
            found[column] = (min(lowest), math.inf)
        elif split in (*task.evaluated, *task.tested):
            longest = max((one for one in known if name == one or name.startswith(f"{one}_")), key=len, default=None)
            found |= {} if longest is None else {column: known[longest]}
    return found


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
