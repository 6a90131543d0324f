"""What printed numbers exclude: the size of the LSTM before a NAC, and one sum a in a × b and a²."""

import numpy as np
import pytest

from nalu_bench.analysis.printed.published import read
from nalu_bench.analysis.protocols.bounds import largest_product, least_bound
from nalu_bench.analysis.protocols.closed_form import Setting, errors
from nalu_bench.plan import compose, experiment

SPLITS = ("train", "validation", "test")
HALF = 0.05
"""Half a unit of the last printed digit."""


def printed() -> list[tuple[int, float]]:
    """Size of every split, and the printed error of LSTM + NAC."""
    (cell,) = (
        want.cell
        for want in compose.plan_experiment(experiment.load("trask2018/table3"), ["budget=paper"]).cells
        if want.cell.model.name == "text_lstm_nac"
    )
    table = read(experiment.load("trask2018/table3").published)
    errors = table[table["model"] == "text_lstm_nac"].set_index("split")["printed"].astype(float)
    return [(len(cell.task.members(split)), errors[split]) for split in SPLITS]  # type: ignore[attr-defined]


def test_the_printed_errors_need_534_hidden_units_after_the_last_token() -> None:
    assert sum(size for size, _ in printed()) == 1000
    assert least_bound([(size, error + HALF) for size, error in printed()], 999) == 534
    assert least_bound([(size, error - HALF) for size, error in printed()], 999) == 534
    assert "an LSTM of 534 units or more" in experiment.load("trask2018/table3").remarks[0]


def test_no_prediction_below_the_bound_has_smaller_errors() -> None:
    numbers = np.arange(1000)
    for bound in (10, 512, 533):
        best = np.abs(np.minimum(numbers, bound) - numbers).sum()
        assert best == (999 - bound) * (1000 - bound) / 2
        assert best > sum(size * (error + HALF) for size, error in printed())


SCORES = [(1, "zero"), (2, "zero"), (2, "mean")]


@pytest.mark.parametrize(("power", "below"), SCORES)
def test_the_product_stays_below_its_bound_and_nears_it_for_a_wide_b(power: int, below: str) -> None:
    for limits, terms, reached in [
        ((0.0, 1.0), (20, 1), 0.2),
        ((0.0, 1.0), (20, 5), 0.05),
        ((-1.0, 1.02), (40, 1), 0.9),
    ]:
        score = {}
        for operation in ("square", "mul"):
            found = errors(Setting(operation, "uniform", limits, limits, "all", terms), [])[0]
            linear, least = (found[name, "validation"][1] for name in ("linear", below))
            score[operation] = (linear / least) ** (power / 2)
        bound = largest_product(score["square"], power, below)
        assert reached * bound < score["mul"] < 1.1 * bound  # the expectations are means of a sample


@pytest.mark.parametrize(("power", "below"), SCORES)
def test_the_printed_errors_of_linear_exclude_the_same_sum_in_product_and_square(power: int, below: str) -> None:
    table = read(experiment.load("trask2018/table1").published)
    linear = table[(table["task"] == "arithmetic") & (table["model"] == "linear") & (table["split"] == "validation")]
    square, product = (float(linear.set_index("operation").loc[one, "printed"]) for one in ("square", "mul"))
    assert (square, product) == (4.3, 20.9)
    assert 100 * largest_product((square + HALF) / 100, power, below) < product - HALF
