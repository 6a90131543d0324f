"""Trained hypotheses: the one that made a table is found, and none is where there is none."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.protocols import controls, explain
from nalu_bench.analysis.protocols.predictions import Predictions, Scoring
from nalu_bench.analysis.protocols.static_scores import candidates
from nalu_bench.analysis.protocols.static_scores import predictions as predicted

MODELS = ["relu6", "linear", "nac", "nalu"]
LINEAR = ["linear", "linear_no_bias"]
OPERATIONS = ["add", "mul", "div", "square"]
RANGES = ["[1, 2]", "[0, 1]", "[0, 5]", "[0, 9]"]
FITTING = {
    (operation, model, split)
    for operation in OPERATIONS
    for model in ("linear", "nac")
    for split in ("validation", "extrapolation")
}
SEEDS = 6
UNTRAINED = 8.0
CELLS = list(itertools.product(range(len(RANGES)), OPERATIONS, [*MODELS, "linear_no_bias"]))


def errors(cell: int) -> dict[str, np.ndarray]:
    """The mean absolute error of every seed of a cell, in training and beyond: its own, between 0.005 and 5."""
    rng = np.random.default_rng(cell)
    return {
        split: np.exp(rng.uniform(np.log(0.005), np.log(5)) + rng.normal(0, 0.05, SEEDS))
        for split in ("validation", "extrapolation")
    }


def rows() -> Iterator[dict[str, object]]:
    for cell, (place, operation, model) in enumerate(CELLS):
        found = errors(cell)
        words = f"law=uniform;range={RANGES[place]};beyond=[0, 9];grown=all;terms=[3, 2];hidden=2"
        for seed in range(SEEDS):
            for step in (0, 10):
                mae = {split: UNTRAINED if step == 0 else value[seed] for split, value in found.items()}
                yield {
                    "cell": f"c{cell}", "seed": seed, "step": step, "setting": words, "operation": operation,
                    "model": model, **{f"{split}_mae": value for split, value in mae.items()},
                    **{f"{split}_mse": 1.3 * value**2 for split, value in mae.items()},
                }  # fmt: skip


@pytest.fixture(scope="module")
def predictions() -> Predictions:
    curves = pd.DataFrame(rows())
    runs = curves[curves["step"] == 10][["cell", "seed", "setting", "operation", "model"]].reset_index(drop=True)
    return predicted(Measured(runs, curves), MODELS, LINEAR)


@pytest.fixture(scope="module")
def among(predictions: Predictions) -> list[explain.Hypothesis]:
    return explain.hypotheses(predictions)


@pytest.fixture(scope="module")
def judge(predictions: Predictions) -> explain.Judge:
    return explain.Judge(predictions, FITTING, 0.1)


def printed(place: int) -> dict[tuple[str, str, str], str]:
    """The table that one protocol prints: medians over the seeds, of the mean absolute error."""
    return {
        (operation, model, split): f"{100 * np.median(values) / UNTRAINED:.1f}"
        for cell, (at, operation, model) in enumerate(CELLS)
        if at == place and model in MODELS
        for split, values in errors(cell).items()
    }


def test_every_protocol_is_a_hypothesis(predictions: Predictions, among: list[explain.Hypothesis]) -> None:
    assert len(among) == len(RANGES)
    assert [one.name.split("range=")[1].split(" beyond")[0] for one in among] == RANGES
    assert all(set(one.rows) == set(OPERATIONS) for one in among)
    assert predictions.freedom == SEEDS - 1


def test_the_protocol_of_a_table_is_found_with_its_score(judge: explain.Judge, among: list[explain.Hypothesis]) -> None:
    for place in range(len(RANGES)):
        best = judge.ranked(printed(place), among)[0]
        assert best.hypothesis is among[place]
        assert best.choice.scoring.metric == "mae"
        assert best.choice.scoring.linear == "linear"
        assert best.choice.statistic in ("one", "median", "mean")


def test_the_winner_explains_what_is_held_out(judge: explain.Judge, among: list[explain.Hypothesis]) -> None:
    best, wins = controls.winner(judge, among[0], among, printed(2))
    assert wins
    own = next(one for one in judge.ranked(printed(2), among) if one.hypothesis is among[0])
    gained = explain.gain(best, own, judge)
    assert gained.clear
    assert gained.mean == pytest.approx((own.held_out - best.held_out) / 16)
    assert explain.by_chance(best, judge, printed(2)) <= 0.01


def test_the_described_protocol_does_not_beat_itself(judge: explain.Judge, among: list[explain.Hypothesis]) -> None:
    best, wins = controls.winner(judge, among[0], among, printed(0))
    assert best.hypothesis is among[0]
    assert not wins


def test_controls_find_what_is_there_and_nothing_else(judge: explain.Judge, among: list[explain.Hypothesis]) -> None:
    assert controls.recovered(judge, among, 30).happened >= 27
    assert controls.permuted(judge, among[0], among, printed(2), 40).happened <= 6


def test_a_known_protocol_is_hard_to_find_where_much_discrepancy_is_granted(
    judge: explain.Judge, among: list[explain.Hypothesis]
) -> None:
    assert controls.recovered(replace(judge, discrepancy=6.0), among, 30).happened <= 20


def test_an_operation_counts_once_in_a_gain(judge: explain.Judge, among: list[explain.Hypothesis]) -> None:
    best, own, *_ = judge.ranked(printed(2), among)
    cells = own.cells - best.cells
    held_out = replace(judge, fitting=FITTING - {("mul", "nac", "validation")})
    means = [cells[place][~held_out.chosen(best.rows)[place]].mean() for place in range(len(OPERATIONS))]
    gained = explain.gain(best, own, held_out)
    assert gained.mean == pytest.approx(np.mean(means))
    assert gained.high - gained.mean == pytest.approx(3.182 * np.std(means, ddof=1) / 2, rel=1e-3)


def test_the_discrepancy_is_the_one_that_suits_the_best(
    predictions: Predictions, among: list[explain.Hypothesis]
) -> None:
    assert explain.suited(predictions, FITTING, printed(1), among).discrepancy == 0.1
    assert explain.suited(predictions, FITTING, blurred(1, 0.4), among).discrepancy == 0.4


def test_a_table_that_no_hypothesis_explains_needs_more_than_the_largest_discrepancy(
    predictions: Predictions, among: list[explain.Hypothesis]
) -> None:
    table = blurred(1, 3.0)
    judge = explain.suited(predictions, FITTING, table, among)
    assert judge.discrepancy == max(explain.DISCREPANCIES)
    assert explain.without_limit(judge, table, among) > 1
    assert explain.without_limit(judge, printed(1), among) == 0.1


def blurred(place: int, deviation: float) -> dict[tuple[str, str, str], str]:
    """A table of a protocol whose numbers are off."""
    rng = np.random.default_rng(0)
    return {key: f"{float(text) * np.exp(rng.normal(0, deviation)):.2f}" for key, text in printed(place).items()}


def test_operations_may_have_terms_of_their_own() -> None:
    curves = pd.DataFrame(rows())
    other = curves[curves["operation"] == "mul"]
    other = other.assign(setting=other["setting"].str.replace("[3, 2]", "[5, 2]"), cell=other["cell"] + "b")
    every = pd.concat([curves, other], ignore_index=True)
    runs = every[every["step"] == 10][["cell", "seed", "setting", "operation", "model"]].reset_index(drop=True)
    assert len(candidates(runs)) == len(RANGES) * (len(OPERATIONS) + 1)
    found = explain.hypotheses(predicted(Measured(runs, every), MODELS, LINEAR))
    assert sorted({one.name.split(" terms")[1] for one in found}) == [" of each", "=[3, 2]"]
    each = next(one for one in found if one.name.endswith("of each"))
    assert len(each.rows["mul"]) == 2


def test_training_may_be_cut_off() -> None:
    curves = pd.DataFrame(rows())
    early = curves[curves["step"] == 10].assign(step=4)
    early[["validation_mae", "extrapolation_mae"]] *= 2
    every = pd.concat([curves, early], ignore_index=True)
    runs = every[every["step"] == 10][["cell", "seed", "setting", "operation", "model"]].reset_index(drop=True)
    found = predicted(Measured(runs, every), MODELS, LINEAR, [10, 4])
    late, cut = (
        found.scores_of(0, next(one for one in found.choices if one.scoring == way), "nac", "extrapolation")
        for way in (Scoring("mae", "own", "validation_mae", "linear", steps) for steps in (10, 4))
    )
    np.testing.assert_allclose(cut, 2 * late)


def test_a_seed_without_a_finite_error_counts_as_infinitely_bad(predictions: Predictions) -> None:
    scores = predictions.scores.copy()
    scores[..., 0] = np.nan
    one = Predictions.of(predictions.candidates, predictions.scorings, predictions.models, predictions.splits, scores)
    for choice in [choice for choice in one.choices if choice.statistic in ("one", "best")]:
        samples = one.samples_of(0, choice, "nac", "validation")
        assert not np.isnan(samples).any()
        assert np.median(samples) < np.inf
