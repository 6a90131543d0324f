"""The printed numbers of the NPU's paper are those of their transcription."""

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis.printed.published import COLUMNS

SOURCES = paths.CHECKOUT.parent / "shared" / "published" / "npu2020_tables.csv"

OPERATIONS = {"add": "add", "mul": "mul", "div": "div", "root": "sqrt"}

SIMPLE = {
    "NPU": "two_layer-npu-heim_nau", "RealNPU": "two_layer-real_npu-heim_nau", "NMU": "two_layer-heim_nmu-heim_nau",
    "NALU": "two_layer-heim_nalu", "iNALU": "two_layer-heim_inalu", "Dense": "heim_dense",
}  # fmt: skip

LARGE = {
    "NPU": "two_layer-heim_nau_tenth-heim_npu_tenth", "RealNPU": "two_layer-heim_nau_tenth-heim_real_npu_tenth",
    "NALU": "two_layer-heim_nalu_tenth", "NMU": "two_layer-heim_nau_tenth-heim_nmu_tenth",
    "NaiveNPU": "two_layer-heim_nau_tenth-heim_naive_npu_tenth",
}  # fmt: skip


def number(value: float) -> str:
    """A printed number without the rounding that a subtraction leaves.

    >>> number(0.31 - 0.2), number(2.9e83), number(740.0)
    ('0.11', '2.9e83', '740')
    """
    return f"{value:.6g}".replace("e+", "e").replace("e-0", "e-")


def expected(artifact: str) -> pd.DataFrame:
    """The printed numbers of one table in our columns: of every error, and of what stands behind its ±."""
    theirs = pd.read_csv(SOURCES)
    simple = artifact == "simple"
    theirs = theirs[theirs["experiment"].str.startswith("Table A2") == simple]
    rows = []
    for row in theirs.to_dict("records"):
        split = "validation" if "training" in row["experiment"] else "extrapolation"
        where = "the repository, plots/arithmetic100_mse.tex" if split == "validation" else "Heim et al. 2020, Table 1"
        spread = row["value"] - row["ci_lower"] if row["ci_lower"] else row["ci_upper"] - row["value"]
        for end, value in (("", row["value"]), ("_spread", spread)):
            rows.append({
                "task": "npu_simple" if simple else "npu_arithmetic", "setting": "protocol=heim2020_code",
                "operation": OPERATIONS[row["operation"]], "split": split,
                "model": (SIMPLE if simple else LARGE)[row["model"]], "metric": ("mean" if simple else "best") + end,
                "printed": number(value), "printed_low": "", "printed_high": "", "n_seeds": str(row["n_seeds"]),
                "printed_model": row["model"], "source": "Heim et al. 2020, Table A2" if simple else where,
            })  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.mark.parametrize("artifact", ["simple", "large_scale"])
def test_every_printed_number_stands_beside_its_experiment(artifact: str) -> None:
    if not SOURCES.exists():
        pytest.skip("the sources are not at hand")
    file = paths.experiments_dir() / "heim2020" / f"{artifact}.published.csv"
    ours = pd.read_csv(file, dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(ours, expected(artifact))


def test_what_stands_behind_plus_and_minus_is_the_printed_text() -> None:
    """Some of them, as plots/simple_err_table.tex and plots/arithmetic100_val.tex have them."""
    file = paths.experiments_dir() / "heim2020"
    simple, large = (
        pd.read_csv(file / f"{name}.published.csv", dtype=str).set_index(
            ["operation", "split", "printed_model", "metric"]
        )
        for name in ("simple", "large_scale")
    )
    text = simple["printed"]
    assert text["add", "extrapolation", "NPU", "mean"] == "0.2"
    assert text["add", "extrapolation", "NPU", "mean_spread"] == "0.11"
    assert text["div", "extrapolation", "Dense", "mean_spread"] == "0.23"
    text = large["printed"]
    assert text["mul", "extrapolation", "NALU", "best"] == "2.9e83"
    assert text["div", "extrapolation", "NPU", "best_spread"] == "1e-7"
    assert text["sqrt", "validation", "NaiveNPU", "best_spread"] == "9.3e24"
