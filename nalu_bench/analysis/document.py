"""An experiment's table with its verdicts, as CSV, Markdown, LaTeX and text for a terminal."""

import shlex
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from nalu_bench.analysis.measure.collect import Collection
from nalu_bench.analysis.measure.manifest import overrides, stand_ins
from nalu_bench.analysis.measure.measured import records
from nalu_bench.analysis.render import terminal
from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.tables import Table, as_latex
from nalu_bench.analysis.reports.kind import Kind, Row, compared
from nalu_bench.analysis.stats.verdicts import Verdict, counts, not_comparable
from nalu_bench.store.schema import Status


@dataclass(frozen=True)
class Document:
    """A report in words.

    Attributes:
        kind: the kind of report. measured: what it is made of.
        table: the rows with their verdicts, columns `kind.COLUMNS`.
        layouts: tables in the layout of the paper.
        remarks: those of the experiment, and what is skipped or not compared, and why.
        footnotes: what the marks in the layouts say.
    """

    kind: Kind
    measured: Collection
    table: pd.DataFrame
    layouts: Sequence[Table]
    remarks: Sequence[str]
    footnotes: Sequence[str]

    @classmethod
    def of(cls, kind: Kind, measured: Collection) -> "Document":
        """Compare the measurements with the printed numbers."""
        skipped = measured.runs[measured.runs["status"] == Status.SKIPPED]
        table = compared(_judged(kind, measured), kind.published)
        judged = ~table["verdict"].isin(["", Verdict.NOT_COMPARABLE])
        footnotes = Footnotes.of(table[judged & (not kind.shows_notes)])
        layouts = kind.tables(footnotes.mark(table, judged))
        remarks = [*kind.experiment.remarks, *_remarks(table, skipped)]
        return cls(kind, measured, table, layouts, remarks, footnotes.texts())

    def texts(self) -> dict[str, str]:
        """File -> contents."""
        return {"table.csv": csv(self.table), "table.md": self.markdown(), "table.tex": self.latex()}

    def markdown(self) -> str:
        """For GitHub."""
        notes = self._notes()
        return "\n".join(
            [
                f"<!-- made by: {self.command()} -->",
                "",
                "\n\n".join(layout.markdown() for layout in self.layouts),
                "",
                self.provenance(),
                self.verdicts(),
                *(["", *(f"* {note}." for note in notes)] if notes else []),
                "",
            ]
        )

    def terminal(self, width: int = 100) -> str:
        """For a terminal of this many columns."""
        below = [self.provenance(), self.verdicts(), *(f"* {note}." for note in self._notes())]
        wrapped = [textwrap.fill(line, width, subsequent_indent="  " * line.startswith("*")) for line in below]
        return "\n\n".join([*(terminal.fitted(layout, width) for layout in self.layouts), "\n".join(wrapped)])

    def latex(self) -> str:
        """Tabulars for a paper."""
        head = f"% {self.provenance()}\n"
        below = "".join(f"\n\\par\\noindent{{\\footnotesize {as_latex(note)}.}}" for note in self.footnotes)
        return head + "\n".join(table.latex() for table in self.layouts) + (f"{below}\n" if below else "")

    def command(self) -> str:
        """The command that makes this report."""
        budget, typed = self.measured.manifest["budget"], overrides(self.measured.manifest)
        verb = [budget["verb"]] if "verb" in budget else ["report", self.kind.experiment.name]
        return shlex.join(["nalu-bench", *verb, f"budget={budget['name']}", *typed])

    def verdicts(self) -> str:
        """`Verdicts: 18 agrees, 78 differs.`"""
        return f"Verdicts: {counts(self.table['verdict'])}."

    def provenance(self) -> str:
        """How many runs of what length these are."""
        budget = self.measured.manifest["budget"]
        if not self.measured.manifest["cells"]:
            return "Computed from the formulas; nothing is trained."
        rows = self.measured.runs["status"].value_counts()
        states = ", ".join(f"{count:,} {state}" for state, count in rows.items())
        asked = sum(cell["seeds"] for cell in self.measured.manifest["cells"].values())
        lengths = sorted({budget["steps"], *self.measured.runs.loc[self.measured.runs["role"] == "cell", "steps"]})
        steps = " to ".join(f"{steps:,}" for steps in lengths[:: len(lengths) - 1 or 1])
        scale, typed = f": {budget['seeds']} seeds, {steps} steps", " ".join(overrides(self.measured.manifest))
        told = f"Budget {budget['name']}{f' with {typed}' if typed else scale}. Runs: {states} (asked for: {asked:,})."
        return f"{told} Data: {self.stands_in}." if self.stands_in else told

    @property
    def stands_in(self) -> str:
        """Which data stand in for those of the source; empty if none do."""
        return stand_ins(self.measured.manifest)

    def _notes(self) -> list[str]:
        return [*self.remarks, *self.footnotes]


def csv(frame: pd.DataFrame) -> str:
    """CSV with ten digits: further ones differ between processors, which add in different orders."""
    return frame.to_csv(index=False, lineterminator="\n", float_format="%.10g")


def _judged(kind: Kind, measured: Collection) -> Sequence[Row]:
    """Compare nothing if the budget is smoke, which only shows that everything runs, or values or data are others."""
    rows, manifest = kind.rows(measured.trained), measured.manifest
    changes, data = ", ".join(kind.experiment.changes(overrides(manifest))), stand_ins(manifest)
    reasons = ["a smoke budget"] if manifest["budget"]["name"] == "smoke" else []
    reasons += [f"changed by hand ({changes})"] if changes else []
    reasons += [data] if data else []
    if not reasons:
        return rows
    return [replace(row, compare=lambda _: not_comparable(", ".join(reasons))) for row in rows]


def _remarks(table: pd.DataFrame, skipped: pd.DataFrame) -> list[str]:
    """List the skipped cells, and the metrics that are not compared. Their reason is the last part of a note."""
    metrics: dict[str, dict[str, None]] = {}
    for row in records(table[table["verdict"] == Verdict.NOT_COMPARABLE]):
        metrics.setdefault(row["note"].rpartition("; ")[2], {})[row["metric"]] = None
    return [
        *(f"{row.task} {row.operation} / {row.model}: skipped, {row.note}" for row in skipped.itertuples()),
        *(f"{', '.join(names)}: not comparable, {reason}" for reason, names in metrics.items()),
    ]
