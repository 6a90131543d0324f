"""Reproducible experiments with neural arithmetic units: configuration, training, statistics, verdicts."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded

__version__ = "0.1.0"


def load(name: str, budget: str | None = None) -> "Loaded":
    """The results of an experiment as frames and pictures: `load("madsen2020/table2").table`.

    Args:
        name: such as `madsen2020/table2`, see `nalu-bench list experiment`.
        budget: the name of a budget; None for the largest one that was run.

    Raises:
        UsageError for an unknown experiment, and for one without results.
    """
    from nalu_bench.analysis import loaded

    return loaded.load(name, budget)
