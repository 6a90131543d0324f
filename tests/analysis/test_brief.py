"""A report on a page: claims, the numbers without intervals, how many verdicts, where the rest is."""

from collections import Counter
from typing import Any

import pytest

import nalu_bench
from nalu_bench import paths
from nalu_bench.analysis.brief import LINES, brief
from nalu_bench.analysis.folders import committed
from nalu_bench.analysis.report import Report
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.cli import main
from nalu_bench.plan import experiment
from nalu_bench.running import memory
from nalu_bench.verbs.report import tell

REPORTED = [name for name in experiment.names() if next(committed(paths.results_dir(), name), None)]


QUICK = ("madsen2020/table1", "trask2018/table5", "heim2020/simple")

LONGEST = "trask2018/table6"
"""An experiment with more models than a page has room for; its report takes half a minute, and is made once here."""

FIRST = {experiment.load(name).report["kind"]: name for name in reversed(REPORTED)}
"""Kind of report -> the first experiment of that kind."""


def by_length(name: str) -> Any:
    """The test of one experiment; a kind of report is shown on its first experiment, and on the others again."""
    if name in QUICK:
        return name
    again = [] if name in FIRST.values() else [pytest.mark.thorough]
    return pytest.param(name, marks=[pytest.mark.slow, *again])


def page_of(report: Report) -> list[str]:
    """The lines of a report on a page, which they must fit on, as its whole must fit into 100 columns."""
    page = brief(report, rest="the rest is elsewhere").splitlines()
    assert len(page) <= LINES == 56
    assert max(map(len, [*page, *report.terminal().splitlines()])) <= 100
    return page


@pytest.mark.parametrize("name", [by_length(name) for name in REPORTED if name != LONGEST])
def test_every_committed_report_fits_on_a_page_and_its_whole_in_100_columns(name: str) -> None:
    page_of(nalu_bench.load(name).report)


@pytest.mark.slow
def test_a_page_has_the_claims_one_line_a_model_the_counts_and_where_the_rest_is() -> None:
    report = nalu_bench.load(LONGEST).report
    page = page_of(report)
    assert "* holds under all: none of them succeed at extrapolation (subsections)" in page
    assert "ours | printed   == exact, = agrees, * fitted, . uninformative, ≠ differs" in page
    assert sum(line.startswith("Softsign ") for line in page) == 2
    assert any(line.startswith("… ") and line.endswith(" more lines") for line in page)
    found = Counter(line.verdict for line in report.lines)
    counted = ", ".join(f"{found[verdict]} {verdict}" for verdict in Verdict if found[verdict])
    assert f"Verdicts, those on sentences among them: {counted}." in " ".join(page)
    assert page[-1] == "the rest is elsewhere"


def test_a_report_that_fits_is_printed_as_it_is() -> None:
    report = nalu_bench.load("madsen2020/table1").report
    assert brief(report, lines=200) == report.terminal()


def test_the_page_says_how_to_print_everything_and_that_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    loaded = nalu_bench.load("heim2020/simple")
    tell(loaded, page=False)
    page = capsys.readouterr().out
    tell(loaded, page=False, full=True)
    full = capsys.readouterr().out
    assert len(page.splitlines()) <= LINES < len(full.splitlines())
    assert "or report --full" in page
    assert full.startswith(loaded.report.terminal())


def test_python_prints_a_page_that_says_how_to_print_everything() -> None:
    page = str(nalu_bench.load("schlor2020/experiment1").report).splitlines()
    assert len(page) <= LINES
    assert ".report.terminal()" in page[-1]


def test_remarks_stand_on_the_page_where_it_has_room_for_them() -> None:
    text = brief(nalu_bench.load("madsen2020/table1").report)
    assert "* solved_at_mean, sparsity_error_mean: not comparable, the printed means come from a fit" in text


@pytest.mark.slow
def test_table_1_of_trask_is_one_table_of_one_page(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    monkeypatch.setattr(memory, "need", lambda cell: memory.Need(0, 0, 0, 0))  # an estimate takes longer than training
    assert main(["run", "experiment=trask2018/table1", "budget=smoke", "compile=false"]) == 0
    capsys.readouterr()
    assert main(["report", "trask2018/table1", "budget=smoke", "compile=false", "--no-page"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= LINES
    assert sum("a + b" in line for line in lines) == 1
    assert sum(line.startswith(("Interpolation, ", "Extrapolation, ")) for line in lines) == 4
    assert sum(line.startswith("NALU ") for line in lines) >= 3
    assert "why each verdict:  nalu-bench explain trask2018/table1 budget=smoke" in lines
