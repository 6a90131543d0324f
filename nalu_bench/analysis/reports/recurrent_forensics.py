"""Hypotheses about the protocol of a recurrent task."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.protocols import recurrent_scores
from nalu_bench.analysis.protocols.explain import Place
from nalu_bench.analysis.protocols.predictions import Predictions
from nalu_bench.analysis.reports.forensics import Forensics, Score
from nalu_bench.analysis.reports.kind import Settings
from nalu_bench.registry import register


@dataclass
class RecurrentSettings(Settings):
    """See `RecurrentForensics`."""

    printed: str
    task: str
    models: list[str]
    drawn: int
    tables: int = 100
    scores: list[Score] = field(default_factory=list)


@register("recurrent_forensics", version=1)
class RecurrentForensics(Forensics):
    """As `forensics`, for a task whose extrapolation is measured once, and whose cells for fitting are drawn.

    Source: ours. Settings: `printed`, `task`, `models`, `tables`, `scores` as of `forensics`; `drawn`, the seed of the
    hash that puts half of the printed numbers among those that choose.
    """

    settings = RecurrentSettings

    def predictions(self, measured: Measured) -> Predictions:
        return recurrent_scores.predictions(measured, self.report["models"])

    def fitting(self) -> Collection[Place]:
        return {place for place in self._printed() if _drawn(self.report["drawn"], place)}


def _drawn(seed: int, place: Place) -> bool:
    """A fair coin that depends on the seed and the place alone."""
    return hashlib.sha256("/".join([str(seed), *place]).encode()).digest()[0] % 2 == 0
