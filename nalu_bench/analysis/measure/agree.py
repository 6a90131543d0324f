"""Check that the rows of a folder of `results/` are those of the plan's cells and of the parts in its manifest."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from nalu_bench.analysis.measure.asked import row_words
from nalu_bench.analysis.measure.measured import Measured, records
from nalu_bench.plan.blocks import blocks, parse_ranges, ranges_text
from nalu_bench.plan.cell import Wanted
from nalu_bench.store.schema import TRAINED, Status

Run = Mapping[str, Any]
"""A row of `runs`."""


class _Asked:
    """What the plan says of the runs of a cell."""

    def __init__(self, want: Wanted) -> None:
        self.words = row_words(want)
        self.seeds = frozenset(want.seeds)
        self.skip = want.cell.skip()

    def faults(self, run: Run) -> Iterator[str]:
        """What a row cannot say, whatever was trained."""
        for key, value in self.words.items():
            if str(run.get(key)) != str(value):  # 2.0 is no 2 in a file that says how often something was asked for
                yield f"{key} is {run.get(key)}, and must be {value}"
        if (run["status"] == Status.SKIPPED) != (self.skip is not None):
            yield f"status is {run['status']}, and its model {'can' if self.skip is None else 'cannot'} do the task"
        elif self.skip is None and run["seed"] not in self.seeds:
            yield "nobody asked for this seed"
        note = run.get("note")
        if run["status"] != Status.FAILED and (self.skip or "") != ("" if pd.isna(note) else note):
            yield f"note is {note!r}, and must be {self.skip or ''!r}"


def disagreements(measured: Measured, manifest: Mapping[str, Any], wanted: Sequence[Wanted]) -> Iterator[str]:
    """A line for every run or other row that contradicts the plan or the manifest.

    Args:
        measured: runs, curves and the other tables.
        manifest: the manifest of the same folder, with the parts.
        wanted: the cells of the plan, with their seeds.
    """
    parts, asked = manifest["parts"], {want.cell.digest: _Asked(want) for want in wanted}
    for run in records(measured.runs):
        cell = asked.get(run["cell"])
        why = "; ".join([*cell.faults(run), *_part_faults(run, parts)]) if cell else "its cell is not in the plan"
        if why:
            yield f"cell {run['cell']} seed {run.get('seed')}: {why}"
    keys = measured.runs.reindex(columns=["cell", "seed"])
    for digest, seed in keys[keys.duplicated() & keys["seed"].notna()].itertuples(index=False):
        yield f"cell {digest} seed {seed}: there are two rows for this run"
    trained = set(keys[measured.runs["status"].isin(TRAINED)].itertuples(index=False, name=None))
    for name in ("curves", "predictions", "weights"):
        yield from _foreign(name, getattr(measured, name), trained)


def _part_faults(run: Run, parts: Mapping[str, Any]) -> Iterator[str]:
    """What a row of a trained run cannot say, because its part says otherwise."""
    if run["status"] not in TRAINED:
        if run["status"] not in (Status.FAILED, Status.SKIPPED):
            yield f"status must be one of {', '.join(Status)}, got {run['status']}"
        return
    part = parts.get(f"{run['cell']}/{run['part']}")
    if part is None or run["seed"] not in parse_ranges(run["part"]):
        yield f"its part {run['part']} is not in manifest.json, or holds other seeds"
        return
    for key in ("device", "mode", "commit"):
        if run[key] != part[key]:
            yield f"{key} is {run[key]}, and {part[key]} in manifest.json"


def _foreign(name: str, rows: pd.DataFrame, trained: set[tuple[Any, ...]]) -> Iterator[str]:
    """A line for every run with rows in another table that is none of the trained ones."""
    for cell, seed in rows.reindex(columns=["cell", "seed"]).drop_duplicates().itertuples(index=False, name=None):
        if (cell, seed) not in trained:
            yield f"cell {cell} seed {seed}: it has rows in {name}, and no trained run in runs.csv"


def _chosen(runs: pd.DataFrame, parts: Mapping[str, Any]) -> Iterator[str]:
    """A line for every run that is not taken from the first part, by name, that holds its seed."""
    first: dict[tuple[str, int], str] = {}
    for name in sorted(parts):
        digest, _, text = name.partition("/")
        for seed in parse_ranges(text):
            first.setdefault((digest, seed), text)
    for digest, seed, text in runs.itertuples(index=False, name=None):
        if (must := first.get((digest, seed), text)) != text:
            yield f"cell {digest} seed {seed}: its run is of part {text}, and must be of {must}, which comes first"


def block_fault(part: Mapping[str, Any], text: str, own: int) -> str:
    """What is wrong with the seeds that the name of a part tells, if it is no whole block; empty for one.

    The oldest parts state no width, and hold seeds of a block of the model's `own`.
    """
    found = blocks(parse_ranges(text), part.get("width", own))
    whole = [block.span for block in found] == [text] if "width" in part else len(found) == 1 and "+" not in text
    if whole and part.get("seeds") == text:
        return ""
    wide = f" of width {part['width']}" if "width" in part else ""
    return f"must be a whole block, and holds the seeds {part.get('seeds')}{wide} by manifest.json"


def part_faults(
    measured: Measured, manifest: Mapping[str, Any], wanted: Sequence[Wanted], width: int | None
) -> Iterator[str]:
    """A line for every part that is no whole block, or of which a seed that was asked for has no trained run.

    `width` is that of the plan's device. A block has it, the model's own, or a larger one of another device; of a
    smaller one, single seeds could be left out. The oldest parts state none, and hold those of their block's seeds that
    were asked for then. Where two parts hold a seed, the first by name has its run: nobody chooses among two.
    """
    runs = measured.runs[measured.runs["status"].isin(TRAINED)].reindex(columns=["cell", "seed", "part"])
    yield from _chosen(runs, manifest["parts"])
    trained = {digest: set(seeds) for digest, seeds in runs.groupby("cell")["seed"]}
    asked = {want.cell.digest: set(want.seeds) for want in wanted}
    widths = {want.cell.digest: want.cell.model.width for want in wanted}
    for name, part in manifest["parts"].items():
        digest, _, text = name.partition("/")
        if digest not in asked:
            yield f"part {name} is of no cell of the plan"
            continue
        seeds, own = set(parse_ranges(text)), widths[digest]
        given = part.get("width", own)
        if given < own and given != width:
            yield f"part {name} must have {own} seeds a block or more, got width {given}"
            continue
        if fault := block_fault(part, text, own):
            yield f"part {name} {fault}"
        if not seeds & asked[digest]:
            yield f"part {name} must hold a seed that was asked for, and none of {text} was"
        if lost := seeds & asked[digest] - trained.get(digest, set()):
            yield f"part {name} holds the seeds {ranges_text(lost)}, and runs.csv has no trained run of them"
