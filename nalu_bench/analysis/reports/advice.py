"""Advice in words: which unit for which operation and range, from shares of solved seeds alone."""

from collections.abc import Iterator, Mapping, Sequence

from nalu_bench.analysis.render import style
from nalu_bench.analysis.table.formats import percent

Rates = dict[str, dict[str, float]]
"""Unit -> range -> its share of solved seeds; the best unit first."""

RELIABLE = 0.95
"""The share of solved seeds from which a unit is called reliable on a range (our choice)."""

NAMED = 6
"""So many units are named; of more, the number is told."""


def told(rates: Rates) -> str:
    """Which units are reliable on all ranges; if none is, which ones on most, and what remains.

    >>> told({"nau": {"[1, 2]": 1.0, "[-2, 2]": 1.0}, "nalu": {"[1, 2]": 1.0, "[-2, 2]": 0.0}})
    'NAU on all 2 ranges.'
    >>> told({"nalu": {"[1, 2]": 0.9, "[-2, 2]": 0.0}})
    'None does so on any of 2 ranges; NALU comes closest, with 45 % over all.'
    """
    ranges = list(next(iter(rates.values()), {}))
    reliable = {unit: [at for at, share in found.items() if share >= RELIABLE] for unit, found in rates.items()}
    most = max(map(len, reliable.values()), default=0)
    best = [unit for unit, found in reliable.items() if len(found) == most]
    if not most:
        return _closest(rates, len(ranges))
    if most == len(ranges):
        return f"{_units(best)} on all {most} ranges."
    alike = [unit for unit in best if reliable[unit] == reliable[best[0]]]  # the others stand at the ranges they solve
    rest = "".join(f"; {other}" for other in _rest(reliable, best[0], rates))
    return f"None does so on all {len(ranges)} ranges; {_units(alike)} on {most} of {len(ranges)}{rest}."


def _closest(rates: Rates, ranges: int) -> str:
    closest = max(rates, key=lambda unit: _mean(rates[unit]), default="")
    if not closest or not _mean(rates[closest]):
        return f"None does so on any of {ranges} ranges; no seed is solved."
    share = percent(_mean(rates[closest]))
    return f"None does so on any of {ranges} ranges; {style.label(closest)} comes closest, with {share} over all."


def _rest(reliable: Mapping[str, Sequence[str]], best: str, rates: Rates) -> Iterator[str]:
    """The ranges on which the best unit is not reliable, and which others are."""
    for at in rates[best]:
        able = [unit for unit, found in reliable.items() if at in found]
        if at not in reliable[best] and able:
            yield f"{_units(able)} on {at}"
        elif at not in reliable[best]:
            most = max(rates, key=lambda unit: rates[unit].get(at, 0.0))
            yield f"on {at} the best is {style.label(most)} with {percent(rates[most].get(at, 0.0))}"


def _units(units: Sequence[str]) -> str:
    names = [style.label(unit) for unit in units]
    if len(names) > NAMED:
        names = [*names[:NAMED], f"{len(names) - NAMED} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _mean(shares: Mapping[str, float]) -> float:
    return sum(shares.values()) / max(len(shares), 1)
