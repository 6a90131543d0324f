"""Printed numbers are read as text and converted from their sources' words."""

import os
import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis.printed import published, recomputed, seeds
from nalu_bench.analysis.reports.success import Success
from nalu_bench.analysis.table import file
from nalu_bench.analysis.table.place import RECOMPUTED, Place
from nalu_bench.errors import UsageError
from nalu_bench.plan import experiment

convert = runpy.run_path(str(Path(__file__).with_name("converter.py")))["convert"]

SOURCES = paths.CHECKOUT.parent / "shared" / "published"
CONVERTED = {
    "madsen2020/table1": "madsen_table1.csv",
    "madsen2020/figure3a": "madsen_fig_hidden_size.csv",
    "madsen2020/mnist_product": "madsen_fig_sequential_mnist_prod.csv",
    "madsen2020/mnist_sum": "madsen_fig_sequential_mnist_sum.csv",
}
EXACT = {"experiment": ["Table 2, exact"]}
PLAIN_MEANS = {"metric": ["solved_at_iteration_sample_mean", "sparsity_error_sample_mean"]}
HEADER = "paper,experiment,task,operation,range/split,model,metric,value,ci_lower,ci_upper,n_seeds,source\n"


@pytest.mark.parametrize(("name", "file"), CONVERTED.items())
def test_the_numbers_beside_an_experiment_are_its_converted_source(name: str, file: str) -> None:
    if not (SOURCES / file).exists():
        pytest.skip(f"the source {file} is not at hand")
    ours, _ = apart(published.read(experiment.load(name).published))
    converted = convert(SOURCES / file)
    part = converted["task"].isin(ours["task"]) & converted["model"].isin(ours["model"])
    converted = converted[part].reset_index(drop=True)
    pd.testing.assert_frame_equal(ours, converted)


def apart(printed: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The printed numbers once, and those that stand a second time beside runs on the authors' streams."""
    again = printed["setting"] == "streams=stable_nalu"
    return printed[~again].reset_index(drop=True), printed[again].reset_index(drop=True)


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_the_same_numbers_stand_beside_the_runs_on_the_authors_streams(name: str) -> None:
    loaded = experiment.load(f"madsen2020/{name}")
    recomputed_means = [published.read_keyed(loaded.recomputed, recomputed.OWN_COLUMNS)] if name == "table2" else []
    for printed in [published.read(loaded.published), *recomputed_means]:
        once, again = apart(printed)
        cells = ["operation", "model"]
        repeated = once.merge(again[cells].drop_duplicates())
        pd.testing.assert_frame_equal(repeated, again.assign(setting=""))


def at_hand(file: str) -> Path:
    if not (SOURCES / file).exists():
        pytest.skip(f"the source {file} is not at hand")
    return SOURCES / file


def test_the_numbers_of_table_2_are_the_exact_ones_of_its_source() -> None:
    ours, _ = apart(published.read(experiment.load("madsen2020/table2").published))
    pd.testing.assert_frame_equal(ours, convert(at_hand("madsen_table2.csv"), EXACT))
    assert len(ours) == 44


def test_the_exact_numbers_of_table_2_round_to_the_printed_ones() -> None:
    source = at_hand("madsen_table2.csv")
    exact = convert(source, EXACT).set_index(published.KEYS)["printed"]
    rounded = convert(source, {"experiment": ["Table 2, printed"]}).set_index(published.KEYS)["printed"]
    assert set(exact.index) == set(rounded.index)
    for key, text in rounded.items():
        assert bool(text) == bool(exact[key])
        assert not text or float(exact[key]) == pytest.approx(float(text), rel=0.05)


def test_the_recomputed_means_of_table_2_are_those_of_their_source() -> None:
    path = experiment.load("madsen2020/table2").recomputed
    ours, _ = apart(published.read_keyed(path, recomputed.OWN_COLUMNS))
    theirs = convert(at_hand("madsen_sft_recomputed.csv"), PLAIN_MEANS).rename(columns={"printed": "recomputed"})
    columns = [*published.KEYS, "recomputed", "n_seeds", "printed_model", "source"]
    pd.testing.assert_frame_equal(ours[columns], ours[published.KEYS].merge(theirs, "left")[columns])
    printed, _ = apart(published.read(experiment.load("madsen2020/table2").published))
    means = printed[printed["metric"].isin(ours["metric"])]
    assert ours[published.KEYS].to_dict("records") == means[published.KEYS].to_dict("records")


def test_the_spread_of_recomputed_means_is_that_of_the_printed_t_intervals() -> None:
    """Two printed sparsity errors have Student's interval, so that their spread can be computed."""
    kind = Success(experiment.load("madsen2020/table2"))
    for operation, model in (("mul", "nmu"), ("add", "nau")):
        place = Place("arithmetic", operation=operation, split="extrapolation", model=model)
        given, plain = (kind.published[place.at(metric=f"sparsity_error_mean{suffix}")] for suffix in ("", RECOMPUTED))
        for bound in ("text", "low", "high"):
            assert float(getattr(plain, bound)) == pytest.approx(float(getattr(given, bound)), rel=1e-3)


def test_recomputed_means_stand_beside_the_printed_ones_under_their_own_metric(tmp_path: Path) -> None:
    printed, _ = apart(published.read(experiment.load("madsen2020/table1").published))
    assert recomputed.add_recomputed(printed, tmp_path / "table1.recomputed.csv") is printed
    path = tmp_path / "table1.recomputed.csv"
    keys = "ten_parameter,,mul,extrapolation"
    path.write_text(
        ",".join(recomputed.OWN_COLUMNS)
        + f"\n{keys},nmu,solved_at_mean,14100.0,1000,94,NMU,here\n{keys},nalu,solved_at_mean,,,0,NALU,here\n"
    )
    rows = recomputed.add_recomputed(printed, path)
    added = rows.iloc[-2:]
    assert set(added["metric"]) == {"solved_at_mean_recomputed"}
    assert added["printed"].tolist() == ["14100.0", ""]
    half = 1.985802 * 1000 / 94**0.5  # Student's 97.5 % quantile of 93 degrees of freedom
    assert float(added["printed_high"].iloc[0]) == pytest.approx(14100 + half, abs=0.01)
    assert added["printed_low"].iloc[1] == ""


def test_the_numbers_of_the_student_report_are_its_sources_with_the_weights_it_prints() -> None:
    ours = published.read(experiment.load("iit_report/tables").published)
    source = at_hand("iit_report.csv")
    weights = ours["metric"].str.startswith("W_")
    pd.testing.assert_frame_equal(ours[~weights], convert(source, {"metric": ["accuracy"]}))
    text = (SOURCES.parent / "seeds" / "iit-indore-report.txt").read_text(encoding="utf-8")
    assert ", ".join(ours["printed"][weights]) in text
    for percent, count in ours["printed"][~weights].value_counts().items():
        assert text.count(f"{percent}%") + text.count(f"{percent}\\%") >= count
    learned = pd.read_csv(source).query("metric != 'accuracy'")
    raw = learned.pivot(index="operation", columns="metric", values="value")
    recovered = np.tanh(raw["W_hat"]) / (1 + np.exp(-raw["M_hat"]))
    assert [f"{W:.4f}" for W in recovered] == ours["printed"][weights].tolist()


def test_a_part_of_a_source_is_converted_alone(tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    rows = [f"P,{table},static,mul,Extrapolation,NMU,success_rate,{table},NA,NA,10,page 5" for table in "12"]
    source.write_text(HEADER + "\n".join(rows) + "\n")
    assert convert(source, {"experiment": ["2"]})["printed"].tolist() == ["2"]


def test_converting_keeps_the_printed_text(tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    metric = '"error, % of a randomly initialised model (0 = perfect)"'
    source.write_text(HEADER + f"P,T,static,root,Extrapolation,None (linear),{metric},>999,NA,NA,NA,page 5\n")
    row = convert(source).iloc[0].to_dict()
    assert row == {
        "task": "arithmetic", "setting": "", "operation": "sqrt", "split": "extrapolation", "model": "linear",
        "metric": "score", "printed": ">999", "printed_low": "", "printed_high": "", "n_seeds": "",
        "printed_model": "None (linear)", "source": "page 5",
    }  # fmt: skip


def test_a_setting_behind_the_split_goes_to_its_own_column(tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    rows = [
        f"P,T,static,mul,Extrapolation{words},NMU,success_rate,1,NA,NA,10,page 5" for words in ("", "; hidden=4; L=2")
    ]
    source.write_text(HEADER + "\n".join(rows) + "\n")
    found = convert(source)
    assert found["split"].tolist() == ["extrapolation"] * 2
    assert found["setting"].tolist() == ["", "hidden=4;L=2"]


def test_a_word_without_a_translation_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    source.write_text(HEADER + "P,T,static,cube,Extrapolation,NAC,success_rate,0.5,NA,NA,100,page 5\n")
    with pytest.raises(UsageError, match="no translation for the operation cube"):
        convert(source)


def test_two_rows_for_one_number_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table1.published.csv"
    row = "arithmetic,,add,extrapolation,nau,success_rate,1.0,,,100,NAU,page 5\n"
    path.write_text(",".join(published.COLUMNS) + "\n" + row + row)
    with pytest.raises(UsageError, match="two rows for arithmetic"):
        published.read(path)


def test_figure_3a_has_a_printed_rate_with_its_own_number_of_seeds_for_every_model_and_size() -> None:
    rows = published.read(experiment.load("madsen2020/figure3a").published)
    rates = rows[rows["metric"] == "success_rate"]
    assert rates.groupby("model")["setting"].nunique().to_dict() == {"nac_mul": 9, "nmu": 9}
    for rate, count in zip(rates["printed"], rates["n_seeds"], strict=True):
        assert 26 <= int(count) <= 38
        assert float(rate) * int(count) == pytest.approx(round(float(rate) * int(count)), abs=1e-9)


def test_there_are_12_printed_numbers_of_madsens_table_1() -> None:
    assert len(apart(published.read(experiment.load("madsen2020/table1").published))[0]) == 12


@pytest.mark.parametrize(
    "read",
    [lambda path: published.read_keyed(path, ["task"]), seeds.read_seeds, file.read],
    ids=["printed", "seeds", "table"],
)
def test_a_pipe_in_the_place_of_a_table_is_refused_unread(read: Callable[[Path], object], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(UsageError, match=r"a\.csv must be a file, and is a pipe"):
        read(tmp_path / "a.csv")
