"""Data that stand in for those of the source: a report says so, compares nothing, and is never committed."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from nalu_bench.analysis import results
from nalu_bench.analysis.loaded import load
from nalu_bench.cli import main
from nalu_bench.plan import compose, experiment

NAME = "madsen2020/mnist_sum"
CHOSEN = [NAME, "budget=smoke", "model=image_nau,image_solved_sum"]
DATA = "the 8x8 digits of scikit-learn instead of MNIST"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of a user who has a first look."""
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    assert main(["run", *CHOSEN, "device.workers=1"]) == 0
    return tmp_path


@pytest.mark.slow
def test_a_report_of_them_says_so_everywhere_and_is_a_fault_among_committed_results(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", *CHOSEN]) == 0
    assert f"Data: {DATA}." in " ".join(capsys.readouterr().out.split())
    local = home / "results" / "local" / NAME
    assert f"Data: {DATA}." in (local / "table.md").read_text()
    table = pd.read_csv(local / "table.csv", keep_default_na=False)
    assert set(table["verdict"]) <= {"", "not comparable"}
    assert DATA in " ".join(table["note"])
    assert {cell["stands_in"] for cell in json.loads((local / "manifest.json").read_text())["cells"].values()} == {DATA}
    assert f"Data: {DATA}" in [text.get_text() for text in load(NAME, "smoke").figure().texts]
    assert main(["verify", str(local)]) == 0
    monkeypatch.chdir(local)
    assert main(["verify", "."]) == 0
    shutil.copytree(local, home / "results" / NAME)
    assert main(["verify", NAME]) == 1
    assert f"must be of the source's data, and these are of {DATA}" in capsys.readouterr().err


def test_they_go_to_local_whatever_the_budget(tmp_path: Path) -> None:
    found = experiment.load(NAME)
    plan = compose.plan_experiment(found, ["budget=desk"])
    words = ["budget=desk", "task.dataset=digits", "task.validation=200", "task.test_lengths=[1,10]"]
    small = replace(plan, cells=compose.plan_experiment(found, words).cells)
    assert results.target(small, tmp_path) == tmp_path / "local" / NAME
    assert results.target(plan, tmp_path) == tmp_path / NAME
