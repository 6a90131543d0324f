"""Impossible printed numbers are refused before anything is trained, with their file and row."""

from pathlib import Path

import pytest

from nalu_bench.analysis import results
from nalu_bench.analysis.printed import published
from nalu_bench.analysis.printed.recomputed import OWN_COLUMNS
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, experiment

EXPERIMENT = """title: Mine
source: nowhere
budgets: {smoke: {seeds: 2, steps: 20, log_every: 10, ramp_scale: 1}}
cells: [{overrides: [task=ten_parameter], grid: {model: [nmu, nac]}}]
report: {kind: success, criterion: task}
"""
ROW = "ten_parameter,,mul,extrapolation,nmu,success_rate,0.9,0.8,0.95,100,NMU,page 5"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an experiment mine/table."""
    folder = tmp_path / "experiments" / "mine"
    folder.mkdir(parents=True)
    (folder / "table.yaml").write_text(EXPERIMENT)
    monkeypatch.setenv("NALU_BENCH_CONF", str(tmp_path))
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path / "home"))
    return folder


def write(path: Path, *rows: str, columns: list[str] = published.COLUMNS) -> None:
    path.write_text("\n".join([",".join(columns), *rows]) + "\n")


def check() -> None:
    chosen = experiment.load("mine/table")
    plan = compose.plan_experiment(chosen, ["budget=smoke"])
    results.check(plan, plan.cells)


def test_what_is_right_is_accepted(folder: Path) -> None:
    check()
    write(folder / "table.published.csv", ROW, ROW.replace("success_rate,0.9,0.8,0.95", "solved_at_median,,,"))
    check()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("success_rate", "succes_rate"), "unknown metric in table.published.csv, row 3 'succes_rate'; did you mean"),
        (("nmu", "nmuu"), "unknown model in table.published.csv, row 3 'nmuu'; did you mean 'nmu'"),
        (("mul", "add"), "unknown operation in table.published.csv, row 3 'add'"),
        (("ten_parameter", "ten_paramter"), "unknown task in table.published.csv, row 3"),
        (
            (",0.9,0.8,0.95,", ",90,,,"),
            "table.published.csv, row 3: printed of success_rate must lie between 0 and 1, got 90",
        ),
        (
            (",0.9,", ",most,"),
            "row 3: printed of success_rate must be a number such as 0.91 or 9e-5, or empty, got 'most'",
        ),
        ((",0.9,", ",nan,"), "row 3: printed must be a number such as 0.91 or 9e-5, or empty, got 'nan'"),
        ((",0.9,", ",0.9_1,"), "row 3: printed must be a number such as 0.91 or 9e-5, or empty, got '0.9_1'"),
        (("0.8,0.95", "０.8,0.95"), "row 3: printed_low must be a number such as 0.91 or 9e-5, or empty, got '０.8'"),
        (("0.8,0.95", "0.95,0.8"), "row 3: printed_low must not be above printed_high, got 0.95 and 0.8"),
        (("0.8,0.95", "0.91,0.95"), "row 3: printed must lie in its interval, got 0.9 and [0.91, 0.95]"),
        (("0.8,0.95", "low,0.95"), "row 3: printed_low must be a number such as 0.91 or 9e-5, or empty, got 'low'"),
        (("0.8,0.95", "0.8,95"), "row 3: printed_high of success_rate must lie between 0 and 1, got 95"),
        ((",100,", ",hundred,"), "row 3: n_seeds must be a whole number from 0 up or empty, got 'hundred'"),
        ((",page 5", ""), "table.published.csv, row 3 must have 12 fields, got 11"),
        ((",page 5", ",page 5,6"), "table.published.csv, row 3 must have 12 fields, got 13"),
        (("nmu", "nac"), "row 3: table.published.csv has two rows for ten_parameter, mul, extrapolation, nac"),
    ],
)
def test_a_row_that_cannot_be_right_is_named(change: tuple[str, str], words: str, folder: Path) -> None:
    write(folder / "table.published.csv", ROW.replace("nmu", "nac"), ROW.replace(*change))
    with pytest.raises(UsageError) as caught:
        check()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "must have the columns task, setting, .* got none"),
        (b"a,b\n1,2\n", "must have the columns task, setting, .* got a, b"),
        (bytes(range(256)), "must be a CSV in UTF-8"),
        (b'"task', "must be a CSV in UTF-8"),
    ],
)
@pytest.mark.parametrize("name", ["published", "recomputed"])
def test_a_file_that_is_no_table_is_a_plain_error(content: bytes, words: str, name: str, folder: Path) -> None:
    write(folder / "table.published.csv", ROW)
    (folder / f"table.{name}.csv").write_bytes(content)
    with pytest.raises(UsageError, match=rf"table\.{name}\.csv {words}"):
        check()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("nmu,solved_at_mean,abc,,90", "row 2: recomputed of solved_at_mean must be a number such as 0.91 or 9e-5, or"),
        ("nmu,solved_at_mean,9,-1,90", "row 2: deviation of solved_at_mean must lie between 0 and inf, got -1"),
        ("nmu,solved_at_mean,,1,90", "row 2: a deviation needs the recomputed mean"),
        ("nmu,solved_at_mean,9,1,", "row 2: a deviation needs n_seeds, the number of seeds behind it."),
        ("nmu,solved_at_mean,<9,1,90", "row 2: a recomputed mean and its deviation must be numbers, no bounds."),
        ("nmu,solved_at_mean,9,1,x", "row 2: n_seeds must be a whole number"),
        ("nac,solved_at_mean,9,1,90", "row 2 must replace a printed number, and none is printed for ten_parameter"),
    ],
)
def test_a_recomputed_mean_that_cannot_be_right_is_named(row: str, words: str, folder: Path) -> None:
    write(folder / "table.published.csv", ROW.replace("success_rate,0.9,0.8,0.95", "solved_at_mean,100,90,110"))
    line = f"ten_parameter,,mul,extrapolation,{row},NMU,page 5"
    write(folder / "table.recomputed.csv", line, columns=OWN_COLUMNS)
    with pytest.raises(UsageError) as caught:
        check()
    assert f"table.recomputed.csv, {words}" in str(caught.value)


def test_a_misspelt_metric_costs_no_training(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "table.published.csv", ROW.replace("success_rate", "sucess_rate"))
    assert main(["run", "experiment=mine/table", "budget=smoke", "model=nac"]) == 2
    assert "did you mean 'success_rate'" in capsys.readouterr().err
    assert not (folder.parents[1] / "home").exists()
