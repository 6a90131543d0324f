"""What names and texts of files that others wrote may hold: they reach commands, file names, pages and the terminal."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nalu_bench.errors import UsageError

NAME = re.compile(r"\w[\w.-]*")

FORMULA = re.compile(r"(?:[=@-]|\+(?![\w.@/]+=))(?![\d.]+(?:e[+-]?\d+)?$).+")
"""What a spreadsheet computes when it opens a table that holds it; not a number with a sign, or `+key=value`."""


def check_name(name: str) -> None:
    """Raise UsageError for a name of a configuration, an experiment or a word with letters that names do not have."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"a name must begin with a letter, a digit or '_' and hold no others but '.' and '-', got '{name}'."
        )


def check_texts(where: str, content: Any) -> None:
    """Raise UsageError for texts in a file that a terminal or a spreadsheet obeys, or that OmegaConf would replace.

    Args:
        where: the file, for the message. content: what it holds; mappings and lists are checked, too.
    """
    if isinstance(content, Mapping):
        for key, value in content.items():
            check_texts(where, key)
            check_texts(where, value)
    elif isinstance(content, list):
        for value in content:
            check_texts(where, value)
    elif isinstance(content, str):
        if "${" in content:
            raise UsageError(f"{where} must hold its values themselves, and {content!r} refers to others by ${{...}}.")
        if not content.isprintable():
            raise UsageError(f"{where} must hold texts of one line that can be printed, got {content!r}.")
        if FORMULA.fullmatch(content):
            raise UsageError(f"{where} must hold texts that a spreadsheet takes for no formula, got {content!r}.")


def refuse_repeated(arguments: Sequence[str]) -> None:
    """Raise UsageError if a key is given twice; the last value would hold."""
    given: dict[str, str] = {}
    for argument in arguments:
        key = argument.partition("=")[0].lstrip("+~").strip()
        if key in given:
            raise UsageError(f"{key} must be given once, got '{given[key]}' and '{argument}'.")
        given[key] = argument
