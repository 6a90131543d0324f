"""A user's table: a CSV file in UTF-8. Its first line that is not blank names the columns, the others hold numbers."""

from __future__ import annotations

import csv
import decimal
import functools
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nalu_bench.errors import UsageError, unknown
from nalu_bench.files import refuse_pipe

if TYPE_CHECKING:
    import pandas as pd


LEAST_APART = 0.9
"""The share of a column's different values that a precision must keep apart (our choice)."""

LARGEST = 1_000_000_000
"""Bytes of a file; its cells take several times as much memory while it is read."""

HELD = 15
"""Digits of a decimal number that float64 always holds."""

LEAST = np.finfo(np.float64).tiny
"""The least positive number that float64 holds to all its digits."""

BEHIND_QUOTE = re.compile(r'"[ \t]+(?=[,\r\n]|$)')
"""Blanks between a closing quote and the end of a cell."""

SHA256 = "sha256"
"""The attribute of a table that holds the checksum of its file."""


def checksum(path: str) -> str:
    """The SHA-256 of the file."""
    return hashlib.sha256(_content(path)).hexdigest()


def columns(path: str, sha256: str) -> list[str]:
    """The names of the columns; raises UsageError if the file no longer has this checksum."""
    return list(map(str, _same(path, sha256, _table(path, _stamp(path)))))


def numbers(path: str, names: Iterable[str], sha256: str) -> pd.DataFrame:
    """The columns `names` as float64, one row a line of the file.

    Raises:
        UsageError for a file that is no table or no longer has this checksum, for a column that is not there, and for
        cells that are no finite numbers, or are none in float32, and for a column whose numbers are no longer apart in
        float64.
    """
    return _same(path, sha256, _numbers(path, _stamp(path), tuple(dict.fromkeys(names))))


def _same(path: str, sha256: str, found: pd.DataFrame) -> pd.DataFrame:
    if found.attrs[SHA256] != sha256:
        raise UsageError(
            f"{path} must stay as it is while it is trained on, and was changed since this command began (its SHA-256 "
            f"was {sha256:.12}... and is {found.attrs[SHA256]:.12}...): give the command again."
        )
    return found


@functools.lru_cache(maxsize=4)
def _numbers(path: str, stamp: tuple[int, int], names: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    table = _table(path, stamp)
    for name in names:
        if name not in table:
            raise unknown(f"column of {path}", name, map(str, table))
    found = {name: _as_numbers(table[name]) for name in names}
    wrong = [told for name, values in found.items() if (told := _wrong_cells(table[name], values))]
    if wrong:
        raise UsageError(
            f"every cell of {path} that is used must be a number up to 3e38: {'; '.join(wrong)}. Complete these rows "
            "or remove them, or leave the columns out: task.ignore=[...]."
        )
    if merged := next((name for name, values in found.items() if _merges(table[name], values)), ""):
        raise UsageError(
            f"{merged} of {path} has numbers that double precision does not keep apart (16 digits, from {LEAST:.0e} "
            "on): subtract an offset, or write them in another unit, before the file is written."
        )
    kept = pd.DataFrame(found)
    kept.attrs |= table.attrs
    return kept


def _as_numbers(cells: pd.Series[Any]) -> np.ndarray:
    """A column as float64, nan where it holds no number."""
    import pandas as pd

    return pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)


def _merges(cells: pd.Series[Any], values: np.ndarray) -> bool:
    """Whether numbers of a column with many digits, or next to 0, are no longer apart as float64."""
    many = (cells.str.len() > HELD).to_numpy() | (np.abs(values) < LEAST)
    if not many.any():
        return False
    exact = {_exact(text) for text in cells[many]}
    return len(np.unique(values[many])) < LEAST_APART * len(exact)


def _exact(text: str) -> decimal.Decimal | str:
    """The number that a text says; the text itself where its exponent has too many digits for one."""
    try:
        return decimal.Decimal(text)
    except decimal.InvalidOperation:
        return text


def _wrong_cells(cells: pd.Series[Any], values: np.ndarray) -> str:
    """How many cells of a column are no finite numbers, and the first of them; an empty text if none is."""
    with np.errstate(over="ignore"):
        wrong = ~np.isfinite(values.astype(np.float32))
    if not wrong.any():
        return ""
    row = int(np.argmax(wrong))
    text = "" if cells.isna().iloc[row] else str(cells.iloc[row])
    first = f"row {row + 1} holds '{text:.60}'" if text else f"row {row + 1} is empty"
    return f"{cells.name} has {int(wrong.sum()):,} of {len(cells):,} that are not ({first})"


@functools.lru_cache(maxsize=4)
def _table(path: str, stamp: tuple[int, int]) -> pd.DataFrame:
    """All columns by name, as texts. One reading tells names from rows, so that no line can be both."""
    content = _content(path)
    whole = _parsed(path, content)
    if len(whole) < 2:
        raise _empty(path)
    names = [str(name).strip() for name in whole.iloc[0]]
    _check_names(path, names)
    table = whole.iloc[1:].set_axis(names, axis=1).reset_index(drop=True)
    table.attrs[SHA256] = hashlib.sha256(content).hexdigest()
    return table


def _parsed(path: str, content: bytes) -> pd.DataFrame:
    import pandas as pd

    try:
        _check_quotes(path, content)
        return pd.read_csv(
            io.BytesIO(content), header=None, dtype=str, keep_default_na=False, skipinitialspace=True,
            encoding="utf-8-sig",
        )  # fmt: skip
    except pd.errors.EmptyDataError:
        raise _empty(path) from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} must be CSV, a text in UTF-8: {error}; save it as such.") from None
    except ValueError as error:
        reason = str(error).strip().removeprefix("Error tokenizing data. C error: ").rstrip(".")
        raise _other_cells(path, content, reason) from None


def _check_quotes(path: str, content: bytes) -> None:
    """Raise UsageError for a cell with more behind its closing quote, which would be read as one: `"3"5` as 35."""
    if b'"' not in content:
        return
    text = BEHIND_QUOTE.sub('"', content.decode("utf-8-sig"))
    most = csv.field_size_limit(len(text))  # of a cell, for the whole process
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True):
            pass
    except csv.Error as error:
        raise UsageError(f"a cell of {path} that begins with a quote must end with one: {error}; mend it.") from None
    finally:
        csv.field_size_limit(most)


def _empty(path: str) -> UsageError:
    return UsageError(f"{path} must hold a line with the names of its columns, then rows of numbers.")


def _other_cells(path: str, content: bytes, reason: str) -> UsageError:
    """The error for a text whose lines are not cut into cells in one way."""
    first = content.decode("utf-8-sig", "replace").lstrip().partition("\n")[0].strip()
    if _cut_otherwise(first.split(",")):
        return _separated(path, first)
    return UsageError(
        f"every line of {path} must have as many cells as its first, with commas between them: {reason}; numbers need "
        "a point, and texts with a comma quotes."
    )


def _cut_otherwise(names: list[str]) -> bool:
    """Whether what should be a line of names is a single one, which holds what other programs write between cells."""
    return len(names) == 1 and _other(names[0]) != ""


def _other(line: str) -> str:
    """What stands between the cells of a line in place of commas; empty for nothing that programs write."""
    found = re.search(r"[;\t|]", line)
    return found[0] if found else ""


def _separated(path: str, first: str) -> UsageError:
    return UsageError(
        f"commas must separate the cells of {path}, and its first line has {_other(first)!r} in their place; save it "
        "with commas, and with a point in numbers."
    )


def _check_names(path: str, names: list[str]) -> None:
    if _cut_otherwise(names):
        raise _separated(path, names[0])
    if strange := [number for number, name in enumerate(names, 1) if not name.isprintable()]:
        raise UsageError(
            f"the first line of {path} must name every column in letters that can be printed, and number {strange[0]} "
            f"of {len(names)} has others; write it again."
        )
    if len(names) < 2:  # and its name may be anything: such a file is hardly a table
        raise UsageError(f"{path} must have at least two columns, a target and an input, with commas between; got one.")
    if "" in names:
        raise UsageError(
            f"the first line of {path} must name every column, and number {names.index('') + 1} of {len(names)} has "
            "no name; name it, or leave the row numbers out when the file is written (pandas: index=False)."
        )
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise UsageError(
            f"every column of {path} must have a name of its own, and several are called {', '.join(repeated)}; "
            "rename them."
        )


def _content(path: str) -> bytes:
    try:
        refuse_pipe(Path(path))
        if (size := Path(path).stat().st_size) > LARGEST:
            most = f"{LARGEST / 1e9:g} GB"
            raise UsageError(f"{path} must have at most {most}, got {size / 1e9:.1f} GB; train on a part of its rows.")
        if not size:  # a file of the system has no size, and holds what nobody else must see
            raise _empty(path)
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} must be a file that can be read ({error.strerror or error}, seen from {Path.cwd()}); "
            "set task.data to its path."
        ) from None


def _stamp(path: str) -> tuple[int, int]:
    """Time and size of a file, by which a change is noticed."""
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0  # reading it tells what is wrong
    return found.st_mtime_ns, found.st_size
