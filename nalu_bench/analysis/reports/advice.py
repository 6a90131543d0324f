"""Advice in words: which unit for which operation and range, from shares of solved seeds alone."""

from collections.abc import Mapping, Sequence

from nalu_bench.analysis.render import style
from nalu_bench.analysis.table.formats import percent

Rates = dict[str, dict[str, float]]
"""Unit -> range -> its share of solved seeds; the best unit first."""

RELIABLE = 0.95
"""The share of solved seeds from which a unit is called reliable on a range (our choice)."""

NAMED = 4
"""So many units are named; of more, the number is told."""


def told(rates: Rates) -> str:
    """What the shares say, as sentences.

    >>> told({"nau": {"[1, 2]": 1.0, "[-2, 2]": 1.0}, "nalu": {"[1, 2]": 1.0, "[-2, 2]": 0.0}})
    'NAU solves at least 95 % of the seeds on all 2 ranges.'
    >>> told({"nalu": {"[1, 2]": 0.9, "[-2, 2]": 0.0}})
    'No unit solves 95 % of the seeds on any of the 2 ranges; NALU comes closest, with 45 % over all.'
    """
    ranges = list(next(iter(rates.values()), {}))
    reliable = {unit: [at for at, share in found.items() if share >= RELIABLE] for unit, found in rates.items()}
    everywhere = [unit for unit, found in reliable.items() if len(found) == len(ranges)]
    if everywhere:
        verb = "solves" if len(everywhere) == 1 else "solve"
        return f"{_units(everywhere)} {verb} at least {percent(RELIABLE)} of the seeds on all {len(ranges)} ranges."
    most = max(map(len, reliable.values()), default=0)
    if not most:
        closest = max(rates, key=lambda unit: _mean(rates[unit]), default="")
        if not closest or not _mean(rates[closest]):
            return "No unit solves a seed on any range."
        return (
            f"No unit solves {percent(RELIABLE)} of the seeds on any of the {len(ranges)} ranges; "
            f"{style.label(closest)} comes closest, with {percent(_mean(rates[closest]))} over all."
        )
    return " ".join(filter(None, [_best(reliable, most, len(ranges)), _open(reliable, rates, ranges)]))


def _best(reliable: Mapping[str, Sequence[str]], most: int, ranges: int) -> str:
    best = [unit for unit, found in reliable.items() if len(found) == most]
    return f"No unit is reliable on all {ranges} ranges. Most are solved by {_units(best)}: {most} of {ranges}."


def _open(reliable: Mapping[str, Sequence[str]], rates: Rates, ranges: Sequence[str]) -> str:
    """What remains: ranges for other units, and ranges for none."""
    best = max(reliable, key=lambda unit: len(reliable[unit]))
    others, none = [], []
    for at in ranges:
        able = [unit for unit, found in reliable.items() if at in found]
        if able and at not in reliable[best]:
            others.append(f"{at} by {_units(able)}")
        elif not able:
            share = max(found.get(at, 0.0) for found in rates.values())
            none.append(f"{at} (at most {percent(share)})")
    sentences = [f"Solved by others: {'; '.join(others)}." if others else ""]
    sentences.append(f"Solved by none: {', '.join(none)}." if none else "")
    return " ".join(filter(None, sentences))


def _units(units: Sequence[str]) -> str:
    names = [style.label(unit) for unit in units]
    if len(names) > NAMED:
        names = [*names[:NAMED], f"{len(names) - NAMED} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _mean(shares: Mapping[str, float]) -> float:
    return sum(shares.values()) / max(len(shares), 1)
