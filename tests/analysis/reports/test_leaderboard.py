"""The leaderboard orders units by differences that are real, and says which to take."""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from reported import cells_of, line_with, lines_of, measured_of, runs_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.reports.advice import told
from nalu_bench.analysis.reports.leaderboard import Leaderboard
from nalu_bench.analysis.table.line import Line
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, experiment, ranking
from nalu_bench.plan.ranking import with_unit

GRID = experiment.load("mistry2022/single_module")
SEEDS = 50


def measured(solved: Mapping[tuple[str, str, str], int]) -> Measured:
    """Runs of which so many are solved, by model, operation and range; twice and half as many by other thresholds."""
    seeds = np.arange(SEEDS)
    cells = [
        runs_of(
            model, SEEDS, setting=f"range={where}", operation=operation, solved=seeds < count,
            solved_at=np.where(seeds < count, 1000.0 * (seeds + 1), np.nan), sparsity_error=1e-5, steps=50_000,
            **{"solved_nalm_1e-4": seeds < 2 * count, "solved_mse_1e-5": seeds < count // 2},
        )
        for (model, operation, where), count in solved.items()
    ]  # fmt: skip
    return replace(measured_of(*cells), manifest={"parts": {}})


def lines(solved: Mapping[tuple[str, str, str], int]) -> list[Line]:
    return lines_of(Leaderboard(GRID), measured(solved))


ONE, BOTH = "[1, 2]", "[-2, 2]"
GOOD_AND_BAD = {
    ("single_nac", "add", ONE): 50, ("single_nac", "add", BOTH): 25, ("single_nau", "add", ONE): 49,
    ("single_nau", "add", BOTH): 50, ("single_nalu", "add", ONE): 0, ("single_nalu", "add", BOTH): 0,
    ("single_nmu", "mul", ONE): 25,
}  # fmt: skip


def number(rows: list[Line], model: str, metric: str) -> float:
    return line_with(rows, model=model, metric=metric, split="").ours.value


def test_a_win_is_a_difference_that_is_real_and_of_units_on_the_same_cell() -> None:
    rows = lines(GOOD_AND_BAD)
    units = ("single_nac", "single_nau", "single_nalu", "single_nmu")
    assert [number(rows, unit, "wins") for unit in units] == [2, 3, 0, 0], "50 and 49 of 50 do not differ"
    assert [number(rows, unit, "losses") for unit in units] == [1, 0, 4, 0]
    assert number(rows, "single_nac", "share") == 0.75
    assert number(rows, "single_nac", "worst") == 0.5


def test_units_stand_by_operation_in_the_order_of_their_wins() -> None:
    advice, success, ranking, *_ = Leaderboard(GRID).tables(lines(GOOD_AND_BAD))
    assert [row[0] for row in cells_of(advice)] == ["a + b", "a × b"]
    assert success.header == ["", ONE, BOTH]
    assert cells_of(success) == [["NAU", "98 %", "100 %"], ["NAC₊", "100 %", "50 %"], ["NALU", "0 %", "0 %"]]
    assert cells_of(ranking)[0][:6] == ["1", "NAU", "99 %", "98 %", "3", "0"]


def test_of_units_that_solve_as_many_the_faster_one_stands_first() -> None:
    both = measured({("single_nac", "add", ONE): SEEDS, ("single_nau", "add", ONE): SEEDS})
    later = both.runs["solved_at"] * both.runs["model"].map({"single_nac": 2.0, "single_nau": 1.0})
    ranking = Leaderboard(GRID).tables(
        lines_of(Leaderboard(GRID), replace(both, runs=both.runs.assign(solved_at=later)))
    )
    assert [row[1] for row in cells_of(ranking[2])] == ["NAU", "NAC₊"]


def test_a_unit_that_solves_nothing_has_no_step() -> None:
    *_, ranking = Leaderboard(GRID).tables(lines({("single_nac", "add", ONE): 0}))[:3]
    assert cells_of(ranking)[0][6:8] == ["–", "–"]


def test_a_printed_share_is_held_against_ours_by_its_own_criterion() -> None:
    rows = lines({("single_nmu", "mul", ONE): 25, ("single-mcfc", "add", ONE): 25})
    table = [row for row in cells_of(Leaderboard(GRID).tables(rows)[-1]) if row[6:] != ["–"] * 3]
    assert sorted(row[1:6] for row in table) == [
        [ONE, "MCFC", "nalm_1e-5", "100 %", "differs, 50 points worse"],
        [ONE, "NMU", "mse_1e-5", "100 %", "differs, 76 points worse"],
    ]
    assert {tuple(row[6:]) for row in table} == {("50 %", "100 %", "24 %")}


def test_the_figure_has_a_map_for_every_operation_with_every_share() -> None:
    figure, drawn = Leaderboard(GRID).figure(measured(GOOD_AND_BAD), lines(GOOD_AND_BAD))
    assert len(drawn) == len(GOOD_AND_BAD)
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["a + b", "a × b"]
    assert {text.get_text() for text in figure.axes[0].texts} == {"100", "50", "98", "0"}


@pytest.mark.parametrize(
    ("rates", "sentence"),
    [
        ({"single_nau": {ONE: 1.0, BOTH: 0.96}, "single_nac": {ONE: 1.0, BOTH: 0.9}}, "^NAU on all 2 ranges.$"),
        ({"single_nau": {ONE: 0.2}, "single_nac": {ONE: 0.5}}, "^None does so on any .* NAC₊ comes closest, with 50 %"),
        ({"single_nau": {ONE: 0.0, BOTH: 0.0}}, "^None does so on any of 2 ranges; no seed is solved.$"),
        (
            {"single_nmu": {ONE: 1.0, BOTH: 0.1, "[0, 1]": 1.0}, "single_nac": {ONE: 0.0, BOTH: 1.0, "[0, 1]": 0.0}},
            r"^None does so on all 3 ranges; NMU on 2 of 3; NAC₊ on \[-2, 2\].$",
        ),
        (
            {"single_nmu": {ONE: 1.0, BOTH: 0.1}},
            r"^None does so on all 2 ranges; NMU on 1 of 2; on \[-2, 2\] the best is NMU with 10 %.$",
        ),
        (  # as many ranges, but others
            {"single_nmu": {ONE: 1.0, BOTH: 0.1}, "single_nac": {ONE: 0.2, BOTH: 1.0}},
            r"^None does so on all 2 ranges; NMU on 1 of 2; NAC₊ on \[-2, 2\].$",
        ),
    ],
)  # fmt: skip
def test_the_advice_says_what_the_shares_say(rates: dict[str, dict[str, float]], sentence: str) -> None:
    assert re.search(sentence, told(rates))


def test_a_unit_that_does_not_exist_or_is_ranked_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown unit 'nuu'; did you mean"):
        with_unit(GRID, "nuu")
    with pytest.raises(UsageError, match="nmu is ranked already"):
        with_unit(GRID, "nmu")


@pytest.mark.slow
def test_several_units_are_ranked_together() -> None:
    plan = ranking.plan(GRID, ["unit=relu,linear_no_bias", "budget=smoke"])
    assert {"single-relu", "single-linear_no_bias"} <= {want.cell.model.name for want in plan.cells}
    assert plan.overrides == ("unit=relu,linear_no_bias",)


def test_a_further_unit_has_the_cells_and_the_recipe_of_two_plain_ones() -> None:
    plan = compose.plan_experiment(with_unit(GRID, "relu"), ["budget=paper", "unit=relu"])
    settings = {(want.cell.task.setting()["operation"], str(want.words())) for want in plan.cells}
    assert len(settings) == len(plan.cells) == 9 * 5
    assert {want.cell.recipe.learning_rate for want in plan.cells} == {0.001}


def test_both_budgets_share_their_runs() -> None:
    assert GRID.budgets["paper"] | {"seeds": 0} == GRID.budgets["short"] | {"seeds": 0}
    plans = [compose.plan_experiment(GRID, [f"budget={budget}", "unit=nau"]) for budget in ("paper", "short")]
    assert [want.cell.digest for want in plans[0].cells] == [want.cell.digest for want in plans[1].cells]
