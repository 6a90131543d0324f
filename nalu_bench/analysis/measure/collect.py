"""Collect an experiment's runs, curves and manifest from the run store: all that `results/` keeps for a report."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import pandas as pd

from nalu_bench.analysis.measure.manifest import REMEDY, read_manifest
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.record import kept_points, small_weights
from nalu_bench.errors import damage_named
from nalu_bench.plan.blocks import parse_ranges
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.experiment import Experiment
from nalu_bench.store.integrity import require_unedited
from nalu_bench.store.reader import Store
from nalu_bench.store.schema import Status


class Judge(Protocol):
    """Source of the facts of runs: a kind of report."""

    experiment: Experiment
    keeps_weights: ClassVar[bool]

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
        """`runs` of one cell with further columns of facts, found in its whole curves."""

    def criteria(self, cell: Cell, others: pd.DataFrame) -> dict[str, Any]:
        """The criteria by which the facts of a cell were judged."""


RUNS = ["cell", "seed", "status"]
CURVES = ["cell", "seed", "step"]
PREDICTIONS = ["cell", "seed", "probe", "output"]
WEIGHTS = ["cell", "seed", "name"]
"""The columns of `runs`, `curves`, `predictions` and `weights` that are always there."""

RECORDED = (
    "role", "task", "setting", "operation", "model", "cell", "steps", "log_every", "asked", "seed", "status",
    "last_step", "diverged_at", "selected_step", "part", "device", "mode", "commit",
)  # fmt: skip
"""The columns of `runs` of every cell that was trained, beside its errors."""

FACTS = ("solved", "solved_at")
"""The columns of `runs` that a criterion adds."""

TABLES = {"curves.parquet": CURVES, "predictions.parquet": PREDICTIONS, "weights.parquet": WEIGHTS}
"""File -> the columns that are always there and that identify a row. Empty files are left out, but not the curves."""

RUNS_FILE = "runs.csv"
MEASURED = (RUNS_FILE, *TABLES)
"""The measured files; everything else in a folder of `results/` is made from them."""


@dataclass(frozen=True)
class Collection(Measured):
    """The measured files of a folder of `results/`.

    Attributes:
        manifest: experiment, budget, cells, criteria, parts.
    """

    manifest: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "Collection | None":
        """Read the measured files of a folder of `results/`; None if it has no manifest.

        Raises:
            UsageError if a measured file is not the one that the manifest describes.
        """
        manifest = read_manifest(folder)
        if manifest is None:
            return None
        with damage_named(folder, REMEDY):
            require_unedited(folder, manifest, MEASURED)
        return cls.parse(folder, manifest)

    @classmethod
    def parse(cls, folder: Path, manifest: dict[str, Any]) -> "Collection":
        """Read the measured files of a folder whose hashes the caller checks."""
        with damage_named(folder, REMEDY):
            runs = read_runs(folder)
            if len(runs) != manifest["runs"]:
                raise ValueError(f"runs.csv has {len(runs)} of {manifest['runs']} rows")
            curves = pd.read_parquet(folder / "curves.parquet")
            if absent := _absent(runs, curves, manifest):
                raise ValueError(f"runs.csv has no column {', '.join(absent)}")
            predictions, weights = (_optional_table(folder / name) for name in list(TABLES)[1:])
            return cls(runs, curves, predictions, weights, manifest)

    @functools.cached_property
    def trained(self) -> "Collection":
        """The measurements without the cells that were skipped."""
        return replace(self, runs=self.runs[self.runs["status"] != Status.SKIPPED])

    def cost(self, cell: str) -> float:
        parts = [part for name, part in self.manifest["parts"].items() if name.startswith(f"{cell}/")]
        steps = int(self.runs.loc[self.runs["cell"] == cell, "steps"].iloc[0])
        trained = sum(len(parse_ranges(part["seeds"])) for part in parts) * steps
        return sum(part["seconds"] for part in parts) / trained if trained else math.nan

    def tables(self) -> dict[str, pd.DataFrame]:
        """The frames other than `runs`, by file name."""
        return dict(zip(TABLES, (self.curves, self.predictions, self.weights), strict=True))

    def runs_text(self) -> str:
        """`runs` as CSV. Reading this text and writing it again gives the same text."""
        return self.runs.to_csv(index=False, lineterminator="\n")


def _absent(runs: pd.DataFrame, curves: pd.DataFrame, manifest: dict[str, Any]) -> list[str]:
    """The columns that trained runs must have, and do not: what is recorded, the curve's, and the criteria's facts."""
    if not runs["status"].isin([Status.FINISHED, Status.DIVERGED]).any():
        return []
    criteria = [cell["criteria"] for cell in manifest["cells"].values()]
    judged = [f"{fact}_{column}" for found in criteria for column in found.get("thresholds", ()) for fact in FACTS]
    if any("threshold" in found for found in criteria):
        judged += FACTS
    errors = [str(column) for column in curves if column not in CURVES]
    return [column for column in dict.fromkeys([*RECORDED, *errors, *judged]) if column not in runs]


def read_runs(folder: Path) -> pd.DataFrame:
    """The runs of a folder of `results/`, one row each; nobody checks them here."""
    text = {"setting": str, "operation": str, "part": str, "commit": str, "cell": str, "note": str}
    return _typed(pd.read_csv(folder / RUNS_FILE, dtype=text).fillna(dict.fromkeys(text, "")))


def _optional_table(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path) if path.exists() else pd.DataFrame(columns=TABLES[path.name])


INTEGERS = ("seed", "last_step", "diverged_at", "selected_step")


def _typed(runs: pd.DataFrame) -> pd.DataFrame:
    """Make counts nullable integers, because some rows have none."""
    counts = [column for column in runs if column in INTEGERS or str(column).startswith("solved_at")]
    return runs.astype(dict.fromkeys(counts, "Int64"))


def collect(
    judge: Judge, budget: dict[str, Any], wanted: Sequence[Wanted], store: Store, earlier: Sequence[Collection]
) -> Collection:
    """Collect the runs of the store, and from earlier collections those that the store lacks.

    `budget` goes into the manifest. Runs of roles other than "cell" are collected first, because runs of the role
    "cell" may be judged by them.
    """
    beside = [want for want in wanted if want.role != "cell"]
    others = _measured(judge, beside, store, earlier, pd.DataFrame(columns=RUNS)).runs
    found = _measured(judge, wanted, store, earlier, others)
    parts = {
        f"{want.cell.digest}/{manifest['seeds']}": manifest
        for want in wanted
        for manifest in store.manifests(want.cell)
        if _seeds(found.runs, want.cell).intersection(parse_ranges(manifest["seeds"]))
    }
    cells = {
        want.cell.digest: {
            "label": want.label(), "role": want.role, "seeds": len(want.seeds),
            "criteria": judge.criteria(want.cell, _known(want, others)), "identity": want.cell.identity(),
            **({"stands_in": want.cell.task.stands_in()} if want.cell.task.stands_in() else {}),
        }
        for want in wanted
    }  # fmt: skip
    for before in earlier:
        parts = {name: part for name, part in before.manifest["parts"].items() if name.split("/")[0] in cells} | parts
    manifest = {
        "experiment": judge.experiment.name,
        "source": judge.experiment.source,
        "budget": budget,
        "seconds": round(sum(entry["seconds"] for entry in parts.values()), 1),
        "runs": len(found.runs),
        "cells": cells,
        "parts": dict(sorted(parts.items())),
    }
    return Collection(found.runs, found.curves, found.predictions, found.weights, manifest)


def _measured(
    judge: Judge, wanted: Sequence[Wanted], store: Store, earlier: Sequence[Measured], others: pd.DataFrame
) -> Measured:
    """The cells' runs in the store, then those that only earlier collections hold."""
    runs = _concat([_runs(judge, want, store, _known(want, others)) for want in wanted], RUNS)
    curves = [kept_points(store.curves(want.cell), runs[runs["cell"] == want.cell.digest]) for want in wanted]
    found = Measured(
        runs,
        _concat([_of_cell(want, runs, rows) for want, rows in zip(wanted, curves, strict=True)], CURVES),
        _concat([_of_cell(want, runs, store.predictions(want.cell)) for want in wanted], PREDICTIONS),
        _concat([_of_cell(want, runs, _small(judge, store, want.cell)) for want in wanted], WEIGHTS),
    )
    for before in earlier:
        found = _with_earlier(found, before, wanted)
    return replace(found, runs=_typed(found.runs))


def _small(judge: Judge, store: Store, cell: Cell) -> pd.DataFrame:
    """The small effective matrices, gates and recorded arrays of a cell; none if the kind of report has no use."""
    if not judge.keeps_weights:
        return pd.DataFrame(columns=["seed", "name"])
    frames = [frame for frame in (store.weights(cell), store.array_rows(cell)) if len(frame)]
    rows = _concat(frames, ["seed", "name"]).sort_values(["seed", "name"], kind="stable", ignore_index=True)
    return small_weights(rows)


def _known(want: Wanted, others: pd.DataFrame) -> pd.DataFrame:
    """The runs of other roles by which a cell may be judged. A cell of such a role itself gets none."""
    return others if want.role == "cell" else others.iloc[:0]


def _concat(frames: Sequence[pd.DataFrame], columns: Sequence[str] = ()) -> pd.DataFrame:
    """All rows in one frame. Without any frames, as in an experiment without cells, it has `columns`."""
    some = [frame for frame in frames if len(frame)] or frames[:1] or [pd.DataFrame(columns=list(columns))]
    return pd.concat(some, ignore_index=True)


def _runs(judge: Judge, want: Wanted, store: Store, others: pd.DataFrame) -> pd.DataFrame:
    """The rows of one cell: stored, failed or skipped."""
    cell = want.cell
    facts = {
        "role": want.role, "task": cell.task.name, "setting": want.words(),
        "operation": want.setting().get("operation", ""),
        "model": cell.model.name, "cell": cell.digest, "steps": cell.recipe.steps, "log_every": cell.recipe.log_every,
        "asked": len(want.seeds),
    }  # fmt: skip
    reason = cell.skip()
    if reason is not None:
        return pd.DataFrame([facts | {"status": str(Status.SKIPPED), "note": reason}])
    runs = store.runs(cell)
    runs = runs[runs["seed"].isin(want.seeds)]
    if len(runs):
        runs = judge.facts(cell, runs, store.curves(cell), others)
    failed = [
        {"seed": seed, "status": str(Status.FAILED), "note": why}
        for seed, why in store.failures(cell).items()
        if seed in want.seeds
    ]
    frame = pd.concat([runs, pd.DataFrame(failed)], ignore_index=True) if failed else runs
    frame = frame.assign(**{"note": ""} if "note" not in frame else {})
    for position, (name, value) in enumerate(facts.items()):
        frame.insert(position, name, value)
    return frame


def _of_cell(want: Wanted, runs: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of one cell, with its digest as the first column.

    These are the rows of its `runs`, which were read before: more may have been trained meanwhile.
    """
    chosen = rows[rows["seed"].isin(_seeds(runs, want.cell))].reset_index(drop=True)
    chosen.insert(0, "cell", want.cell.digest)
    return chosen


def _seeds(runs: pd.DataFrame, cell: Cell) -> set[int]:
    return set(runs.loc[runs["cell"] == cell.digest, "seed"]) if "seed" in runs else set()


def _with_earlier(now: Measured, before: Measured, wanted: Sequence[Wanted]) -> Measured:
    """Add the earlier rows of cells and seeds asked for that the store lacks, in the order of the cells."""
    asked = {(want.cell.digest, seed) for want in wanted for seed in want.seeds}
    have = set(zip(now.runs.get("cell", []), now.runs.get("seed", []), strict=True))
    asked_of = {want.cell.digest: len(want.seeds) for want in wanted}
    order = {want.cell.digest: position for position, want in enumerate(wanted)}

    def earlier(frame: pd.DataFrame) -> pd.DataFrame:
        keys = pd.Series(list(zip(frame["cell"], frame["seed"], strict=True)), index=frame.index, dtype=object)
        return frame[[key in asked and key not in have for key in keys]]

    def together(first: pd.DataFrame, second: pd.DataFrame, by: list[str]) -> pd.DataFrame:
        union = _concat([first, earlier(second)])
        return union.sort_values(
            ["cell", *by], key=lambda keys: keys.map(order) if keys.name == "cell" else keys, ignore_index=True
        )

    runs = together(now.runs, before.runs, ["seed"])
    return Measured(
        runs.assign(asked=runs["cell"].map(asked_of)),
        together(now.curves, before.curves, ["seed", "step"]),
        together(now.predictions, before.predictions, ["seed", "probe", "output"]),
        together(now.weights, before.weights, ["seed", "name"]),
    )
