"""What belongs to another experiment: its printed numbers for reports about its protocol, and its kind of report."""

import math
from dataclasses import replace
from typing import Any

import pandas as pd

from nalu_bench import registry
from nalu_bench.analysis.measure.measured import records
from nalu_bench.analysis.printed.published import check_metrics, read
from nalu_bench.analysis.protocols.explain import Place
from nalu_bench.analysis.reports.kind import Kind
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


def kind(name: str, **changes: Any) -> Kind:
    """The kind of report of an experiment, with some settings changed."""
    source = experiment.load(name)
    found: Kind = registry.reports.load(source.report["kind"])(replace(source, report=source.report | changes))
    return found
