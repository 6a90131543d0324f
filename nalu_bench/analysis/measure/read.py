"""The measured files of a folder of `results/`: runs, curves, predictions, weights, and the manifest."""

import io
from pathlib import Path
from typing import Any

import pandas as pd

from nalu_bench.analysis.measure.manifest import REMEDY, read_manifest
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.errors import damage_named
from nalu_bench.files import read_table
from nalu_bench.store.integrity import require_unedited
from nalu_bench.store.schema import TRAINED

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

INTEGERS = ("seed", "last_step", "diverged_at", "selected_step")


def read(folder: Path) -> Measured | None:
    """The measurements in a folder of `results/`; None if it has no manifest.

    Raises:
        UsageError if a measured file is not the one that the manifest describes.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        return None
    with damage_named(folder, REMEDY):
        require_unedited(folder, manifest, MEASURED)
    return parse(folder, manifest)


def parse(folder: Path, manifest: dict[str, Any]) -> Measured:
    """The measurements in a folder whose hashes the caller checks."""
    with damage_named(folder, REMEDY):
        runs = read_runs(folder)
        if len(runs) != manifest["runs"]:
            raise ValueError(f"runs.csv has {len(runs)} of {manifest['runs']} rows")
        curves = read_table(folder / "curves.parquet")
        if absent := _absent(runs, curves, manifest):
            raise ValueError(
                f"{RUNS_FILE} must have every figure of the curves, and what the manifest states, and has no column "
                f"{', '.join(absent)}"
            )
        predictions, weights = (_optional(folder / name) for name in list(TABLES)[1:])
        return Measured(runs, curves, predictions, weights, manifest)


def read_runs(folder: Path) -> pd.DataFrame:
    """The runs of a folder of `results/`, one row each; nobody checks them here."""
    words = {"setting": str, "operation": str, "part": str, "commit": str, "cell": str, "note": str}
    content = (folder / RUNS_FILE).read_bytes()
    if b"\0" in content:
        raise ValueError(f"{RUNS_FILE} must be a text, and has a NUL byte at byte {content.index(0):,}")
    try:
        runs = pd.read_csv(io.BytesIO(content), dtype=words)
    except ValueError as error:
        raise ValueError(f"{RUNS_FILE} must be a CSV in UTF-8: {error}") from None
    if absent := [name for name in ("cell", "status") if name not in runs]:
        raise ValueError(f"{RUNS_FILE} has no column {', '.join(absent)}")
    return with_counts(runs.fillna(dict.fromkeys(words, "")))


def runs_text(runs: pd.DataFrame) -> str:
    """The runs as CSV. Reading this text and writing it again gives the same text."""
    return runs.to_csv(index=False, lineterminator="\n")


def with_counts(runs: pd.DataFrame) -> pd.DataFrame:
    """Make counts nullable integers, because some rows have none."""
    counts = [column for column in runs if column in INTEGERS or str(column).startswith("solved_at")]
    return runs.astype(dict.fromkeys(counts, "Int64"))


def _absent(runs: pd.DataFrame, curves: pd.DataFrame, manifest: dict[str, Any]) -> list[str]:
    """The columns that trained runs must have, and do not: what is recorded, the curve's, and the criteria's facts."""
    if not runs["status"].isin(TRAINED).any():
        return []
    criteria = [cell["criteria"] for cell in manifest["cells"].values()]
    judged = [f"{fact}_{column}" for found in criteria for column in found.get("thresholds", ()) for fact in FACTS]
    if any("threshold" in found for found in criteria):
        judged += FACTS
    errors = [str(column) for column in curves if column not in CURVES]
    return [column for column in dict.fromkeys([*RECORDED, *errors, *judged]) if column not in runs]


def _optional(path: Path) -> pd.DataFrame:
    return read_table(path) if path.exists() else pd.DataFrame(columns=TABLES[path.name])
