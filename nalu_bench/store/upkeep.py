"""The folder of the run store before training: it can be written, and nothing lies in it that was abandoned."""

import contextlib
import os
from pathlib import Path

from nalu_bench.errors import UsageError
from nalu_bench.files import new_file, remove_abandoned, to_disk

PROBE_BYTES = 2**20
"""Written once to see whether the disk is full; a part of a small cell takes about as much."""


def check_cell(folder: Path) -> None:
    """Raise UsageError if a part of a cell's folder is closed to this user, as what another one trained may be."""
    for path in (folder, *(folder.iterdir() if os.access(folder, os.R_OK | os.X_OK) else ())):
        if path.is_dir() and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise UsageError(
                f"{path} must be open to this user, to read and to write; change its permissions, or set "
                "NALU_BENCH_HOME to another folder."
            )


def prepare(root: Path) -> None:
    """Make the folder of the store, check that it can be written, and remove what killed processes left half-written.

    Raises:
        UsageError if it cannot be made or written, as on a disk that is full: it is found before training, not after.
    """
    probe = None
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the run store {root} cannot be made: {error.strerror}; set NALU_BENCH_HOME.") from None
    try:
        probe = new_file(root / "probe")
        probe.write_bytes(bytes(PROBE_BYTES))
        to_disk(probe)
        now = probe.stat().st_mtime  # on the clock of the file system, which another machine may keep
    except OSError as error:
        raise UsageError(
            f"the run store {root} must take new files, and cannot be written: {error.strerror}; free space or change "
            "the permissions there, or set NALU_BENCH_HOME to another folder."
        ) from None
    finally:
        if probe:
            with contextlib.suppress(OSError):
                probe.unlink()
    for pattern in ("*.tmp", "*/*/*/*.tmp", "*/*/*/*/*.tmp"):  # the root, a cell, its parts and its checkpoints
        remove_abandoned(root.glob(pattern), now)
