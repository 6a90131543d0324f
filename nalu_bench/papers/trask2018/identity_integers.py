"""Errors of the identity far outside of the training range: Trask et al. 2018, Table 5 beside Figure 1."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import at_full_length, row_of
from nalu_bench.analysis.stats.intervals import student_mean
from nalu_bench.analysis.stats.means import compare_printed_mean
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.stats.ranges import ERRORS, Span
from nalu_bench.analysis.stats.verdicts import NO_SEEDS, Comparison, not_comparable
from nalu_bench.analysis.table.claim import CLAIM
from nalu_bench.analysis.table.layout import Judged, Ours, Shown, Table, Theirs
from nalu_bench.analysis.table.line import Compare, Line, Printed, Row, Value, chosen_by
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import identity_claims
from nalu_bench.papers.trask2018.identity import Identity, IdentitySettings, activation_of
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

INTEGERS, MAE = "integers", "mae"
SEVERITY = f"{CLAIM}severity"


@dataclass
class IdentityIntegersSettings(IdentitySettings):
    """See `IdentityIntegers`."""

    reach: int
    fitted: list[str] = field(default_factory=list)


@register("identity_integers", version=1)
class IdentityIntegers(Identity):
    """Rows are activations: the mean absolute error over all integers from -reach to reach, before those of `Identity`.

        error of a run         = mean |prediction(x) - x| over the integers x
        error of an activation = mean over its seeds, with Student's interval

    A printed number is a mean over 100 networks, and is compared with our mean (`means.compare_printed_mean`). A run
    without a finite error is noted and left out of the mean shown, and there is no verdict then but `inconclusive`.

    The claim on severity is tested on these errors, too.

    Source: Trask et al. 2018, Table 5. Settings: those of `Identity`; `reach`, as of the task; `fitted`, activations by
    whose printed numbers the optimiser was chosen.
    """

    settings = IdentityIntegersSettings
    report: IdentityIntegersSettings
    bounds = True
    metrics: ClassVar[Mapping[str, Span | None]] = {**Identity.metrics, MAE: (0, math.inf)}

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        reach = self.report.reach
        for want in cells:
            if getattr(want.cell.task, "reach", None) != reach:
                raise UsageError(
                    f"the cells of {self.experiment.name} must have task=identity_integers with task.reach={reach}, "
                    f"as its report says; {want.label()} has not."
                )

    def rows(self, measured: Measured) -> list[Row]:
        return [*self._far(measured), *super().rows(measured), *self._far_claims(measured)]

    def _far(self, measured: Measured) -> Iterator[Row]:
        for place, runs in by_cell(measured.runs):
            errors = _errors(runs)
            finite = _finite(errors)
            missing = errors.size - finite.size
            note = f"{missing} seeds have no finite error" if missing else ""
            where = place.at(split=INTEGERS, metric=MAE)
            compare = at_full_length(self.experiment, runs, self._comparison(activation_of(place), errors))
            row = row_of(where, Value(*student_mean(finite, span=ERRORS)), runs, note, compare=compare)
            yield replace(row, n_seeds=finite.size)

    def _comparison(self, activation: str, errors: Array) -> Compare:
        def compare(printed: Printed) -> Comparison:
            if not printed.n_seeds:
                return not_comparable(NO_SEEDS)
            return compare_printed_mean(errors, printed.text, printed.n_seeds)

        return chosen_by(compare) if activation in self.report.fitted else compare

    def _far_claims(self, measured: Measured) -> Iterator[Row]:
        """The severity by these errors, over the range of the integers."""
        cells = [(place, _errors(runs), runs) for place, runs in by_cell(measured.runs)]
        errors = {activation_of(place): values for place, values, _ in cells}
        place, _, runs = cells[0]
        where = place.at(setting=Setting(), split=INTEGERS, metric=SEVERITY)
        finite = {name for name, values in errors.items() if _finite(values).size}
        if where not in self.published or not self.report.claims.are_about() <= finite:
            return
        reach = float(self.report.reach)
        tests = identity_claims.Tests(
            {name: dict.fromkeys(("inside", "outside"), _finite(values)) for name, values in errors.items()},
            self.report.claims,
            scale=reach / 2,
            trained=self._trained,
            tested=(-reach, reach),
            missing={name: values.size - _finite(values).size for name, values in errors.items()},
        )
        yield tests.severity().row(where, [runs], *tests.left_out())

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        far = [line for line in lines if (line.place.split, line.place.metric) == (INTEGERS, MAE) and line.steps]
        rows: list[list[Shown]] = [
            [_label(line), Ours(line, _as_printed), Theirs(line), Judged(line), "; ".join(line.notes)] for line in far
        ]
        reach = self.report.reach
        title = f"Over all integers from -{reach:,} to {reach:,}. {self.experiment.heading}"
        header = ["Activation", "ours, mean of the seeds", "printed", "verdict", "note"]
        *claims, near = super().tables(lines)
        return [*claims, Table(title, header, rows), near]


def _label(line: Line) -> str:
    return style.activation_label(activation_of(line.place))


def _as_printed(error: float) -> str:
    """Two decimals, as in the paper; a small error with two digits."""
    return f"{error:.2f}" if error >= 1 else f"{error:.2g}"


def _errors(runs: pd.DataFrame) -> Array:
    return runs[f"{INTEGERS}_{MAE}"].to_numpy(float)


def _finite(errors: Array) -> Array:
    return errors[np.isfinite(errors)]
