"""Tables fit into a terminal and lose nothing; every line has its label."""

import pytest

from nalu_bench.analysis.render.terminal import fitted
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.formats import percent, steps
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Shown, Table, Theirs
from nalu_bench.analysis.table.line import Line, Printed, Value
from nalu_bench.analysis.table.place import Place

INTERVAL = "57,000 [55,000, 60,000]"


def test_a_narrow_table_is_drawn_as_it_is() -> None:
    table = Table("Title", ["model", "rate"], [["NAC", "24 %"], ["NMU", "90 %"]])
    assert fitted(table, 100) == "Title\n\nmodel  rate\n-----  ----\nNAC    24 %\nNMU    90 %"


def test_a_wide_table_breaks_its_cells_but_no_interval() -> None:
    table = Table("Title", ["", "line", "a longer heading"], [["NAC", "ours", INTERVAL], ["", "printed", "55,000"]])
    assert fitted(table, 30).splitlines()[2:] == [
        "     line     a longer heading",
        "---  -------  ----------------",
        "NAC  ours     57,000",
        "              [55,000, 60,000]",
        "     printed  55,000",
    ]


@pytest.mark.parametrize("width", [30, 40, 60, 100])
def test_columns_that_do_not_fit_follow_below_with_the_names_of_the_rows(width: int) -> None:
    header = ["activation", *(f"column {number}" for number in range(9))]
    table = Table(
        "A title that is longer than the narrowest of the terminals",
        header,
        [["ReLU", *[INTERVAL] * 9], ["ELU", *[INTERVAL] * 9]],
    )
    text = fitted(table, width)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("[55,000, 60,000]") == 18
    assert text.count("ReLU") == text.count("\nELU") == sum(line.startswith("activation") for line in text.splitlines())


def test_columns_that_follow_below_repeat_all_names_by_which_rows_differ() -> None:
    names = [["Sum", "rate=0.1", "NAC"], ["Sum", "rate=0.1", "NAU"], ["Sum", "rate=0.5", "NAU"]]
    header = ["Operation", "Setting", "Model", "first", "second", "third"]
    text = fitted(Table("Title", header, [[*row, *[INTERVAL] * 3] for row in names]), 50)
    heads = [line for line in text.splitlines() if line.startswith("Operation")]
    assert len(heads) > 1
    assert all("Model" in head for head in heads)


RATE = Line(Place(), Value(0.5, 0.25, 0.75), 25, 5000, Printed("0.9"), Verdict.DIFFERS, "40 points worse")
STEPS = Line(Place(), Value(57000, 55000, 60000), 25, 5000, Printed("55,000"), Verdict.AGREES)


def model(name: str, *lines: Line) -> list[list[Shown]]:
    """Three lines a model, as in the tables of papers."""
    return [
        [name, "ours, 25 seeds", *(Ours(line, percent if line is RATE else steps) for line in lines)],
        ["", "printed", *map(Theirs, lines)],
        ["", "verdict", *map(Judged, lines)],
    ]


def stacked(*lines: Line) -> Table:
    """Two models in lines that follow each other."""
    header = ["Model", "", *(f"column {number}" for number in range(len(lines)))]
    return Table("Title", header, [*model("NAC", *lines), *model("NMU", *lines)])


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_every_line_of_a_model_says_what_it_is(width: int, count: int) -> None:
    lines = fitted(stacked(*[STEPS, RATE] * count), width).splitlines()
    assert max(map(len, lines)) <= width
    rows = [line for line in lines[1:] if line and not line.startswith(("Model", "-"))]
    assert all(row[7:].startswith(("ours, 25 seeds", "printed", "verdict")) for row in rows), rows
    assert [row[:3] for row in rows[:6]] == ["NAC", "   ", "   ", "NMU", "   ", "   "]


def test_a_table_of_several_parts_is_cut_where_its_parts_are_about_the_same() -> None:
    heads = [line for line in fitted(stacked(*[STEPS] * 4), 100).splitlines() if line.startswith("Model")]
    assert [head.count("column") for head in heads] == [2, 2]


def test_a_printed_number_and_a_verdict_stay_beside_ours() -> None:
    row: list[Shown] = [each for _ in range(3) for each in (Ours(RATE, percent), Theirs(RATE), Judged(RATE))]
    table = Table("Title", ["Model", *["ours", "printed", "verdict"] * 3], [["NAC", *row], ["NMU", *row]])
    heads = [line.split() for line in fitted(table, 100).splitlines() if line.startswith("Model")]
    assert [len(head) for head in heads] == [4, 4, 4]


def test_names_that_the_row_above_has_are_not_repeated() -> None:
    rows: list[list[Shown]] = [
        ["add", "range=1", "NAC", "1"],
        ["add", "range=1", "NMU", "2"],
        ["mul", "range=1", "NAC", "3"],
    ]
    assert fitted(Table("Title", ["", "setting", "Model", "x"], rows), 100).splitlines()[4:] == [
        "add  range=1  NAC    1",
        "              NMU    2",
        "mul  range=1  NAC    3",
    ]


def test_lines_that_show_nothing_in_a_part_are_left_out_and_a_model_without_anything_is_not() -> None:
    rows = [*model("NAC", RATE), ["", "plain mean", EMPTY], ["NMU", "ours", EMPTY]]
    assert [line.split()[0] for line in fitted(Table("Title", ["Model", "", "x"], rows), 100).splitlines()[4:]] == [
        "NAC", "printed", "verdict", "NMU",
    ]  # fmt: skip


def test_a_rank_that_identifies_the_rows_takes_the_name_with_it_into_every_part() -> None:
    rows: list[list[Shown]] = [
        [str(rank), name, *[Ours(STEPS, steps)] * 5] for rank, name in enumerate(("NAU", "NMU"), 1)
    ]
    lines = fitted(Table("Title", ["", "Unit", *["solved at"] * 5], rows), 100).splitlines()
    assert sum(line.startswith("1  NAU") for line in lines) == sum("Unit" in line for line in lines) > 1


def test_a_table_without_headings_has_no_line_for_them() -> None:
    assert fitted(Table("Title", ["", ""], [["add", "NAU."], ["mul", "NMU."]]), 100) == "Title\n\nadd  NAU.\nmul  NMU."
