"""The printed curves of Figures 4 and 6 are those of their transcription, in our keys."""

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis.printed import published

SOURCE = paths.CHECKOUT.parent / "shared" / "published" / "trask2018_fig4_fig6_program_evaluation.csv"
TASKS = {"figure4": "programs", "figure6": "program_sums"}
NAMES = {"figure4": "Figure 4", "figure6": "Figure 6 (appendix E)"}
SPLITS = {"train_2digits": "train", "validation_3digits": "validation", "test_4digits": "test"}
WHERE = "arXiv:1808.00508v1"
MODELS = {"NALU": "program_nalu", "DNC": "program_dnc", "LSTM": "program_lstm", "UGRNN": "program_ugrnn_relu"}


def converted(given: pd.DataFrame, figure: str) -> pd.DataFrame:
    """The points of a figure in our keys: those at round steps, and the last ones with their bands, in order.

    A band was read off at its own last point. Where that is so far from the curve's that the curve lies outside of it,
    it is left out.
    """
    mine = given[given["experiment"] == NAMES[figure]].reset_index(drop=True)
    step = mine["metric"].str.extract(r"at step (\d+)$")[0].fillna("last")
    last = mine["metric"].str.extract(r"last point \((step \d+)\)")[0].fillna("")
    value, low, high = (pd.to_numeric(mine[name], errors="coerce") for name in ("value", "ci_lower", "ci_upper"))
    inside = (low <= value) & (value <= high)
    keys = {
        "task": TASKS[figure], "setting": "step=" + step, "operation": "", "split": mine["split"].map(SPLITS),
        "model": mine["model"].map(MODELS), "metric": "digits", "printed": mine["value"],
        "printed_low": mine["ci_lower"].where(inside, ""), "printed_high": mine["ci_upper"].where(inside, ""),
        "n_seeds": mine["n_seeds"], "printed_model": mine["model"],
        "source": [f"{WHERE}, {NAMES[figure][:8]}, vector paths" + (f", {at}" if at else "") for at in last],
    }  # fmt: skip
    return pd.DataFrame(keys)[published.COLUMNS]


@pytest.mark.parametrize("figure", TASKS)
def test_the_points_beside_the_experiment_are_those_of_the_source(figure: str) -> None:
    if not SOURCE.exists():
        pytest.skip(f"the source {SOURCE.name} is not at hand")
    ours = published.read(paths.experiments_dir() / "trask2018" / f"{figure}.published.csv")
    numbers = ours[ours["metric"] == "digits"].reset_index(drop=True)
    expected = converted(pd.read_csv(SOURCE, dtype=str, keep_default_na=False), figure)
    pd.testing.assert_frame_equal(numbers, expected)
    assert len(numbers) == 4 * 3 * {"figure4": 8, "figure6": 8}[figure]


def test_a_point_is_converted_with_its_step_or_its_band() -> None:
    columns = ["experiment", "split", "model", "metric", "value", "ci_lower", "ci_upper", "n_seeds"]
    last = "% digits correct, last point (step 1166547)"
    rows = [
        ["Figure 4", "test_4digits", "NALU", "% digits correct at step 50000", "51.3", "NA", "NA", "10"],
        ["Figure 4", "train_2digits", "DNC", last, "99.8", "99.0", "99.9", "10"],
        ["Figure 4", "train_2digits", "DNC", last, "99.8", "99.0", "99.7", "10"],
        ["Figure 6 (appendix E)", "train_2digits", "DNC", "% digits correct at step 10000", "52.3", "NA", "NA", "10"],
    ]  # fmt: skip
    made = converted(pd.DataFrame(rows, columns=columns), "figure4")
    keys = ["task", "setting", "split", "model", "printed", "printed_low", "printed_high", "source"]
    paths_ = f"{WHERE}, Figure 4, vector paths"
    assert made[keys].to_numpy().tolist() == [
        ["programs", "step=50000", "test", "program_nalu", "51.3", "", "", paths_],
        ["programs", "step=last", "train", "program_dnc", "99.8", "99.0", "99.9", f"{paths_}, step 1166547"],
        ["programs", "step=last", "train", "program_dnc", "99.8", "", "", f"{paths_}, step 1166547"],
    ]  # fmt: skip
