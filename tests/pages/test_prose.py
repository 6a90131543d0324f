"""Numbers between marks are those of the results, and a mark that names nothing says so."""

import json
import math
from pathlib import Path

import pytest

from nalu_bench import paths
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table import file
from nalu_bench.analysis.table.line import Line, Printed, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.pages import prose
from nalu_bench.plan.setting import Setting

RATE = Place("arithmetic", operation="add", split="extrapolation", model="nalu", metric="success_rate")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results with a rate, the same of another setting, and a median."""
    folder = tmp_path_factory.mktemp("results") / "madsen2020" / "table2"
    folder.mkdir(parents=True)
    lines = [
        Line(RATE, Value(0.3, 0.191, 0.438), 50, 5000, Printed("0.14"), Verdict.DIFFERS, "16 points better"),
        Line(RATE.at(setting=Setting({"streams": "theirs"})), Value(0.16), 25, 5000),
        Line(RATE.at(metric="solved_at_median"), Value(1395500.0, 1.0e6, 1.5e6), 50, 5000),
        Line(Place("grid_world", metric="t50"), Value(math.inf, 31.0, math.inf), 10, 5000),
    ]
    (folder / "table.csv").write_text(file.text(file.frame(lines)), encoding="utf-8")
    parts = {"0-49": {"device": "cpu", "seconds": 7200.0}}
    manifest = {"experiment": "", "budget": {"seeds": 50}, "cells": {}, "parts": parts, "runs": 1200, "files": {},
                "seconds": 7200}  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder.parents[1]


@pytest.mark.parametrize(
    ("mark", "written"),
    [
        ("table2 nalu success_rate %", "30 %"), ("table2 nalu success_rate %[]", "30 % [19, 44]"),
        ("table2 add success_rate k/n", "15 of 50"), ("table2 success_rate streams=theirs %[]", "16 %"),
        ("table2 solved_at_median ,[]", "1,395,500 [1,000,000, 1,500,000]"), ("table2 success_rate n", "50"),
        ("table2 solved_at_median .3g", "1.4e+06"), ("table2 success_rate printed", "0.14"),
        ("table2 t50 >60[]", "> 60 [31, > 60]"),
        ("table2 success_rate printed%", "14 %"), ("table2 success_rate verdict", "differs, 16 points better"),
        ("table2 verdicts", "1 differs"), ("madsen2020/table2 time", "2.0 core-hours"), ("table2 runs", "1,200"),
    ],
)  # fmt: skip
def test_a_mark_is_filled_with_the_number_that_it_names(results: Path, mark: str, written: str) -> None:
    text = f"It is <!--= {mark} -->old<!--/--> here."
    assert prose.filled(text, results, "madsen2020") == f"It is <!--= {mark} -->{written}<!--/--> here."


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("table3 add success_rate %", "there are no results in table3"), ("table2 mul success_rate %", "0 lines"),
        ("table2 add %", "2 lines have the words add"), ("table2", "must name an experiment and a number"),
        ("table2 success_rate streams=theirs printed", "no number is printed"),
        ("table2 cost", "Known: compared, counted, runs, same, seeds, time, verdicts"),
        ("table2 success_rate zz", "cannot be filled"),
    ],
)  # fmt: skip
def test_a_mark_that_names_no_number_is_refused_with_its_text(results: Path, mark: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        prose.filled(f"<!--= {mark} --><!--/-->", results, "madsen2020")
    assert mark in str(error.value)


def test_a_mark_may_ask_what_an_experiment_answers() -> None:
    mark = 'mistry2022/single_module "a + b" answer'
    found = prose.filled(f"<!--= {mark} --><!--/-->", paths.results_dir(), "mistry2022")
    assert " on all 9 ranges" in found
    with pytest.raises(UsageError, match="unknown answer of an experiment 'a \\+ c'"):
        prose.filled("<!--= mistry2022/single_module 'a + c' answer --><!--/-->", paths.results_dir(), "mistry2022")


def test_the_lines_of_a_text_stay_if_it_says_the_same(results: Path) -> None:
    text = "<!--= table2 nalu success_rate %[] -->30 %\n[19, 44]<!--/-->"
    assert prose.filled(text, results, "madsen2020") == text


def test_a_section_ends_at_the_next_heading_of_its_level() -> None:
    text = "# Page\n## What came out\nfirst\n### More\nsecond\n## Deviations\nthird\n"
    assert prose.section(text, "What came out") == "first\n### More\nsecond\n"
    assert prose.section(text, "Changed") == ""
