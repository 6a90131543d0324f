"""Tables fit into a terminal and lose nothing."""

import pytest

from nalu_bench.analysis.render.terminal import fitted
from nalu_bench.analysis.table.layout import Table

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
