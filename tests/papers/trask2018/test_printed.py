"""The printed numbers of Tables 1 and 6 to 9 and of Figure 5 are those of their transcriptions."""

import pandas as pd
import pytest

from nalu_bench import paths

SOURCES = paths.CHECKOUT.parent / "shared" / "published"
TABLES = {
    "table1": (["relative"], "table1"),
    "table6": (["mse", "untrained"], "table6_static_raw_mse"),
    "table8": (["mse", "untrained"], "table8_recurrent_raw_mse"),
    "table6, percent": (["relative"], "table7_static_relative"),
    "table8, percent": (["relative"], "table9_recurrent_relative"),
}
HALVES = {"subsections": "static", "recurrent_subsections": "recurrent"}
SPLITS = {"interpolation": "validation", "extrapolation": "extrapolation"}


@pytest.mark.parametrize("name", TABLES)
def test_every_printed_number_stands_beside_its_experiment(name: str) -> None:
    metrics, file = TABLES[name]
    source = SOURCES / f"trask2018_{file}.csv"
    if not source.exists():
        pytest.skip(f"the source {source.name} is not at hand")
    theirs = pd.read_csv(source, dtype=str)
    split = theirs["split"].str.split(" ").str[0].map(SPLITS)
    theirs = theirs.assign(split=split, operation=theirs["operation"].replace("root", "sqrt").str.split(" ").str[0])
    theirs = theirs[split.notna()]
    ours = pd.read_csv(paths.experiments_dir() / "trask2018" / f"{name.split(',')[0]}.published.csv", dtype=str)
    ours = ours[ours["metric"].isin(metrics)].assign(half=ours["task"].map(HALVES))
    found = dict(zip(keys(ours, "half", "printed_model"), ours["printed"], strict=True))
    assert found == dict(zip(keys(theirs, "task", "model"), theirs["value"], strict=True))


def keys(frame: pd.DataFrame, half: str, model: str) -> list[tuple[str, ...]]:
    return list(frame[[half, "operation", "split", model]].itertuples(index=False, name=None))


def test_every_reward_that_was_read_off_figure_5_stands_beside_its_experiment() -> None:
    source = SOURCES / "trask2018_fig5_gridworld.csv"
    if not source.exists():
        pytest.skip(f"the source {source.name} is not at hand")
    theirs = pd.read_csv(source)
    assert theirs["metric"].str.contains("digitised from raster, +-0.02", regex=False).all()
    printed = pd.read_csv(paths.experiments_dir() / "trask2018" / "figure5.published.csv")
    ours = printed[printed["metric"] == "reward"]
    found = dict(zip(zip(ours["printed_model"], ours["setting"].str.split(";").str[-1], strict=True),
                     ours["printed"].astype(float), strict=True))  # fmt: skip
    assert found == dict(zip(zip(theirs["model"], theirs["operation"], strict=True), theirs["value"], strict=True))
