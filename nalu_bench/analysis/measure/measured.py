"""Measurements as frames, and the helpers that reports share."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.errors import UsageError

CELL_KEYS = ["task", "setting", "operation", "model"]
"""The words that tell the cells of an experiment apart."""


@dataclass(frozen=True)
class Measured:
    """All measurements of an experiment: everything that a report is made of.

    Attributes:
        runs: one row per run.
        curves: one row per run and evaluation, thinned.
        predictions: one row per run, probe and output; empty if the task has no probes.
        weights: one row per run and small effective matrix or mean gate; the oldest runs have none.
    """

    runs: pd.DataFrame = field(default_factory=pd.DataFrame)
    curves: pd.DataFrame = field(default_factory=pd.DataFrame)
    predictions: pd.DataFrame = field(default_factory=pd.DataFrame)
    weights: pd.DataFrame = field(default_factory=pd.DataFrame)

    def arrays(self, cell: str, seed: int) -> dict[str, NDArray[Any]]:
        """The kept weights and arrays of a run, by name."""
        kept = self.weights[(self.weights["cell"] == cell) & (self.weights["seed"] == seed)]
        return {row["name"]: np.reshape(row["values"], row["shape"]) for row in records(kept)}

    def cost(self, cell: str) -> float:
        """Seconds of one core for a step of one seed of a cell; nan if they are not known."""
        return math.nan


def by_cell(runs: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield (its task, setting, operation and model; its runs) for every cell, in order of appearance.

    Raises:
        UsageError if two cells cannot be told apart by these words: their runs must not be mixed.
    """
    for keys, group in runs.groupby(CELL_KEYS, sort=False):
        words = dict(zip(CELL_KEYS, map(str, keys), strict=True))
        if group["cell"].nunique() > 1:
            raise UsageError(
                f"two cells are both called {' '.join(filter(None, words.values()))}; "
                "a table cannot hold both unless the experiment's `settings` tell them apart."
            )
        yield words, group


def count_note(runs: pd.DataFrame) -> str:
    """`25 of 100 seeds` for an unfinished cell, otherwise an empty text."""
    asked = int(runs["asked"].iloc[0])
    return f"{len(runs)} of {asked} seeds" if len(runs) < asked else ""


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def values_of(setting: str) -> dict[str, str]:
    """The words of a setting such as `hidden=4;length=10` with their values."""
    return dict(entry.split("=", 1) for entry in setting.split(";") if entry)
