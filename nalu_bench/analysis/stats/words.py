"""How far our number lies from the printed one, in words."""

import math
from enum import StrEnum

MOST = 999.0
"""Larger factors are written as this bound."""


class Better(StrEnum):
    """Which of two numbers is the better one."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


def times(ours: float, printed: float, better: Better, at_least: bool = False) -> str:
    """The ratio of two positive numbers; `at_least` says that the printed one is a bound of it.

    >>> times(5.4, 0.2, Better.LOWER), times(0.1, 0.3, Better.HIGHER)
    ('27× worse', '3.0× worse')
    """
    if math.isnan(ours) or ours == printed:
        return ""
    large, small = max(ours, printed), min(ours, printed)
    factor = large / small if small > 0 else math.inf
    if factor > MOST:
        return f">{MOST:.0f}× {_side(ours > printed, better)}"
    digits = 2 if factor < 1.1 else 1 if factor < 10 else 0
    return f"{'≥' if at_least else ''}{factor:.{digits}f}× {_side(ours > printed, better)}"


def points(difference: float, better: Better = Better.HIGHER) -> str:
    """The difference of two shares, ours minus printed.

    >>> points(-0.11)
    '11 points worse'
    """
    if math.isnan(difference) or difference == 0:
        return ""
    size = f"{100 * abs(difference):.0f}"
    text = {"0": "<1 point", "1": "1 point"}.get(size, f"{size} points")
    return f"{text} {_side(difference > 0, better)}"


def apart(difference: float, better: Better) -> str:
    """The difference of two numbers of any sign, ours minus printed.

    >>> apart(0.25, Better.NEITHER)
    '0.25 higher'
    """
    if math.isnan(difference) or difference == 0:
        return ""
    return f"{abs(difference):.2g} {_side(difference > 0, better)}"


def _side(above: bool, better: Better) -> str:
    if better is Better.NEITHER:
        return "higher" if above else "lower"
    return "better" if above == (better is Better.HIGHER) else "worse"
