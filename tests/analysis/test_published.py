"""Printed numbers: read as text, converted from their sources' words."""

from pathlib import Path

import pandas as pd
import pytest

from nalu_bench import experiment, paths
from nalu_bench.analysis import published
from nalu_bench.errors import UsageError

SOURCES = paths.CHECKOUT.parent / "shared" / "published"
CONVERTED = {"madsen2020/table1": "madsen_table1.csv", "trask2018/table1": "nalu_table1.csv"}
HEADER = "paper,experiment,task,operation,range/split,model,metric,value,ci_lower,ci_upper,n_seeds,source\n"


@pytest.mark.parametrize(("name", "file"), CONVERTED.items())
def test_the_numbers_beside_an_experiment_are_its_converted_source(name: str, file: str) -> None:
    if not (SOURCES / file).exists():
        pytest.skip(f"the source {file} is not at hand")
    ours = published.read(experiment.load(name).published)
    converted = published.convert(SOURCES / file)
    converted = converted[converted["task"].isin(ours["task"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(ours, converted)


def test_converting_keeps_the_printed_text(tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    metric = '"error, % of a randomly initialised model (0 = perfect)"'
    source.write_text(HEADER + f"P,T,static,root,Extrapolation,None (linear),{metric},>999,NA,NA,NA,page 5\n")
    row = published.convert(source).iloc[0].to_dict()
    assert row == {
        "task": "arithmetic", "setting": "", "operation": "sqrt", "split": "extrapolation", "model": "linear",
        "metric": "score", "printed": ">999", "printed_low": "", "printed_high": "", "n_seeds": "",
        "printed_model": "None (linear)", "source": "page 5",
    }  # fmt: skip


def test_a_word_without_a_translation_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    source.write_text(HEADER + "P,T,static,cube,Extrapolation,NAC,success_rate,0.5,NA,NA,100,page 5\n")
    with pytest.raises(UsageError, match="no translation for the operation cube"):
        published.convert(source)


def test_two_rows_for_one_number_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table1.published.csv"
    row = "arithmetic,,add,extrapolation,nau,success_rate,1.0,,,100,NAU,page 5\n"
    path.write_text(",".join(published.COLUMNS) + "\n" + row + row)
    with pytest.raises(UsageError, match="two rows for arithmetic"):
        published.read(path)


def test_there_are_48_printed_static_scores_and_12_numbers_of_madsens_table_1() -> None:
    assert len(published.read(experiment.load("trask2018/table1").published)) == 48
    assert len(published.read(experiment.load("madsen2020/table1").published)) == 12
