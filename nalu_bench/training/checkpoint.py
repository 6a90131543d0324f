"""Checkpoints of a block while it trains: the newest complete file and the one before it."""

import contextlib
import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from nalu_bench.errors import out_of_memory
from nalu_bench.files import new_file, refuse_pipe, to_disk

Snapshot = dict[str, Any]


class CheckpointWarning(UserWarning):
    """A checkpoint could not be used; training goes on from an older one or from the start."""


def save(path: Path, snapshot: Snapshot) -> None:
    """Write `snapshot` (tensors and plain values) to `path`; the file before it is kept as `<name>.old`.

    A JSON file beside it holds the step alone, for readers without torch. If the disk is full, the checkpoint is lost
    with a warning, and training goes on.
    """
    note, unfinished = path.with_suffix(".json"), list[Path]()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished += [new_file(path), new_file(note)]
        torch.save(snapshot, unfinished[0])
        to_disk(unfinished[0])
        unfinished[1].write_text(json.dumps({"step": snapshot["step"]}))
        with contextlib.suppress(FileNotFoundError):  # none yet, or another process has just finished the block
            os.replace(path, _older(path))
        for new, name in zip(unfinished, (path, note), strict=True):
            os.replace(new, name)
    except (OSError, RuntimeError) as error:  # torch raises the latter for a disk that is full
        with contextlib.suppress(OSError):  # the folder cannot be reached, either
            for new in unfinished:
                new.unlink(missing_ok=True)
        warnings.warn(f"checkpoint {path} cannot be written ({error}).", CheckpointWarning, stacklevel=2)


def load(path: Path, identity: dict[str, Any]) -> Snapshot | None:
    """The newest readable snapshot whose `identity` is the given one, or None.

    Files that are damaged, that are no checkpoints, or that have another identity (another torch, mode or set of
    seeds) are skipped. A warning says why, and from which step training goes on. A damaged file is deleted: the next
    `save` would otherwise keep it in place of the older one. One of another identity gets a name of its own, under
    which training in that mode finds it again.
    """
    passed: list[str] = []
    snapshot = None
    for candidate in (path, _older(path), _aside(path, identity)):
        if not candidate.exists():
            continue
        try:
            refuse_pipe(candidate)
            read: Snapshot = torch.load(candidate, map_location="cpu", weights_only=True)
            if not isinstance(read, dict):
                raise TypeError("not a checkpoint")
            found: dict[str, Any] = read["identity"]
        except OSError as error:
            passed.append(f"checkpoint {candidate} cannot be read ({error})")
        except Exception as error:  # torch raises many kinds for a damaged file
            if out_of_memory(error):  # the file is sound
                raise
            passed.append(f"checkpoint {candidate} cannot be read ({str(error).partition('. ')[0]}) and is deleted")
            candidate.unlink(missing_ok=True)
        else:
            if found == identity:
                snapshot = read
                break
            aside = _aside(path, found)
            if candidate == path or not aside.exists():
                os.replace(candidate, aside)
            passed.append(
                f"checkpoint {candidate} is of another run, of {_differences(found, identity)}; it is not used, and "
                f"kept as {aside.name}"
            )
    if passed:
        goes_on = f"goes on from step {snapshot['step']:,}" if snapshot else "starts at step 0"
        warnings.warn(f"{'; '.join(passed)}; training {goes_on}.", CheckpointWarning, stacklevel=2)
    return snapshot


def remove(path: Path) -> None:
    """Delete the files of a finished block."""
    for left in (path, _older(path), path.with_suffix(".json"), *path.parent.glob(f"{path.stem}.*{path.suffix}")):
        left.unlink(missing_ok=True)


def _differences(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """Every value that is not the expected one, as text: `version.trainer 1 (not 2)`."""
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


def _aside(path: Path, identity: dict[str, Any]) -> Path:
    """Where the checkpoint of another identity is kept while this block trains."""
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()[:8]
    return path.with_name(f"{path.stem}.{digest}{path.suffix}")


def _older(path: Path) -> Path:
    return path.with_suffix(path.suffix + ".old")
