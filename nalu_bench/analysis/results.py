"""An experiment's folder in `results/`: the only module that writes there, but for pages.

The measured files (runs.csv, curves.parquet, manifest.json) are written first. Everything else is made from them alone,
so that a fresh clone rebuilds it to the byte.
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from nalu_bench import registry
from nalu_bench.analysis.collect import collect
from nalu_bench.analysis.folders import LOCAL, held_budget
from nalu_bench.analysis.measure.agree import disagreements
from nalu_bench.analysis.measure.manifest import MANIFEST, read_manifest, sealed, stand_ins
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.read import MEASURED, RUNS_FILE, TABLES, read, runs_text
from nalu_bench.analysis.measure.recheck import contradictions
from nalu_bench.analysis.render import style
from nalu_bench.analysis.report import Report
from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.analysis.table import file
from nalu_bench.analysis.table.line import Line
from nalu_bench.errors import UsageError
from nalu_bench.files import hashes, write_atomically
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.experiment import Experiment
from nalu_bench.store.reader import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Scope:
    """Scope of a report.

    Attributes:
        experiment: the experiment.
        budget: the name of its budget.
        cells: the cells, with the seeds asked for.
        overrides: the words that were typed beside the budget. A report with any is never committed.
        verb: the verb that was typed; "" for `report` and the experiment's name.
    """

    experiment: Experiment
    budget: str
    cells: Sequence[Wanted]
    overrides: Sequence[str] = ()
    verb: str = ""

    def describe_budget(self) -> dict[str, Any]:
        """The budget as the manifest holds it, and what was typed beside it."""
        typed = {"overrides": list(self.overrides), "verb": self.verb}
        budget = self.experiment.budgets[self.budget]
        stated = {key: value for key, value in typed.items() if value}
        return {"name": self.budget, **budget, "custom": bool(self.overrides)} | stated


def default_budget(experiment: Experiment, results: Path) -> str:
    """The budget of the committed results, or the experiment's default where there are none."""
    committed = held_budget(results / experiment.name)
    return committed if committed in experiment.budgets else experiment.budget(None)


def check(experiment: Experiment, cells: Sequence[Wanted], everything: Sequence[Wanted]) -> None:
    """Raise UsageError if the experiment cannot be reported, as far as this is known before training.

    Args:
        cells: the cells to train. everything: all cells of the experiment; any of them may have a printed number.
    """
    kind = kind_of(experiment)
    kind.check(cells)
    kind.check_printed(everything)


def kind_of(experiment: Experiment) -> Kind:
    """The kind of report that the experiment names, with its settings."""
    kind: Kind = registry.reports.load(experiment.report["kind"])(experiment)
    return kind


def write(scope: Scope, store: Store, results: Path, beside: Path | None = None) -> tuple[Path, Report]:
    """Bring a folder of results up to date with the store.

    Args:
        scope: what to report. store: the runs. results: the folder of all results.
        beside: another folder of all results, whose runs of the experiment are taken in.

    Raises:
        UsageError if there are no runs, or fewer than the committed results report.
    """
    kind = kind_of(scope.experiment)
    folder, shared = target(scope, results), results / scope.experiment.name
    before = read(folder)
    others = {root / scope.experiment.name for root in (results, beside) if root} - {folder}
    earlier = [before, *map(read, sorted(others))]
    now = collect(kind, scope.describe_budget(), scope.cells, store, [one for one in earlier if one])
    if scope.cells and now.runs.empty:
        raise UsageError(
            f"there are no runs of {scope.experiment.name} at budget={scope.budget}; "
            f"first: nalu-bench run experiment={scope.experiment.name} budget={scope.budget}"
        )
    kind.require(now)
    if before and folder == shared:
        _refuse_loss(folder, before, now, store, scope.cells)
    _refuse_contradictions(now, folder, store)
    try:
        if before is None or _news(now, before):
            _write_measured(folder, now)
        report = _render(kind, folder)
        _seal(folder)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error}; make room or set NALU_BENCH_HOME.") from None
    return folder, report


def _refuse_contradictions(now: Measured, folder: Path, store: Store) -> None:
    """Refuse runs that do not follow from their own curves, whoever gave the files new hashes."""
    found = [*disagreements(now, now.manifest), *contradictions(now, now.manifest)]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise UsageError(
            f"{found[0]}{more}: the runs of {folder} and {store.root} must follow from their curves; restore the "
            "folder from git, or delete the part of this run and train it again."
        )


def _news(now: Measured, before: Measured) -> bool:
    """Whether the runs, the cells, the weights or the words that asked for them differ from those in the folder."""
    told = any(now.manifest[key] != before.manifest[key] for key in ("cells", "budget"))
    return told or runs_text(now.runs) != runs_text(before.runs) or len(now.weights) != len(before.weights)


def _refuse_loss(folder: Path, before: Measured, now: Measured, store: Store, cells: Sequence[Wanted]) -> None:
    """Refuse to shrink committed results, and to keep facts that were judged by another criterion."""
    if len(now.runs) < len(before.runs):
        raise UsageError(
            f"{folder} reports {len(before.runs)} runs, and only {len(now.runs)} of the present configuration are "
            "there; train the rest first, or move the folder away."
        )
    for want in cells:
        old = before.manifest["cells"].get(want.cell.digest)
        judged = old and old["criteria"] != now.manifest["cells"][want.cell.digest]["criteria"]
        if judged and not set(want.seeds) <= store.stored_seeds(want.cell):
            raise UsageError(
                f"{folder} judges {want.cell.label()} by {old['criteria']}, and its whole curves are not in the store "
                "to judge it anew; train it again: nalu-bench run ... committed=false"
            )


def target(scope: Scope, results: Path) -> Path:
    """`results/<paper>/<artifact>` for the largest budget so far, else `results/local/...`.

    Runs on data that stand in for those of the source are always local.
    """
    shared, work = results / scope.experiment.name, scope.experiment.work
    committed = held_budget(shared)
    smaller = committed in scope.experiment.budgets and work(scope.budget) < work(committed)
    instead = any(want.cell.task.stands_in() for want in scope.cells)
    if scope.overrides or scope.budget == "smoke" or smaller or instead:
        return results / LOCAL / scope.experiment.name
    return shared


def is_local(folder: Path) -> bool:
    """Whether a folder of results is one of those that are not committed."""
    return folder.resolve().parents[1].name == LOCAL


def _write_measured(folder: Path, now: Measured) -> None:
    for name, frame in zip(TABLES, (now.curves, now.predictions, now.weights), strict=True):
        if len(frame) or name == "curves.parquet":
            write = functools.partial(frame.to_parquet, index=False, compression="zstd")
            write_atomically(folder / name, write)
    _write_text(folder / RUNS_FILE, runs_text(now.runs))
    _write_manifest(folder, now.manifest | {"files": hashes(folder, MEASURED)})


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    _write_text(folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")


def _seal(folder: Path) -> None:
    """Enter the SHA-256 of every other file into the manifest."""
    manifest = read_manifest(folder)
    assert manifest is not None
    files = sealed(folder)
    if manifest.get("files") != files:
        _write_manifest(folder, manifest | {"files": files})


def _render(kind: Kind, folder: Path) -> Report:
    """Make tables and figures from the measured files in the folder."""
    measured = read(folder)
    assert measured is not None
    report = Report.of(kind, measured)
    for name, text in report.texts().items():
        _write_text(folder / name, text)
    with style.applied():
        figure, drawn = draw(kind, measured, report.lines)
        _write_text(folder / "figure.csv", file.text(drawn))
        _write_figure(folder, figure)
        for name, data in kind.pictures(measured.trained).items():
            write_atomically(folder / name, functools.partial(Path.write_bytes, data=data))
    return report


def draw(kind: Kind, measured: Measured, lines: Sequence[Line]) -> "tuple[Figure, pd.DataFrame]":
    """The figure of a report and the numbers in it; it says which data stand in for those of the source."""
    figure, drawn = kind.figure(measured.trained, lines)
    style.mark(figure, stand_ins(measured.manifest))
    return figure, drawn


def _write_text(path: Path, text: str) -> None:
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def _write_figure(folder: Path, figure: Any) -> None:
    """Write PNG and PDF without a date, so that equal figures give equal files."""
    formats: dict[str, dict[str, Any]] = {"png": {"Software": None}, "pdf": {"CreationDate": None}}
    for suffix, metadata in formats.items():
        save = functools.partial(figure.savefig, format=suffix, metadata=metadata)
        write_atomically(folder / f"figure.{suffix}", save)
