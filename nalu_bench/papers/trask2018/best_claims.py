"""Claims on the best of several networks: that an error, or the ratio of two, lies on one side of a threshold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.intervals import middle_range
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.table.claim import Claim, Limit, furthest_from_true
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018.best_draws import DRAWS, Best
from nalu_bench.plan.setting import Setting

Group = tuple[str, Setting]
"""A model, and the words of its setting among which nothing was chosen."""


@dataclass
class Sentence(Limit):
    """What a claim says of every one of some numbers.

    Attributes:
        numbers: each one or two texts, `model split`, with words of a setting behind it: `text_lstm test states=last`.
            One is the mean absolute error there; two are the ratio of the first to the second.
    """

    numbers: list[list[str]]

    def check(self, name: str) -> None:
        """Raise UsageError for a claim without one limit, and for numbers that are none."""
        super().check(name)
        if not self.numbers:
            raise UsageError(f"the claim {name} must be about one number or more.")
        for number in self.numbers:
            if len(number) not in (1, 2) or not all(map(_readable, number)):
                raise UsageError(
                    f"a number of the claim {name} must be one or two of `model split` or "
                    f"`model split word=value ...`, got {number}."
                )

    def names(self) -> Iterator[tuple[str, str | None]]:
        for text in (text for number in self.numbers for text in number):
            (model, words), split = _parsed(text, Setting())
            yield from (("model", model), ("split", split), *words.items())


def tested(said: Sentence, setting: Setting, groups: Mapping[Group, Best | str], measure: str) -> Claim:
    """The claim where it is furthest from true; not tested unless all of its models have several draws.

    Its interval is the middle 95 % of the draws: what one best of several networks may show, as the paper shows one.
    The chance that lies in the networks trained, from which all draws are made, is not in it.

    Args:
        setting: words that all numbers share. groups: the draws of a group, or why there are none. measure: of errors.
    """
    read = [[_parsed(text, setting) for text in number] for number in said.numbers]
    behind = {group: groups.get(group, "no runs of ours") for number in read for group, _ in number}
    reasons = {group: _untested(best) for group, best in behind.items()}
    told = [f"{_name(group, setting)}: {reason}" for group, reason in reasons.items() if reason]
    if told:
        return Claim.missing("; ".join(told))
    threshold, above = said.limit
    claims = []
    for number in read:
        samples = [_errors(behind[group], f"{split}_{measure}") for group, split in number]
        ratio = samples[0] / samples[1] if len(samples) == 2 else samples[0]
        quantity = " over ".join(f"{_name(group, setting)}, {split}" for group, split in number)
        statistic = partial(_range, ratio)
        claims.append(Claim.estimated(quantity, statistic, threshold, above, resamples=DRAWS))
    return furthest_from_true(claims)


def _readable(text: str) -> bool:
    _, *split_and_words = text.split() or [""]
    return bool(split_and_words) and all("=" in word for word in split_and_words[1:])


def _parsed(text: str, setting: Setting) -> tuple[Group, str]:
    model, split, *words = text.split()
    return (model, setting | Setting.parse(";".join(words))), split


def _name(group: Group, shared: Setting) -> str:
    model, setting = group
    own = [f"{word}={value}" for word, value in setting.items() if word not in shared]
    return " ".join([style.label(model), *own])


def _untested(best: Best | str) -> str:
    if isinstance(best, str):
        return best
    return f"{len(best.runs)} runs are too few for draws of {best.size}" if best.alone else ""


def _errors(best: Best | str, column: str) -> Array:
    assert isinstance(best, Best)
    return best.of_winners(column)


def _range(samples: Array, confidence: float) -> tuple[float, float, float]:
    return float(np.median(samples)), *middle_range(samples, confidence)


def behind(said: Sentence, setting: Setting, groups: Mapping[Group, Best | str]) -> Sequence[Best]:
    """The draws that the claim is about."""
    read = dict.fromkeys(_parsed(text, setting)[0] for number in said.numbers for text in number)
    return [best for group in read if isinstance(best := groups.get(group), Best)]
