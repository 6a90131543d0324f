"""The facts that a kind of report found in the curves of runs, found again."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench.analysis.described import judges, known
from nalu_bench.analysis.measure.measured import Measured, by_digest
from nalu_bench.analysis.measure.read import RUNS
from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.plan.cell import Wanted
from nalu_bench.store.schema import TRAINED
from nalu_bench.verify.columns import recorded


def wrong_facts(measured: Measured, kind: Kind, wanted: Sequence[Wanted]) -> Iterator[str]:
    """A line for every column of a cell's runs that is neither recorded nor a fact that the kind of report finds.

    A fact is found again in the cell's curves where these are whole.
    """
    others = judges(wanted, measured.runs)
    ends = measured.runs["status"].isin(TRAINED)
    runs, curves = by_digest(measured.runs[ends]), by_digest(measured.curves)
    names = {*RUNS, "asked"} if measured.runs.empty else {"cell"}
    for want in wanted:
        if want.cell.digest in runs and want.cell.digest in curves:
            mine, curve, own = runs[want.cell.digest], curves[want.cell.digest], {*recorded(want.cell)} - {"cell"}
            again = kind.facts(want.cell, mine[[name for name in mine if name in own]], curve, known(want, others))
            names |= {*again}
            for name in mine.columns[mine.notna().any()].difference([*again, "cell"]):
                yield f"cell {want.cell.digest}: its runs have the column {name}, which is none of its figures"
            yield from _of_cell(want, again.drop(columns=[*own], errors="ignore"), mine, curve)
    for name in measured.runs.columns.difference([*names]) if curves or measured.runs.empty else ():
        yield f"runs have the column {name}, which is a figure of no cell"


def _of_cell(want: Wanted, again: pd.DataFrame, runs: pd.DataFrame, curves: pd.DataFrame) -> Iterator[str]:
    """A line for every run with another fact than was found again."""
    points = 1 + want.cell.recipe.steps // want.cell.recipe.log_every
    whole = len(curves) == points * len(runs)
    for name in again if whole else ():
        found, stated = (_numbers(frame[name]) if name in frame else np.nan for frame in (again, runs))
        wrong = ~np.isclose(found, stated, rtol=1e-6, atol=0.0, equal_nan=True)
        for seed in runs["seed"][wrong]:
            yield f"cell {want.cell.digest} seed {seed}: {name} is not what its curve gives"


def _numbers(values: "pd.Series[Any]") -> np.ndarray:
    """Numbers and truth values, perhaps missing, as floats."""
    return np.array([np.nan if pd.isna(value) else float(value) for value in values])
