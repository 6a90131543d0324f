"""Atomic writing: a file or folder gets its final name only once it is complete."""

import hashlib
import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_folder_once(path: Path, fill: Callable[[Path], object]) -> bool:
    """Let `fill` fill a temporary folder beside `path`, then rename it to `path`.

    Returns:
        False if the folder is there already: it is never written twice, and the first of two processes wins.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        fill(temporary)
        if path.exists():
            return False
        os.replace(temporary, path)
        return True
    except OSError:
        if path.exists():  # another process renamed its folder after the check above
            return False
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def hashes(folder: Path, among: Collection[str] | None = None) -> dict[str, str]:
    """SHA-256 of the files directly in a folder, or of some `among` them, by name and sorted by it."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and (among is None or path.name in among))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
