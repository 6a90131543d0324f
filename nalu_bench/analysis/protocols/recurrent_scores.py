"""What runs of the recurrent task predict for printed scores; extrapolation is measured once, at the selected step."""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.protocols.misfit import METRICS, SPLITS
from nalu_bench.analysis.protocols.predictions import WHOLE, Candidate, Predictions, Scoring

BASELINE = "baseline"
"""The role of the untrained models."""

DENOMINATORS = ("lstm", "own")
"""The score is 100 · error / median error of: untrained LSTMs; untrained networks of the same kind."""

SELECTION = "validation_mse"
"""By which error the step is selected at which extrapolation is measured."""


def predictions(measured: Measured, models: Sequence[str]) -> Predictions:
    """Predict scores from runs. A setting is a protocol if it has all `models`, trained and as baselines."""
    runs = measured.runs
    ways = [Scoring(*score, SELECTION) for score in itertools.product(METRICS, DENOMINATORS)]
    found, scores = [], []
    for (setting, operation), group in runs.groupby(["setting", "operation"], sort=False):
        trained, untrained = (group[group["role"] == role] for role in ("cell", BASELINE))
        if set(models) <= set(trained["model"]) & set(untrained["model"]):
            found.append(Candidate(tuple(str(setting).split(";")), str(operation), WHOLE))
            scores.append([[_scores(trained, untrained, model, way) for model in models] for way in ways])
    return Predictions.of(found, ways, models, SPLITS, np.array(scores, dtype=float))


def _scores(trained: pd.DataFrame, untrained: pd.DataFrame, model: str, way: Scoring) -> list[np.ndarray]:
    """The score of every seed of a model, split by split."""
    mean, power = METRICS[way.metric]
    own = trained[trained["model"] == model].sort_values("seed")
    below = untrained[untrained["model"] == (model if way.denominator == "own" else way.denominator)]
    columns = [f"{split}_{mean}" for split in SPLITS]
    return [
        100 * (own[column].to_numpy(float) / np.median(below[column].fillna(np.inf))) ** power for column in columns
    ]
