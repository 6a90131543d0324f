"""The error that users see, helpers that make or raise it, the end by a signal, and plain warnings."""

import contextlib
import difflib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar


class UsageError(Exception):
    """A request with a wrong name, key or value. The command line shows it without a traceback and exits with 2."""


class CallError(UsageError, ValueError):
    """A call in Python with a size or a shape that cannot be; within a cell it is a mistake of its code alone."""


FAILURES = (Exception, SystemExit, BaseExceptionGroup)
"""What the code of a package may raise where only its own cells may fail: it may also try to end the program."""


class Interrupted(KeyboardInterrupt):
    """Training was asked to stop, and has saved what it can. This is no failure, so it is no `Exception`."""


MOST_GIVEN = 200
"""Letters of a wrong name that are told: a file of another kind may be one long text."""

MOST_KNOWN = 60
"""Letters of a known name that are told: those of a table are what its first line holds."""


def unknown(what: str, given: object, known: Iterable[str]) -> UsageError:
    """The error for an unknown name. It suggests the nearest known name and lists them all.

    >>> print(unknown("unit", "nmuu", ["nac", "nau", "nmu"]))
    unknown unit 'nmuu'; did you mean 'nmu'? Known: nac, nau, nmu.
    """
    names, text = sorted(known), str(given)
    near = nearest(text, names)
    hint = f"; did you mean '{near}'?" if near else "."
    there = ", ".join(f"{name:.{MOST_KNOWN}}" for name in names) or "(none)"
    return UsageError(f"unknown {what} '{text:.{MOST_GIVEN}}'{hint} Known: {there}.")


Option = TypeVar("Option")


def chosen(what: str, given: object, options: Mapping[str, Option]) -> Option:
    """The option of this name; raises UsageError for another name, and for what is no text.

    >>> chosen("unit", "nac", {"nac": 1})
    1
    """
    if not isinstance(given, str) or given not in options:
        raise unknown(what, given, options)
    return options[given]


def nearest(given: str, known: Iterable[str]) -> str:
    """The known name that is most like the given one, in small letters as in large ones; empty if none is.

    >>> nearest("NALU", ["nac", "nalu"])
    'nalu'
    """
    names = {name.lower(): name for name in known}
    return names.get(next(iter(difflib.get_close_matches(given.lower(), names, n=1, cutoff=0.5)), ""), "")


def taken(what: str, name: str, first: object, second: object) -> UsageError:
    """The error for two things of one name; nothing shadows another.

    >>> print(taken("model", "nmu", "conf/model/nmu.yaml", "mine/model/nmu.yaml"))
    every model must have a name of its own: nmu is taken by conf/model/nmu.yaml and mine/model/nmu.yaml; rename one.
    """
    places = f"{first} and {second}"
    return UsageError(f"every {what} must have a name of its own: {name} is taken by {places}; rename one.")


def in_a_line(text: object) -> str:
    """A text for a terminal: its lines joined, and what a terminal would obey or not show as Python writes it.

    >>> print(in_a_line(UsageError("no folder 'a\\x1b[2J',\\n  got a file")))
    no folder 'a\\x1b[2J', got a file
    """
    joined = " ".join(filter(None, map(str.strip, str(text).splitlines())))
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in joined)


def plain_warnings() -> None:
    """Show each warning of this process as one line, without its place in the code."""
    warnings.formatwarning = lambda message, *_: f"warning: {in_a_line(message)}\n"


def named(error: BaseException) -> str:
    """The class of an error and its text, which a package's own class may fail to make.

    >>> print(named(RuntimeError("no such number")))
    RuntimeError: no such number
    """
    try:
        text = str(error)
    except FAILURES:
        text = "its text cannot be made"
    return f"{type(error).__name__}: {text}"


DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError)
"""What reading a damaged file may raise."""


def out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, which torch tells as a RuntimeError."""
    why = named(error)
    return isinstance(error, MemoryError) or "can't allocate memory" in why or "CUDA out of memory" in why


@contextlib.contextmanager
def damage_named(path: Path, remedy: str) -> Iterator[None]:
    """Turn a failure to read files below `path` into a UsageError that names `path` and the remedy."""
    try:
        yield
    except PermissionError as error:  # what is closed to this user may be sound
        raise UsageError(f"{error.filename or path} must be open to this user; change its permissions.") from None
    except DAMAGE as error:
        raise UsageError(f"{path} is damaged ({damage_told(error)}); {remedy}.") from None


def damage_told(error: BaseException) -> str:
    """Why a file could not be read."""
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)
