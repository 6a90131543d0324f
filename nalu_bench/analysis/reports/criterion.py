"""Kinds of report that cannot do without a criterion by which a run is solved."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.criteria import needed


class ByCriterion(Kind):
    """A kind of report whose setting `criterion` names the task's threshold by which runs are solved.

    Raises:
        UsageError, before anything is trained, for a cell whose task has none.
    """

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        for want in cells:
            self.criteria(want.cell, pd.DataFrame())

    def criteria(self, cell: Cell, others: pd.DataFrame) -> dict[str, Any]:
        return self.needed(cell, self.report.criterion)

    def needed(self, cell: Cell, criterion: str) -> dict[str, Any]:
        """The criterion of this name, with its threshold."""
        return needed(cell, criterion, f"a report of kind {self.report.kind}")
