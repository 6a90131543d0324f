"""What the printed row of LSTM + NAC says about the size of the LSTM."""

import numpy as np

from nalu_bench.analysis.printed.published import read
from nalu_bench.analysis.protocols.bounds import least_bound
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


def test_no_prediction_below_the_bound_has_smaller_errors() -> None:
    numbers = np.arange(1000)
    for bound in (10, 512, 533):
        best = np.abs(np.minimum(numbers, bound) - numbers).sum()
        assert best == (999 - bound) * (1000 - bound) / 2
        assert best > sum(size * (error + HALF) for size, error in printed())
