"""An experiment's results as frames and pictures, for notebooks and programs."""

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from nalu_bench import paths
from nalu_bench.analysis import folders, results
from nalu_bench.analysis.explained import explain
from nalu_bench.analysis.measure.manifest import REMEDY, checked, read_manifest
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.read import MEASURED, read, read_runs
from nalu_bench.analysis.render import final_weights, html, learning_curves, style
from nalu_bench.analysis.report import Report
from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.analysis.stats.verdicts import counts
from nalu_bench.analysis.table import file
from nalu_bench.analysis.table.line import Line
from nalu_bench.analysis.table.place import KEYS
from nalu_bench.errors import UsageError, damage_named
from nalu_bench.plan.blocks import ranges_text
from nalu_bench.plan.experiment import Experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDS = [*KEYS, "printed", "printed_low", "printed_high", "verdict", "by", "reason", "note"]
"""The columns of a table that are text."""


@dataclass(frozen=True)
class Loaded:
    """The results of an experiment. Each part is read when it is first asked for, and checked against the manifest.

    Attributes:
        experiment: the experiment. folder: where its results lie.
        made: its report, if it was made just now.
    """

    experiment: Experiment
    folder: Path
    made: Report | None = None

    @functools.cached_property
    def manifest(self) -> dict[str, Any]:
        """Experiment, budget, cells, criteria, parts, versions, hashes."""
        manifest = read_manifest(self.folder)
        assert manifest is not None
        return manifest

    @functools.cached_property
    def table(self) -> pd.DataFrame:
        """One row per number: ours with its interval, the printed one as text, the verdict with its reason."""
        frame = pd.read_csv(self._checked("table.csv"), dtype=dict.fromkeys(WORDS, str))
        return frame.fillna(dict.fromkeys(WORDS, ""))

    @functools.cached_property
    def lines(self) -> Sequence[Line]:
        """As `table`, one typed line per number."""
        return self.made.lines if self.made else file.read(self._checked("table.csv"))

    @functools.cached_property
    def runs(self) -> pd.DataFrame:
        """One row per run: status, errors at the selected step, solved or not, and when."""
        with damage_named(self.folder, REMEDY):
            return read_runs(self._checked("runs.csv").parent)

    @property
    def curves(self) -> pd.DataFrame:
        """One row per run and evaluation, at most 500 evaluations a run."""
        return self.measured.curves

    @property
    def predictions(self) -> pd.DataFrame:
        """One row per run, probe and output; empty if the task has no probes."""
        return self.measured.predictions

    @property
    def weights(self) -> pd.DataFrame:
        """One row per run and small effective matrix, mean gate or recorded array, at the selected step."""
        return self.measured.weights

    @functools.cached_property
    def report(self) -> Report:
        """The tables in the layout of the paper, with verdicts, remarks and footnotes."""
        return self.made or Report.of(self.kind, self.measured)

    def figure(self) -> "Figure":
        """The figure of the report."""
        with style.applied():
            return results.draw(self.kind, self.measured, self.lines)[0]

    def pictures(self) -> dict[str, bytes]:
        """Further pictures of the report by file name, such as `film.gif`; most reports have none."""
        with style.applied():
            return self.kind.pictures(self.measured.trained)

    def learning_curves(self, seeds: Collection[int] | None = None, **words: str) -> "Figure":
        """Errors against the step, all seeds faint and their median strong: a panel for each cell with these words.

        Args:
            seeds: the seeds to draw; None for all. words: such as model="nmu", operation="mul".
        """
        several = isinstance(seeds, Collection) and all(isinstance(seed, Integral) for seed in seeds)
        if seeds is not None and not several:
            raise UsageError(f"seeds must be several of them, such as range(10) or [3], got {seeds!r}.")
        cells = learning_curves.cells(self.measured, seeds, **words)
        if not cells:
            asked = [f"{key}={value}" for key, value in words.items()] + ([] if seeds is None else [f"seeds={seeds}"])
            raise UsageError(f"{self.experiment.name} has no curves{' of ' if asked else ''}{', '.join(asked)}.")
        if seeds is not None:
            curves = self.measured.curves
            there = {*curves[curves["cell"].isin([cell["cell"] for cell in cells])]["seed"].tolist()}
            if lacking := sorted({*seeds} - there):
                lost = ", ".join(map(str, lacking))
                raise UsageError(f"seeds must be among {ranges_text(there)} here, got {lost}, too.")
        with style.applied():
            return learning_curves.picture(self.measured, cells, seeds)

    def final_weights(self, **words: str) -> "Figure":
        """All entries of the effective matrices and gates at the selected step, of the cells with these words."""
        with style.applied():
            return final_weights.picture(self.measured, **words)

    def explain(self, **words: str) -> str:
        """How the verdicts of the printed numbers with these words came about."""
        return explain(self.experiment, self.folder, words)

    @functools.cached_property
    def kind(self) -> Kind:
        """The kind of report, with its settings."""
        return self.made.kind if self.made else results.kind_of(self.experiment)

    @functools.cached_property
    def measured(self) -> Measured:
        """Everything that the report is made of."""
        if self.made:
            return self.made.measured
        for name in MEASURED:
            if name in self.manifest["files"] and not (self.folder / name).exists():
                raise UsageError(
                    f"{name} of {self.experiment.name} must be there, and an installation holds tables and runs alone; "
                    "clone the repository, or train the experiment."
                )
        measured = read(self.folder)
        assert measured is not None
        return measured

    def _checked(self, name: str) -> Path:
        """A file that is the one of which the manifest has the hash."""
        return checked(self.folder, self.manifest, name)

    def __repr__(self) -> str:
        told = counts(line.verdict for line in self.lines if line.verdict)
        return f"{self.experiment.name}: {self.experiment.heading}. Verdicts: {told}."

    def _repr_html_(self) -> str:
        """The tables with their verdicts, as a notebook shows them."""
        return html.tables(self.kind.tables(self.lines), self.lines)


def load(name: str, budget: str | None = None) -> Loaded:
    """The results of an experiment or a sweep, those of the largest budget unless another is asked for.

    Raises:
        UsageError for an unknown experiment or sweep, and for an experiment without results.
    """
    chosen = folders.named(paths.results_dir(), name)
    return Loaded(chosen, folders.find(chosen, paths.results_dir(), budget))
