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

import math
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

CELL = "cell.json"
RUNS = "runs.parquet"
CURVES = "curves.parquet"
PARAMETERS = "parameters.npz"
WEIGHTS = "weights.parquet"
PREDICTIONS = "predictions.parquet"
ARRAYS = "arrays.npz"
MANIFEST = "manifest.json"

ALWAYS = (RUNS, CURVES, PARAMETERS, WEIGHTS)
"""The files of every part, beside its manifest."""

WEIGHT, GATE, ARRAY = KINDS = ("weight", "gate", "array")
"""The kinds of what is kept of a selected network."""

Form = tuple[type, type | None, str]
"""What a value of JSON must be: its type, that of the values in it, and both in words."""

TEXT, TEXTS = (str, None, "a text"), (dict, str, "a mapping of texts")

PROVENANCE: dict[str, Form] = {
    **dict.fromkeys((
        "commit", "device", "finished", "mode", "nalu_bench", "numpy", "processor", "python", "seeds", "torch",
    ), TEXT),
    "seconds": (float, None, "a number with a point, from 0 up"),
}  # fmt: skip
"""The entries of the manifest of every part."""

LATER: dict[str, Form] = {"width": (int, None, "a whole number"), "files": TEXTS, "data": TEXTS, "cell": TEXT}
"""Those that the oldest parts lack, and notes on the data, if there are any."""

SINCE = dict.fromkeys(("width", "files"), "2026-11-22")
"""Entry that the oldest parts lack -> the day from which on every part has it."""


def form_faults(values: Mapping[str, Any], forms: Mapping[str, Form], where: str) -> Iterator[str]:
    """A line for every value that is there and not of its form; true is no number, though Python takes it for 1."""
    for key, (kind, inner, words) in forms.items():
        if key in values and not _has_form(values[key], kind, inner):
            yield f"{key} must be {words} in {where}, got {values[key]!r:.60}"


def _has_form(value: Any, kind: type, inner: type | None) -> bool:
    if type(value) is not kind:
        return False
    if isinstance(value, dict | list):
        held = value.values() if isinstance(value, dict) else value
        return inner is None or all(type(one) is inner for one in held)
    return not isinstance(value, int | float) or 0 <= value < math.inf


class Status(StrEnum):
    """The outcome of a run."""

    FINISHED = "finished"
    DIVERGED = "diverged"
    FAILED = "failed"
    SKIPPED = "skipped"


TRAINED = (Status.FINISHED, Status.DIVERGED)
"""The outcomes of runs that were trained; all of a part are."""


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
