"""The two kinds of failure a user can meet, each with its exit code, and the near-miss hint they share."""

import difflib
from collections.abc import Iterable


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
