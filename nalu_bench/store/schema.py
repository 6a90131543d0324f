"""Layout of the run store.

<root>/<task>/<model>/<digest>/
    cell.json                  the identity, whose hash is the digest
    parts/<seeds>/             a block, written once, never changed; older parts hold some of its seeds
        runs.parquet           one row a seed
        curves.parquet         one row for every seed and evaluation
        parameters.npz         of the selected networks, by full name, a leading axis of seeds
        weights.parquet        effective matrices at the selected step, and mean gates
        predictions.parquet    one row for every seed, probe and output, if the task has probes
        arrays.npz             other arrays that the task records at its probes, if any, a leading axis of seeds
        manifest.json          device, versions, commit, time
    failures/<seeds>.json      the traceback of a block that could not be trained; it is tried again
    checkpoints/<seeds>.pt     a block in the middle of its training
    leases/<seeds>.json        the process that trains a block, see `leases`
    damaged/<seeds>.<random>/  parts that could not be counted, set aside when their block was trained again
"""

from enum import StrEnum
from pathlib import Path

CELL = "cell.json"
RUNS = "runs.parquet"
CURVES = "curves.parquet"
PARAMETERS = "parameters.npz"
WEIGHTS = "weights.parquet"
PREDICTIONS = "predictions.parquet"
ARRAYS = "arrays.npz"
MANIFEST = "manifest.json"


class Status(StrEnum):
    """The outcome of a run."""

    FINISHED = "finished"
    DIVERGED = "diverged"
    FAILED = "failed"
    SKIPPED = "skipped"


def parts_dir(folder: Path) -> Path:
    """The finished blocks of a cell's folder."""
    return folder / "parts"


def failure_path(folder: Path, block_name: str) -> Path:
    """The file of the traceback of a block that failed."""
    return folder / "failures" / f"{block_name}.json"


def checkpoint_path(folder: Path, block_name: str) -> Path:
    """The file of a block's state while it trains."""
    return folder / "checkpoints" / f"{block_name}.pt"


def lease_path(folder: Path, block_name: str) -> Path:
    """The file that names the process that trains a block."""
    return folder / "leases" / f"{block_name}.json"


def damaged_dir(folder: Path) -> Path:
    """The parts of a cell that were set aside."""
    return folder / "damaged"
