"""The only module that writes the run store."""

import json
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench.files import hashes, read_text, write_atomically, write_folder_once
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.result import BlockResult
from nalu_bench.store import schema
from nalu_bench.store.provenance import provenance
from nalu_bench.store.schema import Status
from nalu_bench.tasks.task import Probes

PREDICTED = "predictions"
"""Name of the recorded array that is stored as a table, with the probes' labels and targets."""


def write_part(root: Path, cell: Cell, result: BlockResult, made_by: dict[str, str]) -> bool:
    """Store the runs of a finished block; returns False, and changes nothing, if they are stored already.

    Args:
        root: the run store.
        cell: the cell that was trained.
        result: the runs of the block.
        made_by: device, mode, torch and commit, for the part's manifest.
    """
    folder = root / cell.folder
    write_identity(root, cell)

    def fill(part: Path) -> None:
        run_rows(cell, result).to_parquet(part / schema.RUNS, index=False)
        curve_rows(result).to_parquet(part / schema.CURVES, index=False, compression="zstd")
        weight_rows(result).to_parquet(part / schema.WEIGHTS, index=False)
        np.savez_compressed(part / schema.PARAMETERS, **result.parameters)  # type: ignore[arg-type]
        others = {name: array for name, array in result.arrays.items() if name != PREDICTED}
        if others:
            np.savez_compressed(part / schema.ARRAYS, **others)  # type: ignore[arg-type]
        probes = cell.task.probes()
        if probes is not None and PREDICTED in result.arrays:
            prediction_rows(result, probes).to_parquet(part / schema.PREDICTIONS, index=False)
        manifest = made_by | provenance() | {"seconds": round(result.seconds, 1), "seeds": result.block.span}
        manifest |= {"processor": "; ".join(result.processors)} if result.processors else {}
        notes = cell.task.data_notes()
        manifest |= {"cell": cell.digest, "width": result.block.width, "files": hashes(part)}
        manifest |= {"data": notes} if notes else {}
        (part / schema.MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")

    written = write_folder_once(schema.parts_dir(folder) / result.block.span, fill)
    schema.failure_path(folder, result.block.span).unlink(missing_ok=True)
    return written


def write_identity(root: Path, cell: Cell) -> None:
    """Write the `cell.json` of a cell unless it is there and whole."""
    path, identity = root / cell.folder / schema.CELL, json.dumps(cell.identity(), indent=1, sort_keys=True)
    if not _says(path, identity):
        write_atomically(path, lambda new: new.write_text(identity, encoding="utf-8"))


def _says(path: Path, text: str) -> bool:
    """Whether a file holds this text; True for what is no file, and stays."""
    try:
        return read_text(path) == text
    except (FileNotFoundError, ValueError):
        return False
    except OSError:
        return True


def set_aside(root: Path, cell: Cell, part: Path) -> Path:
    """Move a part that does not count out of the way of the one that will take its name."""
    aside = schema.damaged_dir(root / cell.folder) / f"{part.name}.{secrets.token_hex(4)}"
    aside.parent.mkdir(parents=True, exist_ok=True)
    return part.rename(aside)


def write_failure(root: Path, cell: Cell, block_name: str, record: dict[str, Any]) -> Path:
    """Store why a block could not be trained; its runs count as failed until it is trained.

    Args:
        record: its seeds, the reason, the traceback, and the command that repeats it alone.
    """
    path = schema.failure_path(root / cell.folder, block_name)
    text = json.dumps(record, indent=1, ensure_ascii=False)  # of an error's text, which may hold halves of letters
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8", errors="replace"))
    return path


def run_rows(cell: Cell, result: BlockResult) -> pd.DataFrame:
    """One row for every seed: its outcome, and its figures at the selected step."""
    diverged, selected = result.diverged_at >= 0, result.selected_step
    rows: dict[str, Any] = {
        "seed": result.block.seeds,
        "status": [str(Status.DIVERGED if gone else Status.FINISHED) for gone in diverged],
        "last_step": np.where(diverged, result.diverged_at, cell.recipe.steps),
        "diverged_at": _optional(result.diverged_at),
        "selected_step": _optional(selected),
    }
    at_selected = np.searchsorted(result.steps, np.maximum(selected, 0))
    for name, values in result.columns.items():
        rows[name] = np.where(selected >= 0, values[at_selected, range(len(selected))], np.nan)
    for name, values in result.tested.items():
        rows[name] = np.where(selected >= 0, values, np.nan)
    return pd.DataFrame(rows)


def curve_rows(result: BlockResult) -> pd.DataFrame:
    """One row for every seed and evaluation, sorted by both."""
    seeds = np.array(result.block.seeds, np.int32)
    columns = {"seed": np.repeat(seeds, len(result.steps)), "step": np.tile(result.steps, len(seeds))}
    return pd.DataFrame(columns | {name: values.T.reshape(-1) for name, values in result.columns.items()})


def weight_rows(result: BlockResult) -> pd.DataFrame:
    """One row for every seed and effective matrix or gate: its shape and its values, row by row."""
    rows = [
        {"seed": seed, "name": name, "kind": kind, "shape": list(W.shape), "values": W.reshape(-1)}
        for kind, arrays in ((schema.WEIGHT, result.weights), (schema.GATE, result.gates))
        for name, matrices in arrays.items()
        for seed, W in zip(result.block.seeds, matrices, strict=True)
    ]
    return pd.DataFrame(rows, columns=["seed", "name", "kind", "shape", "values"])


def prediction_rows(result: BlockResult, probes: Probes) -> pd.DataFrame:
    """One row for every seed, probe and output; the prediction is nan if no step could be selected."""
    kept = np.where((result.selected_step >= 0)[:, None, None], result.arrays[PREDICTED], np.nan)
    seeds, numbers, outputs = np.indices(kept.shape, dtype=np.int32).reshape(3, -1)
    return pd.DataFrame(
        {
            "seed": np.array(result.block.seeds, np.int32)[seeds],
            "probe": numbers,
            "output": outputs,
            "label": pd.Series(probes.labels).to_numpy()[numbers],
            "target": probes.targets[numbers, outputs],
            "prediction": kept.reshape(-1).astype(np.float32),
        }
    )


def _optional(values: np.ndarray) -> Any:
    """Integers; -1 becomes a missing value."""
    return pd.array([value if value >= 0 else None for value in values], dtype="Int64")
