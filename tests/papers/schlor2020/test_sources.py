"""The printed numbers are those of the authors' result files, and their protocol is what these files show."""

import numpy as np
import pandas as pd
import pytest

from nalu_bench import paths
from tests.papers.schlor2020.authors import sample

SOURCE = paths.CHECKOUT.parent / "shared" / "published" / "inalu.csv"

UNITS = {
    "NALU (m) matrix gate": "schlor_nalu_matrix", "NALU (v) vector gate": "schlor_nalu_vector",
    "iNALU (sw) shared weights": "inalu_shared", "iNALU (iw) independent weights": "inalu",
}  # fmt: skip

SHAPES = {1: "single-", 2: "single-", 3: "", 4: "two_layer-"}
"""Experiment -> the start of the names of its models."""

METRICS = ["success_rate", "mse_median", "mse_min"]


def expected(number: int) -> pd.DataFrame:
    """The printed numbers of an experiment in our columns; an infinite error is left empty."""
    theirs = pd.read_csv(SOURCE, dtype=str)
    theirs["metric"] = theirs["metric"].replace("loss_median", "mse_median")
    theirs = theirs[(theirs["experiment"] == f"exp{number}") & theirs["metric"].isin(METRICS)].reset_index(drop=True)
    means = theirs["model"].str.extract(r"g=(-?\d), m=(-?\d), w=(-?\d), std=([\d.]+)")
    if number == 3:
        setting = "range=N(0,1²) on (-2,2);means=[" + means[0] + ", " + means[1] + ", " + means[2] + "]"
        setting += ";deviation=" + means[3]
        model = pd.Series("inalu_initialised", index=theirs.index)
    else:
        setting = "range=" + theirs["ranges"].str.extract(r"^train (.*);")[0]
        model = SHAPES[number] + theirs["model"].map(UNITS)
    split = theirs["ranges"].str.contains("test interpolation").map({True: "validation", False: "extrapolation"})
    return pd.DataFrame({
        "task": "inalu_arithmetic", "setting": setting, "operation": theirs["operation"], "split": split,
        "model": model, "metric": theirs["metric"], "printed": theirs["value"].replace("inf", ""),
        "printed_low": "", "printed_high": "",
        "n_seeds": theirs["n_seeds"], "printed_model": theirs["model"],
        "source": f"github.com/daschloer/inalu at e41d80d, experiment_runs/exp{number}",
    })  # fmt: skip


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_every_printed_number_stands_beside_its_experiment(number: int) -> None:
    if not SOURCE.exists():
        pytest.skip("the source is not at hand")
    path = paths.experiments_dir() / "schlor2020" / f"experiment{number}.published.csv"
    printed = pd.read_csv(path, dtype=str, keep_default_na=False)
    printed = printed[~printed["metric"].str.startswith("claim_")]
    pd.testing.assert_frame_equal(printed.reset_index(drop=True), expected(number))


MEAN_SQUARES = {2: {100: 8.80120e5, 101: 1.36181e4}, 10: {100: 9.55507e3, 101: 3.96319e4}}
"""Inputs -> seed -> the final error of the NALU (m) on quotients of U(-5,5), experiments 1 and 2, their result files.

The NALU learns nothing there, so that this is nearly the mean square of the targets.
"""


@pytest.mark.parametrize(("features", "seed"), [(2, 100), (2, 101), (10, 100), (10, 101)])
def test_experiment_1_has_two_inputs_and_experiment_2_ten_of_which_the_first_two_count(
    features: int, seed: int
) -> None:
    """Their code draws all data from numpy's generator with the seed of the run, so that they can be drawn again."""
    found = {}
    for inputs in (2, 3, 10):
        generator = np.random.RandomState(seed)
        for _ in ("training", "interpolation"):
            x = sample(generator, ["uniform", -5, 5], inputs)
        a, b, *_ = x.T
        found[inputs] = np.square(a / b).mean()
    printed = MEAN_SQUARES[features][seed]
    assert found[features] == pytest.approx(printed, rel=1e-3)
    assert all(value != pytest.approx(printed, rel=0.05) for inputs, value in found.items() if inputs != features)


def test_the_printed_numbers_of_experiment_3_speak_against_the_published_script() -> None:
    """They depend on the first weights, in spite of a reinitialisation, and explode as shared weights make them."""
    printed = pd.read_csv(paths.experiments_dir() / "schlor2020" / "experiment3.published.csv")
    printed = printed[printed["operation"].isin(["add", "sub"])]
    means = printed["setting"].str.extract(r"means=\[(-?\d), (-?\d), (-?\d)\];deviation=(.*)").astype(float)
    solved = (printed["metric"] == "success_rate") & (printed["split"] == "validation")
    for chosen, expected in (
        (solved & (means[1] == 1) & (means[2] == -1), (0, 132)),
        (solved & (means[1] == -1) & (means[3] == 0.1), (169, 170)),
    ):
        seeds = printed["n_seeds"][chosen]
        assert ((printed["printed"][chosen] * seeds).round().sum(), seeds.sum()) == expected
    inside, outside = (
        printed["printed"][
            (printed["metric"] == "mse_median") & (printed["split"] == split) & (means[1] == 1) & (means[2] == 1)
        ]
        for split in ("validation", "extrapolation")
    )
    assert (len(inside), (inside < 0.01).sum(), (outside > 1e9).sum()) == (12, 12, 11)
    assert outside.max() == pytest.approx(6.6e16, rel=0.01)
    assert outside.max() < np.exp(40)


def test_the_extrapolation_of_experiment_3_is_two_normals() -> None:
    """The errors of networks that learn nothing are the mean squares of targets: 7,500 for sums, 1.2e7 for products.

    Of 100 inputs 50 belong to a and 25 to b. N(10, 1) alone would give sums near 750, and mean squares of 560,000.
    """
    generator = np.random.default_rng(0)
    x = generator.normal(10, 1, (20_000, 75)) * generator.choice([-1, 1], (20_000, 75))
    a, b = x[:, :50].sum(1), x[:, 50:].sum(1)
    assert np.square(a + b).mean() == pytest.approx(7530, rel=0.05)
    assert np.square(a * b).mean() == pytest.approx(1.25e7, rel=0.1)
