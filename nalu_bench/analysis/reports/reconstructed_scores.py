"""Scores under the protocol that explains a printed table best, beside scores under the described one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.protocols.predictions import BEST_OF, Array, Choice, Predictions, Scoring
from nalu_bench.analysis.protocols.static_scores import LINEAR
from nalu_bench.analysis.reports import elsewhere
from nalu_bench.analysis.reports.forensics import Forensics
from nalu_bench.analysis.reports.kind import Row, Settings
from nalu_bench.analysis.reports.scores import SPLITS, Samples, Scores
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.experiment import Experiment
from nalu_bench.registry import register

STATISTICS = {
    "one": "one of {} seeds",
    "median": "median of {} seeds",
    "mean": "mean of {} seeds",
    "best": f"best of {BEST_OF} of {{}} seeds",
}
"""Statistic of a choice -> what our number is, with the number of seeds."""

ERRORS = {"mae": "mean absolute error", "rmse": "root mean squared error", "mse": "mean squared error"}
OVER = {
    "relu6": "of the untrained ReLU6",
    "own": "of the same network before training",
    "mean": "of the mean of the training targets",
    "untrained": "of an untrained network",
}
"""Metric and denominator of a choice in words."""


@dataclass
class Reconstruction:
    """The experiment that found a protocol, and how its numbers are made: see `Choice`."""

    by: str
    metric: str
    denominator: str
    selection: str
    statistic: str
    linear: str = ""

    def choice(self) -> Choice:
        """How a number is made of runs."""
        return Choice(Scoring(self.metric, self.denominator, self.selection, self.linear), self.statistic)

    def told(self) -> str:
        """The same in words, without the statistic."""
        score = f"the {ERRORS[self.metric]} over that {OVER[self.denominator]}, where {self.selection} is smallest"
        return score + (f"; Linear is {self.linear}" if self.linear else "")


@dataclass
class ReconstructedSettings(Settings):
    """See `ReconstructedScores`."""

    reconstructed: dict[str, Reconstruction]


@dataclass(frozen=True)
class Half:
    """What the runs of a reconstructed task would print.

    Attributes:
        forensics: the report that found the protocol.
        runs: those of the task.
    """

    forensics: Forensics
    predictions: Predictions
    choice: Choice
    runs: pd.DataFrame

    @property
    def operations(self) -> dict[str, int]:
        """Operation -> its row of the predictions."""
        return {one.operation: row for row, one in enumerate(self.predictions.candidates)}

    def samples(self, operation: str, model: str, split: str) -> Array:
        """What would be printed in a place of the table."""
        return self.predictions.samples_of(self.operations[operation], self.choice, model, split)

    def panels(self) -> Samples:
        """The same for a figure."""
        report = self.forensics.report
        return {
            (report["task"], split, operation): {
                model: self.samples(operation, model, split) for model in report["models"]
            }
            for split in SPLITS
            for operation in self.operations
        }

    def rows(self) -> list[Row]:
        """The same beside the printed numbers."""
        seeds, steps = self.predictions.freedom + 1, int(self.runs["steps"].max())
        unfinished = f"{seeds} of {asked} seeds" if seeds < (asked := self.runs["asked"].max()) else ""
        return self.forensics.beside_printed(self.operations, self.samples, seeds, steps, unfinished)


@register("reconstructed_scores", version=1)
class ReconstructedScores(Scores):
    """As `scores`, but some tasks follow the protocol that explains their printed numbers best.

    Their score is made as that explanation has it, and is what the paper would have printed: the median of such numbers
    with their middle 95 %. Printed numbers that chose the protocol are `fitted`, the others get ordinary verdicts.

    Source: ours; `forensics` tells how a protocol is found. Settings: `reconstructed`, {task: {by, metric, denominator,
    selection, statistic, linear}}, `by` the experiment that found it.
    """

    settings = ReconstructedSettings

    def __init__(self, experiment: Experiment) -> None:
        super().__init__(experiment)
        self.found = {task: Reconstruction(**one) for task, one in self.report["reconstructed"].items()}
        self.printed = {self._forensics(one).report["task"]: task for task, one in self.found.items()}

    def _forensics(self, one: Reconstruction, **changes: Any) -> Forensics:
        kind = elsewhere.kind(one.by, **changes)
        if not isinstance(kind, Forensics):
            raise UsageError(
                f"reconstructed of {self.experiment.name} must be by a report of kind forensics, got {one.by}."
            )
        return kind

    def words(self, cells: Sequence[Wanted]) -> dict[str, set[str]]:
        words = super().words(cells)
        models = {model for one in self.found.values() for model in self._forensics(one).report["models"]}
        return words | {"task": words["task"] | {*self.printed}, "model": words["model"] | models}

    def rows(self, measured: Measured) -> list[Row]:
        reconstructed = [row for half in self._halves(measured) for row in half.rows()]
        return [*reconstructed, *super().rows(self._described(measured))]

    def samples(self, measured: Measured) -> Samples:
        panels = [half.panels() for half in self._halves(measured)]
        return {place: panel for found in (*panels, super().samples(self._described(measured)))
                for place, panel in found.items()}  # fmt: skip

    def _halves(self, measured: Measured) -> Iterator[Half]:
        for task, one in self.found.items():
            runs = measured.runs[measured.runs["task"] == task]
            if not runs.empty:
                yield self._half(one, replace(measured, runs=_common(runs, f"{task} of {self.experiment.name}")))

    def _half(self, one: Reconstruction, measured: Measured) -> Half:
        """What the models that have runs would print."""
        known = self._forensics(one).report["models"]
        trained = [
            model for model in known if (one.linear or model if model == LINEAR else model) in {*measured.runs["model"]}
        ]
        forensics = self._forensics(one, models=trained, **({"linear": [one.linear]} if one.linear else {}))
        predictions = forensics.predictions(measured)
        if one.choice() not in predictions.choices:
            raise UsageError(f"the score {one.choice().told()} must be a choice of {one.by}.")
        return Half(forensics, predictions, one.choice(), measured.runs)

    def _described(self, measured: Measured) -> Measured:
        return replace(measured, runs=measured.runs[~measured.runs["task"].isin(self.found)])

    def heading(self, task: str, split: str) -> str:
        if task not in self.printed:
            return super().heading(task, split)
        one = self.found[self.printed[task]]
        return (
            f"{super().heading(task, split)}. Reconstructed: the protocol that best explains the printed table "
            f"({one.by}). Score: {one.told()}"
        )

    def named(self, task: str, rows: pd.DataFrame) -> str:
        if task not in self.printed:
            return super().named(task, rows)
        one = self.found[self.printed[task]]
        return f"ours, {STATISTICS[one.statistic].format(rows['n_seeds'].max())} [its middle 95 %]"

    def scale(self, task: str) -> str:
        return "reconstructed score, %" if task in self.printed else super().scale(task)

    def symbols(self) -> str:
        return f"{super().symbols()}.  Reconstructed scores: those of numbers that would be printed"


def _common(runs: pd.DataFrame, where: str) -> pd.DataFrame:
    """The runs with seeds that all cells have: one statistic is made of all."""
    seeds = runs[runs["role"] == "cell"].groupby("cell")["seed"].agg(set)
    common = set.intersection(*seeds) if len(seeds) else set()
    if len(common) < 2:
        raise UsageError(
            f"at least 2 seeds must be there for every cell of {where}, got {len(common)}; train them first."
        )
    return runs[runs["seed"].isin(common) | (runs["role"] != "cell")]
