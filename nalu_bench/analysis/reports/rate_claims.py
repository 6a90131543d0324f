"""Claims on rates: that a share of runs, or the difference of two shares, lies on one side of a threshold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import pandas as pd

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.intervals import newcombe_interval, unsigned, wilson_interval
from nalu_bench.analysis.table.claim import CLAIM, Claim, Limit
from nalu_bench.analysis.table.formats import percent
from nalu_bench.analysis.table.line import Row
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError, unknown
from nalu_bench.plan.setting import Setting

OUTCOMES = {"solved": "share of solved seeds", "diverged": "share of seeds whose loss became infinite or nan"}
"""What is counted -> its name."""


@dataclass
class RateClaim(Limit):
    """What a claim says of the runs of some cells, taken together.

    Attributes:
        of: words (task, operation, model, a word of the setting) -> value: the cells that the claim is about. An empty
            value is the usual one, which a setting leaves out.
        than: the same for the cells that they are held against; empty for none.
        counted: solved or diverged.
        each: a word of which every value is a test of its own, such as operation; empty for one test.
        apart: whether the difference counts without its sign.
    """

    of: dict[str, str]
    than: dict[str, str] = field(default_factory=dict)
    counted: str = "solved"
    each: str = ""
    apart: bool = False

    def check(self, name: str) -> None:
        """Raise UsageError for a claim without one limit, about no cells, or that counts what is not known."""
        super().check(name)
        if not self.of:
            raise UsageError(f"the claim {name} must say of which cells, as of: {{model: nalu}}.")
        if self.counted not in OUTCOMES:
            raise unknown(f"outcome counted in the claim {name}", self.counted, OUTCOMES)

    def names(self) -> Iterator[tuple[str, str | None]]:
        for word, value in (*self.of.items(), *self.than.items()):
            yield word, value or None
        if self.each:
            yield self.each, None


def claim_rows(claims: Mapping[str, RateClaim], cells: Sequence[tuple[Place, pd.DataFrame]], split: str) -> list[Row]:
    """A row for every test of every claim; the runs have the column `solved`."""
    return [row for name, said in claims.items() for row in _rows(name, said, cells, split)]


def _rows(name: str, said: RateClaim, cells: Sequence[tuple[Place, pd.DataFrame]], split: str) -> Iterator[Row]:
    mine = [(place, runs) for place, runs in cells if _has(place, said.of)]
    values = dict.fromkeys(_words(place).get(said.each, "") for place, _ in mine) if said.each else {"": None}
    for value in values:
        only = {said.each: value} if said.each else {}
        sides = [words | only for words in (said.of, said.than) if words]
        groups = [[runs for place, runs in cells if _has(place, words)] for words in sides]
        place = _place(only).at(split=split, metric=f"{CLAIM}{name}")
        if all(groups):
            yield _claim(said, [pd.concat(group) for group in groups]).row(place, [pd.concat(groups[0])])
        else:
            yield Claim.missing("no runs of ours").row(place)


def _claim(said: RateClaim, groups: Sequence[pd.DataFrame]) -> Claim:
    counts = [(int(_counted(runs, said.counted).sum()), len(runs)) for runs in groups]
    told = " − ".join(_told(words) for words in (said.of, said.than) if words)
    told = f"{OUTCOMES[said.counted]}, {f'|{told}|' if said.apart else told}"
    found = Claim.estimated(told, partial(_apart if said.apart else share, counts), *said.limit)
    return replace(found, out_of_reach=_out_of_reach(said, counts))


def _out_of_reach(said: RateClaim, counts: Sequence[tuple[int, int]]) -> str:
    """Why no difference from the second share could reach the threshold; empty if one could."""
    if len(counts) == 1 or said.apart:
        return ""
    other, (limit, above) = counts[1][0] / counts[1][1], said.limit
    if other + limit <= 1 if above else other + limit >= 0:
        return ""
    return f"the share that it is held against is {percent(other)}, from which no difference is as large"


def share(counts: Sequence[tuple[int, int]], confidence: float) -> tuple[float, float, float]:
    """A share with Wilson's interval, or the difference of two with Newcombe's."""
    shares = [count / asked for count, asked in counts]
    if len(counts) == 1:
        return shares[0], *wilson_interval(*counts[0], confidence)
    return shares[0] - shares[1], *newcombe_interval(*counts[0], *counts[1], confidence)


def _apart(counts: Sequence[tuple[int, int]], confidence: float) -> tuple[float, float, float]:
    """The difference of two shares without its sign: from 0 if the interval of the difference holds 0."""
    return unsigned(*share(counts, confidence))


def _counted(runs: pd.DataFrame, outcome: str) -> "pd.Series[bool]":
    return runs["solved"] if outcome == "solved" else runs["diverged_at"].notna()


def _told(words: Mapping[str, str]) -> str:
    """`NALU, depth 4`."""
    told = {word: value for word, value in words.items() if value}
    return ", ".join(style.label(value) if word == "model" else f"{word} {value}" for word, value in told.items())


def _words(place: Place) -> dict[str, str]:
    return {"task": place.task, "operation": place.operation, "model": place.model, **place.setting}


def _has(place: Place, words: Mapping[str, str]) -> bool:
    found = _words(place)
    return all(found.get(word, "") == value for word, value in words.items())


def _place(words: Mapping[str, str]) -> Place:
    """The place that these words name."""
    own = {word: value for word, value in words.items() if word in ("task", "operation", "model")}
    return Place(**own, setting=Setting({word: value for word, value in words.items() if word not in own}))
