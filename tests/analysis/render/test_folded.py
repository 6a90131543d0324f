"""A folded table has one line for each thing, with our number, the printed one and a sign of the verdict in a cell."""

from nalu_bench.analysis.render.folded import SIGNS, folded, legend
from nalu_bench.analysis.render.terminal import fitted
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.formats import percent
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Shown, Table, Theirs
from nalu_bench.analysis.table.line import NOTHING, Line, Printed, Value
from nalu_bench.analysis.table.place import Place


def line(ours: float, printed: str, verdict: Verdict) -> Line:
    return Line(Place(), Value(ours, ours / 2, 1.0), 25, 5000, Printed(printed), verdict, "40 points worse")


GOOD, BAD = line(0.95, "0.9", Verdict.AGREES), line(0.05, "0.875", Verdict.DIFFERS)


def block(name: str, *lines: Line, label: str = "ours, 25 seeds") -> list[list[Shown]]:
    return [
        [name, label, *(Ours(one, percent) for one in lines)],
        ["", "printed", *map(Theirs, lines)],
        ["", "verdict", *map(Judged, lines)],
    ]


def texts(table: Table) -> list[list[object]]:
    return [list(row) for row in folded(table)[0].rows]


def test_lines_of_a_model_become_one_without_intervals() -> None:
    table = Table("Title", ["Model", "", "a + b", "a × b"], [*block("NAC", GOOD, BAD), *block("NMU", BAD, GOOD)])
    assert folded(table)[0].header == ["Model", "a + b", "a × b"]
    assert texts(table) == [["NAC", "95 % | 0.9   =", " 5 % | 0.875 ≠"], ["NMU", " 5 % | 0.875 ≠", "95 % | 0.9   ="]]


def test_labels_that_differ_stay() -> None:
    rows = [*block("NAC", GOOD), *block("NMU", GOOD, label="ours, 50 seeds")]
    assert [row[1] for row in texts(Table("Title", ["Model", "", "x"], rows))] == ["ours, 25 seeds", "ours, 50 seeds"]


def test_a_second_number_of_a_model_has_a_line_of_its_own_and_one_that_is_not_there_has_none() -> None:
    rows = [*block("NAC", GOOD), ["", "±", Ours(BAD, percent)], ["", "plain mean", EMPTY]]
    assert texts(Table("Title", ["Model", "", "x"], rows)) == [
        ["NAC", "ours, 25 seeds", "95 % | 0.9 ="], ["NAC", "±", " 5 %"],
    ]  # fmt: skip


def test_columns_of_printed_numbers_and_verdicts_are_folded_into_ours() -> None:
    row: list[Shown] = ["NAC", Ours(GOOD, percent), Theirs(GOOD), Judged(GOOD), "a note"]
    table = Table("Title", ["Model", "ours", "printed", "verdict", "note"], [row, ["NMU", *row[1:3], Judged(BAD), ""]])
    assert folded(table)[0].header == ["Model", "ours", "note"]
    assert texts(table) == [["NAC", "95 % | 0.9 =", "a note"], ["NMU", "95 % | 0.9 ≠", ""]]


def test_numbers_without_printed_ones_stay_as_they_are() -> None:
    table = Table("Title", ["Unit", "share"], [["NAU", Ours(GOOD, percent)], ["NMU", Ours(BAD, percent)]])
    assert texts(table) == [["NAU", "95 %"], ["NMU", "5 %"]]
    assert legend([table]) == ""


def test_a_number_that_is_missing_beside_a_printed_one_is_a_dash() -> None:
    nothing = Line(Place(), NOTHING, 0, 0, Printed("0.9"), Verdict.NOT_COMPARABLE)
    assert texts(Table("Title", ["Model", "", "x"], block("NAC", nothing))) == [["NAC", "– | 0.9"]]


def test_the_legend_tells_the_signs_that_are_there_and_every_verdict_has_one_of_its_own() -> None:
    table = Table("Title", ["Model", "", "x", "y"], block("NAC", GOOD, BAD))
    assert legend([table]) == "ours | printed   = agrees, ≠ differs"
    assert SIGNS.keys() == set(Verdict)
    assert len(set(SIGNS.values())) == len(SIGNS)


def test_a_table_without_rows_stays_one() -> None:
    empty = Table("Title", ["Model", "", "x"], [])
    assert folded(empty)[0] == empty
    assert fitted(empty, 100).splitlines()[2].split() == ["Model", "x"]
