"""Protocols ranked by how well they explain a small table of errors, on the committed runs for Trask's Table 3."""

from dataclasses import replace

import pandas as pd
import pytest

import nalu_bench
from nalu_bench.analysis.loaded import Loaded
from nalu_bench.analysis.measure.measured import Measured, records
from nalu_bench.analysis.reports.error_forensics import ErrorForensics
from nalu_bench.errors import UsageError
from nalu_bench.plan import experiment

TABLE3 = experiment.load("trask2018/table3_forensics")
FEW = ErrorForensics(replace(TABLE3, report=TABLE3.report | {"tables": 2}))


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    return nalu_bench.load("trask2018/table3_forensics")


@pytest.fixture(scope="module")
def measured(loaded: Loaded) -> Measured:
    return loaded._measured.trained


def misfits(rows: pd.DataFrame) -> "pd.Series[float]":
    """Protocol -> its misfit, in the order of the rows."""
    return rows[rows["metric"] == "misfit"].set_index("setting")["ours"]


@pytest.mark.parametrize("place", [0, 8, -1])
def test_a_table_made_by_a_protocol_is_explained_best_by_it(
    place: int, loaded: Loaded, measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = misfits(loaded.table).index[place]
    made = loaded.table[(loaded.table["setting"] == chosen) & (loaded.table["metric"] == "mae")]
    printed = {("", line["model"], line["split"]): f"{line['ours']:.2f}" for line in records(made)}
    assert set(printed) == set(FEW._printed())
    monkeypatch.setattr(FEW, "_printed", lambda: printed)
    found = pd.DataFrame([row.keys | {"ours": row.ours} for row in FEW.rows(measured)])
    ranked = misfits(found)
    assert ranked.index[0] == chosen
    assert ranked.is_monotonic_increasing
    granted = found.set_index("metric")["ours"]
    assert granted["discrepancy"] < 0.8 == loaded.table.set_index("metric")["ours"]["discrepancy"], (
        "the printed one needs more"
    )


def test_one_seed_has_no_spread_to_judge_by(measured: Measured) -> None:
    alone = Measured(measured.runs.drop_duplicates("cell"), measured.curves)
    with pytest.raises(UsageError, match="needs at least 2 seeds of every cell"):
        FEW.require(alone)
