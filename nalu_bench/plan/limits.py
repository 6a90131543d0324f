"""What the numbers of a configuration must be: finite, not lost in single precision, and no slip of the hand."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from nalu_bench.errors import UsageError

MOST = 2**31 - 1
"""The largest integer of a field that states no smaller one, as in `field(metadata={"most": 1_000_000})`."""


def check(part: str, config: Any) -> None:
    """Raise UsageError for a number of a dataclass that training cannot hold.

    Args:
        part: the group of the configuration, for the message. config: its values; mappings and lists in it are checked,
            too.
    """
    for entry in fields(config):
        most = entry.metadata.get("most", MOST)
        for key, value in _numbers(f"{part}.{entry.name}", getattr(config, entry.name)):
            if must := _must(value, most):
                raise UsageError(f"{key} must {must}, got {_written(value)}.")


def _numbers(key: str, value: Any) -> Iterator[tuple[str, int | float]]:
    """(key, number) of all numbers in a value."""
    if is_dataclass(value) and not isinstance(value, type):
        for entry in fields(value):
            yield from _numbers(f"{key}.{entry.name}", getattr(value, entry.name))
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _numbers(f"{key}.{name}", one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _numbers(key, one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key, value


def _must(value: float, most: int) -> str:
    """What a number must be and is not; empty if it is."""
    if isinstance(value, int):
        return "" if abs(value) <= most else f"be at most {most:,}"
    with np.errstate(over="ignore", under="ignore"):
        single = float(np.float32(value))
    if not math.isfinite(single):
        return "be a number up to 3e38"
    return "be 1.2e-38 or more in size, as single precision needs" if value and abs(single) < TINY else ""


def single(value: Any) -> Any:
    """A value with its numbers as single precision holds them."""
    if isinstance(value, Mapping):
        return {key: single(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [single(one) for one in value]
    return float(np.float32(value)) if isinstance(value, float) else value


TINY = float(np.finfo(np.float32).tiny)
"""The smallest number that single precision holds with all of its digits."""


def _written(value: float) -> str:
    """The number; one of very many digits by its length."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return f"a number of {len(str(value)) if abs(value) < 10**4000 else 'more than 4,000'} digits"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
