"""An experiment's folder in `results/`: the only module that writes there.

The measured files (runs.csv, curves.parquet, manifest.json) are written first. Everything else is made from them alone,
so that a fresh clone rebuilds it to the byte.
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from nalu_bench import registry
from nalu_bench.analysis.measure.agree import disagreements
from nalu_bench.analysis.measure.collect import MANIFEST, MEASURED, RUNS_FILE, Collection, collect, read_manifest
from nalu_bench.analysis.measure.measured import records
from nalu_bench.analysis.measure.recheck import contradictions
from nalu_bench.analysis.printed.published import check_words
from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.tables import Table, as_latex
from nalu_bench.analysis.reports.kind import Kind, Row, compared
from nalu_bench.analysis.stats.verdicts import Verdict, not_comparable
from nalu_bench.errors import UsageError
from nalu_bench.files import hashes, write_atomically
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.experiment import Experiment
from nalu_bench.store.reader import Store
from nalu_bench.store.schema import Status


@dataclass(frozen=True)
class Scope:
    """Scope of a report.

    Attributes:
        experiment: the experiment.
        budget: the name of its budget.
        custom: whether values were changed by hand. Such a report is never committed.
        cells: the cells, with the seeds asked for.
        changes: the values changed by hand, other than the seeds. Such runs are compared with no printed number.
    """

    experiment: Experiment
    budget: str
    custom: bool
    cells: Sequence[Wanted]
    changes: Sequence[str] = ()

    def describe_budget(self) -> dict[str, Any]:
        """The budget as the manifest holds it."""
        changes = {"changes": list(self.changes)} if self.changes else {}
        return {"name": self.budget, **self.experiment.budgets[self.budget], "custom": self.custom} | changes


def default_budget(experiment: Experiment, results: Path) -> str:
    """The budget of the committed results, or the experiment's default where there are none."""
    committed = _committed_budget(results / experiment.name)
    return committed if committed in experiment.budgets else experiment.budget(None)


def check(experiment: Experiment, cells: Sequence[Wanted], everything: Sequence[Wanted]) -> None:
    """Raise UsageError if the experiment cannot be reported, as far as this is known before training.

    Args:
        cells: the cells to train. everything: all cells of the experiment; any of them may have a printed number.
    """
    kind = kind_of(experiment)
    kind.check(cells)
    check_words(kind.published, experiment.published, kind.words(everything))


def kind_of(experiment: Experiment) -> Kind:
    """The kind of report that the experiment names, with its settings."""
    kind: Kind = registry.reports.load(experiment.report["kind"])(experiment)
    return kind


def write(scope: Scope, store: Store, results: Path) -> Path:
    """Bring a folder of results up to date with the store. Returns the folder.

    Raises:
        UsageError if there are no runs, or fewer than the committed results report.
    """
    kind = kind_of(scope.experiment)
    folder, shared = target(scope, results), results / scope.experiment.name
    before = Collection.read(folder)
    earlier = [before, Collection.read(shared) if folder != shared else None]
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
        _render(kind, folder)
        _seal(folder)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error}; make room or set NALU_BENCH_HOME.") from None
    return folder


def _refuse_contradictions(now: Collection, folder: Path, store: Store) -> None:
    """Refuse runs that do not follow from their own curves, whoever gave the files new hashes."""
    found = [*disagreements(now, now.manifest), *contradictions(now, now.manifest)]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise UsageError(
            f"{found[0]}{more}: the runs of {folder} and {store.root} must follow from their curves; restore the "
            "folder from git, or delete the part of this run and train it again."
        )


def _news(now: Collection, before: Collection) -> bool:
    """Whether the runs, cells or weights differ from those in the folder."""
    runs = now.runs_text() != before.runs_text()
    return runs or now.manifest["cells"] != before.manifest["cells"] or len(now.weights) != len(before.weights)


def _refuse_loss(folder: Path, before: Collection, now: Collection, store: Store, cells: Sequence[Wanted]) -> None:
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
    """`results/<paper>/<artifact>` for the largest budget so far, `results/local/...` for any other."""
    shared, work = results / scope.experiment.name, scope.experiment.work
    committed = _committed_budget(shared)
    smaller = committed in scope.experiment.budgets and work(scope.budget) < work(committed)
    if scope.custom or scope.budget == "smoke" or smaller:
        return results / "local" / scope.experiment.name
    return shared


def _committed_budget(folder: Path) -> str:
    manifest = read_manifest(folder)
    return str(manifest["budget"]["name"]) if manifest else ""


def _write_measured(folder: Path, collection: Collection) -> None:
    for name, frame in collection.tables().items():
        if len(frame) or name == "curves.parquet":
            write = functools.partial(frame.to_parquet, index=False, compression="zstd")
            write_atomically(folder / name, write)
    _write_text(folder / RUNS_FILE, collection.runs_text())
    _write_manifest(folder, collection.manifest | {"files": hashes(folder, MEASURED)})


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    _write_text(folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")


def _seal(folder: Path) -> None:
    """Enter the SHA-256 of every other file into the manifest."""
    manifest = read_manifest(folder)
    assert manifest is not None
    files = {name: digest for name, digest in hashes(folder).items() if name != MANIFEST}
    if manifest.get("files") != files:
        _write_manifest(folder, manifest | {"files": files})


def _render(kind: Kind, folder: Path) -> None:
    """Make tables and figures from the measured files in the folder."""
    measured = Collection.read(folder)
    assert measured is not None
    table, texts = tables(kind, measured)
    for name, text in texts.items():
        _write_text(folder / name, text)
    figure, drawn = kind.figure(_trained(measured), table)
    _write_text(folder / "figure.csv", _csv(drawn))
    _write_figure(folder, figure)
    for name, data in kind.pictures(_trained(measured)).items():
        write_atomically(folder / name, functools.partial(Path.write_bytes, data=data))


def tables(kind: Kind, measured: Collection) -> tuple[pd.DataFrame, dict[str, str]]:
    """The rows with their verdicts, and the files that hold them: name -> text."""
    skipped = measured.runs[measured.runs["status"] == Status.SKIPPED]
    table = compared(_judged(kind.rows(_trained(measured)), measured), kind.published)
    judged = ~table["verdict"].isin(["", Verdict.NOT_COMPARABLE])
    footnotes = Footnotes.of(table[judged & (not kind.shows_notes)])
    layouts = kind.tables(footnotes.mark(table, judged))
    notes = [*_remarks(table, skipped), *footnotes.texts()]
    return table, {
        "table.csv": _csv(table),
        "table.md": _markdown(kind.experiment, measured, table, layouts, notes),
        "table.tex": _latex(kind.experiment, measured, layouts, footnotes.texts()),
    }


def _trained(measured: Collection) -> Collection:
    return replace(measured, runs=measured.runs[measured.runs["status"] != Status.SKIPPED])


def _judged(rows: Sequence[Row], measured: Collection) -> Sequence[Row]:
    """Compare nothing if the budget is smoke, which only shows that everything runs, or if values were changed."""
    budget = measured.manifest["budget"]
    reasons = ["a smoke budget"] if budget["name"] == "smoke" else []
    reasons += [f"changed by hand ({', '.join(budget['changes'])})"] if "changes" in budget else []
    if not reasons:
        return rows
    return [replace(row, compare=lambda _: not_comparable(", ".join(reasons))) for row in rows]


def _csv(frame: pd.DataFrame) -> str:
    """CSV with ten digits: further ones differ between processors, which add in different orders."""
    return frame.to_csv(index=False, lineterminator="\n", float_format="%.10g")


def _write_text(path: Path, text: str) -> None:
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def _write_figure(folder: Path, figure: Any) -> None:
    """Write PNG and PDF without a date, so that equal figures give equal files."""
    from matplotlib import pyplot as plt

    formats: dict[str, dict[str, Any]] = {"png": {"Software": None}, "pdf": {"CreationDate": None}}
    for suffix, metadata in formats.items():
        save = functools.partial(figure.savefig, format=suffix, metadata=metadata)
        write_atomically(folder / f"figure.{suffix}", save)
    plt.close(figure)


def _provenance(experiment: Experiment, measured: Collection) -> str:
    budget = measured.manifest["budget"]
    if not measured.manifest["cells"]:
        return "Computed from the formulas; nothing is trained."
    rows = measured.runs["status"].value_counts()
    states = ", ".join(f"{count} {state}" for state, count in rows.items())
    asked = sum(cell["seeds"] for cell in measured.manifest["cells"].values())
    lengths = sorted({budget["steps"], *measured.runs.loc[measured.runs["role"] == "cell", "steps"]})
    scale = f"{budget['seeds']} seeds, {' to '.join(f'{steps:,}' for steps in lengths[:: len(lengths) - 1 or 1])} steps"
    scale = "changed by hand" if budget["custom"] else scale
    return f"Budget {budget['name']}: {scale}. Runs: {states} (asked for: {asked:,})."


def _markdown(
    experiment: Experiment, measured: Collection, table: pd.DataFrame, tables: Sequence[Table], notes: Sequence[str]
) -> str:
    counts = {verdict: int((table["verdict"] == verdict).sum()) for verdict in Verdict}
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    return "\n".join(
        [
            f"<!-- made by: nalu-bench report {' '.join([experiment.name, *_overrides(measured)])} -->",
            "",
            "\n\n".join(layout.markdown() for layout in tables),
            "",
            _provenance(experiment, measured),
            f"Verdicts: {verdicts or 'none'}.",
            *(["", *(f"* {note}." for note in notes)] if notes else []),
            "",
        ]
    )


def _overrides(measured: Collection) -> list[str]:
    """The overrides of the report, without those that choose among the experiment's cells and seeds."""
    budget = measured.manifest["budget"]
    return [f"budget={budget['name']}", *budget.get("changes", [])]


def _remarks(table: pd.DataFrame, skipped: pd.DataFrame) -> list[str]:
    """List the skipped cells, and the metrics that are not compared. Their reason is the last part of a note."""
    metrics: dict[str, dict[str, None]] = {}
    for row in records(table[table["verdict"] == Verdict.NOT_COMPARABLE]):
        metrics.setdefault(row["note"].rpartition("; ")[2], {})[row["metric"]] = None
    return [
        *(f"{row.task} {row.operation} / {row.model}: skipped, {row.note}" for row in skipped.itertuples()),
        *(f"{', '.join(names)}: not comparable, {reason}" for reason, names in metrics.items()),
    ]


def _latex(experiment: Experiment, measured: Collection, tables: Sequence[Table], notes: Sequence[str]) -> str:
    head = f"% {_provenance(experiment, measured)}\n"
    below = "".join(f"\n\\par\\noindent{{\\footnotesize {as_latex(note)}.}}" for note in notes)
    return head + "\n".join(table.latex() for table in tables) + (f"{below}\n" if below else "")
