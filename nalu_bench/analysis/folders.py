"""The folders of results: the user's own, and those that travel with an installation."""

from collections.abc import Iterator
from pathlib import Path

from nalu_bench import paths
from nalu_bench.analysis.measure.manifest import MANIFEST, read_manifest
from nalu_bench.errors import UsageError, unknown
from nalu_bench.plan.experiment import Experiment

LOCAL = "local"
"""The subfolder of results that are not committed."""


def find(experiment: Experiment, results: Path, budget: str | None = None) -> Path:
    """The folder with results of an experiment: the largest budget so far, or the budget asked for.

    Args:
        experiment: the experiment. results: the folder of all results. budget: the name of a budget, or None.

    Raises:
        UsageError if there are none.
    """
    found: dict[str, Path] = {}
    for folder in (*committed(results, experiment.name), results / LOCAL / experiment.name):
        manifest = read_manifest(folder)
        if manifest:
            found.setdefault(str(manifest["budget"]["name"]), folder)
    if not found:
        raise UsageError(f"there are no results of {experiment.name}; first: nalu-bench run {experiment.name}")
    if budget is not None and budget not in found:
        raise unknown(f"budget with results of {experiment.name}", budget, found)
    return found[budget or max(found, key=lambda name: experiment.work(name) if name in experiment.budgets else 0)]


def committed(results: Path, name: str) -> Iterator[Path]:
    """The folders with the largest budget of an experiment so far: the user's own, then the one that was installed."""
    for root in (results, paths.shipped_results_dir()):
        if (root / name / MANIFEST).exists():
            yield root / name


def held_budget(folder: Path) -> str:
    """The budget of a folder of results; empty if there are none."""
    manifest = read_manifest(folder)
    return str(manifest["budget"]["name"]) if manifest else ""
