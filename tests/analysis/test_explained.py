"""Explanations of verdicts are those of the committed tables."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis import folders
from nalu_bench.analysis.explained import explain
from nalu_bench.analysis.measure.manifest import MANIFEST, read_manifest, sealed
from nalu_bench.errors import UsageError
from nalu_bench.plan import experiment

TABLE6 = experiment.load("trask2018/table6")
FOLDER = paths.results_dir() / TABLE6.name


def test_an_explanation_holds_printed_ours_verdict_reason_and_source() -> None:
    one = experiment.load("madsen2020/table1")
    wanted = {"model": "nac_mul", "metric": "success_rate", "verdict": "inconclusive"}
    text = explain(one, paths.results_dir() / one.name, wanted)
    head, printed, ours, verdict, because, *_ = text.splitlines()
    assert head == "task ten_parameter, operation mul, split extrapolation, model nac_mul, metric success_rate"
    assert printed.startswith("  printed  0.13 ")
    assert ours.endswith("100 seeds of 200,000 steps")
    assert verdict.split() == ["verdict", "inconclusive,", "11", "points", "better"]
    assert because.startswith("  because  24 of 100 against 13 of 100")
    assert "experiments/madsen2020/table1.md" in text


def test_every_printed_number_is_explained_in_a_hundred_columns() -> None:
    text = explain(TABLE6, FOLDER, {})
    table = pd.read_csv(paths.results_dir() / "trask2018/table6/table.csv", dtype={"printed": str})
    assert text.count("\n  printed ") == table["printed"].notna().sum()
    assert max(map(len, text.split("Look deeper")[0].splitlines())) <= 100


def test_a_claim_is_explained_by_what_tests_it_and_our_limit_before_our_number() -> None:
    table5 = experiment.load("trask2018/table5")
    text = explain(table5, paths.results_dir() / table5.name, {"metric": "claim_fail"})
    names = [line.split()[0] for line in text.split("\n\n")[0].splitlines() if line[:3].strip()]
    assert names == ["task", "printed", "test", "limit", "ours", "verdict", "because"]
    assert "\n  test     smallest share of failing seeds of a non-linear activation" in text
    assert "\n  limit    at least 0.5 (ours)\n" in text


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"modle": "linear"}, "unknown column 'modle'; did you mean 'model'"),
        ({"model": "nalue"}, "unknown model 'nalue'; did you mean 'nalu'"),
        (
            {"model": "nalu", "metric": "claim_nac"},
            "no printed number of trask2018/table6 has model=nalu metric=claim_nac",
        ),
    ],
)
def test_words_that_no_number_has_are_refused(wanted: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        explain(TABLE6, FOLDER, wanted)


def test_a_word_that_no_number_can_have_is_to_be_left_out() -> None:
    table5 = experiment.load("trask2018/table5")
    with pytest.raises(UsageError, match="operation=add must be left out: no verdict here is on one operation"):
        explain(table5, paths.results_dir() / table5.name, {"operation": "add"})


def test_results_of_another_experiment_are_refused(tmp_path: Path) -> None:
    (tmp_path / "trask2018").mkdir()
    (tmp_path / "trask2018" / "table6").symlink_to(paths.results_dir() / "madsen2020" / "table1")
    with pytest.raises(UsageError, match="table6 must hold results of trask2018/table6, and holds those of madsen2020"):
        folders.find(TABLE6, tmp_path)


def test_an_edited_table_is_refused(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "it")
    text = (tmp_path / "it" / "table.csv").read_text()
    (tmp_path / "it" / "table.csv").write_text(text.replace(",differs,", ",agrees,"))
    with pytest.raises(UsageError, match=r"it is damaged \(table.csv must have the SHA-256 of manifest.json"):
        explain(TABLE6, tmp_path / "it", {})


def test_without_results_and_without_printed_numbers_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "shipped_results_dir", lambda: tmp_path / "none")
    with pytest.raises(UsageError, match="there are no results of trask2018/table6; first: nalu-bench run"):
        folders.find(TABLE6, tmp_path)
    with pytest.raises(UsageError, match="unknown budget with results of trask2018/table6 'smoke'"):
        folders.find(TABLE6, paths.results_dir(), "smoke")
    ours = pd.read_csv(FOLDER / "table.csv", dtype=str, keep_default_na=False).assign(printed="", verdict="")
    ours.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / MANIFEST).write_text(json.dumps(read_manifest(FOLDER) | {"files": sealed(tmp_path)}))
    with pytest.raises(UsageError, match="trask2018/table6 has no printed numbers"):
        explain(TABLE6, tmp_path, {})
