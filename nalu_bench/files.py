"""Writing so that no half-written file or folder ever bears a final name."""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it: no half-written file bears a final name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_folder_once(path: Path, fill: Callable[[Path], object]) -> bool:
    """The same for a folder that may be written only once: False if another process has been faster."""
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
        if path.exists():  # another process renamed its own between the look and the rename
            return False
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def hashes(folder: Path) -> dict[str, str]:
    """Name -> SHA-256 of every file directly in a folder, in order of their names."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
