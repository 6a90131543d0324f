"""An experiment's folder in `results/`: the only module that writes there, but for pages.

The measured files (runs.csv, curves.parquet, manifest.json) are written first. Everything else is made from them alone,
so that a fresh clone rebuilds it to the byte.
"""

import contextlib
import functools
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pandas.api.types import is_float_dtype, is_integer_dtype

from nalu_bench import paths, registry
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
from nalu_bench.files import hashes, temporary, write_atomically
from nalu_bench.plan import sweep
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.experiment import Experiment
from nalu_bench.store.reader import Store
from nalu_bench.store.schema import TRAINED

if TYPE_CHECKING:
    from nalu_bench.plan.compose import Plan


NUMBERS = "figure.csv"
"""The file of the numbers in the figure."""

FIGURES: dict[str, dict[str, Any]] = {"figure.png": {"Software": None}, "figure.pdf": {"CreationDate": None}}
"""The files of the figure, and what is left out of them so that equal figures give equal files: dates and versions."""


def default_budget(experiment: Experiment, results: Path) -> str:
    """The budget of the committed results, or the experiment's default where there are none."""
    committed = held_budget(results / experiment.name)
    return committed if committed in experiment.budgets else experiment.budget(None)


def check(plan: "Plan", everything: Sequence[Wanted]) -> None:
    """Raise UsageError if a plan cannot be reported, as far as this is known before training.

    Args:
        everything: all cells of the experiment; any of them may have a printed number.
    """
    kind = kind_of(plan.experiment)
    kind.check(plan.cells)
    kind.check_printed(everything)


def kind_of(experiment: Experiment) -> Kind:
    """The kind of report that the experiment names, with its settings."""
    kind: Kind = registry.reports.load(experiment.report["kind"])(experiment)
    return kind


def measured(
    plan: "Plan", store: Store, earlier: Sequence[Measured] = (), committed: Measured | None = None
) -> Measured:
    """The runs of a plan, as its report is made of them; nothing is written."""
    return collect(kind_of(plan.experiment), budget_of(plan), plan.cells, store, earlier, committed)


def budget_of(plan: "Plan") -> dict[str, Any]:
    """The budget as the manifest holds it, and what was typed beside it."""
    typed = {"overrides": list(plan.overrides), "verb": "" if plan.verb == "report" else plan.verb}
    stated = {key: value for key, value in typed.items() if value}
    return {"name": plan.budget, **plan.experiment.budgets[plan.budget], "custom": bool(plan.overrides)} | stated


def write(plan: "Plan", store: Store, results: Path, beside: Sequence[Path] = ()) -> tuple[Path, Report]:
    """Bring a folder of results up to date with the store.

    Args:
        plan: what to report. store: the runs. results: the folder of all results.
        beside: further folders of results, whose runs of the same cells are taken in.

    Raises:
        UsageError if there are no runs, or fewer than the committed results report.
    """
    name, kind = plan.experiment.name, kind_of(plan.experiment)
    folder, shared = target(plan, results), results / name
    before = read(folder)
    others = sorted({shared, *beside} - {folder})
    kept = before if folder == shared and plan.committed else None
    now = measured(plan, store, [one for one in (before, *map(read, others)) if one], kept)
    if plan.cells and now.runs.empty:
        raise UsageError(
            f"there are no runs of {name} at budget={plan.budget}; "
            f"first: {sweep.command('run', plan.experiment, plan.budget, plan.overrides)}"
        )
    if plan.cells and not kind.of_failures and not now.runs["status"].isin(TRAINED).any():
        raise UsageError(f"no run of {name} at budget={plan.budget} could be trained; see nalu-bench status {name}.")
    kind.require(now)
    if before and folder == shared:
        _refuse_loss(folder, before, now, store, plan.cells)
    _refuse_contradictions(now, plan.cells, folder, store)
    try:
        with _staged(folder) as stage:
            news = before is None or _news(now, before)
            if news:
                _write_measured(stage, now)
            report = _render(kind, stage if news else folder, stage)
        _seal(folder)
        if plan.experiment.local:
            _write_text(folder.parent / sweep.LAST, f"{folder.name}\n")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error}; make room or set NALU_BENCH_HOME.") from None
    return folder, report


def _refuse_contradictions(now: Measured, cells: Sequence[Wanted], folder: Path, store: Store) -> None:
    """Refuse runs that do not follow from their own curves, whoever gave the files new hashes."""
    found = [*disagreements(now, now.manifest, cells), *contradictions(now, now.manifest)]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise UsageError(
            f"{found[0]}{more}: the runs of {folder} and {store.root} must follow from their curves; restore the "
            "folder from git, or delete the part of this run and train it again."
        )


def _news(now: Measured, before: Measured) -> bool:
    """Whether the runs, what is kept of them, or the words that asked for them differ from those in the folder."""
    told = any(now.manifest[key] != before.manifest[key] for key in ("cells", "budget"))
    kept = (len(now.weights), len(now.curves)) != (len(before.weights), len(before.curves))
    return told or kept or runs_text(now.runs) != runs_text(before.runs)


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


def target(plan: "Plan", results: Path) -> Path:
    """`results/<paper>/<artifact>` for the largest budget so far, else `results/local/...`.

    Sweeps, excerpts, and runs on data that stand in for those of the source are always local; in a checkout, so are
    the experiments of other packages, which are not committed here.
    """
    experiment = plan.experiment
    shared, local = results / experiment.name, results / LOCAL / experiment.name
    committed = held_budget(shared)
    smaller = committed in experiment.budgets and experiment.work(plan.budget) < experiment.work(committed)
    instead = any(want.cell.task.stands_in() for want in plan.cells)
    custom = plan.overrides or plan.budget == "smoke" or experiment.local or bool(experiment.excerpt)
    ours = results != paths.CHECKOUT / "results" or experiment.folder.is_relative_to(paths.experiments_dir())
    return shared if ours and not (custom or smaller or instead) else local


def is_local(folder: Path) -> bool:
    """Whether a folder of results is one of those that are not committed."""
    return folder.resolve().parents[1].name == LOCAL


def _write_measured(folder: Path, now: Measured) -> None:
    for name, frame in zip(TABLES, (now.curves, now.predictions, now.weights), strict=True):
        if len(frame) or name == "curves.parquet":
            write_atomically(folder / name, functools.partial(frame.to_parquet, **_encoding(frame)))
    _write_text(folder / RUNS_FILE, runs_text(now.runs))
    _write_manifest(folder, now.manifest | {"files": hashes(folder, MEASURED)})


def _encoding(frame: pd.DataFrame) -> dict[str, Any]:
    """How a frame is written so that it weighs little: the bytes of floats apart by place, steps of whole numbers."""
    floats = [str(name) for name in frame if is_float_dtype(frame[name])]
    counts = [str(name) for name in frame if is_integer_dtype(frame[name])]
    encoded = dict.fromkeys(floats, "BYTE_STREAM_SPLIT") | dict.fromkeys(counts, "DELTA_BINARY_PACKED")
    others = [str(name) for name in frame if name not in encoded]
    return {
        "index": False, "compression": "zstd", "compression_level": 19, "use_dictionary": others,
        "column_encoding": encoded,
    }  # fmt: skip


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    _write_text(folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")


def _seal(folder: Path) -> None:
    """Enter the SHA-256 of every other file into the manifest."""
    manifest = read_manifest(folder)
    assert manifest is not None
    files = sealed(folder)
    if manifest.get("files") != files:
        _write_manifest(folder, manifest | {"files": files})


@contextlib.contextmanager
def _staged(folder: Path) -> Iterator[Path]:
    """A folder to write in, whose files take their places in `folder` together, and only if all could be made."""
    folder.mkdir(parents=True, exist_ok=True)
    stage = temporary(folder / "report")
    stage.mkdir()
    try:
        yield stage
        for path in sorted(stage.iterdir()):
            os.replace(path, folder / path.name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _render(kind: Kind, source: Path, stage: Path) -> Report:
    """Make tables and figures from the measured files in one folder, and write them into another."""
    measured = read(source)
    assert measured is not None
    report = Report.of(kind, measured)
    for name, text in report.texts().items():
        _write_text(stage / name, text)
    with style.applied():
        figure, drawn = draw(kind, measured, report.lines)
        _write_text(stage / NUMBERS, numbers_text(drawn))
        _write_figure(stage, figure)
        for name, data in kind.pictures(measured.trained).items():
            write_atomically(stage / name, functools.partial(Path.write_bytes, data=data))
    return report


def draw(kind: Kind, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
    """The figure of a report and the numbers in it; it says which data stand in for those of the source."""
    figure, drawn = kind.figure(measured.trained, lines)
    style.mark(figure, stand_ins(measured.manifest))
    return figure, drawn


def numbers_text(drawn: pd.DataFrame) -> str:
    """The numbers in a figure as CSV: where large terms cancel, no more than six digits are the same everywhere."""
    return file.text(drawn, digits=6)


def _write_text(path: Path, text: str) -> None:
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def _write_figure(folder: Path, figure: Any) -> None:
    for name, metadata in FIGURES.items():
        save = functools.partial(figure.savefig, format=Path(name).suffix[1:], metadata=metadata)
        write_atomically(folder / name, save)
