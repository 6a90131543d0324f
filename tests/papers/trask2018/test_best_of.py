"""The best of several networks of each of several settings, against numbers that are one such draw."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from reported import cells_of, line_with, lines_of, lines_with, measured_of, runs_of, table_of

from nalu_bench import paths
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.printed import published
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018.best_draws import Best
from nalu_bench.papers.trask2018.best_of import BestOf
from nalu_bench.plan import compose, experiment

TABLE3 = experiment.load("trask2018/table3")
KIND = BestOf(TABLE3)
MODELS = {"text_lstm": 30.0, "text_lstm_nac": 120.0, "text_lstm_nalu": 1.0}
"""Model -> about its smallest error."""


def cells(model: str, seeds: int, scale: float, words: str = "") -> list[pd.DataFrame]:
    """The four settings of a model; errors rise from seed to seed, by a thousandth."""
    found = []
    for number, (size, rate) in enumerate(product(("16", "32"), ("0.01", "0.001"))):
        errors = scale * (1 + 0.001 * (4 * np.arange(seeds) + number))
        setting = ";".join(filter(None, [f"size={size};rate={rate}", words]))
        found.append(
            runs_of(
                model, seeds, task="number_words", setting=setting, validation_mse=errors**2, train_mae=errors / 100,
                validation_mae=errors, test_mae=1.02 * errors,
            )
        )  # fmt: skip
    return found


def measured(seeds: int = 30, **scales: float) -> Measured:
    frames = [cell for model, scale in (MODELS | scales).items() for cell in cells(model, seeds, scale)]
    return measured_of(*frames, *cells("text_lstm", seeds, 33.0, "states=last"))


def test_the_error_is_that_of_the_run_that_validates_best_and_not_the_smallest() -> None:
    runs = pd.DataFrame({"validation_mse": [1.0, 2.0, *[np.nan] * 4], "test_mae": [50.0, 0.1, *[0.0] * 4]})
    best = Best.of([runs], 2, "validation_mse", "any")
    absent, both = (1 - 2 * share + (share * (1 - share) + 6 * share**2) / 6 for share in (1 / 6, 2 / 6))
    assert np.mean(best.of_winners("test_mae") == 50.0) == pytest.approx(1 - absent, abs=0.02)
    assert np.mean(best.of_winners("test_mae") == 0.1) == pytest.approx(absent - both, abs=0.02)


def test_a_printed_number_is_compared_with_the_range_of_draws() -> None:
    found = measured(text_lstm=29.0)
    lines = lines_with(lines_of(KIND, found), model="text_lstm", metric="mae", setting="")
    assert {line.place.split: str(line.verdict) for line in lines} == {
        "train": "differs", "validation": "differs", "test": "inconclusive",
    }  # fmt: skip
    wider = measured(text_lstm=28.7)
    test = line_with(lines_of(KIND, wider), model="text_lstm", metric="mae", setting="", split="test")
    assert (str(test.verdict), test.n_seeds) == ("agrees", 120)
    assert test.ours.low == pytest.approx(28.7 * 1.02)
    assert "best of 40, drawn from 120 runs" in test.notes[0]


def test_a_number_that_is_better_than_all_runs_is_told_how_often_a_new_draw_is() -> None:
    line = line_with(lines_of(KIND, measured()), model="text_lstm_nalu", metric="mae", setting="", split="test")
    assert str(line.verdict) == "differs"
    assert line.notes[-1] == "better than all of ours; a new draw has a better network than all with probability 25 %"
    near = line_with(lines_of(KIND, measured(text_lstm_nalu=0.403)), model="text_lstm_nalu", metric="mae", setting="",
                     split="test")  # fmt: skip
    assert (near.printed_text, f"{near.ours.low:.3f}", str(near.verdict)) == ("0.41", "0.411", "agrees")


@pytest.mark.parametrize(
    ("seeds", "reason"),
    [
        (29, "116 runs are too few for a range of draws of 40: every setting needs 3 times as many"),
        (10, "40 runs are too few"),
        (9, "a draw takes 10 runs of each setting"),
    ],
)
def test_too_few_runs_are_not_comparable_and_test_no_claim(seeds: int, reason: str) -> None:
    lines = lines_of(KIND, measured(seeds))
    assert {str(line.verdict) for line in lines if line.printed} == {"not comparable"}
    assert all(reason in line.notes[-1] for line in lines if line.place.metric == "mae" and not line.place.setting)
    assert KIND.tables(lines)


def test_a_setting_without_runs_leaves_no_draw() -> None:
    frames = [cell for cell in cells("text_lstm", 30, 1.0) if "size=16;rate=0.01" not in cell["setting"].iloc[0]]
    line = line_with(lines_of(KIND, measured_of(*frames)), model="text_lstm", metric="mae", setting="", split="test")
    assert "the fewest are 0 (size=16, rate=0.01)" in line.notes[0]
    assert np.isnan(line.ours.value)


def test_claims_are_tested_on_independent_draws_of_the_models_they_name() -> None:
    table = table_of(KIND, measured()).query("setting == ''").set_index("metric")
    verdicts = table.loc[[f"claim_{name}" for name in ("margin", "poor", "overfit", "summed", "near")], "verdict"]
    assert verdicts.tolist() == ["agrees", "differs", "agrees", "agrees", "agrees"], "the NAC fits with an error of 1.2"
    table = table_of(KIND, measured(text_lstm_nalu=20.0)).query("setting == ''").set_index("metric")
    assert table.loc["claim_margin", "verdict"] == "differs"


def test_a_claim_about_models_without_runs_is_not_tested() -> None:
    lines = lines_of(KIND, measured())
    line = line_with(lines, metric="claim_margin", setting="reads=c")
    assert str(line.verdict) == "not comparable"
    assert "LSTM + NALU: no runs of ours" in line.notes[-1]


def test_the_predictions_are_those_of_the_best_network() -> None:
    found = measured()
    probes = pd.DataFrame({"probe": [0, 1], "output": 0, "label": ["eighty", "eight"], "target": 88.0})
    seeds = found.runs[["cell", "seed"]].merge(probes, how="cross")
    predictions = seeds.assign(prediction=79.4 + seeds["probe"] * 8.4 + seeds["seed"] / 10)
    found = Measured(found.runs, predictions=predictions)
    lines = lines_of(KIND, found)
    first = line_with(lines, model="text_lstm_nalu", setting="number=88;token=1")
    assert (first.ours.low, first.printed_text, str(first.verdict)) == (79.4, "79.6", "agrees")
    rows = cells_of(KIND.tables(lines)[-1])
    assert [row[:2] for row in rows[:2]] == [["88", "eighty"], ["", "eight"]]
    assert {row[4] for row in rows[2:]} == {"–"}, "other printed predictions have no runs of ours beside them"
    figure, drawn = KIND.figure(found, lines)
    figure.draw_without_rendering()
    assert set(drawn["printed"]) >= {"79.6", "29.4"}


def test_a_split_that_the_runs_do_not_have_is_refused() -> None:
    report = {**TABLE3.report, "splits": {"extrapolation": "Extrapolation"}}
    cells = compose.plan_experiment(TABLE3, ["budget=smoke"]).cells
    with pytest.raises(UsageError, match=r"unknown column of the runs of .* reads, 'extrapolation_mae'"):
        BestOf(replace(TABLE3, report=report)).check(cells)


def test_the_numbers_are_those_of_the_papers_tables_under_every_reading() -> None:
    source = paths.CHECKOUT.parent / "shared/published/trask2018_table3_11_language.csv"
    if not source.exists():
        pytest.skip(f"the source {source.name} is not at hand")
    theirs = pd.read_csv(source, dtype=str)
    ours = published.read(TABLE3.published).query("metric == 'mae'")
    for setting, table in (
        ("", "Table 3"),
        ("reads=c", "Table 3"),
        ("reads=both", "Table 3"),
        ("states=last", "Table 11"),
    ):
        printed = theirs[theirs["experiment"].str.startswith(table) & (theirs["model"] != "LSTM w/ summed states")]
        mine = ours[ours["setting"] == setting]
        assert mine[["printed_model", "split", "printed"]].to_numpy().tolist() == (
            printed[["model", "split", "value"]].to_numpy().tolist()
        )


def test_the_settings_and_the_sample_are_the_papers() -> None:
    plan = compose.plan_experiment(TABLE3, ["budget=paper"]).cells
    assert {(want.cell.recipe.steps, want.cell.recipe.batch_size, len(want.seeds)) for want in plan} == {
        (300_000, 169, 30)
    }
    assert len(plan) == 4 * (3 * 3 + 1)
    task = plan[0].cell.task
    trained, tested = (set(task.members(split).tolist()) for split in ("train", "test"))  # type: ignore[attr-defined]
    assert {number for number in trained if 80 <= number < 90} == {81, 84, 87}
    assert {80, 334, 702, 88} <= tested
