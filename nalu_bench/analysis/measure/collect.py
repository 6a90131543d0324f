"""From the run store to an experiment's runs, curves and manifest: what `results/` keeps, and all a report needs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.errors import damage_named
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.experiment import Experiment
from nalu_bench.store.reader import Store
from nalu_bench.store.schema import Status

REMEDY = "restore this folder, or delete it to have it made again"


class Judge(Protocol):
    """What gives runs their facts: a kind of report."""

    experiment: Experiment

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
        """`runs` of one cell with what its whole curves say in further columns."""

    def criteria(self, cell: Cell, others: pd.DataFrame) -> dict[str, Any]:
        """What the facts of a cell were judged by."""


RUNS = ["cell", "seed", "status"]
CURVES = ["cell", "seed", "step"]
PREDICTIONS = ["cell", "seed", "probe", "output"]
"""The columns of `runs`, `curves` and `predictions` that are always there."""

POINTS = 500
"""Evaluations of one run that are kept in `results/`."""


@dataclass(frozen=True)
class Collection(Measured):
    """The files of `results/` that hold what was measured.

    Attributes:
        manifest: experiment, budget, cells, criteria, parts.
    """

    manifest: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "Collection | None":
        """What a folder of `results/` holds, or None if it holds none."""
        manifest = read_manifest(folder)
        if manifest is None:
            return None
        text = {"setting": str, "operation": str, "part": str, "commit": str, "cell": str, "note": str}
        with damage_named(folder, REMEDY):
            runs = pd.read_csv(folder / "runs.csv", dtype=text).fillna(dict.fromkeys(text, ""))
            if len(runs) != manifest["runs"]:
                raise ValueError(f"runs.csv has {len(runs)} of {manifest['runs']} rows")
            probed = (folder / "predictions.parquet").exists()
            predictions = (
                pd.read_parquet(folder / "predictions.parquet") if probed else pd.DataFrame(columns=PREDICTIONS)
            )
            return cls(_typed(runs), pd.read_parquet(folder / "curves.parquet"), predictions, manifest)

    def runs_text(self) -> str:
        """`runs` as CSV; reading and writing it again gives the same text."""
        return self.runs.to_csv(index=False, lineterminator="\n")


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder of `results/`, or None if it has none."""
    path = folder / "manifest.json"
    if not path.exists():
        return None
    with damage_named(folder, REMEDY):
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return manifest


INTEGERS = ("seed", "last_step", "diverged_at", "selected_step", "solved_at")


def _typed(runs: pd.DataFrame) -> pd.DataFrame:
    """Counts as integers, also where some rows have none."""
    return runs.astype({column: "Int64" for column in INTEGERS if column in runs})


def collect(
    judge: Judge, budget: dict[str, Any], wanted: Sequence[Wanted], store: Store, earlier: Sequence[Collection]
) -> Collection:
    """The runs of the store, and those of earlier collections that the store lacks; `budget` is for the manifest.

    Runs of other roles than "cell" are collected first: the others may be judged by them.
    """
    beside = [want for want in wanted if want.role != "cell"]
    others = _measured(judge, beside, store, earlier, pd.DataFrame(columns=RUNS)).runs
    found = _measured(judge, wanted, store, earlier, others)
    parts = {
        f"{want.cell.digest}/{manifest['seeds']}": manifest
        for want in wanted
        for manifest in store.manifests(want.cell)
    }
    cells = {
        want.cell.digest: {
            "label": want.label(), "role": want.role, "seeds": len(want.seeds),
            "criteria": judge.criteria(want.cell, _known(want, others)), "identity": want.cell.identity(),
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
    return Collection(found.runs, found.curves, found.predictions, manifest)


def _measured(
    judge: Judge, wanted: Sequence[Wanted], store: Store, earlier: Sequence[Measured], others: pd.DataFrame
) -> Measured:
    """What the store holds of the cells, then what earlier collections hold beyond it."""
    found = Measured(
        _concat([_runs(judge, want, store, _known(want, others)) for want in wanted], RUNS),
        _concat([_curves(want, store) for want in wanted], CURVES),
        _concat([_predictions(want, store) for want in wanted], PREDICTIONS),
    )
    for before in earlier:
        found = _with_earlier(found, before, wanted)
    return replace(found, runs=_typed(found.runs))


def _known(want: Wanted, others: pd.DataFrame) -> pd.DataFrame:
    """The runs of other roles that the runs of a cell may be judged by: none for those other roles' own."""
    return others if want.role == "cell" else others.iloc[:0]


def _concat(frames: Sequence[pd.DataFrame], columns: Sequence[str] = ()) -> pd.DataFrame:
    """All rows in one frame; `columns` are those of no frames at all, of an experiment without cells."""
    some = [frame for frame in frames if len(frame)] or frames[:1] or [pd.DataFrame(columns=list(columns))]
    return pd.concat(some, ignore_index=True)


def _runs(judge: Judge, want: Wanted, store: Store, others: pd.DataFrame) -> pd.DataFrame:
    """The rows of one cell: stored, failed or skipped."""
    cell = want.cell
    setting = want.setting()
    facts = {
        "role": want.role, "task": cell.task.name, "setting": "", "operation": setting.pop("operation", ""),
        "model": cell.model.name, "cell": cell.digest, "steps": cell.recipe.steps, "log_every": cell.recipe.log_every,
        "asked": len(want.seeds),
    }  # fmt: skip
    facts["setting"] = ";".join(f"{key}={value}" for key, value in setting.items())
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


def _curves(want: Wanted, store: Store) -> pd.DataFrame:
    """The thinned curves of one cell."""
    curves = store.curves(want.cell)
    curves = curves[curves["seed"].isin(want.seeds)]
    if curves.empty:
        return pd.DataFrame(columns=CURVES)
    steps = np.unique(curves["step"].to_numpy())
    stride = -(-len(steps) // POINTS)
    kept = np.union1d(steps[::stride], steps[-1:])
    thinned = curves[curves["step"].isin(kept)].reset_index(drop=True)
    thinned.insert(0, "cell", want.cell.digest)
    return thinned


def _predictions(want: Wanted, store: Store) -> pd.DataFrame:
    """The predictions of one cell at its task's probes."""
    predictions = store.predictions(want.cell)
    predictions = predictions[predictions["seed"].isin(want.seeds)].reset_index(drop=True)
    predictions.insert(0, "cell", want.cell.digest)
    return predictions


def _with_earlier(now: Measured, before: Measured, wanted: Sequence[Wanted]) -> Measured:
    """Add the earlier rows of the same cells and seeds that the store does not have, in the order of the cells."""
    asked = {(want.cell.digest, seed) for want in wanted for seed in want.seeds}
    have = set(zip(now.runs.get("cell", []), now.runs.get("seed", []), strict=True))
    asked_of = {want.cell.digest: len(want.seeds) for want in wanted}
    order = {want.cell.digest: position for position, want in enumerate(wanted)}

    def earlier(frame: pd.DataFrame) -> pd.DataFrame:
        keys = pd.Series(list(zip(frame["cell"], frame["seed"], strict=True)), index=frame.index, dtype=object)
        return frame[[key in asked and key not in have for key in keys]]

    def together(first: pd.DataFrame, second: pd.DataFrame, by: list[str]) -> pd.DataFrame:
        union = _concat([first, earlier(second)])
        union = union.assign(_order=union["cell"].map(order)).sort_values(["_order", *by], ignore_index=True)
        return union.drop(columns="_order")

    runs = together(now.runs, before.runs, ["seed"])
    return Measured(
        runs.assign(asked=runs["cell"].map(asked_of)),
        together(now.curves, before.curves, ["seed", "step"]),
        together(now.predictions, before.predictions, ["seed", "probe", "output"]),
    )
