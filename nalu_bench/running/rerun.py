"""Finished blocks trained again, to see that the program still gives their numbers."""

import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nalu_bench.errors import UsageError
from nalu_bench.plan.blocks import blocks, parse_ranges
from nalu_bench.plan.restored import cell_of
from nalu_bench.running import compiler, process
from nalu_bench.running.comparison import LEVEL, same_bits, shifts
from nalu_bench.store.finished import Finished
from nalu_bench.store.provenance import provenance

CONDITIONS = ("processor", "device", "mode", "torch", "data")
"""The entries of a part's manifest on which bits depend."""


@dataclass(frozen=True)
class Rerun:
    """The comparison of a block with its record.

    Attributes:
        label: the block.
        others: entries of `CONDITIONS` that differ, as text, where distributions were compared; else empty.
        runs: number of runs compared.
        seconds: of training.
        faults: a line for each difference.
    """

    label: str
    others: str
    runs: int
    seconds: float
    faults: list[str]

    def describe(self) -> str:
        """One line: `arithmetic / nmu seeds 0-24 of results/...: 25 runs have the same bits (12 s)`."""
        alike = f"no systematic difference at level {LEVEL:g}" if self.others else "the same bits"
        verdict = "DIFFERENT" if self.faults else alike
        where = f"; trained under other conditions: {self.others}" if self.others else ""
        return f"{self.label}: {self.runs} runs trained again, {verdict}{where} ({self.seconds:.0f} s)"


def choose(found: Sequence[Finished], count: int, seed: int, longest: float | None) -> list[Finished]:
    """At most `count` random blocks of those that took at most `longest` minutes where they were trained."""
    short = [one for one in found if longest is None or one.manifest["seconds"] <= 60 * longest]
    if not short:
        raise UsageError(
            f"there must be a finished block to train again, and none of {len(found)} is"
            + (f" shorter than {longest:g} minutes; raise --longest." if found and longest is not None else " there.")
        )
    return random.Random(seed).sample(short, min(count, len(short)))


def rerun(one: Finished) -> Rerun:
    """Train a finished block again in a temporary folder, and compare its runs with their record.

    On the same kind of machine bits are compared (`same_bits`). On another one other bits are no fault, and where there
    are some, distributions are compared (`shifts`).

    Raises:
        UsageError if the program can no longer train it.
    """
    process.prepare()
    import torch

    from nalu_bench.store.writer import run_rows
    from nalu_bench.training.compilation import Mode
    from nalu_bench.training.loop import train_block

    cell, manifest = cell_of(one.identity), one.manifest
    device = manifest["device"] if manifest["device"] != "cuda" or torch.cuda.is_available() else "cpu"
    mode = Mode(device, manifest["mode"] == "compiled" and compiler.works(device))
    here: dict[str, Any] = {"data": cell.task.data_notes(), **provenance(), **mode.describe()}
    there = {"data": here["data"], **manifest}  # older parts have no notes on their data
    others = ", ".join(f"{key} {there[key]} (here {here[key]})" for key in CONDITIONS if there[key] != here[key])
    parts = blocks(parse_ranges(manifest["seeds"]), manifest.get("width", cell.model.width))
    if len(parts) != 1:
        raise UsageError(f"{one.label} must be one block of {parts[0].width} seeds, and is {len(parts)}.")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        result = train_block(cell, parts[0], mode, Path(folder) / "block.pt", lambda step, solved: None)
    again, stated = run_rows(cell, result), one.runs()
    faults = list(same_bits(stated, again))
    if not faults:
        others = ""
    elif others:
        faults = list(shifts(stated, again))
    return Rerun(one.label, others, len(stated), time.monotonic() - started, faults)
