"""The leaderboard orders units by differences that are real."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from reported import cells_of, line_with, lines_of, measured_of, runs_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.reports.leaderboard import Leaderboard
from nalu_bench.analysis.table.line import Line
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, experiment
from nalu_bench.plan.ranking import with_unit

STATIC = experiment.load("leaderboard/static")
SEEDS = 50


def measured(solved: Mapping[tuple[str, str], int]) -> Measured:
    """Runs of which so many are solved, by model and operation."""
    seeds = np.arange(SEEDS)
    cells = [
        runs_of(
            model, SEEDS, setting="inputs=2;range=[1, 2]", operation=operation, solved=seeds < count,
            solved_at=np.where(seeds < count, 1000.0 * (seeds + 1), np.nan), sparsity_error=1e-5,
        )
        for (model, operation), count in solved.items()
    ]  # fmt: skip
    return replace(measured_of(*cells), manifest={"parts": {}})


def lines(solved: Mapping[tuple[str, str], int]) -> list[Line]:
    return lines_of(Leaderboard(STATIC), measured(solved))


GOOD_AND_BAD = {
    ("single_nac", "add"): 50, ("single_nac", "mul"): 0, ("single_nau", "add"): 49, ("single_nau", "mul"): 0,
    ("single_nmu", "add"): 0, ("single_nmu", "mul"): 50,
}  # fmt: skip


def number(rows: list[Line], model: str, metric: str) -> float:
    return line_with(rows, model=model, metric=metric, task="").ours.value


def test_a_win_is_a_difference_that_is_real() -> None:
    rows = lines(GOOD_AND_BAD)
    wins = {model: number(rows, model, "wins") for model in ("single_nac", "single_nau", "single_nmu")}
    assert wins == {"single_nac": 1, "single_nau": 1, "single_nmu": 2}, "50 and 49 of 50 do not differ"
    assert [number(rows, model, "losses") for model in wins] == [1, 1, 2]
    assert number(rows, "single_nau", "success_rate") == 0.49


def test_models_stand_in_the_order_of_their_wins_and_then_of_their_success() -> None:
    ranking, rates = Leaderboard(STATIC).tables(lines(GOOD_AND_BAD))
    assert [row[1] for row in cells_of(ranking)] == ["NAC₊", "NMU", "NAU"]
    assert rates.header[2:] == ["NAC₊", "NMU", "NAU"]
    assert cells_of(rates)[0] == ["a + b", "2, [1, 2]", "100 %", "0 %", "98 %"]


def test_a_model_that_solves_nothing_has_no_step() -> None:
    ranking = Leaderboard(STATIC).tables(lines({("single_nac", "add"): 0, ("single_nau", "add"): 50}))[0]
    assert [row[1] for row in cells_of(ranking)] == ["NAU", "NAC₊"]
    assert cells_of(ranking)[1][5:7] == ["–", "–"]


def test_the_figure_shows_every_cell() -> None:
    figure, drawn = Leaderboard(STATIC).figure(measured(GOOD_AND_BAD), lines(GOOD_AND_BAD))
    assert len(drawn) == 6
    assert {text.get_text() for text in figure.axes[0].texts} == {"100", "98", "0"}


def test_a_unit_that_does_not_exist_or_is_ranked_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown unit 'nuu'; did you mean"):
        with_unit(STATIC, "nuu")
    with pytest.raises(UsageError, match="nmu is ranked already"):
        with_unit(STATIC, "nmu")


def test_both_budgets_share_their_runs() -> None:
    plans = [compose.plan_experiment(STATIC, [f"budget={budget}"]) for budget in ("paper", "short")]
    assert [want.cell.digest for want in plans[0].cells] == [want.cell.digest for want in plans[1].cells]
