"""Pages stand alone, hold every verdict with its reason, and fit narrow and wide windows."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reported import runs_of
from standing_alone import Elements, needs_nothing_else

import nalu_bench
from nalu_bench import paths
from nalu_bench.analysis.loaded import Loaded
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.render import learning_curves
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.formats import in_prose, percent
from nalu_bench.analysis.table.line import Line, Printed, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.pages import build
from nalu_bench.pages.page import page
from nalu_bench.pages.tally import compared, counted
from nalu_bench.verify.folder import targets

pytestmark = pytest.mark.pictures

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
COMMITTED = list(targets([], paths.results_dir()))


@pytest.fixture(scope="module")
def table1() -> Loaded:
    return nalu_bench.load("madsen2020/table1")


@pytest.fixture(scope="module")
def html(table1: Loaded) -> str:
    return page(table1)


def test_a_page_stands_alone(html: str) -> None:
    assert needs_nothing_else(html)
    assert len(html) < 2_000_000


def test_curves_without_room_on_the_page_are_named(table1: Loaded, html: str) -> None:
    cells = table1.runs["cell"].nunique()
    assert "cells with curves" not in html.partition("A panel for each cell")[2]
    text = page(table1, largest=10_000)
    assert f"None of the {cells} cells with curves is" in text
    assert 'load("madsen2020/table1").learning_curves(' in text
    assert len(text) < len(html)


def test_a_task_that_is_judged_in_the_test_alone_shows_what_it_is_selected_by() -> None:
    """The grid world is judged by its success, which only the test has; its curves have the return."""
    steps = np.arange(0, 500, 100)
    frame = pd.DataFrame({"cell": "a", "seed": 0, "step": steps, "validation_return": steps / 500})
    runs = runs_of("agent_lstm", 1, cell="a", task="grid_world")
    manifest = {"cells": {"a": {"identity": {"task": {"kind": "grid_world"}}, "criteria": {}}}}
    measured = Measured(runs, frame, manifest=manifest)
    (axis,) = learning_curves.picture(measured, learning_curves.cells(measured)).axes
    assert axis.get_ylabel() == "return"
    assert np.array_equal(axis.lines[0].get_ydata(), steps / 500)


def test_further_pictures_stand_on_the_page_itself(table1: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Loaded, "pictures", lambda _: {"film.gif": b"GIF89a"})
    text = page(table1)
    assert '<img src="data:image/gif;base64,R0lGODlh" alt="film.gif">' in text
    assert needs_nothing_else(text)


def test_the_settings_of_a_cell_are_on_the_page_once(html: str) -> None:
    assert "Settings that all cells share" in html
    assert html.count("recipe.optimizer: ") == 1
    assert html.count("task.operation: mul") == 1


def test_every_verdict_is_a_button_that_shows_its_reason(table1: Loaded, html: str) -> None:
    found = Elements(html).found
    buttons = [each["popovertarget"] for tag, each in found if tag == "button" and "title" in each]
    reasons = [each["id"] for _, each in found if "popover" in each]
    assert sorted(map(str, buttons)) == sorted(map(str, reasons))
    assert len(buttons) == (table1.table["verdict"] != "").sum() == 24
    assert "24 of 100 against 13 of 100: a difference of 11.0 points" in html


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        ([], ""),
        ([Verdict.NOT_COMPARABLE] * 3, "None of 3 printed numbers can be compared yet."),
        (
            [Verdict.EXACT, Verdict.AGREES, Verdict.DIFFERS, Verdict.FITTED, Verdict.NOT_COMPARABLE],
            "Of 5 printed numbers, 2 agree, 1 differs; 1 is fitted; 1 cannot be compared.",
        ),
        ([Verdict.AGREES] * 2, "Of 2 printed numbers, 2 agree, 0 differ."),
        (
            [Verdict.INCONCLUSIVE] * 3,
            "Of 3 printed numbers, 0 differ, 3 are inconclusive, of which 3 have the same value as ours.",
        ),
    ],
)
def test_a_page_opens_with_what_the_verdicts_say(verdicts: list[Verdict], told: str) -> None:
    lines = [Line(Place(), Value(1.0), 10, 10, Printed("1.0"), verdict) for verdict in verdicts]
    assert compared(lines) == told


def test_numbers_without_runs_of_ours_are_told_from_those_that_cannot_be_compared_otherwise() -> None:
    verdicts = {Verdict.AGREES: 10, Verdict.NOT_COMPARABLE: 0}
    lines = [Line(Place(), Value(1.0), seeds, seeds, Printed("1.0"), verdict) for verdict, seeds in verdicts.items()]
    lines.append(Line(Place(), Value(1.0), 10, 10, Printed("1.0"), Verdict.NOT_COMPARABLE))
    told = "Of 3 printed numbers, 1 agrees, 0 differ; 2 cannot be compared, 1 of them without runs of ours."
    assert compared(lines) == told


def test_a_page_has_the_text_beside_its_experiment_if_that_is_about_its_results(
    table1: Loaded, html: str, tmp_path: Path
) -> None:
    """The results of a checkout; the text is filled with their numbers, and its links lead to the same places."""
    told = re.search(r"<strong>The rate of the NAC• is not decided.</strong> It is\s+(\d+ % \[\d+, \d+\])", html)
    assert told, "What came out"
    (line,) = [one for one in table1.lines if one.place.model == "nac_mul" and one.place.metric == "success_rate"
               and not one.place.setting]  # fmt: skip
    assert told[1] == in_prose(*line.ours, percent)
    assert 'href="../../../experiments/madsen2020/README.md' in html, "the protocol, folded"
    shutil.copytree(table1.folder, tmp_path / "results/madsen2020/table1")
    other = page(Loaded(table1.experiment, tmp_path / "results/madsen2020/table1"))
    assert "The rate of the NAC• is not decided" not in other


def test_counts_of_verdicts_fill_the_cells_of_a_table() -> None:
    met = [Verdict.EXACT, Verdict.AGREES, Verdict.UNINFORMATIVE, Verdict.INCONCLUSIVE, Verdict.NOT_COMPARABLE,
           Verdict.FITTED]  # fmt: skip
    assert (
        counted([Line(Place(), Value(1.0), 10, 10, Printed("1.0"), verdict) for verdict in met]) == "6 | 2 | 2 | 2 | 0"
    )


def test_the_rows_behind_a_number_are_on_the_page(table1: Loaded, html: str) -> None:
    anchors = {each["id"] for _, each in Elements(html).found if "id" in each}
    links = [each["href"] for tag, each in Elements(html).found if tag == "a" and str(each.get("href")).startswith("#")]
    assert {str(link)[1:] for link in links} <= anchors
    assert {f"cell-{cell}" for cell in table1.runs["cell"]} <= anchors


def test_the_committed_index_is_that_of_the_committed_results(tmp_path: Path) -> None:
    committed = paths.results_dir() / build.INDEX
    assert committed.stat().st_size < 500_000
    shutil.copytree(
        paths.results_dir(), tmp_path / "results", ignore=shutil.ignore_patterns("local", "*.parquet", "*.pdf")
    )
    text = build.index(tmp_path / "results").read_text(encoding="utf-8")
    assert text == committed.read_text(encoding="utf-8"), "make it again: make report"
    assert needs_nothing_else(text)
    assert all(f'id="{name}"' in text for name in COMMITTED)
    assert "“”" not in text, "what is not printed is no claim"


FRAMES = """<body style="margin:0"><title>none</title><script>
const told = []
addEventListener("message", event => { told[event.data[0]] = event.data[1]; document.title = told.join(" ") })
</script>"""
"""Pages of any width: a window of a headless Chromium is at least 500 pixels wide."""


def in_chromium(texts: Sequence[str], script: str, width: int, folder: Path) -> list[str]:
    """What a script gives, as `told`, in each of these pages at this width."""
    assert CHROMIUM
    ended = f"addEventListener('load', () => {{ {script}; parent.postMessage([name, String(told)], '*') }})"
    frames = FRAMES
    for number, text in enumerate(texts):
        (folder / f"{number}.html").write_text(text.replace("</body>", f"<script>{ended}</script></body>"), "utf-8")
        frames += f'<iframe name="{number}" src="{number}.html" style="border:0;width:{width}px;height:900px"></iframe>'
    (folder / "frames.html").write_text(frames)
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom"]
    command = [CHROMIUM, *options, f"--user-data-dir={folder / 'profile'}", f"file://{folder / 'frames.html'}"]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=250, check=True).stdout
    title = re.search("<title>(.*?)</title>", dom)
    assert title
    return title[1].split(" ")


FITS = """
const all = names => [...document.querySelectorAll(names)]
const wide = all('.numbers').filter(table => table.scrollWidth > table.closest('.scroll').clientWidth + 1)
const cut = all('.numbers td, .numbers th, .claim summary').filter(cell => cell.scrollWidth > cell.clientWidth + 1)
const told = [document.documentElement.scrollWidth <= innerWidth, wide.length, cut.length]
"""


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to look at pages with")
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_fits_its_window_and_a_reason_opens(html: str, width: int, tmp_path: Path) -> None:
    script = (
        "const button = document.querySelector('button.verdict'); button.focus(); button.click();"
        "const reason = document.getElementById(button.getAttribute('popovertarget'));"
        "const told = [reason.matches(':popover-open'), document.activeElement === button]"
    )
    assert in_chromium([html], script, width, tmp_path) == ["true,true"]
    assert in_chromium([html], FITS, width, tmp_path) == ["true,0,0"]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to look at pages with")
def test_no_page_scrolls_sideways_and_no_number_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every experiment, and the index. Pictures are blank: to draw them all takes most of a page's time."""
    monkeypatch.setattr("nalu_bench.pages.page.svg", lambda *_: '<svg viewBox="0 0 800 400"></svg>')
    texts = {name: page(nalu_bench.load(name)) for name in COMMITTED}
    texts["index"] = (paths.results_dir() / build.INDEX).read_text(encoding="utf-8")
    for width in (390, 1280):
        found = dict(zip(texts, in_chromium(list(texts.values()), FITS, width, tmp_path), strict=True))
        assert found == dict.fromkeys(texts, "true,0,0"), width
