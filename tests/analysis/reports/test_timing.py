"""Agents that tell the time: T50 of every seed, claims and differences."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.reports.kind import compared
from nalu_bench.analysis.reports.papers.timing import OUTCOMES, Timing
from nalu_bench.errors import UsageError
from nalu_bench.plan import experiment

FIGURE5 = experiment.load("trask2018/figure5")
TIMES = range(5, 41)


def runs(model: str, last: Sequence[int], told: str = "time", scale: str = "1.0") -> pd.DataFrame:
    """Seeds that succeed up to their last T, and come late beyond it."""
    seeds = np.arange(len(last))
    shares = {T: np.where(np.array(last) >= T, 0.99, 0.0) for T in TIMES}
    columns = {f"test_{name}_{T}": np.zeros(len(last)) for name in OUTCOMES for T in TIMES}
    for T, share in shares.items():
        columns |= {f"test_success_{T}": share, f"test_sampled_{T}": share, f"test_late_{T}": 1 - share}
    words = {"task": "grid_world", "setting": f"told={told};scale={scale}", "operation": "", "model": model}
    more = {"cell": f"{model}{told}{scale}", "role": "cell", "asked": len(last), "steps": 5000}
    return pd.DataFrame({"seed": seeds, **words, **more, **columns})


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    cells = [
        runs("agent_lstm", 5 * [13, 14]),
        runs("agent_nac_memory", [*5 * [20], 21, 22, 22, 22, 40]),
        runs("agent_linear_memory", 10 * [21]),
        runs("agent_nac_hidden", 5 * [12, 13]),
        runs("agent_lstm", 10 * [40], told="remaining"),
        runs("agent_lstm", 10 * [18], scale="0.1"),
    ]
    kind = Timing(FIGURE5)
    return compared(kind.rows(Measured(pd.concat(cells, ignore_index=True))), kind.published)


def test_t50_is_the_first_time_at_which_a_seed_fails_or_the_one_after_the_last(table: pd.DataFrame) -> None:
    t50 = table[(table["metric"] == "t50")].set_index(["model", "setting"])["ours"]
    assert t50["agent_lstm", "told=time;scale=1.0"] == 14.5
    assert t50["agent_nac_memory", "told=time;scale=1.0"] == 21.5
    assert t50["agent_lstm", "told=remaining;scale=1.0"] == 41


def test_claims_are_tested_for_each_scale_on_the_agent_furthest_from_true(table: pd.DataFrame) -> None:
    claims = table[table["metric"].str.startswith("claim_")].set_index(["setting", "metric"])
    verdicts = claims["verdict"].to_dict()
    assert verdicts["scale=1.0", "claim_master"] == "agrees"
    assert verdicts["scale=1.0", "claim_lstm"] == "agrees"
    assert verdicts["scale=1.0", "claim_nac"] == "agrees"
    assert claims.loc[("scale=1.0", "claim_beyond"), "verdict"] == "agrees"
    assert verdicts["scale=0.1", "claim_lstm"] == "differs", "18 is beyond 16.5, half of 14 to 19"
    assert all(claims["printed"] != "")


def test_differences_of_t50_have_welchs_interval(table: pd.DataFrame) -> None:
    found = table.set_index("metric")[["ours", "ours_low", "ours_high"]]
    same = found.loc["t50_difference agent_nac_memory agent_linear_memory"]
    assert "t50_difference agent_linear_memory agent_linear_hidden" not in found.index, "it has no runs"
    assert same["ours"] == pytest.approx(22.7 + 1 - 22)
    assert same["ours_low"] < 0 < same["ours_high"]
    other = found.loc["t50_difference agent_nac_hidden agent_lstm"]
    assert other["ours"] == pytest.approx(-1)


def test_the_tables_hold_every_agent_and_the_oracle(table: pd.DataFrame) -> None:
    success, _, early, _, differences, claims = Timing(FIGURE5).tables(table)
    assert [row[0] for row in success.rows][-1] == "LSTM, told T − t"
    assert dict(zip(success.header, success.rows[0], strict=True))["14"] == "50 %"
    assert early.rows[0][1:4] == ["0 / 1 / 0", "0 / 50 / 0", "0 / 100 / 0"]
    assert {row[-1] for row in differences.rows} == {"not told apart", "longer", "shorter"}
    assert len(claims.rows) == 8


def test_a_seed_that_diverged_at_once_succeeds_nowhere() -> None:
    lost = runs("agent_lstm", [20, 20, 20])
    lost.loc[0, [column for column in lost if str(column).startswith("test_")]] = np.nan
    kind = Timing(FIGURE5)
    assert kind._t50(lost).tolist() == [13, 21, 21]
    assert kind._mean(lost, [5, 12])[0] == 0


def test_a_claim_of_another_kind_is_refused() -> None:
    report = FIGURE5.report | {"claims": {"master": {"models": ["agent_lstm"], "times": [5, 12], "verdict": "good"}}}
    with pytest.raises(UsageError, match="the claim master must say mastered, held or failed, got good"):
        Timing(replace(FIGURE5, report=report)).check([])


def test_without_a_test_beyond_the_trained_times_there_is_no_report() -> None:
    short = runs("agent_lstm", [20, 20]).drop(columns=[f"test_success_{T}" for T in range(13, 41)])
    with pytest.raises(UsageError, match="test_times must end above 12"):
        Timing(FIGURE5).require(Measured(short))
