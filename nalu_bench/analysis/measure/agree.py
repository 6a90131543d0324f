"""Check that the rows of a folder of `results/` are those of the cells and parts in its manifest."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, records
from nalu_bench.plan.blocks import parse_ranges
from nalu_bench.plan.identity import address
from nalu_bench.store.schema import Status


def disagreements(measured: Measured, manifest: Mapping[str, Any]) -> Iterator[str]:
    """A line for every cell, run or other row that contradicts the manifest.

    Args:
        measured: runs, curves and the other tables.
        manifest: the manifest of the same folder, with the identities of the cells and with the parts.
    """
    cells, parts = manifest["cells"], manifest["parts"]
    for digest, cell in cells.items():
        if address(cell["identity"]) != digest:
            yield f"cell {digest} is the address of another configuration than its identity in manifest.json"
    for name, part in parts.items():
        if part["seeds"] != name.partition("/")[2]:
            yield f"part {name} holds the seeds {part['seeds']} by manifest.json"
    for run in records(measured.runs):
        why = _row_fault(run, cells, parts)
        if why:
            yield f"cell {run['cell']} seed {run.get('seed')}: {why}"
    keys = measured.runs.reindex(columns=["cell", "seed"])
    for cell, seed in keys[keys.duplicated() & keys["seed"].notna()].itertuples(index=False):
        yield f"cell {cell} seed {seed}: there are two rows for this run"
    known = set(keys.itertuples(index=False, name=None))
    for name in ("curves", "predictions", "weights"):
        yield from _foreign(name, getattr(measured, name), known)


def _row_fault(run: Mapping[str, Any], cells: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """Why a row of `runs` cannot be right; empty if it can."""
    if run["cell"] not in cells:
        return "its cell is not in manifest.json"
    cell = cells[run["cell"]]
    identity, recipe = cell["identity"], cell["identity"]["recipe"]
    stated = {
        "role": cell["role"], "asked": cell["seeds"], "task": identity["task"]["name"],
        "model": identity["model"]["name"], "steps": recipe["steps"], "log_every": recipe["log_every"],
    }  # fmt: skip
    if run["status"] in (Status.FINISHED, Status.DIVERGED):
        part = parts.get(f"{run['cell']}/{run['part']}")
        if part is None or run["seed"] not in parse_ranges(run["part"]):
            return f"its part {run['part']} is not in manifest.json, or holds other seeds"
        stated |= {key: part[key] for key in ("device", "mode", "commit")}
    wrong = [f"{key} is {run[key]}, and {value} in manifest.json" for key, value in stated.items() if run[key] != value]
    return "; ".join(wrong)


def _foreign(name: str, rows: pd.DataFrame, known: set[tuple[Any, ...]]) -> Iterator[str]:
    """A line for every run with rows in another table and none in `runs`."""
    for cell, seed in rows.reindex(columns=["cell", "seed"]).drop_duplicates().itertuples(index=False, name=None):
        if (cell, seed) not in known:
            yield f"cell {cell} seed {seed}: it has rows in {name}, and none in runs.csv"
