"""The printed numbers of another experiment, for reports about its protocol."""

import math

import pandas as pd

from nalu_bench.analysis.measure.measured import records
from nalu_bench.analysis.printed.published import check_metrics, read
from nalu_bench.analysis.protocols.explain import Place
from nalu_bench.plan import experiment


def rows(name: str, task: str, metric: str) -> pd.DataFrame:
    """The rows of an experiment's printed numbers with this task and metric, a number that cannot be negative.

    Raises:
        UsageError for an unknown experiment, and for numbers outside of that range.
    """
    source = experiment.load(name)
    every = read(source.published)
    chosen = every[(every["task"] == task) & (every["metric"] == metric)].reset_index(drop=True)
    check_metrics(chosen, source.published, "printed", {metric: (0, math.inf)})
    return chosen


def by_place(printed: pd.DataFrame) -> dict[Place, str]:
    """Operation, model and split -> the printed number."""
    return {(line["operation"], line["model"], line["split"]): line["printed"] for line in records(printed)}
