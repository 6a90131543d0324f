"""The words of a command, `key=value`: Hydra's grammar of overrides, and what we refuse of it."""

import contextlib
import functools
import itertools
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override as Override
from hydra.errors import HydraException

from nalu_bench.errors import UsageError
from nalu_bench.plan.names import refuse_repeated

QUOTED = re.compile(r"""(["'])(?:\\.|(?!\1).)*\1""")
"""A text in quotes."""

BETWEEN = re.compile(r"[\s,\[\](){}:]+")
"""What stands between the words of a value."""

Pair = tuple[str, Any]
"""A key and the value it is given."""

HYDRA = ("hydra/launcher", "hydra.launcher", "hydra.sweeper.max_batch_size", "hydra.job.chdir")
"""The words for Hydra that a launcher of jobs reads, and `hydra.job.chdir`, which changes nothing here."""

MOST_CELLS = 10_000
"""Cells of a sweep; the largest experiment has some hundreds."""


def is_for_hydra(argument: str) -> bool:
    """Whether an override is meant for Hydra, such as a launcher; no file may hold one, as launchers run commands."""
    return argument.lstrip("+~").startswith("hydra")


def split(arguments: Sequence[str]) -> tuple[list[Override], list[str]]:
    """Our overrides, parsed, and those for Hydra."""
    ours = [argument for argument in arguments if not is_for_hydra(argument)]
    hydra_overrides = [argument for argument in arguments if is_for_hydra(argument)]
    for argument in hydra_overrides:
        if not f"{argument.lstrip('+~').partition('=')[0]}.".startswith(tuple(f"{word}." for word in HYDRA)):
            raise UsageError(
                f"a word for Hydra must be one that a launcher reads, {', '.join(HYDRA)}, got {argument!r:.100}; leave "
                "it out."
            )
    for argument in ours:
        if "=" not in argument or argument.startswith("~") or "@" in argument.partition("=")[0]:
            raise UsageError(
                f"an override must look like key=value, got '{argument}'; experiments, such as madsen2020/table1, are "
                "listed by `nalu-bench list experiment`."
            )
    refuse_repeated(arguments)
    return [parse(argument) for argument in ours], hydra_overrides


@functools.lru_cache(maxsize=4096)
def parse(argument: str) -> Override:
    """One override; raises UsageError, which tells how to write it, if Hydra cannot read it."""
    try:
        return OverridesParser.create().parse_override(argument)
    except RecursionError:
        raise UsageError(f"brackets must not be nested so deeply, got {argument!r:.60}; write fewer of them.") from None
    except HydraException:
        raise UsageError(f"cannot read '{argument}': {_readable(argument)}.") from None


def _readable(argument: str) -> str:
    """What to do about an override that cannot be read: the form of a text that can be, if there is one."""
    key, _, value = argument.partition("=")
    if not re.fullmatch(r"[+~]*[A-Za-z_][A-Za-z0-9_.@/]*", key):
        return f"a key consists of letters from a to z, digits, '_' and '.', got '{key}'"
    if re.search(r"(^|,)\s*(,|$)", value):
        return f"a value must stand before and after every comma, got {value!r:.60}"
    inner = re.fullmatch(r"\[(.*)\]", value)
    listed = [f"{key}=[{','.join(map(in_quotes, inner[1].split(',')))}]"] if inner else []
    for text in (*listed, f"{key}={in_quotes(value)}"):
        with contextlib.suppress(HydraException):
            OverridesParser.create().parse_override(text)
            return f"a text with special characters needs quotes of its own: {shlex.quote(text)}"
    return "brackets must match, special characters need quotes"


def in_quotes(text: str) -> str:
    """The word for a text, which is read as this text whatever is in it."""
    return '"' + text.strip().replace('"', r"\"") + '"'


def texts(override: Override) -> list[str]:
    """The values of an override, one or a list of them, as Hydra writes them."""
    if not override.is_sweep_override():
        return [override.get_value_element_as_str()]
    try:
        found = list(itertools.islice(override.sweep_string_iterator(), MOST_CELLS + 1))
    except (HydraException, ArithmeticError, ValueError):  # the latter two for a range without a step, or an end
        found = []
    if repeated := next((text for text in found if found.count(text) > 1), None):
        raise UsageError(f"'{override.input_line}' must list every value once, got {repeated} again.")
    if not found:
        raise UsageError(
            f"'{override.input_line}' lists no values; write them with commas, as {override.key_or_group}=a,b, or as "
            "choice(a,b) or range(1,5), with finite ends and a step that is not 0."
        )
    return found


def values(override: Override) -> set[str]:
    """The values of an override, one or a list of them, as Python writes them."""
    return {str(parse(f"value={text}").value()) for text in texts(override)}


def single(overrides: Iterable[Override]) -> list[Pair]:
    """The pairs of overrides; raises UsageError for one that lists several values."""
    found = []
    for override in overrides:
        if override.is_sweep_override():
            raise UsageError(
                f"'{override.input_line}' lists several values, where an experiment and `show` take one; add -m to "
                "`run`, `status` or `report` of a task and a model to sweep over them, or write a list in brackets."
            )
        found.append((override.key_or_group, override.value()))
    return found


def expand(overrides: Iterable[Override]) -> Iterator[list[Pair]]:
    """The pairs of each combination of the values that the overrides list."""
    axes = [[f"{override.key_or_group}={text}" for text in texts(override)] for override in overrides]
    refuse_many(math.prod(map(len, axes)), "these lists")
    for choice in itertools.product(*axes):
        yield pairs(choice)


def refuse_many(count: int, what: str) -> None:
    """Raise UsageError for more than `MOST_CELLS` cells; `what` lists them."""
    if count > MOST_CELLS:
        raise UsageError(f"a sweep must have at most {MOST_CELLS:,} cells, and {what} give more; shorten them.")


def pairs(arguments: Iterable[str]) -> list[Pair]:
    """The pairs of overrides that stand in a file; Hydra's own, such as a launcher's `_target_`, are refused there."""
    ours, hydra_overrides = split(list(arguments))
    if hydra_overrides:
        raise UsageError(f"an experiment cannot set '{hydra_overrides[0]}'; give it on the command line.")
    return single(ours)


@functools.lru_cache(maxsize=4096)
def rewritten(argument: str) -> list[Pair]:
    """The words without quotes in the value of an override that are read as numbers, and written otherwise as such."""
    words = filter(None, BETWEEN.split(QUOTED.sub("", argument.partition("=")[2])))
    read = [(word, parse(f"value={word}").value()) for word in words]
    return [(word, str(value)) for word, value in read if isinstance(value, int | float) and str(value) != word]
