"""The printed errors of Tables 2 and 10: copied from the source, in contradiction, and those of a constant twice."""

import math
import os

import numpy as np
import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis.printed import published
from nalu_bench.analysis.table.line import Printed
from nalu_bench.analysis.table.place import Place
from nalu_bench.datasets import images
from nalu_bench.papers.trask2018 import series_constant, series_printed
from nalu_bench.plan import experiment
from nalu_bench.plan.setting import Setting

FILES = {"Table 2": "trask2018_table2_mnist_mae.csv", "Table 10": "trask2018_table10_mnist_mse.csv"}
MODELS = {
    "LSTM": "image_lstm", "GRU": "image_gru", "RNN-tanh": "image_rnn_tanh", "RNN-ReLU": "image_rnn_relu",
    "NAC": "image_nac_xavier", "NALU": "image_nalu_xavier",
}  # fmt: skip
METRICS = {"mean absolute error": "mae", "mean squared error": "mse", "classification accuracy": "digits"}
PATH = experiment.load("trask2018/table2").published
PRINTED = published.typed(published.read(PATH))


def convert(name: str) -> pd.DataFrame:
    """A printed table in our keys; skips the test if its source is not at hand."""
    source = paths.CHECKOUT.parent / "shared" / "published" / FILES[name]
    if not source.exists():
        pytest.skip(f"the source {source.name} is not at hand")
    given = pd.read_csv(source, dtype=str, keep_default_na=False)
    lengths = given["split"].str.extract(r"length (\d+)")[0]
    keys = {
        "task": "digit_series", "setting": "length=" + lengths,
        "operation": given["operation"].map({"10-way count": "count", "sum": "sum"}), "split": "test",
        "model": given["model"].map(MODELS), "metric": given["metric"].map(METRICS), "printed": given["value"],
        "printed_low": "", "printed_high": "", "n_seeds": "", "printed_model": given["model"],
        "source": f"arXiv:1808.00508v1, {name}",
    }  # fmt: skip
    return pd.DataFrame(keys)[published.COLUMNS]


def converted() -> pd.DataFrame:
    """Both tables. The accuracies at one image stand in both, and in Table 10 with more digits."""
    absolute, squared = convert("Table 2"), convert("Table 10")
    return pd.concat([absolute[absolute["metric"] == "mae"], squared], ignore_index=True)


def test_the_numbers_beside_the_experiment_are_those_of_the_source() -> None:
    ours = published.read(PATH)
    numbers = ours[~ours["metric"].str.startswith("claim_")].reset_index(drop=True)
    pd.testing.assert_frame_equal(numbers, converted())
    assert numbers["metric"].value_counts().to_dict() == {"mae": 36, "mse": 36, "digits": 12}


def test_both_tables_print_the_same_accuracies() -> None:
    one, other = (table[table["metric"] == "digits"] for table in map(convert, FILES))
    np.testing.assert_allclose(one["printed"].astype(float), other["printed"].astype(float), atol=0.05)


def test_21_of_the_36_pairs_of_errors_contradict_each_other_by_more_than_rounding() -> None:
    found = series_printed.pairs(PRINTED)
    assert len(found) == 36
    assert sum(pair.ratio > 1 for pair in found.values()) == 22
    assert sum(pair.impossible for pair in found.values()) == 21
    assert sum(pair.impossible_halved for pair in found.values()) == 9


def test_a_pair_is_possible_if_numbers_that_round_to_it_are() -> None:
    rounded = series_printed.Pair("4.18", "17")  # the root of 17.4999 is 4.1833
    assert rounded.ratio > 1
    assert not rounded.impossible
    assert series_printed.Pair("4.19", "17").impossible


def test_errors_of_which_one_alone_is_printed_are_no_pair() -> None:
    place = Place("digit_series", operation="sum", metric="mae")
    assert not series_printed.pairs({place: Printed("1.0")})
    assert not series_printed.pairs({place: Printed("1.0"), place.at(metric="mse"): Printed("")})


STUCK = [
    ("sum", "image_lstm", 10), ("sum", "image_lstm", 100), ("sum", "image_lstm", 1000), ("sum", "image_gru", 1000),
    ("count", "image_lstm", 100), ("count", "image_lstm", 1000), ("count", "image_gru", 100),
    ("count", "image_gru", 1000),
]  # fmt: skip
"""Printed places of which both errors are those of a constant, twice."""


def printed(operation: str, model: str, metric: str, length: int) -> float:
    return PRINTED[Place("digit_series", Setting({"length": length}), operation, "test", model, metric)].number()


@pytest.mark.parametrize(("operation", "model", "length"), STUCK)
def test_both_errors_of_some_standard_cells_are_twice_those_of_a_constant(
    operation: str, model: str, length: int
) -> None:
    absolute, squared = (2 * error for error in series_constant.errors(operation, length))
    assert printed(operation, model, "mae", length) == pytest.approx(absolute, rel=0.012)
    assert printed(operation, model, "mse", length) == pytest.approx(squared, rel=0.004)


@pytest.mark.parametrize("length", [10, 100, 1000])
@pytest.mark.parametrize("model", ["image_lstm", "image_gru", "image_rnn_tanh"])
def test_the_squared_errors_of_three_standard_cells_on_sums_are_twice_those_of_a_constant(
    model: str, length: int
) -> None:
    squared = 2 * series_constant.errors("sum", length)[1]
    assert printed("sum", model, "mse", length) == pytest.approx(squared, rel=0.004)


@pytest.mark.parametrize("operation", ["count", "sum"])
@pytest.mark.parametrize("length", [1, 10, 33])
def test_the_errors_of_a_constant_are_those_of_simulated_series(operation: str, length: int) -> None:
    frequencies = np.array(series_constant.TEST_IMAGES) / sum(series_constant.TEST_IMAGES)
    digits = np.random.default_rng(0).choice(10, (100_000, length), p=frequencies)
    if operation == "sum":
        away = digits.sum(1) - 10 * (frequencies @ np.arange(10))
    else:
        away = np.stack([(digits == digit).sum(1) for digit in range(10)], 1) - 10 * frequencies
    simulated = np.abs(away).mean(), (away**2).mean()
    assert series_constant.errors(operation, length) == pytest.approx(simulated, rel=0.01)


@pytest.mark.skipif(not os.environ.get("NALU_BENCH_DATA"), reason="no folder with MNIST is named")
def test_the_constant_knows_the_labels_of_mnist() -> None:
    labels = images.dataset("mnist").load("test").labels
    assert tuple(np.bincount(labels)) == series_constant.TEST_IMAGES


def test_a_constant_has_the_spread_of_its_targets_at_the_length_of_training() -> None:
    digits, share = np.arange(10), np.array(series_constant.TEST_IMAGES) / 10_000
    variance = share @ digits**2 - (share @ digits) ** 2
    assert series_constant.errors("sum", 10)[1] == pytest.approx(10 * variance)
    assert math.sqrt(series_constant.errors("sum", 10)[1]) > series_constant.errors("sum", 10)[0]
