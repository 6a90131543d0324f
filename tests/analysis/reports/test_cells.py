"""A sweep from the command line ends in a table, a figure and a frame, whatever its tasks."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from reported import cells_of

import nalu_bench
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.training import loop

WORDS = ["task=arithmetic", "task.operation=add,sub", "model=nac,nau", "budget=smoke", "compile=false"]
NAME = "add-sub_nac-nau-e0edb2"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    return tmp_path


def test_a_sweep_ends_in_its_table_and_is_reported_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-m", *WORDS, "device.workers=1"]) == 0
    told = capsys.readouterr().out
    for words in ("a + b", "a − b", "NAC₊", "NAU", "Solved", "extrapolation mse", f"local/sweeps/{NAME}"):
        assert words in told, words
    folder = home / "results" / "local" / "sweeps" / NAME
    names = {path.name for path in folder.iterdir()}
    assert names >= {"table.csv", "table.md", "table.tex", "runs.csv", "figure.png", "report.html", "manifest.json"}
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for again in (["--last"], ["-m", *WORDS], [f"sweeps/{NAME}"]):
        assert main(["report", *again]) == 0
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert f"made by: nalu-bench report budget=smoke {' '.join(WORDS[:3])}" in before["table.md"].decode()
    found = nalu_bench.load(f"sweeps/{NAME}")
    assert len(found.table[found.table["metric"] == "success_rate"]) == 4
    assert main(["verify", str(folder)]) == 0
    assert str(found.report) == found.report.terminal()
    for again in ([f"sweeps/{NAME}"], [f"name={NAME}"]):
        capsys.readouterr()
        assert main(["status", *again]) == 0
        assert "total: 4/4 cells" in capsys.readouterr().out
    assert main(["run", "-m", *WORDS[1:], f"name={NAME}", "recipe.batch_size=4"]) == 2
    assert f"the name {NAME} must be another one" in capsys.readouterr().err


def test_models_with_one_label_have_their_names_beside_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-m", "task=arithmetic", "unit=nac,nac_xavier", "budget=smoke", "device.workers=1"]) == 0
    told = capsys.readouterr().out
    assert "NAC₊ (nac)" in told
    assert "NAC₊ (two_layer-nac_xavier)" in told


def test_a_cell_that_failed_reads_as_nothing_measured_and_not_as_0(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start = loop._Loop.__init__

    def begin(loop: Any, request: Any, *rest: Any) -> None:
        if request.cell.model.name == "nac":
            raise RuntimeError("out of luck")
        start(loop, request, *rest)

    monkeypatch.setattr(loop._Loop, "__init__", begin)
    assert main(["run", "-m", "task=ten_parameter", "model=nac,nau", "budget=smoke", "device.workers=1"]) == 1
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[2:4] for row in rows if row[:1] == ["NAC₊"]] == [["–", "–"]]
    assert [row[2:4] for row in rows if row[:1] == ["NAU"]] == [["0", "%"]]


def test_python_trains_what_is_missing_and_returns_what_load_returns(home: Path) -> None:
    settings = {"budget": "smoke", "compile": "false", "seeds": 2, "name": "mine"}
    found = nalu_bench.run("task=identity", "model=mlp", "model.activation=relu,tanh", "device.workers=1", **settings)
    (table,) = found.report.tables
    assert [row[0] for row in cells_of(table)] == ["activation=relu", "activation=tanh"]
    assert "Solved" not in table.header, "the identity has no criterion"
    assert set(found.runs["seed"]) == {0, 1}
    trained = {path: path.stat().st_mtime_ns for path in (home / "runs").rglob("runs.parquet")}
    again = nalu_bench.run("task=identity", "model=mlp", "model.activation=relu,tanh", "device.workers=1", **settings)
    assert {path: path.stat().st_mtime_ns for path in (home / "runs").rglob("runs.parquet")} == trained
    pd.testing.assert_frame_equal(again.table, nalu_bench.load("sweeps/mine").table)


def test_a_sweep_takes_runs_of_committed_results_that_its_criterion_judged(home: Path) -> None:
    words = ["task=arithmetic", "model=nac", "budget=smoke", "compile=false", "device.workers=1"]
    assert main(["run", "-m", *words, "name=first"]) == 0
    local, shared = (home / "results" / folder for folder in ("local/sweeps/first", "mine/table"))
    shared.parent.mkdir(parents=True)
    local.rename(shared)
    (home / "runs").rename(home / "elsewhere")
    found = nalu_bench.run(*words, name="second")
    assert not (home / "runs").exists(), "nothing was trained"
    assert len(found.runs) == 2
    manifest = json.loads((shared / "manifest.json").read_text())
    for cell in manifest["cells"].values():
        cell["criteria"] = {"criterion": "authors", "threshold": 1.0}
    (shared / "manifest.json").write_text(json.dumps(manifest))
    nalu_bench.run(*words, name="third")
    assert (home / "runs").exists(), "runs that another criterion judged are trained anew"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["name=a/b", *WORDS], "name must begin with"),
        (["name=last", *WORDS], "and not be 'last', got 'last'"),
        (["name=..", *WORDS], "name must begin with"),
        (["unit=[]"], "unit= must name at least one unit"),
        (["-m", "model=nac,nau", "seeds=3"], "first: nalu-bench run -m budget=short model=nac,nau seeds=3"),
        (["name=first"], "unknown sweep 'sweeps/first'"),
        (["name=", *WORDS], "name must be given once and not be empty"),
        (["sweeps/none"], "unknown sweep 'sweeps/none'"),
        (["--last"], "there is no sweep yet"),
    ],
)
def test_a_wrong_name_is_refused(words: list[str], told: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", *words]) == 2
    assert told in capsys.readouterr().err


def test_a_wrong_word_is_an_error_in_python_too(home: Path) -> None:
    with pytest.raises(UsageError, match="unknown model 'nuu'"):
        nalu_bench.run("model=nuu", budget="smoke")
