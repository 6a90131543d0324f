"""Claims on programs: that a share of matching digits, or the difference of two, lies on one side of a threshold."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import pandas as pd

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.intervals import mean_difference, student_mean
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.table.claim import Claim, Limit, furthest_from_true
from nalu_bench.errors import UsageError

Cells = Mapping[tuple[str, str], pd.DataFrame]
"""(task, model) -> its runs."""

PERCENT = 100
SHARES: Span = (0, PERCENT)


@dataclass
class Sentence(Limit):
    """What a claim says of every one of some numbers, in percent at the selected step.

    Attributes:
        numbers: each one or two texts, `model split`, perhaps with a task behind it: `program_lstm test program_sums`.
            One is the mean share of matching digits there; two are the difference, the first minus the second.
    """

    numbers: list[list[str]]

    def check(self, name: str) -> None:
        """Raise UsageError for a claim without one limit, and for numbers that are none."""
        super().check(name)
        if not self.numbers:
            raise UsageError(f"the claim {name} must be about one number or more.")
        for number in self.numbers:
            if len(number) not in (1, 2) or any(len(text.split()) not in (2, 3) for text in number):
                raise UsageError(
                    f"a number of the claim {name} must be one or two of `model split` or `model split task`, got "
                    f"{number}."
                )

    def names(self) -> Iterator[tuple[str, str | None]]:
        for text in (text for number in self.numbers for text in number):
            yield from zip(("model", "split", "task"), text.split(), strict=False)


def tested(said: Sentence, task: str, cells: Cells) -> tuple[Claim, list[pd.DataFrame]]:
    """The claim where it is furthest from true, and the runs behind it; untested unless all of its cells have runs.

    Args:
        task: of numbers that name none. cells: the runs by task and model.
    """
    read = [[_parsed(text, task) for text in number] for number in said.numbers]
    keys = dict.fromkeys((there, model) for number in read for model, _, there in number)
    missing = [f"{style.label(model)} on {there}" for there, model in keys if (there, model) not in cells]
    if missing:
        return Claim.missing(f"no runs of ours: {', '.join(missing)}"), []
    threshold, above = said.limit
    claims = []
    for number in read:
        samples = [shares(cells[there, model], f"{split}_digits") for model, split, there in number]
        quantity = " − ".join(_told(*one, task) for one in number)
        claims.append(Claim.estimated(quantity, partial(_estimated, samples), threshold, above))
    return furthest_from_true(claims), [cells[key] for key in keys]


def shares(runs: pd.DataFrame, column: str) -> Array:
    """A share of every seed in percent; a run without any, which diverged at once, has none."""
    return PERCENT * runs[column].fillna(0.0).to_numpy(float)


def _estimated(samples: list[Array], confidence: float) -> tuple[float, float, float]:
    one, *other = samples
    return mean_difference(one, other[0], confidence) if other else student_mean(one, confidence, SHARES)


def _parsed(text: str, task: str) -> tuple[str, str, str]:
    """Model, split and task."""
    model, split, *there = text.split()
    return model, split, there[0] if there else task


def _told(model: str, split: str, there: str, task: str) -> str:
    return f"{style.label(model)}, {split}{'' if there == task else f', {there}'}"
