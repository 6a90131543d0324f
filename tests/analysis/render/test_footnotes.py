"""Notes of verdicts become marks in the table and short lines below it."""

import pandas as pd

from nalu_bench.analysis.render.footnotes import Footnotes

NOTES = [
    "reconstructed protocol; seeds without a finite error: 21; too wide", "reconstructed protocol; too wide",
    "reconstructed protocol; seeds without a finite error: 3", "reconstructed protocol", "reconstructed protocol",
]  # fmt: skip


def footnotes(notes: list[str]) -> Footnotes:
    return Footnotes.of(pd.DataFrame({"note": notes}))


def test_what_holds_for_all_is_said_once_and_the_rest_is_marked_in_the_cell() -> None:
    table = pd.DataFrame({"note": NOTES, "verdict": ["differs", "agrees", "agrees", "agrees", "not comparable"]})
    table["by"] = ["3.0× worse", "1.1× worse", "", "", ""]
    judged = table["verdict"] != "not comparable"
    found = Footnotes.of(table[judged])
    assert found.texts() == [
        "all verdicts: reconstructed protocol",
        "†n: seeds without a finite error: n",
        "‡: too wide",
    ]
    shown = found.mark(table, judged)["verdict"].tolist()
    assert shown == ["differs, 3.0× worse †21 ‡", "agrees ‡", "agrees †3", "agrees", "not comparable"]


def test_lines_stand_in_numeric_order_and_marks_do_not_run_out() -> None:
    notes = [f"{count} of {2 * count} seeds" for count in (21, 3, 1, 2, 100, 7)]
    lines = footnotes([*notes, ""]).texts()
    assert [line.partition(": ")[2] for line in lines] == [f"{n} of {2 * n} seeds" for n in (1, 2, 3, 7, 21, 100)]
    assert [line.partition(": ")[0] for line in lines] == ["†", "‡", "§", "¶", "‖", "††"]


def test_notes_that_differ_in_one_number_share_a_line() -> None:
    found = footnotes(["25 of 100 seeds", "50 of 100 seeds", "no seeds"])
    assert found.texts() == ["†n: n of 100 seeds", "‡: no seeds"]
    assert found.marked["50 of 100 seeds"] == "†50"


def test_no_notes_are_no_lines() -> None:
    assert footnotes([]).texts() == footnotes(["", ""]).texts() == []
