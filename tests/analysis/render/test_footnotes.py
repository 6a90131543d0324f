"""Notes of verdicts become marks in the table and short lines below it."""

from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.text import text
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.layout import Judged
from nalu_bench.analysis.table.line import Line, Value
from nalu_bench.analysis.table.place import Place

DIFFERS, AGREES, NONE = Verdict.DIFFERS, Verdict.AGREES, Verdict.NOT_COMPARABLE
RECONSTRUCTED, WIDE = "reconstructed protocol", "too wide"


def line(*notes: str, verdict: Verdict = AGREES, by: str = "") -> Line:
    return Line(Place(), Value(1.0), 1, 1, None, verdict, by, "", notes)


def footnotes(notes: list[str]) -> Footnotes:
    return Footnotes.of([line(*filter(None, [note])) for note in notes])


def test_what_holds_for_all_is_said_once_and_the_rest_is_marked_in_the_cell() -> None:
    lines = [
        line(RECONSTRUCTED, "seeds without a finite error: 21", WIDE, verdict=DIFFERS, by="3.0× worse"),
        line(RECONSTRUCTED, WIDE, by="1.1× worse"),
        line(RECONSTRUCTED, "seeds without a finite error: 3"),
        line(RECONSTRUCTED),
        line("of another length", verdict=NONE),
    ]
    found = Footnotes.of(lines)
    assert found.texts() == [
        "all verdicts: reconstructed protocol",
        "†n: seeds without a finite error: n",
        "‡: too wide",
    ]
    shown = [text(Judged(one), found) for one in lines]
    assert shown == ["differs, 3.0× worse †21 ‡", "agrees ‡", "agrees †3", "agrees", "not comparable"]


def test_marks_are_given_in_the_order_of_the_lines_and_do_not_run_out() -> None:
    notes = [f"{count} of {2 * count} seeds" for count in (21, 3, 1, 2, 100, 7)]
    lines = footnotes([*notes, ""]).texts()
    assert [line.partition(": ")[2] for line in lines] == notes
    assert [line.partition(": ")[0] for line in lines] == ["†", "‡", "§", "¶", "‖", "††"]


def test_notes_that_differ_in_one_number_share_a_line() -> None:
    found = footnotes(["25 of 100 seeds", "50 of 100 seeds", "no seeds"])
    assert found.texts() == ["†n: n of 100 seeds", "‡: no seeds"]
    assert found.marked["50 of 100 seeds"] == "†50"


def test_no_notes_are_no_lines() -> None:
    assert footnotes([]).texts() == footnotes(["", ""]).texts() == []
