"""What runs of the static task predict for printed scores: metrics, denominators and selected steps are choices."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.measure.measured import Measured, values_of
from nalu_bench.analysis.protocols.closed_form import Range, Setting, errors
from nalu_bench.analysis.protocols.misfit import MEANS, METRICS, SPLITS
from nalu_bench.analysis.protocols.predictions import SELECTIONS, Candidate, Predictions, Scoring, selected_rows
from nalu_bench.errors import UsageError

Array = NDArray[np.float64]

DENOMINATORS = ("relu6", "own", "mean")
"""The score is 100 · error / error of: the untrained ReLU6, median over seeds; the same network before its first step;
the mean of the training targets."""


LINEAR = "linear"
"""The printed model that others may stand for."""


def scorings(linear: Sequence[str], steps: Sequence[int] = (0,)) -> list[Scoring]:
    """All of them. `linear`: the models that may stand for the printed Linear. `steps`: see `Scoring`."""
    return list(map(Scoring._make, itertools.product(METRICS, DENOMINATORS, SELECTIONS, linear, steps)))


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
        at: (selection, steps, cell) -> column such as `extrapolation_mse` -> the errors of the seeds.
        untrained: cell -> the same at step 0.
    """

    at: Mapping[tuple[str, int, str], Mapping[str, Array]]
    untrained: Mapping[str, Mapping[str, Array]]

    @classmethod
    def of(cls, measured: Measured, steps: Sequence[int]) -> "Samples":
        """Read them from the curves: every evaluation must be kept. `steps`: see `Scoring`."""
        curves = measured.curves.sort_values(["cell", "seed", "step"], kind="stable")
        first = curves[curves["step"] == 0]
        earliest = curves.loc[curves["step"] > 0, "step"].min()
        if wrong := [limit for limit in steps if limit and limit < earliest]:
            raise UsageError(f"training is cut off after an evaluation, the first at step {earliest}, got {wrong[0]}.")
        runs = measured.runs[["cell", "seed"]]
        at = {
            (rule, limit, cell): errors
            for limit in steps
            for rule in SELECTIONS
            for cell, errors in _by_cell(selected_rows(_until(limit, curves), rule), runs).items()
        }
        return cls(at, _by_cell(first, runs))


def _until(limit: int, curves: pd.DataFrame) -> pd.DataFrame:
    return curves[curves["step"] <= limit] if limit else curves


def _by_cell(rows: pd.DataFrame, runs: pd.DataFrame) -> dict[str, dict[str, Array]]:
    """Cell -> column -> the errors of its seeds; nan for a run without a row."""
    every = runs.merge(rows, on=["cell", "seed"], how="left")
    columns = [f"{split}_{mean}" for split in SPLITS for mean in MEANS]
    return {
        str(cell): {column: group[column].to_numpy(float) for column in columns}
        for cell, group in every.groupby("cell", sort=False)
    }


def predictions(
    measured: Measured, models: Sequence[str], linear: Sequence[str], steps: Sequence[int] = (0,)
) -> Predictions:
    """Predict scores from runs, of candidates that have all models.

    Args:
        models: those of the printed table. linear, steps: see `scorings`.

    Raises:
        UsageError if there is no such candidate.
    """
    samples, ways, needed = Samples.of(measured, steps), scorings(linear, steps), {*models} - {LINEAR} | {*linear}
    found = {one: cells for one, cells in candidates(measured.runs).items() if needed <= set(cells)}
    if not found:
        raise UsageError(f"a hypothesis needs runs of {', '.join(sorted(needed))}, and none has all; train them first.")
    scores = np.array([_of_candidate(samples, *each, models, ways) for each in found.items()])
    return Predictions.of(list(found), ways, models, SPLITS, scores)


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
    cell = cells[way.linear if model == LINEAR else model]
    mean, power = METRICS[way.metric]
    column = f"{split}_{mean}"
    found = samples.at[way.selection, way.steps, cell][column]
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
