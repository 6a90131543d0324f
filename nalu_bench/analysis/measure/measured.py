"""Measurements as frames, and the helpers that reports share."""

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.table.formats import span
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError, unknown
from nalu_bench.plan.blocks import parse_ranges
from nalu_bench.store.schema import Status

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
        manifest: experiment, budget, cells, criteria, parts; empty for the runs of a single part.
    """

    runs: pd.DataFrame = field(default_factory=pd.DataFrame)
    curves: pd.DataFrame = field(default_factory=pd.DataFrame)
    predictions: pd.DataFrame = field(default_factory=pd.DataFrame)
    weights: pd.DataFrame = field(default_factory=pd.DataFrame)
    manifest: dict[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def trained(self) -> "Measured":
        """The measurements as a report computes with them: without skipped cells, in double precision.

        A sum in single precision depends on the processor in digits that a report writes.
        """
        runs = self.runs[self.runs["status"] != Status.SKIPPED]
        return replace(self, runs=runs, curves=_double(self.curves), predictions=_double(self.predictions))

    def arrays(self, cell: str, seed: int) -> dict[str, NDArray[np.float64]]:
        """The kept weights and arrays of a run, by name, in double precision."""
        kept = self.weights[(self.weights["cell"] == cell) & (self.weights["seed"] == seed)]
        return {row["name"]: np.reshape(row["values"], row["shape"]).astype(float) for row in records(kept)}

    def ended(self, columns: Sequence[str]) -> pd.DataFrame:
        """The runs with these columns as their last evaluation has them, finite or not.

        `recipe.selection=last` passes over an evaluation whose validation error is not finite.
        """
        if not len(self.curves):
            return self.runs
        keys = ["cell", "seed"]
        last = self.curves.sort_values("step").groupby(keys).tail(1).set_index(keys)
        ends = last.reindex(pd.MultiIndex.from_frame(self.runs[keys]))
        passed = self.runs["selected_step"].ne(self.runs["last_step"]).fillna(True).to_numpy(bool)
        found = {name: np.where(passed, ends[name], self.runs[name]) for name in columns if name in last}
        return self.runs.assign(**found)

    def cost(self, cell: str) -> float:
        """Seconds of one core for a step of one seed of a cell; nan if they are not known, as of a GPU."""
        mine = [part for name, part in self.manifest["parts"].items() if name.startswith(f"{cell}/")]
        parts = [part for part in mine if part["device"] == "cpu"]
        steps = int(self.runs.loc[self.runs["cell"] == cell, "steps"].iloc[0])
        trained = sum(len(parse_ranges(part["seeds"])) for part in parts) * steps
        return sum(part["seconds"] for part in parts) / trained if trained else math.nan


def _double(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its columns of single precision in double precision."""
    return frame.astype({str(name): float for name in frame if frame[name].dtype == np.float32})


def by_digest(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Address of a cell -> its rows."""
    return {str(cell): mine for cell, mine in rows.groupby("cell", sort=False)} if len(rows) else {}


def by_cell(runs: pd.DataFrame) -> Iterator[tuple[Place, pd.DataFrame]]:
    """Yield (its place; its runs) for every cell, in order of appearance.

    Raises:
        UsageError if two cells cannot be told apart by these words: their runs must not be mixed.
    """
    for words, group in runs.groupby(CELL_KEYS, sort=False):
        place = Place.parse(dict(zip(CELL_KEYS, words, strict=True)), CELL_KEYS)
        if group["cell"].nunique() > 1:
            raise both_called(place)
        yield place, group


def both_called(place: Place) -> UsageError:
    """The error for two cells of one place."""
    return UsageError(
        f"two cells are both called {place.told()}; a table cannot hold both unless the experiment's `settings` tell "
        "them apart."
    )


def cells(runs: pd.DataFrame) -> dict[Place, str]:
    """The place of every cell -> its address; the first of those with the same words. None if nothing was trained."""
    found: dict[Place, str] = {}
    for row in records(runs.reindex(columns=[*CELL_KEYS, "cell"]).drop_duplicates("cell")):
        found.setdefault(Place.parse(row, CELL_KEYS), str(row["cell"]))
    return found


def count_note(runs: pd.DataFrame) -> str:
    """`25 of 100 seeds` for an unfinished cell, otherwise an empty text."""
    asked = int(runs["asked"].iloc[0])
    return f"{len(runs)} of {asked} seeds" if len(runs) < asked else ""


def seeds_by_cell(runs: pd.DataFrame) -> "pd.Series[int]":
    """How many seeds each cell has; baselines and other roles are left out."""
    return runs[runs["role"] == "cell"].groupby("cell").size()


def seeds_told(runs: pd.DataFrame) -> str:
    """How many seeds the cells have, and of how many if some lack seeds: `25 to 50 of 100`; empty without runs."""
    found, asked = seeds_by_cell(runs), runs.groupby("cell")["asked"].first()
    lacking = asked[found.index][found < asked[found.index]]
    return " of ".join(filter(None, [span(found), span(lacking)]))


def cells_with(measured: Measured, words: Mapping[str, str]) -> list[dict[str, Any]]:
    """A run of each cell that has these words, such as model="nmu"; those of other roles are left out.

    Raises:
        UsageError for a word that no cell has.
    """
    found = [line for line in records(measured.runs.drop_duplicates("cell")) if line["role"] == "cell"]
    for key, value in words.items():
        if key not in CELL_KEYS:
            raise unknown("word", key, CELL_KEYS)
        known = sorted({str(line[key]) for line in found})
        if value not in known:
            raise unknown(key, str(value), known)
        found = [line for line in found if str(line[key]) == value]
    return found


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]
