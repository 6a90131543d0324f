"""The printed numbers of Tables 1 and 6 to 9 are those of their transcriptions."""

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
