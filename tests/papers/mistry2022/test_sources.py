"""The printed numbers of NALM's benchmark are those of their transcriptions."""

import re

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.plan import compose, experiment
from nalu_bench.tasks.ranges import intervals_of

SOURCES = paths.CHECKOUT.parent / "shared" / "published"

UNITS = {
    "NAC.": "single_nac_mul", "NALU": "single_nalu", "NALU (6 params)": "single_nalu", "NMU": "single_nmu",
    "NPU": "single-npu", "Real NPU": "single-real_npu", "sNMU": "single-snmu", "NAU": "single_nau",
    "NAU (2 params)": "single_nau", "MCFC": "single-mcfc", "MulMCFC": "single-mul_mcfc",
    "MulMCFC (sign: iNALU)": "single-mul_mcfc_inalu", "MulMCFC (sign: Real NPU)": "single-mul_mcfc_real_npu",
}  # fmt: skip
"""Printed unit -> model; a multilayer perceptron is no unit."""

RANGE = re.compile(r"U\[(-?[\d.]+),(-?[\d.]+)\)$")

BEFORE_MARCH_2022 = "success_rate_mse_1e-5"
"""By the criterion of plot_results.r of NALM's benchmark until commit 53a51cc, which simulates thresholds."""

LECTURE = "Neural Networks Cannot Do Math"
"""The lecture of 2023 trains on U[1, 2) alone and states ε = 1e-5."""


def printed(file: str, column: str, source: str, metric: str = "success_rate") -> pd.DataFrame:
    """The printed success rates of single modules in our columns; the training range stands in `column`."""
    theirs = pd.read_csv(SOURCES / f"{file}.csv", dtype=str)
    single = theirs["task"].str.startswith("single module") & theirs["model"].isin(UNITS)
    theirs = theirs[single & theirs["metric"].str.startswith("success rate")]
    interpolation = theirs["split"].str.startswith("interpolation")  # in the lecture alone
    theirs = theirs[~interpolation]
    lecture = theirs["source"].str.contains(LECTURE)
    ends = theirs[column].mask(lecture, "U[1,2)").str.extract(RANGE)
    return pd.DataFrame({
        "task": "arithmetic", "setting": "range=[" + ends[0] + ", " + ends[1] + "]", "operation": theirs["operation"],
        "split": "extrapolation", "model": theirs["model"].map(UNITS),
        "metric": lecture.map({True: "success_rate", False: metric}), "printed": theirs["value"],
        "printed_low": theirs["ci_lower"], "printed_high": theirs["ci_upper"], "n_seeds": theirs["n_seeds"],
        "printed_model": theirs["model"],
        "source": lecture.map({True: "Mistry, lecture of February 2023", False: source}),
    })[ends[0].notna()]  # fmt: skip


def expected() -> pd.DataFrame:
    """The slides, then what the note and the lecture alone print: the numbers of the NMU and the NAU are the same."""
    slides = printed("mistry_slides_success", "task", "Mistry, slides of January 2021", BEFORE_MARCH_2022)
    note = printed("nalm_mcfc_note", "split", "Mistry 2023, note on MCFC, Figures 1 and 2")
    both = pd.concat([slides[slides["operation"] == "mul"], note, slides[slides["operation"] == "add"]])
    return both.drop_duplicates(["setting", "operation", "model"]).reset_index(drop=True)


def test_every_printed_success_rate_of_a_single_module_stands_beside_the_experiment() -> None:
    if not SOURCES.exists():
        pytest.skip("the sources are not at hand")
    ours = pd.read_csv(paths.experiments_dir() / "mistry2022" / "single_module.published.csv", dtype=str)
    pd.testing.assert_frame_equal(ours, expected(), check_dtype=False)


def test_slides_and_note_print_the_same_for_the_nmu() -> None:
    if not SOURCES.exists():
        pytest.skip("the sources are not at hand")
    slides = printed("mistry_slides_success", "task", "")
    note = printed("nalm_mcfc_note", "split", "")
    rates = [dict(zip(each["setting"], each["printed"], strict=True))
             for each in (frame[frame["model"] == "single_nmu"] for frame in (slides, note))]  # fmt: skip
    assert rates[0] == rates[1]
    assert len(rates[0]) == 9


NETWORKS = {
    "NAU-NMU": ("nmu", ""), "NAU-sNMU": ("snmu", ""), "NAU-sNMU, PCC-MSE loss": ("snmu", ";first=correlation"),
    "beta-init NAU-sNMU, PCC-MSE loss (bNAU)": ("snmu_beta", ";first=correlation"),
}  # fmt: skip
"""Printed network -> model, and what its setting has beside the range."""


def test_every_printed_success_rate_of_a_network_stands_beside_the_experiment() -> None:
    if not SOURCES.exists():
        pytest.skip("the sources are not at hand")
    theirs = pd.read_csv(SOURCES / "mistry_slides_success.csv", dtype=str)
    theirs = theirs[theirs["task"].str.startswith("two-layer")]
    ends, models = theirs["task"].str.extract(RANGE), pd.DataFrame(theirs["model"].map(NETWORKS).tolist(), theirs.index)
    expected = pd.DataFrame({
        "setting": "range=[" + ends[0] + ", " + ends[1] + "]" + models[1], "model": models[0],
        "printed": theirs["value"], "printed_low": theirs["ci_lower"], "printed_high": theirs["ci_upper"],
        "n_seeds": theirs["n_seeds"], "printed_model": theirs["model"],
    })  # fmt: skip
    ours = pd.read_csv(paths.experiments_dir() / "mistry2022" / "arithmetic_dataset.published.csv", dtype=str)
    pd.testing.assert_frame_equal(ours[list(expected)], expected.reset_index(drop=True), check_dtype=False)
    assert len(ours) == 36


def test_the_thresholds_of_the_networks_are_theirs_and_stand_on_the_page() -> None:
    if not SOURCES.exists():
        pytest.skip("the sources are not at hand")
    theirs = pd.read_csv(SOURCES / "snmu_thresholds.csv").set_index(["range.a", "range.b", "range.mirror"])["threshold"]
    one = experiment.load("mistry2022/arithmetic_dataset")
    page = one.page.read_text(encoding="utf-8")
    for want in compose.plan_experiment(one, ["model=nmu"]).cells:
        *mirrored, (low, high) = intervals_of(want.cell.task)["task.extrapolation"]
        threshold = theirs[(low, high, bool(mirrored))]
        assert want.cell.task.threshold("authors", samples=100_000) == pytest.approx(threshold, rel=0.02)
        assert f"{threshold:#.3g}".rstrip(".") in page
