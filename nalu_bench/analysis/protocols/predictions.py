"""What runs predict for printed numbers, under every way to compute such a number from the same runs."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.protocols.misfit import log_scores
from nalu_bench.analysis.stats.intervals import BOOTSTRAP_SEED

Array = NDArray[np.float64]

STATISTICS = ("one", "median", "mean", "best")
"""What was printed: one run; the median or the mean of as many runs as ours; the best of `BEST_OF`."""

BEST_OF = 10
SELECTIONS = ("validation_mse", "validation_mae")
"""By which error the step of a run may be selected."""

RESAMPLES = 200

WHOLE = (0, 0)
"""The terms of a task that has none."""


class Scoring(NamedTuple):
    """How every run gets a number.

    Attributes:
        metric: of `misfit.METRICS`. denominator: what its error is divided by. selection: of `SELECTIONS`.
        linear: the model that stands for the printed Linear, if several may.
        steps: the training is cut off after so many; 0: it is not.
    """

    metric: str
    denominator: str
    selection: str
    linear: str = ""
    steps: int = 0


class Choice(NamedTuple):
    """A way to compute one printed number from runs."""

    scoring: Scoring
    statistic: str

    def words(self) -> dict[str, str]:
        """Its parts by name."""
        return {name: str(value) for name, value in {**self.scoring._asdict(), "statistic": self.statistic}.items()}

    def told(self) -> str:
        """In a few words."""
        one = self.scoring
        score = " / ".join(filter(None, [one.metric, one.denominator]))
        length = f"after {one.steps:,} steps" if one.steps else ""
        return ", ".join(filter(None, [self.statistic, score, f"by {one.selection}", one.linear, length]))


class Candidate(NamedTuple):
    """A protocol of one operation: words such as ("law=uniform", "hidden=2"), and the terms of a and b."""

    protocol: tuple[str, ...]
    operation: str
    terms: tuple[int, int]


def selected_rows(curves: pd.DataFrame, rule: str) -> pd.DataFrame:
    """The row of every run with the smallest finite error after step 0, the first one of equals."""
    finite = curves[(curves["step"] > 0) & np.isfinite(curves[rule])].sort_values(rule, kind="stable")
    chosen: pd.DataFrame = finite.drop_duplicates(["cell", "seed"])
    return chosen


@dataclass(frozen=True)
class Predictions:
    """The logarithms of the numbers that candidates predict.

    Attributes:
        candidates: the first axis. choices: the second. models: the third, in terms of the printed table. splits: the
            fourth.
        location, deviation: of the log score.
        scores: those of every seed (candidate, scoring, model, split, seed). scorings: its second axis.
    """

    candidates: Sequence[Candidate]
    choices: Sequence[Choice]
    models: Sequence[str]
    splits: Sequence[str]
    location: Array
    deviation: Array
    scores: Array
    scorings: Sequence[Scoring]

    @classmethod
    def of(
        cls,
        found: Sequence[Candidate],
        ways: Sequence[Scoring],
        models: Sequence[str],
        splits: Sequence[str],
        scores: Array,
    ) -> "Predictions":
        """From the numbers of every seed (candidate, scoring, model, split, seed), under every statistic.

        A seed without a finite error is infinitely bad.
        """
        scores = np.where(np.isfinite(scores), scores, np.inf)
        summed = [[_summary(each, statistic) for statistic in STATISTICS] for each in scores]
        shape = (len(found), len(ways) * len(STATISTICS), len(models), len(splits))
        location, deviation = (
            np.array([np.stack([one[part] for one in each], 1) for each in summed]).reshape(shape) for part in (0, 1)
        )
        choices = [Choice(one, statistic) for one in ways for statistic in STATISTICS]
        return cls(found, choices, list(models), list(splits), location, deviation, scores, ways)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the predictions: seeds less one."""
        return int(self.scores.shape[-1]) - 1

    def samples_of(self, row: int, choice: Choice, model: str, split: str) -> Array:
        """Numbers that a candidate would print: those of its seeds, or the statistic of seeds drawn anew."""
        scores = self.scores_of(row, choice, model, split)
        return scores if choice.statistic == "one" else _drawn(scores, choice.statistic)

    def scores_of(self, row: int, choice: Choice, model: str, split: str) -> Array:
        """The number of every seed of a candidate."""
        at = (row, self.scorings.index(choice.scoring), list(self.models).index(model), list(self.splits).index(split))
        found: Array = self.scores[at]
        return found


REDUCED: Mapping[str, Callable[..., Array]] = {"median": np.median, "mean": np.mean, "best": np.min}


def _summary(scores: Array, statistic: str) -> tuple[Array, Array]:
    """Location and deviation of the log of a statistic of the seeds, the last axis."""
    if statistic == "one":
        logs = log_scores(scores)
        return logs.mean(axis=-1), logs.std(axis=-1, ddof=1) * np.sqrt(1 + 1 / logs.shape[-1])
    found = log_scores(_drawn(scores, statistic))
    return found.mean(axis=-1), found.std(axis=-1, ddof=1)


def _drawn(scores: Array, statistic: str) -> Array:
    """The statistic of seeds drawn anew, many times over."""
    return REDUCED[statistic](scores[..., _resampled(scores.shape[-1], statistic)], axis=-1)


@functools.cache
def _resampled(count: int, statistic: str) -> NDArray[np.int64]:
    size = BEST_OF if statistic == "best" else count
    return np.random.default_rng(BOOTSTRAP_SEED).integers(count, size=(RESAMPLES, size))
