"""How numbers are written."""

import math
from collections.abc import Callable, Iterable
from typing import Any

Format = Callable[[float], str]


def percent(value: float) -> str:
    """0.94 as `94 %`."""
    return f"{100 * value + 0.0:.0f} %"  # adding 0.0 turns -0.0 into 0.0


def part_of_scale(steps: int, full: int) -> str:
    """2,000 of 10,000 steps as `Trained for 20 % of the full scale's steps.`; empty if nothing is left out."""
    return f"Trained for {percent(steps / full)} of the full scale's steps." if steps < full else ""


def one_decimal(value: float) -> str:
    """12.345 as `12.3`."""
    return f"{value + 0.0:.1f}"


def steps(value: float) -> str:
    """14000.0 as `14,000`."""
    return f"{value:,.0f}"


def span(values: Iterable[float], form: Callable[[Any], str] = str) -> str:
    """The smallest and the largest: 25, 50 and 100 as `25 to 100`, 25 alone as `25`; empty for none."""
    found = sorted({*values})
    return " to ".join(form(value) for value in dict.fromkeys(found[:1] + found[-1:]))


def scientific(value: float) -> str:
    """0.0000000261 as `2.6e-08`."""
    return f"{value:.1e}"


def three_digits(value: float) -> str:
    """1.234 as `1.23`, 0.01 as `0.0100`; 12345 as `1.2e+04`."""
    return f"{value:#.3g}".rstrip(".") if abs(value) < 1e4 else f"{value:.1e}"


def number(value: float) -> str:
    """1.2345 as `1.23`, 0 as `0`, 123456.0 as `1.23e+05`."""
    return f"{value:.3g}"


def four_digits(value: float) -> str:
    """1.23456 as `1.235`; empty for nan."""
    return "" if math.isnan(value) else f"{value:.4g}"


def score(value: float) -> str:
    """A score in percent with one decimal; above 999 as the paper prints it."""
    return ">999" if value > 999 else f"{value:.1f}"


def interval(value: float, low: float, high: float, form: Format) -> str:
    """`94 % [88 %, 97 %]`; a dash if there is no number, no brackets if there is no interval.

    >>> interval(0.94, 0.875, 0.972, percent)
    '94 % [88 %, 97 %]'
    """
    if math.isnan(value):
        return "–"
    if math.isnan(low) or math.isnan(high):
        return form(value)
    return f"{form(value)} [{form(low)}, {form(high)}]"


UNITS = (" %", " points")


def in_prose(value: float, low: float, high: float, form: Format) -> str:
    """As `interval`, with the unit once.

    >>> in_prose(0.94, 0.875, 0.972, percent)
    '94 % [88, 97]'
    """
    number, bracket, limits = interval(value, low, high, form).partition(" [")
    for unit in UNITS:
        limits = limits.replace(unit, "")
    return f"{number}{bracket}{limits}"
