"""Matching digits by step: means beside printed points, steps at which they are reached, claims."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from reported import cells_of, line_with, lines_of, lines_with, measured_of, runs_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.table.line import Line, Printed
from nalu_bench.papers.trask2018.program_curves import ProgramCurves
from nalu_bench.papers.trask2018.program_printed import against_curve
from nalu_bench.plan import experiment

FIGURE4, FIGURE6 = experiment.load("trask2018/figure4"), experiment.load("trask2018/figure6")
SPLITS = ("train", "validation", "test")
STEPS = [0, 10_000, 25_000, 50_000, 100_000, 150_000, 200_000, 240_000, 250_000]


def cell(model: str, seeds: int, share: float, spread: float = 0.0, **words: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Runs and curves of a cell whose test digits rise to this share; those of training are all right at the end."""
    ends = share + spread * np.linspace(-1, 1, seeds)
    figures = {f"{split}_{name}": ends for split in SPLITS for name in ("digits_padded", "digits_left", "rounds")}
    figures |= {f"{split}_sign_errors": 0 * ends for split in SPLITS} | {"train_digits": 1 + 0 * ends}
    figures |= {f"{split}_digits": ends for split in ("validation", "test")}
    usual = {"task": "program_sums", "steps": 250_000, "log_every": 5_000}
    runs = runs_of(model, seeds, **usual | figures | words)
    grown = [
        {"cell": runs["cell"].iloc[0], "seed": seed, "step": step, "train_digits": min(1, step / 100_000),
         "validation_digits": end * min(1, step / 200_000), "test_digits": end * min(1, step / 200_000)}
        for seed, end in enumerate(ends) for step in STEPS
    ]  # fmt: skip
    return runs, pd.DataFrame(grown)


def measured(*cells: tuple[pd.DataFrame, pd.DataFrame]) -> Measured:
    return measured_of(*(runs for runs, _ in cells), curves=pd.concat([curves for _, curves in cells]))


@pytest.fixture(scope="module")
def whole() -> Measured:
    return measured(
        cell("program_nalu", 10, 1.0), cell("program_nalu_integers", 10, 0.5, 0.3),
        cell("program_lstm", 10, 0.06, 0.01), cell("program_ugrnn", 10, 0.07, 0.02), cell("program_dnc", 3, 0.1, 0.02),
        cell("program_ugrnn_relu", 10, 0.38, 0.02),
    )  # fmt: skip


@pytest.fixture(scope="module")
def lines(whole: Measured) -> list[Line]:
    return lines_of(ProgramCurves(FIGURE6), whole)


def test_every_printed_point_has_a_mean_beside_it(lines: list[Line]) -> None:
    found = lines_with(lines, metric="digits", model="program_ugrnn_relu", split="test")
    at = {line.place.setting["step"]: line for line in found}
    assert [*at] == [*map(str, STEPS[1:-1]), "last"]
    assert at["50000"].ours.value == pytest.approx(9.5)
    assert (at["50000"].printed_text, at["50000"].verdict) == ("32.3", "differs")
    assert (at["last"].printed_text, at["last"].verdict) == ("38.3", "fitted")
    assert at["last"].ours.low < 38 < at["last"].ours.high
    assert not [line for line in lines if line.place.metric == "digits" and not line.n_seeds]


def test_the_step_at_which_enough_digits_match_is_that_of_each_seed(lines: list[Line]) -> None:
    reached = line_with(lines, metric="reached", model="program_nalu", split="test")
    assert reached.ours.value == 200_000
    assert (reached.printed_text, reached.verdict) == ("171000", None)
    assert line_with(lines, metric="reached", model="program_lstm", split="test").ours.value == np.inf
    assert line_with(lines, metric="reached", model="program_lstm", split="train").ours.value == 100_000


def test_claims_are_tested_at_the_selected_step_where_they_are_furthest_from_true(lines: list[Line]) -> None:
    verdicts = {line.place.metric: str(line.verdict) for line in lines if line.place.metric.startswith("claim_")}
    assert verdicts == {
        "claim_train": "inconclusive",  # three DNCs that are all alike say nothing
        "claim_extrapolates": "agrees", "claim_alone": "agrees", "claim_same": "agrees", "claim_ugrnn": "fitted",
        "claim_integers": "differs", "claim_faster": "not comparable",
    }  # fmt: skip
    alone = line_with(lines, metric="claim_alone")
    assert alone.notes[0] == "digits in %, at DNC in the test (of 4 places the furthest from true)"  # by its 3 seeds
    assert list(alone.everywhere) == [f"{name} in the test" for name in ("LSTM", "UGRNN", "UGRNN with ReLU", "DNC")]
    assert alone.everywhere["UGRNN with ReLU in the test"] == pytest.approx(38)
    assert alone.ours.value == pytest.approx(10)
    assert (
        line_with(lines, metric="claim_ugrnn")
        .notes[0]
        .startswith("digits in %, at UGRNN with ReLU in the test − LSTM in the test")
    )
    assert line_with(lines, metric="claim_integers").own


def test_a_control_has_rows_and_a_claim_of_its_own_and_is_neither_compared_nor_drawn() -> None:
    control = cell("program_nalu", 10, 0.8, 0.01, setting="rate=0.001", cell="faster")
    kind, found = ProgramCurves(FIGURE6), measured(cell("program_nalu", 10, 1.0), control)
    lines = lines_of(kind, found)
    claim = line_with(lines, metric="claim_faster")
    assert (claim.verdict, claim.own) == ("differs", True)
    assert claim.ours.value == pytest.approx(80)
    assert line_with(lines, metric="claim_extrapolates").ours.value == pytest.approx(100)
    test = cells_of(kind.tables(lines)[3])
    assert [row[0] for row in test if row[0]] == ["NALU", "NALU, rate=0.001"]
    assert {row[1] for row in test[3:]} == {"ours"}
    numbers = kind.figure(found, lines)[1]
    assert (numbers["panel"] == "ours").sum() == 3 * len(STEPS), "the three splits of one model"


def test_fewer_steps_are_compared_where_they_were_made_and_not_at_the_end() -> None:
    runs, curves = cell("program_lstm", 10, 0.06, 0.01, steps=50_000)
    found = lines_of(ProgramCurves(FIGURE6), measured((runs, curves[curves["step"] <= 50_000])))
    at = {line.place.setting["step"]: line for line in lines_with(found, metric="digits", split="test") if line.n_seeds}
    assert at["50000"].verdict in ("agrees", "differs")
    assert (at["100000"].verdict, at["100000"].notes[-1]) == ("not comparable", "not measured at this step")
    assert at["last"].notes[-1].startswith("our last step is not that of the figure")
    claim = line_with(found, metric="claim_extrapolates")
    assert (claim.verdict, claim.notes[-1]) == ("not comparable", "no runs of ours: NALU on program_sums")


@pytest.mark.parametrize(("steps", "verdict"), [(1_250_000, "agrees"), (250_000, "not comparable")])
def test_the_lstm_on_programs_is_held_beside_that_on_sums_at_the_full_length(steps: int, verdict: str) -> None:
    sums = cell("program_lstm", 10, 0.06, 0.01)
    programs = cell("program_lstm", 10, 0.44, 0.01, task="programs", cell="programs", steps=steps)
    programs[1]["cell"] = "programs"
    claim = line_with(lines_of(ProgramCurves(FIGURE4), measured(programs, sums)), metric="claim_lstm")
    assert (claim.verdict, claim.notes[0]) == (verdict, "LSTM, test − LSTM, test, program_sums")
    assert claim.ours.value == pytest.approx(38)
    assert ("trained for 250,000 of the figure's 1,250,000 steps" in claim.notes) == (verdict != "agrees")


def test_a_seed_that_diverged_at_once_has_no_digits() -> None:
    runs, curves = cell("program_nalu", 10, 1.0)
    runs.loc[0, "test_digits"] = np.nan
    curves.loc[curves["seed"] == 0, "test_digits"] = np.nan
    found = lines_of(ProgramCurves(FIGURE6), measured((runs, curves)))
    assert line_with(found, metric="claim_extrapolates").ours.value == 90
    last = next(line for line in lines_with(found, metric="digits", split="test") if "last" in str(line.place.setting))
    assert last.ours.value == 90


def test_the_tables_hold_every_split_and_the_other_figures(whole: Measured, lines: list[Line]) -> None:
    kind = ProgramCurves(FIGURE6)
    claims, *splits, further = kind.tables(lines)
    assert [row[0] for row in cells_of(claims)][:2] == [
        "all models solve the training range", "the NALU extrapolates",
    ]  # fmt: skip
    assert [table.title.partition(" [")[0] for table in splits] == [
        f"Matching digits in percent, {name}," for name in ("training", "validation", "test")
    ]
    rows = {row[0]: row for row in cells_of(splits[2]) if row[0]}
    assert rows["NALU"][1:4] == ["ours", "5.0 [5.0, 5.0]", "12.5 [12.5, 12.5]"]
    assert len(cells_of(splits[2])) == 4 * 3 + 2, "nothing is printed for two readings of ours"
    assert cells_of(further)[2][-2:] == ["200,000", "171000"]
    figure, numbers = kind.figure(whole, lines)
    assert numbers["panel"].value_counts().to_dict() == {"ours": 6 * 3 * len(STEPS), "printed": 4 * 3 * 8}
    dnc = numbers[(numbers["panel"] == "printed") & (numbers["model"] == "program_dnc") & (numbers["split"] == "train")]
    assert dnc.iloc[-1][["x", "y", "low", "high"]].tolist() == [250_000, 76.0, 72.13, 79.79]
    ugrnn = numbers[(numbers["model"] == "program_ugrnn_relu") & (numbers["split"] == "test")]
    band = ugrnn[ugrnn["x"] == 250_000]
    deviation = 100 * np.std(0.38 + 0.02 * np.linspace(-1, 1, 10), ddof=1)
    assert float(band["high"].iloc[0]) == pytest.approx(38 + 2 * deviation)
    assert len(figure.axes) == 3


def test_a_printed_band_is_the_spread_of_the_printed_runs() -> None:
    samples = np.array([50.0, 52.0, 54.0])
    narrow, wide = (Printed("55.0", low, high, 10, "") for low, high in (("54.9", "55.1"), ("35", "75")))
    assert against_curve(samples, 0.3)(narrow).low > against_curve(samples, 0.3)(wide).low
    assert against_curve(samples, 0.3)(Printed("52.2", "", "", 10, "")).difference == 0
    assert against_curve(samples[:1], 0.3)(narrow).verdict == "inconclusive"


def test_a_printed_band_has_degrees_of_freedom_of_its_own() -> None:
    """r = 1 by the band, and the nearest number within 0.3 of the printed one is 59.7."""
    found = against_curve(np.array([50.0, 52.0, 54.0]), 0.3)(Printed("60", "58", "62", 10, ""))
    welch = scipy.stats.ttest_ind_from_stats(52, 2, 3, 59.7, 1, 10, equal_var=False)
    assert found.p_value == pytest.approx(welch.pvalue)
