"""What a user is told: one kind of error, and the two ways to come by it that many modules share."""

import contextlib
import difflib
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path


class UsageError(Exception):
    """The request cannot be right: a wrong name, key or value. Shown without a traceback, exit code 2."""


def unknown(what: str, given: str, known: Iterable[str]) -> UsageError:
    """An error for a name that does not exist: the nearest right one and the whole list.

    >>> print(unknown("unit", "nmuu", ["nac", "nau", "nmu"]))
    unknown unit 'nmuu'; did you mean 'nmu'? Known: nac, nau, nmu.
    """
    names = sorted(known)
    near = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    return UsageError(f"unknown {what} '{given}'{hint} Known: {', '.join(names) or '(none)'}.")


def plain_warnings() -> None:
    """Show warnings of this process as one line for people, without the place in the code."""
    warnings.formatwarning = lambda message, *_: f"warning: {message}\n"


@contextlib.contextmanager
def damage_named(path: Path, remedy: str) -> Iterator[None]:
    """Turn files below `path` that cannot be read into an error that names it and says what to do."""
    try:
        yield
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} is damaged ({error}); {remedy}.") from None
