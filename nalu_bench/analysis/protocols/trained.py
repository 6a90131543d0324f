"""What trained runs predict for printed scores, under every way to compute a score from the same runs."""

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.measure.measured import Measured, values_of
from nalu_bench.analysis.protocols.closed_form import Range, Setting, errors
from nalu_bench.analysis.protocols.misfit import MEANS, METRICS, SPLITS, log_scores
from nalu_bench.analysis.stats.intervals import BOOTSTRAP_SEED

Array = NDArray[np.float64]

DENOMINATORS = ("relu6", "own", "mean")
"""The score is 100 · error / error of: the untrained ReLU6, median over seeds; the same network before its first step;
the mean of the training targets."""

STATISTICS = ("one", "median", "mean", "best")
"""What was printed: one run; the median or the mean of as many runs as ours; the best of `BEST_OF`."""

BEST_OF = 10
SELECTIONS = ("validation_mse", "validation_mae")
RESAMPLES = 200


class Scoring(NamedTuple):
    """How every run gets a score; `linear` is the model that stands for the printed Linear."""

    metric: str
    denominator: str
    selection: str
    linear: str


class Choice(NamedTuple):
    """A way to compute one printed number from runs."""

    scoring: Scoring
    statistic: str

    def told(self) -> str:
        """In a few words."""
        one = self.scoring
        score = " / ".join(filter(None, [one.metric, one.denominator]))
        return ", ".join(filter(None, [self.statistic, score, f"by {one.selection}", one.linear]))


def scorings(linear: Sequence[str]) -> list[Scoring]:
    """All of them. `linear`: the models that may stand for the printed Linear."""
    return list(map(Scoring._make, itertools.product(METRICS, DENOMINATORS, SELECTIONS, linear)))


class Candidate(NamedTuple):
    """A protocol of one operation: words such as ("law=uniform", "hidden=2"), and the terms of a and b."""

    protocol: tuple[str, ...]
    operation: str
    terms: tuple[int, int]


def candidates(runs: pd.DataFrame) -> dict[Candidate, dict[str, str]]:
    """Candidate -> its models, with the digests of their cells, in order of appearance."""
    found: dict[Candidate, dict[str, str]] = {}
    for line in runs[["setting", "operation", "model", "cell"]].drop_duplicates().to_dict("records"):
        words = values_of(str(line["setting"]))
        first, second = (int(size) for size in words.pop("terms").strip("[]").split(","))
        protocol = tuple(f"{word}={value}" for word, value in words.items())
        one = Candidate(protocol, str(line["operation"]), (first, second))
        found.setdefault(one, {})[str(line["model"])] = str(line["cell"])
    return found


@dataclass(frozen=True)
class Samples:
    """The errors of every run, at the step that each selection takes and before the first step.

    Attributes:
        at: (selection, cell) -> column such as `extrapolation_mse` -> the errors of the seeds.
        untrained: cell -> the same at step 0.
    """

    at: Mapping[tuple[str, str], Mapping[str, Array]]
    untrained: Mapping[str, Mapping[str, Array]]

    @classmethod
    def of(cls, measured: Measured) -> "Samples":
        """Read them from the curves: every evaluation must be kept."""
        curves = measured.curves.sort_values(["cell", "seed", "step"], kind="stable")
        first = curves[curves["step"] == 0]
        runs = measured.runs[["cell", "seed"]]
        at = {
            (rule, cell): errors
            for rule in SELECTIONS
            for cell, errors in _by_cell(selected_rows(curves, rule), runs).items()
        }
        return cls(at, _by_cell(first, runs))


def selected_rows(curves: pd.DataFrame, rule: str) -> pd.DataFrame:
    """The row of every run with the smallest finite error after step 0, the first one of equals."""
    finite = curves[(curves["step"] > 0) & np.isfinite(curves[rule])].sort_values(rule, kind="stable")
    chosen: pd.DataFrame = finite.drop_duplicates(["cell", "seed"])
    return chosen


def _by_cell(rows: pd.DataFrame, runs: pd.DataFrame) -> dict[str, dict[str, Array]]:
    """Cell -> column -> the errors of its seeds; nan for a run without a row."""
    every = runs.merge(rows, on=["cell", "seed"], how="left")
    columns = [f"{split}_{mean}" for split in SPLITS for mean in MEANS]
    return {
        str(cell): {column: group[column].to_numpy(float) for column in columns}
        for cell, group in every.groupby("cell", sort=False)
    }


@dataclass(frozen=True)
class Predictions:
    """The log scores that candidates predict.

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
    def of(cls, measured: Measured, models: Sequence[str], linear: Sequence[str]) -> "Predictions":
        """Predict from runs. `models`: those of the printed table; `linear`: see `scorings`."""
        samples, found, ways = Samples.of(measured), candidates(measured.runs), scorings(linear)
        scores = np.array([_of_candidate(samples, *each, models, ways) for each in found.items()])
        return cls.summed(list(found), ways, models, SPLITS, scores)

    @classmethod
    def summed(
        cls,
        found: Sequence[Candidate],
        ways: Sequence[Scoring],
        models: Sequence[str],
        splits: Sequence[str],
        scores: Array,
    ) -> "Predictions":
        """From the scores of every seed (candidate, scoring, model, split, seed), under every statistic."""
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

    def scores_of(self, row: int, choice: Choice, model: str, split: str) -> Array:
        """The score of every seed of a candidate."""
        at = (row, self.scorings.index(choice.scoring), list(self.models).index(model), list(self.splits).index(split))
        found: Array = self.scores[at]
        return found


def _of_candidate(
    samples: Samples, candidate: Candidate, cells: Mapping[str, str], models: Sequence[str], ways: Sequence[Scoring]
) -> Array:
    """The scores (scoring, model, split, seed) of a candidate."""
    means = _mean_errors(candidate)
    return np.array(
        [[[_scores(samples, cells, model, way, split, means) for split in SPLITS] for model in models] for way in ways]
    )


def _scores(
    samples: Samples,
    cells: Mapping[str, str],
    model: str,
    way: Scoring,
    split: str,
    means: Mapping[str, Mapping[str, float]],
) -> Array:
    """The score of every seed of a cell. `means`: split -> mean -> error of the predictor of the mean."""
    cell = cells[way.linear if model == "linear" else model]
    mean, power = METRICS[way.metric]
    column = f"{split}_{mean}"
    found = samples.at[way.selection, cell][column]
    if way.denominator == "own":
        below = samples.untrained[cell][column]
    elif way.denominator == "relu6":
        below = np.full(len(found), np.median(samples.untrained[cells["relu6"]][column]))
    else:
        below = np.full(len(found), means[split][mean])
    scores: Array = 100 * (found / below) ** power
    return scores


def _mean_errors(candidate: Candidate) -> dict[str, dict[str, float]]:
    found = errors(setting_of(candidate), [])[0]
    return {split: dict(zip(MEANS, found["mean", split], strict=True)) for split in SPLITS}


def setting_of(candidate: Candidate) -> Setting:
    """The candidate for the closed form."""
    words = dict(word.split("=", 1) for word in candidate.protocol)
    inside, beyond = (_range(words[word]) for word in ("range", "beyond"))
    shared = int(words.get("shared", 0))
    return Setting(candidate.operation, words["law"], inside, beyond, words["grown"], candidate.terms, shared)


def _range(text: str) -> Range:
    low, high = (float(end) for end in text.strip("[]").split(","))
    return low, high


REDUCED: Mapping[str, Callable[..., Array]] = {"median": np.median, "mean": np.mean, "best": np.min}


def _summary(scores: Array, statistic: str) -> tuple[Array, Array]:
    """Location and deviation of the log of a statistic of the seeds, the last axis."""
    if statistic == "one":
        logs = log_scores(scores)
        return logs.mean(axis=-1), logs.std(axis=-1, ddof=1) * np.sqrt(1 + 1 / logs.shape[-1])
    drawn = np.where(np.isfinite(scores), scores, np.inf)[..., _resampled(scores.shape[-1], statistic)]
    found = log_scores(REDUCED[statistic](drawn, axis=-1))
    return found.mean(axis=-1), found.std(axis=-1, ddof=1)


@functools.cache
def _resampled(count: int, statistic: str) -> NDArray[np.int64]:
    size = BEST_OF if statistic == "best" else count
    return np.random.default_rng(BOOTSTRAP_SEED).integers(count, size=(RESAMPLES, size))
