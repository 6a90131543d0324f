"""The folders of results: the user's own, and those that travel with an installation."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nalu_bench import paths
from nalu_bench.analysis.measure.manifest import MANIFEST, overrides, read_manifest
from nalu_bench.errors import UsageError, damage_named, unknown
from nalu_bench.files import read_text
from nalu_bench.plan import experiment, sweep
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.criteria import judged_by
from nalu_bench.plan.experiment import Experiment
from nalu_bench.plan.sweep import FOLDER, LAST

LOCAL = "local"
"""The subfolder of results that are not committed."""


def find(chosen: Experiment, results: Path, budget: str | None = None) -> Path:
    """The folder with results of an experiment: the largest budget so far, or the budget asked for.

    Args:
        chosen: the experiment. results: the folder of all results. budget: the name of a budget, or None.

    Raises:
        UsageError if there are none.
    """
    found: dict[str, Path] = {}
    for folder in (*committed(results, chosen.name), results / LOCAL / chosen.name):
        manifest = read_manifest(folder)
        if manifest and manifest["experiment"] != chosen.name:
            raise UsageError(
                f"{folder} must hold results of {chosen.name}, and holds those of {manifest['experiment']}; remove it."
            )
        if manifest:
            found.setdefault(str(manifest["budget"]["name"]), folder)
    if not found:
        raise UsageError(f"there are no results of {chosen.name}; first: nalu-bench run {chosen.name}")
    if budget is not None and budget not in found:
        raise unknown(f"budget with results of {chosen.name}", budget, found)
    return found[budget or max(found, key=lambda name: chosen.work(name) if name in chosen.budgets else 0)]


def committed(results: Path, name: str) -> Iterator[Path]:
    """The folders with the largest budget of an experiment so far: the user's own, then the one that was installed."""
    for root in (results, paths.shipped_results_dir()):
        if (root / name / MANIFEST).exists():
            yield root / name


def usable(wanted: Sequence[Wanted], results: Path) -> list[Path]:
    """The folders of committed results with runs of these cells, all judged by the criteria that their tasks have.

    A damaged folder costs only its own runs, with a warning.
    """
    cells = {want.cell.digest: want.cell for want in wanted}
    found = []
    for path in sorted(results.glob(f"*/*/{MANIFEST}")):
        try:
            held = (read_manifest(path.parent) or {"cells": {}})["cells"]
        except UsageError as error:
            warnings.warn(f"its runs do not count as finished: {error}", stacklevel=2)
            continue
        shared = cells.keys() & held.keys()
        if shared and all(held[digest]["criteria"] == judged_by(cells[digest]) for digest in shared):
            found.append(path.parent)
    return found


def sweep_words(results: Path, name: str) -> list[str]:
    """The words of a sweep, such as `sweeps/add-sub_nac-nau-1f3a09`, from its manifest.

    Raises:
        UsageError if there is no such sweep.
    """
    return words_of(_manifest(results, name))


def named(results: Path, name: str) -> Experiment:
    """The experiment or the sweep of this name; raises UsageError if there is none."""
    return experiment_of(_manifest(results, name)) if name.startswith(f"{FOLDER}/") else experiment.load(name)


def refuse_other(results: Path, name: str, budget: str, words: Sequence[str]) -> None:
    """Refuse the name of a sweep that was made of other words; those that choose seeds may change."""
    manifest = read_manifest(results / LOCAL / name)
    if manifest is None:
        return
    held = words_of(manifest)
    before, now = (
        {text for text in typed if not text.startswith(sweep.SEEDS)} for typed in (held, [f"budget={budget}", *words])
    )
    if before != now:
        told = " ".join(held)
        raise UsageError(f"the name {name.partition('/')[2]} must be another one: it is that of the sweep of {told}.")


def _manifest(results: Path, name: str) -> dict[str, Any]:
    """The manifest of a sweep; raises UsageError if there is none."""
    sweep.check_name(name.partition("/")[2])
    manifest = read_manifest(results / LOCAL / name)
    if manifest is None:
        found = (path.parent for path in (results / LOCAL / FOLDER).glob(f"*/{MANIFEST}"))
        raise unknown("sweep", name, [path.relative_to(results / LOCAL).as_posix() for path in found])
    return manifest


def words_of(manifest: Mapping[str, Any]) -> list[str]:
    """The words that asked for the runs of this manifest."""
    return [f"budget={manifest['budget']['name']}", *overrides(manifest)]


def experiment_of(manifest: Mapping[str, Any]) -> Experiment:
    """The experiment or the sweep whose results have this manifest."""
    name, budget = str(manifest["experiment"]), manifest["budget"]
    if name.startswith(f"{FOLDER}/"):
        return sweep.experiment(name.partition("/")[2], budget["name"], budget, overrides(manifest))
    return experiment.load(name)


def last_sweep(results: Path) -> str:
    """The name of the sweep that was reported last; raises UsageError if there is none."""
    path = results / LOCAL / FOLDER / LAST
    if not path.exists():
        raise UsageError("there is no sweep yet; first: nalu-bench run -m key=value,value ...")
    with damage_named(path, "name the sweep that you mean"):
        return f"{FOLDER}/{read_text(path).strip()}"


def held_budget(folder: Path) -> str:
    """The budget of a folder of results; empty if there are none."""
    manifest = read_manifest(folder)
    return str(manifest["budget"]["name"]) if manifest else ""
