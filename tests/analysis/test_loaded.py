"""`load` gives the committed results as frames and pictures, and checks what it reads."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nalu_bench
from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.verbs import run


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the results of an experiment, and nothing else."""
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    monkeypatch.setattr(paths, "shipped_results_dir", lambda: tmp_path / "none")
    folder = tmp_path / "results/madsen2020/table1"
    shutil.copytree(paths.CHECKOUT / "results/madsen2020/table1", folder)
    return folder


def test_all_parts_of_a_result_are_there() -> None:
    found = nalu_bench.load("madsen2020/table1")
    assert len(found.runs) == 600
    assert found.runs.groupby("setting")["solved"].sum().tolist() == [24 + 23 + 90, 13 + 28 + 94]
    rates = found.table[(found.table["model"] == "nac_mul") & (found.table["metric"] == "success_rate")]
    assert rates[["setting", "ours", "printed", "verdict"]].to_numpy().tolist() == [
        ["", 0.24, "0.13", "inconclusive"], ["streams=stable_nalu", 0.13, "0.13", "same seeds"],
    ]  # fmt: skip
    assert set(found.curves["cell"]) == set(found.runs["cell"])
    assert found.manifest["budget"]["name"] == "paper"
    assert found.predictions.empty
    assert repr(found).endswith("Verdicts: 5 agrees, 1 inconclusive, 6 not comparable.")


def test_a_notebook_shows_tables_with_verdicts_and_the_figure_as_a_picture() -> None:
    found = nalu_bench.load("madsen2020/table1")
    shown = found._repr_html_()
    assert shown.count("<button") == 2 * 24
    assert "NAC•" in shown
    assert "<a " not in shown, "the runs behind a number are on the page of the experiment"
    assert found.figure()._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]


def test_a_figure_leaves_the_style_of_the_program_alone() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    nalu_bench.load("madsen2020/table1").figure()
    assert dict(matplotlib.rcParams) == before


@pytest.mark.pictures
def test_a_figure_is_the_same_whatever_the_users_own_style_is() -> None:
    import matplotlib

    found = nalu_bench.load("madsen2020/figure2")
    plain = found.figure()._repr_png_()  # type: ignore[attr-defined]
    theirs = {"text.usetex": True, "figure.facecolor": "black", "lines.linewidth": 9, "savefig.bbox": "tight"}
    with matplotlib.rc_context(theirs):
        assert found.figure()._repr_png_() == plain  # type: ignore[attr-defined]


def test_a_matplotlibrc_that_is_no_text_is_told_of_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_bytes(b"font.size: 9 # \xe9\n")
    draw = [sys.executable, "-c", "from nalu_bench.analysis.render import style; style.applied()"]
    done = subprocess.run(draw, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "UsageError: matplotlib must be able to read its settings" in done.stderr


def test_edited_files_are_refused(copied: Path) -> None:
    table = copied / "table.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("0.24", "0.42"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"table\.csv must have the SHA-256 of manifest\.json"):
        _ = nalu_bench.load("madsen2020/table1").table


def test_what_is_not_there_is_named(copied: Path) -> None:
    (copied / "curves.parquet").unlink()
    found = nalu_bench.load("madsen2020/table1")
    assert len(found.runs) == 600
    with pytest.raises(UsageError, match=r"curves\.parquet of madsen2020/table1 must be there"):
        _ = found.curves


def test_an_experiment_without_results_is_refused(copied: Path) -> None:
    with pytest.raises(UsageError, match="there are no results of madsen2020/table2; first: nalu-bench run"):
        nalu_bench.load("madsen2020/table2")
    with pytest.raises(UsageError, match="unknown budget with results of madsen2020/table1 'short'"):
        nalu_bench.load("madsen2020/table1", budget="short")


def test_without_a_budget_the_largest_results_are_read_and_the_largest_runs_reported(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paper, arguments = copied.rename(copied.parent / "later"), ["compile=false", "device.workers=1"]
    assert main(["run", "madsen2020/table1", "budget=smoke", *arguments]) == 0
    assert main(["report", "--no-page", "madsen2020/table1"]) == 0
    assert "Budget smoke: 2 seeds" in capsys.readouterr().out
    assert nalu_bench.load("madsen2020/table1").manifest["budget"]["name"] == "smoke"
    paper.rename(copied)
    assert nalu_bench.load("madsen2020/table1").manifest["budget"]["name"] == "paper"
    assert nalu_bench.load("madsen2020/table1", "smoke").manifest["budget"]["name"] == "smoke"


@pytest.mark.parametrize("program", ["import nalu_bench", "from nalu_bench.units import NAU, NMU"])
def test_units_come_without_configuration_tables_and_pictures(program: str) -> None:
    heavy = {"hydra", "omegaconf", "pandas", "matplotlib", "scipy", "pyarrow", "numba", "jinja2"}
    check = f"import sys; {program}; loaded = {heavy!r} & set(sys.modules); assert not loaded, loaded"
    subprocess.run([sys.executable, "-c", check], check=True)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: nalu_bench.run(5), 'run takes words as texts, such as "seeds=25", got 5'),
        (lambda: nalu_bench.run(["task=identity"]), "a list of words is written run(*words)"),
        (lambda: nalu_bench.run(b"task=identity"), "got b'task=identity'"),
        (lambda: nalu_bench.load(None), "load takes the name of an experiment as a text"),
    ],
)
def test_what_is_no_text_is_refused_with_the_form_that_is_meant(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        ask()


@pytest.mark.slow
def test_figures_are_drawn_to_files_whatever_windows_are_asked_for(tmp_path: Path) -> None:
    variables = os.environ | {"MPLBACKEND": "nosuch", "NALU_BENCH_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "nalu_bench", "report", "madsen2020/figure2", "budget=paper", "--no-page"]
    subprocess.run(command, env=variables, check=True)
    assert (tmp_path / "results" / "madsen2020" / "figure2" / "figure.png").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"seeds": []}, r"has no curves of seeds=\[\]"),
        ({"seeds": [999], "model": "nalu"}, r"has no curves of model=nalu, seeds=\[999\]"),
        ({"seeds": [0, 1, 777], "model": "nalu"}, "seeds must be among 0-99 here, got 777, too"),
        ({"seeds": 3}, "seeds must be several of them"),
        ({"modle": "nalu"}, "unknown word 'modle'; did you mean 'model'"),
        ({"model": ["nalu", "nmu"]}, "unknown model .* Known: nac_mul, nalu, nmu"),
    ],
)
def test_curves_that_are_not_there_are_refused_with_those_that_are(words: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        nalu_bench.load("madsen2020/table1").learning_curves(**words)


@pytest.mark.parametrize("model", [3, None, ["nalu"]])
def test_words_that_are_no_texts_are_refused_with_those_there_are(model: Any) -> None:
    loaded = nalu_bench.load("madsen2020/table1")
    for ask in (loaded.explain, loaded.final_weights):
        with pytest.raises(UsageError, match=r"unknown model .* Known: nac_mul, nalu, nmu"):
            ask(model=model)


def test_threads_train_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    moments: list[str] = []

    def trained(words: list[str]) -> None:
        moments.append("begin")
        time.sleep(0.05)
        moments.append("end")

    monkeypatch.setattr(run, "trained", trained)
    threads = [threading.Thread(target=nalu_bench.run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert moments == ["begin", "end"] * 3
