"""Collect an experiment's runs, curves and manifest from the run store: all that `results/` keeps for a report."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench.analysis.described import entries, known, seconds
from nalu_bench.analysis.measure.asked import OWN, row_words
from nalu_bench.analysis.measure.measured import Measured, by_digest
from nalu_bench.analysis.measure.read import CURVES, PREDICTIONS, RUNS, WEIGHTS, with_counts
from nalu_bench.analysis.measure.record import kept_points, small_weights
from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.plan.blocks import parse_ranges
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.store.reader import Store
from nalu_bench.store.schema import Status


def collect(
    kind: Kind,
    budget: dict[str, Any],
    wanted: Sequence[Wanted],
    store: Store,
    earlier: Sequence[Measured],
    committed: Measured | None = None,
) -> Measured:
    """Collect the runs of the store, and from earlier collections those that the store lacks.

    A block that `committed` holds and that was trained again is taken from there: another processor rounds otherwise.

    `budget` goes into the manifest. Runs of roles other than "cell" are collected first, because runs of the role
    "cell" may be judged by them.
    """
    beside = [want for want in wanted if want.role != "cell"]
    again = _trained_again(wanted, store, committed)
    others = _measured(kind, beside, store, earlier, pd.DataFrame(columns=RUNS), again).runs
    found = _measured(kind, wanted, store, earlier, others, again)
    parts = {
        f"{want.cell.digest}/{manifest['seeds']}": manifest
        for want in wanted
        for manifest in store.manifests(want.cell)
        if (_seeds(found.runs, want.cell) - again.get(want.cell.digest, set())).intersection(
            parse_ranges(manifest["seeds"])
        )
    }
    cells = entries(kind, wanted, others)
    for before in earlier:
        parts = {name: part for name, part in before.manifest["parts"].items() if name.split("/")[0] in cells} | parts
    manifest = {
        "experiment": kind.experiment.name,
        "source": kind.experiment.source,
        "budget": budget,
        "seconds": seconds(parts),
        "runs": len(found.runs),
        "cells": cells,
        "parts": dict(sorted(parts.items())),
    }
    return Measured(found.runs, found.curves, found.predictions, found.weights, manifest)


def _trained_again(wanted: Sequence[Wanted], store: Store, committed: Measured | None) -> dict[str, set[int]]:
    """Cell -> the seeds of blocks that were committed and are in the store from another training.

    A block of which more seeds are asked for than were committed is the store's: all its runs are of one training.
    """
    again: dict[str, set[int]] = {}
    if committed is None:
        return again
    for want in wanted:
        held = _seeds(committed.runs, want.cell)
        for manifest in store.manifests(want.cell):
            before = committed.manifest["parts"].get(f"{want.cell.digest}/{manifest['seeds']}")
            asked = set(parse_ranges(manifest["seeds"])).intersection(want.seeds)
            if before is not None and _training(before) != _training(manifest) and asked <= held:
                again.setdefault(want.cell.digest, set()).update(asked)
    return again


def _training(manifest: Mapping[str, Any]) -> list[Any]:
    """What tells one training of a block from another; the same processor makes the same files again."""
    return [manifest.get(name) for name in ("files", "finished")]


def _measured(
    kind: Kind,
    wanted: Sequence[Wanted],
    store: Store,
    earlier: Sequence[Measured],
    others: pd.DataFrame,
    again: Mapping[str, set[int]],
) -> Measured:
    """The cells' runs in the store but for the seeds `again`, then those that only earlier collections hold."""
    runs = _concat(
        [_runs(kind, want, store, known(want, others), again.get(want.cell.digest, set())) for want in wanted], RUNS
    )
    found = Measured(
        runs,
        _concat([_curves(kind, want, runs, store) for want in wanted], CURVES),
        _concat([_of_cell(want, runs, store.predictions(want.cell)) for want in wanted], PREDICTIONS),
        _concat([_of_cell(want, runs, _small(store, want.cell)) for want in wanted], WEIGHTS),
    )
    for before in earlier:
        found = _with_earlier(found, before, wanted)
    return replace(found, runs=with_counts(found.runs), curves=_thinned(found, kind.points))


def _thinned(found: Measured, points: int) -> pd.DataFrame:
    """The kept points of all curves: those of earlier collections may be more."""
    if found.curves.empty:
        return found.curves
    runs, curves = by_digest(found.runs), by_digest(found.curves)
    return _concat([kept_points(rows, runs[cell], points) for cell, rows in curves.items()])


def _curves(kind: Kind, want: Wanted, runs: pd.DataFrame, store: Store) -> pd.DataFrame:
    """The kept points of a cell's curves. They are thinned one cell at a time: whole curves are large."""
    curves, mine = store.curves(want.cell), runs[runs["cell"] == want.cell.digest]
    return _of_cell(want, runs, kept_points(curves, mine, kind.points) if len(curves) and len(mine) else curves)


def _small(store: Store, cell: Cell) -> pd.DataFrame:
    """The small effective matrices, gates and recorded arrays of a cell."""
    frames = [frame for frame in (store.weights(cell), store.array_rows(cell)) if len(frame)]
    rows = _concat(frames, ["seed", "name"]).sort_values(["seed", "name"], kind="stable", ignore_index=True)
    return small_weights(rows)


def _concat(frames: Sequence[pd.DataFrame], columns: Sequence[str] = ()) -> pd.DataFrame:
    """All rows in one frame. Without any frames, as in an experiment without cells, it has `columns`."""
    some = [frame for frame in frames if len(frame)] or frames[:1] or [pd.DataFrame(columns=list(columns))]
    return pd.concat(some, ignore_index=True)


def _runs(kind: Kind, want: Wanted, store: Store, others: pd.DataFrame, but: set[int]) -> pd.DataFrame:
    """The rows of one cell but for some seeds: stored, failed or skipped."""
    cell = want.cell
    facts = row_words(want)
    reason = cell.skip()
    if reason is not None:
        return pd.DataFrame([facts | {"status": str(Status.SKIPPED), "note": reason}])
    runs, seeds = store.runs(cell), set(want.seeds) - but
    runs = runs[runs["seed"].isin(seeds)]
    if len(runs):
        runs = kind.facts(cell, runs, store.curves(cell), others)
    failed = [
        {"seed": seed, "status": str(Status.FAILED), "note": why}
        for seed, why in store.failures(cell).items()
        if seed in seeds
    ]
    frame = pd.concat([runs, pd.DataFrame(failed)], ignore_index=True) if failed else runs
    frame = frame.assign(**{"note": ""} if "note" not in frame else {})
    for position, (name, value) in enumerate(facts.items()):
        frame.insert(position, name, value)
    return _as_written(frame)


def _as_written(runs: pd.DataFrame) -> pd.DataFrame:
    """The rows with numbers of single precision as `runs.csv` has them: in the fewest digits that tell one.

    So a run has one text, whether it comes from the store or from an earlier collection.
    """
    single = [name for name in runs if runs[name].dtype == np.float32]
    return runs.astype(dict.fromkeys(single, str)).astype(dict.fromkeys(single, float))


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
    lacking = pd.MultiIndex.from_tuples(
        sorted(asked - set(zip(now.runs.get("cell", []), now.runs.get("seed", []), strict=True))),
        names=["cell", "seed"],
    )
    order = {want.cell.digest: position for position, want in enumerate(wanted)}
    words = {want.cell.digest: row_words(want) for want in wanted}

    def earlier(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[pd.MultiIndex.from_frame(frame[["cell", "seed"]]).isin(lacking)]

    def together(first: pd.DataFrame, second: pd.DataFrame, by: list[str]) -> pd.DataFrame:
        union = _concat([first, earlier(second)])
        return union.sort_values(
            ["cell", *by], key=lambda keys: keys.map(order) if keys.name == "cell" else keys, ignore_index=True
        )

    runs = together(now.runs, before.runs, ["seed"])
    counts = [words[cell]["asked"] for cell in runs["cell"]]
    own = {name: [words[cell][name] for cell in runs["cell"]] for name in OWN if name in runs}
    return Measured(
        runs.assign(**own, asked=counts),
        together(now.curves, before.curves, ["seed", "step"]),
        together(now.predictions, before.predictions, ["seed", "probe", "output"]),
        together(now.weights, before.weights, ["seed", "name"]),
    )
