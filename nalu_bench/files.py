"""Atomic writing: a file or folder gets its final name only once it is complete and on the disk."""

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nalu_bench.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

HOST = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname()) or "unnamed"

OWN_AGE = 3600.0
"""Seconds after which the temporary file of a process of this machine that is gone is abandoned."""

OTHER_AGE = 24 * 3600.0
"""The same for a machine whose processes cannot be seen from here; no file takes a day to write."""


LISTS = ("shape", "values")
"""The columns of a table of weights that hold lists of numbers."""

HELD = r"u?int\d+|float|double|halffloat|(large_)?string|bool|null"
"""The types of numbers, truth values and texts in a table, as Arrow names them."""

HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""How JSON writes half of a surrogate pair; two of them are a letter."""

MOST_VALUES = 10**9
"""Numbers in a table or in arrays: hundreds of times as many as any results here have."""


def temporary(path: Path) -> Path:
    """A temporary name beside `path`, another one at every call: `.<name>.<random>.<host>.<process>.tmp`.

    In a folder that others may write, a name that they could guess might be a link of theirs to another file.
    """
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.{HOST}.{os.getpid()}.tmp")


def new_file(path: Path) -> Path:
    """Make an empty temporary file for `path`, beside it; a file or link that is there already is never opened."""
    unfinished = temporary(path)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return unfinished


def remove_abandoned(temporaries: Iterable[Path], now: float) -> None:
    """Remove temporary files and folders whose writers were killed, and none that a process may still be writing.

    Args:
        temporaries: paths made by `temporary`.
        now: the time on the clock of their file system.
    """
    for path in temporaries:
        if _abandoned(path, now):
            with contextlib.suppress(OSError):  # another process was faster, or another user owns it
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _abandoned(path: Path, now: float) -> bool:
    import psutil

    writer = re.search(r"\.([^.]+)\.(\d+)\.tmp$", path.name)
    ours = writer is not None and writer[1] == HOST
    if writer and ours and psutil.pid_exists(int(writer[2])):
        return False
    try:
        newest = max(entry.stat().st_mtime for entry in (path, *path.glob("*")))
    except FileNotFoundError:
        return False  # its writer is at work
    return now - newest > (OWN_AGE if ours else OTHER_AGE)


def to_disk(path: Path) -> None:
    """Wait until a file or folder is on the disk: after a loss of power no name may stand for less than was written."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = new_file(path)
    try:
        write(unfinished)
        to_disk(unfinished)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_folder_once(path: Path, fill: Callable[[Path], object]) -> bool:
    """Let `fill` fill a temporary folder beside `path`, then rename it to `path`.

    Returns:
        False if the folder is there already: it is never written twice, and the first of two processes wins.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = temporary(path)
    unfinished.mkdir()
    try:
        fill(unfinished)
        for written in (*unfinished.iterdir(), unfinished):
            to_disk(written)
        if path.exists():
            return False
        os.replace(unfinished, path)
        to_disk(path.parent)
        return True
    except OSError:
        if path.exists():  # another process renamed its folder after the check above
            return False
        raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def folders_below(folder: Path, depth: int) -> Iterator[Path]:
    """The folders so many levels below one, in the order of their names, without hidden ones.

    Raises:
        OSError if a folder between cannot be read: `Path.glob` would pass it over.
    """
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.name.startswith("."):
            yield from folders_below(path, depth - 1) if depth > 1 else [path]


def read_text(path: Path) -> str:
    """What a file of text holds; raises OSError if it cannot be read, or is a pipe, and ValueError if it is no text."""
    refuse_pipe(path)
    return path.read_text(encoding="utf-8")


def require_file(path: Path) -> Path:
    """The path, unless a pipe, a device or a link to another folder is there; raises UsageError then.

    A page that came with somebody's files may be a link to a file that is nobody else's business.
    """
    try:
        refuse_pipe(path)
    except OSError as error:
        raise UsageError(f"{error}: {path}; put a file there, or remove it.") from None
    if path.is_symlink() and path.resolve().parent != path.parent.resolve():
        raise UsageError(f"{path} must be a file of its own, and is a link to another folder; put a file there.")
    return path


def read_json(path: Path) -> Any:
    """What a file of JSON holds.

    Raises:
        OSError and ValueError as `read_text`, and ValueError if it is no JSON, has a key twice in one mapping, or half
        of a surrogate pair, which no other file could hold.
    """
    text = read_text(path)
    try:
        found = json.loads(text, object_pairs_hook=_once)
        if HALF.search(text):
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except RecursionError:
        raise ValueError(f"{path.name} must not be nested so deep") from None
    except UnicodeEncodeError as error:
        raise ValueError(f"its texts must be UTF-8, and one has {error.object[error.start]!r}") from None


def read_table(path: Path, columns: list[str] | None = None) -> "pd.DataFrame":
    """A table of Parquet, or some of its columns.

    Raises:
        OSError and ValueError if it cannot be read, has columns of dates, or of lists other than those of `LISTS`, or
        holds more than `MOST_VALUES`: few bytes may state many numbers.
    """
    import pandas as pd
    import pyarrow.parquet as pq

    refuse_pipe(path)
    stated = pq.read_metadata(path)
    for column in stated.schema.to_arrow_schema():
        kind = column.type.value_type if column.name in LISTS and hasattr(column.type, "value_type") else column.type
        if not re.fullmatch(HELD, str(kind)):
            raise ValueError(f"{path.name} must hold numbers and texts, and {column.name:.60} is of type {column.type}")
    groups = map(stated.row_group, range(stated.num_row_groups))
    _refuse_many(path, sum(group.column(n).num_values for group in groups for n in range(group.num_columns)))
    return pd.read_parquet(path, columns=columns)


def read_arrays(path: Path) -> dict[str, "np.ndarray"]:
    """The arrays of a file of NumPy's, by name; none of them can run code.

    Raises:
        As `read_table`.
    """
    import numpy as np

    refuse_pipe(path)
    try:
        with zipfile.ZipFile(path) as members:
            _refuse_many(path, sum(member.file_size for member in members.infolist()) // 4)
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path.name} must hold arrays of NumPy: {error}") from None


def _refuse_many(path: Path, values: int) -> None:
    if values > MOST_VALUES:
        raise ValueError(f"{path.name} must hold at most {MOST_VALUES:,} numbers, and states {values:,}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping of these keys; a reader would see the last value of a key that is there twice, and people the first."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
        raise ValueError(f"every key must be there once, and {', '.join(twice):.60} is there again")
    return found


def hashes(folder: Path, among: Collection[str] | None = None) -> dict[str, str]:
    """SHA-256 of the files directly in a folder, or of some `among` them, by name and sorted by it.

    Raises:
        OSError if one of them is a pipe.
    """
    found = sorted(path for path in folder.iterdir() if among is None or path.name in among)
    for path in found:
        refuse_pipe(path)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in found if path.is_file()}


def refuse_pipe(path: Path) -> None:
    """Raise OSError for what is there and neither a file nor a folder: reading a pipe might never end."""
    if not path.is_file() and not path.is_dir() and path.exists():
        raise OSError(f"{path.name} must be a file, and is a pipe or a device")
