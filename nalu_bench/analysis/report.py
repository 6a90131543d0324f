"""A report: an experiment's table with its verdicts, before it is written as CSV, Markdown, LaTeX or for a terminal."""

import math
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from nalu_bench.analysis.brief import brief
from nalu_bench.analysis.measure.manifest import overrides, stand_ins
from nalu_bench.analysis.measure.measured import Measured, seeds_told
from nalu_bench.analysis.render import latex, terminal
from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.markdown import markdown, plain
from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.analysis.stats.intervals import FEWEST, RANGE
from nalu_bench.analysis.stats.verdicts import Verdict, counts
from nalu_bench.analysis.table import file
from nalu_bench.analysis.table.claims import bullet, how_tested, together
from nalu_bench.analysis.table.formats import percent, span, steps
from nalu_bench.analysis.table.layout import Judged, Table
from nalu_bench.analysis.table.line import Line, grouped
from nalu_bench.plan import sweep
from nalu_bench.plan.experiment import Experiment
from nalu_bench.store.schema import Status

TABLES = ("table.csv", "table.md", "table.tex")
"""The files of the table."""

FEW = f"over fewer than {FEWEST} seeds those of medians are the seeds' range (5: 94 %, 4: 88 %, 3: 75 %, 2: 50 %)"
"""A range of n seeds holds the median of their distribution with probability 1 - 2^(1 - n)."""

OF_FULL = "of the full scale's"
"""What the reason of a number says whose networks were trained for too few steps to be compared."""


@dataclass(frozen=True)
class Report:
    """What a kind of report makes of the measurements.

    Attributes:
        kind: the kind of report. measured: what it is made of.
        lines: our numbers beside the printed ones, with their verdicts.
        tables: the lines in the layout of the paper.
        remarks: those of the experiment, and what is skipped or not compared, and why.
        footnotes: the notes of the verdicts, and their marks.
    """

    kind: Kind
    measured: Measured
    lines: Sequence[Line]
    tables: Sequence[Table]
    remarks: Sequence[str]
    footnotes: Footnotes

    @classmethod
    def of(cls, kind: Kind, measured: Measured) -> "Report":
        """Compare the measurements with the printed numbers."""
        lines = kind.lines(measured.trained, _incomparable(kind, measured))
        skipped = measured.runs[measured.runs["status"] == Status.SKIPPED]
        remarks = [*_told(kind.experiment), *_remarks(lines, skipped), *_unjudged(measured)]
        tables = kind.tables(lines)
        footnotes = Footnotes.of([] if kind.shows_notes else _marked(tables, lines))
        return cls(kind, measured, lines, tables, remarks, footnotes)

    def texts(self) -> dict[str, str]:
        """File -> contents."""
        return dict(zip(TABLES, (file.text(file.frame(self.lines)), self.markdown(), self.latex()), strict=True))

    def markdown(self) -> str:
        """For GitHub."""
        notes = self.notes()
        return "\n".join(
            [
                f"<!-- made by: {self.command().replace('>', '&gt;')} -->",
                "",
                "\n\n".join(markdown(table, self.footnotes) for table in self.tables),
                "",
                plain(self.provenance()),
                self.verdicts(),
                *(["", *(f"* {plain(note)}." for note in notes)] if notes else []),
                "",
            ]
        )

    def terminal(self, width: int = 100) -> str:
        """For a terminal of this many columns, everything."""
        below = [self.provenance(), self.verdicts(), *(f"* {note}." for note in self.notes())]
        wrapped = [textwrap.fill(line, width, subsequent_indent="  " * line.startswith("*")) for line in below]
        shown = [terminal.fitted(table, width, self.footnotes) for table in self.tables]
        return "\n\n".join([*shown, "\n".join(wrapped), *self.claims(width)])

    def claims(self, width: int) -> list[str]:
        """The sentences of the source with what became of them, a paragraph; empty if it has none."""
        told = [textwrap.fill(bullet(*each), width, subsequent_indent="  ") for each in self.sentences()]
        return ["\n".join(["Claims in words:", *told])] if told else []

    def sentences(self) -> list[tuple[str, str, str]]:
        """What became of each sentence of the source, the sentence, and the task on which it was tested."""
        judged = [line for line in self.lines if line.verdict and line.in_words]
        groups = grouped(judged, lambda line: (line.place.task, line.printed_text)).items()
        return [(_found(lines), text, _where(lines)) for (_, text), lines in groups]

    def latex(self) -> str:
        """Tabulars for a paper."""
        head = f"{latex.comment(self.provenance())}\n"
        notes = [latex.escaped(note) for note in self.footnotes.texts()]
        below = "".join(f"\n\\par\\noindent{{\\footnotesize {note}.}}" for note in notes)
        return head + "\n".join(latex.latex(table, self.footnotes) for table in self.tables) + (below and f"{below}\n")

    def notes(self) -> list[str]:
        """What stands below the tables: remarks, then footnotes."""
        return [*self.remarks, *self.footnotes.texts()]

    def command(self, verb: str = "report") -> str:
        """The command that makes this report, or with `run` the one that trains its runs."""
        budget, typed = self.measured.manifest["budget"], overrides(self.measured.manifest)
        if "verb" in budget:
            return shlex.join(["nalu-bench", budget["verb"], f"budget={budget['name']}", *typed])
        return sweep.command(verb, self.kind.experiment, budget["name"], typed)

    def __str__(self) -> str:
        """On a page of a terminal; where that does not hold everything, the last line says what does."""
        return brief(self, rest="everything, with intervals: .report.terminal(); as a frame: .table")

    def verdicts(self) -> str:
        """`Verdicts: 18 agrees, 78 differs.`; for a sweep, which has none, what its intervals are."""
        told = self.intervals() if self.kind.experiment.local or FEW in self.intervals() else ""
        return " ".join(filter(None, [self.counted(), told]))

    def counted(self) -> str:
        """The number of each verdict, and of those on our own claims; empty for a sweep, which has none."""
        if self.kind.experiment.local:
            return ""
        own = [line.verdict for line in self.lines if line.verdict and line.own]
        apart = f" Our own claims: {counts(own)}." if own else ""
        met = [line for line in self.lines if line.counted]
        others = {
            "recomputed numbers": any(line.place.recomputed for line in met),
            "sentences": any(line.in_words for line in met),
        }
        told = " and ".join(name for name, there in others.items() if there)
        among = f", those on {told} among them" if told else ""
        return f"Verdicts{among}: {counts(line.verdict for line in met if line.verdict)}.{apart}"

    def intervals(self) -> str:
        """What the intervals are."""
        few = f"; {FEW}" if any(_of_few(line) for line in self.lines) else ""
        return f"Intervals hold 95 %{few}."

    def provenance(self) -> str:
        """Provenance: budget, seeds, steps, runs by status."""
        budget = self.measured.manifest["budget"]
        if not self.measured.manifest["cells"]:
            return "Computed from the formulas; no network is trained."
        rows = self.measured.runs["status"].value_counts()
        states = ", ".join(f"{count:,} {state}" for state, count in rows.items())
        asked = sum(cell["seeds"] for cell in self.measured.manifest["cells"].values())
        lengths = self.measured.runs.loc[self.measured.runs["role"] == "cell", "steps"]
        trained = span(lengths, steps) or steps(budget["steps"])
        typed = " ".join(overrides(self.measured.manifest))
        scale = f": {seeds_told(self.measured.runs) or budget['seeds']} seeds, {trained} steps"
        if typed and not self.kind.experiment.local:
            scale = f" with {typed}"
        told = f"Budget {budget['name']}{scale}. Runs: {states} (asked for: {asked:,})."
        return f"{told} Data: {self.stands_in}." if self.stands_in else told

    @property
    def stands_in(self) -> str:
        """Which data stand in for those of the source; empty if none do."""
        return stand_ins(self.measured.manifest)


def _marked(tables: Sequence[Table], lines: Sequence[Line]) -> list[Line]:
    """The lines whose notes stand below, in the order in which a reader meets their verdicts.

    Notes that stand beside their verdict, as in a table of claims, are not said again.
    """
    rows = [row for table in tables for row in table.rows]
    met = [
        (shown.line, how_tested(shown.line) in filter(None, row))
        for row in rows
        for shown in row
        if isinstance(shown, Judged)
    ]
    shown = {id(line) for line, _ in met}
    return [*(line for line, beside in met if not beside), *(line for line in lines if id(line) not in shown)]


def _told(experiment: Experiment) -> list[str]:
    """The remarks of an experiment, and of which others it is an excerpt."""
    whole = " and ".join(experiment.excerpt)
    excerpt = f"an excerpt of {whole}, which have the full scale and the sentences under all their conditions"
    return [*experiment.remarks, *([excerpt] if whole else [])]


def _where(lines: Sequence[Line]) -> str:
    """The task of some claims, and their operations where they have any."""
    operations = dict.fromkeys(line.place.operation for line in lines)
    return ", ".join(filter(None, [lines[0].place.task, *operations]))


def _found(lines: Sequence[Line]) -> str:
    """The verdict on a sentence, or in how many of its tests it holds."""
    return str(lines[0].verdict) if len(lines) == 1 else together(lines)


def _of_few(line: Line) -> bool:
    """Whether the line has limits that may be the range of too few seeds."""
    few = line.n_seeds < FEWEST or any(note.startswith(RANGE) for note in line.notes)
    return few and not math.isnan(line.ours.low)


def _incomparable(kind: Kind, measured: Measured) -> str:
    """Why nothing is compared: a smoke budget only shows that everything runs, or values or data are others."""
    manifest = measured.manifest
    changes, data = ", ".join(kind.experiment.changes(overrides(manifest))), stand_ins(manifest)
    reasons = ["a smoke budget"] if manifest["budget"]["name"] == "smoke" else []
    reasons += [f"changed by hand ({changes})"] if changes else []
    reasons += [data] if data else []
    reasons += _too_short(kind, manifest["budget"])
    return ", ".join(reasons)


def _too_short(kind: Kind, budget: Mapping[str, Any]) -> list[str]:
    """Why nothing is compared, if the budget is too small a share of the full scale."""
    full, least, steps = kind.experiment.printed_steps, kind.experiment.least_share, budget["steps"]
    if steps >= least * full:
        return []
    return [f"trained for {steps:,} steps, less than {percent(least)} {OF_FULL} {full:,}"]


def _remarks(lines: Sequence[Line], skipped: pd.DataFrame) -> list[str]:
    """List the skipped cells, and the metrics that are not compared. Their reason is the last of the notes."""
    metrics: dict[str, dict[str, None]] = {}
    for line in lines:
        if line.verdict is Verdict.NOT_COMPARABLE:
            metrics.setdefault(line.notes[-1], {})[line.place.metric] = None
    return [
        *(f"{row.task} {row.operation} / {row.model}: skipped, {row.note}" for row in skipped.itertuples()),
        *(f"{', '.join(names)}: not comparable, {reason}" for reason, names in metrics.items()),
    ]


def _unjudged(measured: Measured) -> list[str]:
    """List the operations that have no success criterion, and why."""
    reasons: dict[str, dict[str, None]] = {}
    for cell, runs in measured.runs.groupby("cell", sort=False):
        if reason := measured.manifest["cells"][cell]["criteria"].get("none"):
            reasons.setdefault(reason, {})[runs["operation"].iloc[0]] = None
    return [f"{', '.join(names)}: no success criterion, {reason}" for reason, names in reasons.items()]
