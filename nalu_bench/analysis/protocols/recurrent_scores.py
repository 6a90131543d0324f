"""What runs of the recurrent task predict for printed scores; extrapolation is measured once, at the selected step."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.protocols.misfit import METRICS, SPLITS
from nalu_bench.analysis.protocols.predictions import WHOLE, Candidate, Predictions, Scoring

BASELINE = "baseline"
"""The role of the untrained models, whose median error is the denominator."""


def predictions(measured: Measured, models: Sequence[str]) -> Predictions:
    """Predict scores from runs. A setting is a protocol if it has a cell of each of the `models`, and a baseline."""
    runs = measured.runs
    found, scores = [], []
    for (setting, operation), group in runs.groupby(["setting", "operation"], sort=False):
        trained, untrained = group[group["role"] == "cell"], group[group["role"] == BASELINE]
        if untrained.empty or not set(models) <= set(trained["model"]):
            continue
        found.append(Candidate(tuple(str(setting).split(";")), str(operation), WHOLE))
        scores.append([[_scores(trained, untrained, model, metric) for model in models] for metric in METRICS])
    ways = [Scoring(metric, "untrained", "validation_mse", "") for metric in METRICS]
    return Predictions.of(found, ways, models, SPLITS, np.array(scores, dtype=float))


def _scores(trained: pd.DataFrame, untrained: pd.DataFrame, model: str, metric: str) -> list[np.ndarray]:
    """The score of every seed of a model, split by split."""
    mean, power = METRICS[metric]
    own = trained[trained["model"] == model].sort_values("seed")
    columns = [f"{split}_{mean}" for split in SPLITS]
    return [100 * (own[column].to_numpy(float) / untrained[column].median()) ** power for column in columns]
