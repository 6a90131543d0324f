"""A block in the middle of its training, on disk: the newest complete file and the one before it."""

import contextlib
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

Snapshot = dict[str, Any]


class CheckpointWarning(UserWarning):
    """A checkpoint could not be used; training goes on from an older one or from the start."""


def save(path: Path, snapshot: Snapshot) -> None:
    """Write `snapshot` (tensors and plain values) to `path`, keeping what was there as `<name>.old`.

    Beside it goes the step alone, as JSON, for readers without torch. A full disk costs the checkpoint, with a
    warning, and not the training.
    """
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save(snapshot, temporary)
        with contextlib.suppress(FileNotFoundError):  # none yet, or another process has just finished the block
            os.replace(path, _older(path))
        os.replace(temporary, path)
        path.with_suffix(".json").write_text(json.dumps({"step": snapshot["step"]}))
    except (OSError, RuntimeError) as error:  # torch raises the latter for a disk that is full
        temporary.unlink(missing_ok=True)
        warnings.warn(f"checkpoint {path} cannot be written ({error}).", CheckpointWarning, stacklevel=2)


def load(path: Path, identity: dict[str, Any]) -> Snapshot | None:
    """The newest readable snapshot whose `identity` is the given one, or None.

    A truncated file, one that is no checkpoint and one of another identity (another torch, mode or set of seeds) are
    passed over with a warning that says why, and from where training goes on. What cannot be read is deleted, or the
    next `save` would keep it in the place of the older one.
    """
    passed: list[str] = []
    snapshot = None
    for candidate in (path, _older(path)):
        if not candidate.exists():
            continue
        try:
            read: Snapshot = torch.load(candidate, map_location="cpu", weights_only=True)
            if not isinstance(read, dict):
                raise TypeError("not a checkpoint")
            found: dict[str, Any] = read["identity"]
        except OSError as error:
            passed.append(f"checkpoint {candidate} cannot be read ({error})")
        except Exception as error:  # torch raises many kinds for a damaged file; all mean the same here
            passed.append(f"checkpoint {candidate} cannot be read ({str(error).partition('. ')[0]}) and is deleted")
            candidate.unlink(missing_ok=True)
        else:
            if found == identity:
                snapshot = read
                break
            passed.append(
                f"checkpoint {candidate} is of another run, of {_differences(found, identity)}; it is not used"
            )
    if passed:
        goes_on = f"goes on from step {snapshot['step']:,}" if snapshot else "starts at step 0"
        warnings.warn(f"{'; '.join(passed)}; training {goes_on}.", CheckpointWarning, stacklevel=2)
    return snapshot


def remove(path: Path) -> None:
    """Delete all files, and what a killed process left half-written: the block is finished."""
    for left in (path, _older(path), path.with_suffix(".json"), *path.parent.glob(f"{path.stem}.*.tmp")):
        left.unlink(missing_ok=True)


def _differences(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """`version.trainer 1 (not 2)`: every value that is not the expected one."""
    theirs, ours = (dict(_leaves(identity)) for identity in (found, expected))
    keys = sorted(key for key in theirs | ours if theirs.get(key) != ours.get(key))
    return ", ".join(f"{key} {theirs.get(key)} (not {ours.get(key)})" for key in keys)


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted name, value) of everything in nested dictionaries."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _leaves(entry, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def _older(path: Path) -> Path:
    return path.with_suffix(path.suffix + ".old")
