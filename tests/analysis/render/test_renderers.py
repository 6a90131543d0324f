"""One table, four renderers: each only reads, and says of a verdict what its kind of file can say."""

import copy
import itertools
from dataclasses import replace

import pandas as pd
import pytest
from reported import runs_of

from nalu_bench import paths
from nalu_bench.analysis.measure.read import RUNS as RUN_COLUMNS
from nalu_bench.analysis.render import html, latex, markdown, terminal
from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.text import text
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.formats import percent
from nalu_bench.analysis.table.layout import Judged, Ours, Table, Theirs
from nalu_bench.analysis.table.line import Line, Printed, Value
from nalu_bench.analysis.table.place import Place

PLACE = Place("arithmetic", operation="add", split="extrapolation", model="nau", metric="success_rate")
RATE = Line(
    PLACE, Value(0.5, 0.25, 0.75), 25, 5000, Printed("0.9", "0.8", "0.95"), Verdict.DIFFERS, "40 points worse",
    "12 of 25 & 90 of 100", ("25 of 100 seeds", "µ < 1"),
)  # fmt: skip
FINE = Line(PLACE.at(model="nac"), Value(0.9), 25, 5000, Printed("0.9"), Verdict.AGREES, notes=("50 of 100 seeds",))
LINES = [RATE, FINE]
TABLE = Table(
    "Rates & shares",
    ["Model", "ours", "printed", "verdict"],
    [["NAC•", Ours(RATE, percent), Theirs(RATE, percent), Judged(RATE)], ["", Ours(FINE, percent, "held"), Theirs(FINE),
                                                                         Judged(FINE)]],
)  # fmt: skip
RUNS = runs_of("nau", 2, operation="add", cell="abc")
NOTES = Footnotes.of(LINES)

RENDERERS = {
    "terminal": lambda: terminal.fitted(TABLE, 100, NOTES),
    "markdown": lambda: markdown.markdown(TABLE, NOTES),
    "latex": lambda: latex.latex(TABLE, NOTES),
    "html": lambda: html.tables([TABLE], LINES, RUNS),
}


def test_a_table_gives_the_same_texts_in_whatever_order_it_is_rendered() -> None:
    before = copy.deepcopy(LINES)
    texts = {name: render() for name, render in RENDERERS.items()}
    for order in itertools.permutations(RENDERERS):
        assert {name: RENDERERS[name]() for name in order} == texts
    assert before == LINES


@pytest.mark.parametrize("name", RENDERERS)
def test_every_renderer_shows_the_numbers_with_their_intervals(name: str) -> None:
    shown = RENDERERS[name]().replace("\\%", "%")
    assert all(number in shown for number in ("50 % [25 %, 75 %]", "90 % [80 %, 95 %]", "90 % held"))


def test_a_verdict_has_the_marks_of_its_notes_in_files_and_a_button_on_a_page() -> None:
    assert "differs, 40 points worse †25 ‡" in RENDERERS["markdown"]()
    assert "differs, 40 points worse †25 ‡" in RENDERERS["terminal"]()
    assert r"differs, 40 points worse \textdagger{}25 \textdaggerdbl{}" in RENDERERS["latex"]()
    page = RENDERERS["html"]()
    assert page.count('class="verdict differs" popovertarget="row-0"') == 1
    assert page.count('popover id="row-0"') == 1
    assert "12 of 25 &amp; 90 of 100" in page
    assert "†" not in page, "the reason that opens tells the notes"


def test_a_page_links_a_verdict_to_the_runs_of_its_own_cell_alone() -> None:
    page = RENDERERS["html"]()
    assert page.count(f'href="#{html.anchor("abc")}"') == 1, "there are no runs of the other model"


def test_latex_and_html_say_the_signs_of_their_own_grammar_otherwise() -> None:
    assert r"NAC\textsubscript{$\bullet$}" in RENDERERS["latex"]()
    assert latex.escaped("50 % & 3_4 #1") == r"50 \% \& 3\_4 \#1"
    assert "Rates &amp; shares" in RENDERERS["html"]()
    assert "µ &lt; 1" in RENDERERS["html"]()


def test_committed_tables_have_no_letter_that_latex_does_not_print() -> None:
    for path in sorted((paths.CHECKOUT / "results").glob("*/*/table.tex")):
        rows = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("%")]
        letters = {letter for letter in "".join(rows) if ord(letter) > 0x17F}
        assert not letters, f"{path}: add {letters} to nalu_bench/analysis/render/latex.py"


def test_what_is_not_there_is_a_dash() -> None:
    nothing = Line(PLACE, Value(float("nan")), 0, 0)
    assert [text(shown) for shown in (Ours(nothing, percent), Theirs(nothing), Judged(nothing))] == ["–"] * 3
    assert text(Ours(RATE, percent, alone=True)) == "50 %"


def test_a_page_of_what_is_only_computed_shows_its_tables() -> None:
    assert "href" not in html.tables([TABLE], LINES, pd.DataFrame(columns=RUN_COLUMNS))


def test_a_label_that_all_rows_have_is_left_out_of_a_page() -> None:
    rows = [["NAU", "ours (25 seeds)", "1"], ["NMU", "ours (25 seeds)", "2"]]
    assert "ours (25" not in html.tables([Table("Rates", ["Model", "", "rate"], rows)], [])
    assert "ours (25" in html.tables([Table("Rates", ["Model", "", "rate"], [rows[0], ["NMU", "ours", "2"]])], [])


def test_a_page_tells_the_range_that_a_printed_number_is_held_against() -> None:
    held = replace(FINE, held=(0.25, 0.75))
    assert "seeds: 0.25 to 0.75" in html.numbers([held], RUNS, {})
    assert "seeds:" not in html.numbers([FINE], RUNS, {})


@pytest.mark.parametrize(
    ("printed", "shown"),
    [("0.123456789", "0.1235"), ("<0.000001", "&lt;0.000001"), ("<0.0000001234", "&lt;1.234e-07"),
     (">1234567", "&gt;1,235,000"), (">999", "&gt;999")],
)  # fmt: skip
def test_a_long_printed_number_is_written_as_ours_are_and_a_bound_keeps_its_sign(printed: str, shown: str) -> None:
    assert f">{shown}<" in html.numbers([replace(FINE, printed=Printed(printed))], RUNS, {}).replace("\n", "")
