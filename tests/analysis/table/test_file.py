"""`table.csv` holds everything that a line is made of, but for what only the printed numbers' own file says."""

from dataclasses import replace
from pathlib import Path

import pytest

from nalu_bench import paths
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table import file
from nalu_bench.analysis.table.line import Line, Printed, Value
from nalu_bench.analysis.table.place import KEYS, Place
from nalu_bench.plan.setting import Setting
from nalu_bench.verify.folder import targets

PLACE = Place("arithmetic", Setting({"hidden": 4}), "add", "extrapolation", "nau", "success_rate")
LINE = Line(
    PLACE, Value(0.5, 0.25, 0.75), 100, 5000, Printed("0.9", "0.8", "0.95"), Verdict.DIFFERS, "40 points worse",
    "90 of 100; p = 0.1", ("25 of 100 seeds", "too wide"),
)  # fmt: skip


def read_again(lines: list[Line], folder: Path) -> list[Line]:
    path = folder / "table.csv"
    path.write_text(file.text(file.frame(lines)), encoding="utf-8")
    return file.read(path)


def test_lines_are_read_as_they_were_written(tmp_path: Path) -> None:
    claim = replace(LINE, printed=Printed("it is, so to say, always right"), threshold="at least 0.5", by="")
    only_ours = Line(PLACE.at(metric="wins"), Value(2.0), 100, 5000)
    nothing_printed = replace(LINE, printed=Printed(""), verdict=Verdict.NOT_COMPARABLE, by="", reason="")
    for lines in ([LINE, claim], [claim, nothing_printed]):
        assert read_again(lines, tmp_path) == lines
    (found,) = read_again([only_ours], tmp_path)
    assert (found.place, found.ours.value, found.printed, found.verdict) == (only_ours.place, 2.0, None, None)


@pytest.mark.parametrize("name", list(targets([], paths.CHECKOUT / "results")))
def test_every_committed_table_is_written_again_to_the_byte(name: str) -> None:
    path = paths.CHECKOUT / "results" / name / "table.csv"
    assert file.text(file.frame(file.read(path))).encode() == path.read_bytes()


def test_a_place_is_the_key_of_a_number_and_its_cell_is_that_of_its_runs() -> None:
    assert PLACE.words() == dict(zip(KEYS, ["arithmetic", "hidden=4", "add", "extrapolation", "nau", "success_rate"],
                                     strict=True))  # fmt: skip
    assert PLACE.cell() == PLACE.at(split="", metric="")
    assert PLACE.told() == "arithmetic hidden=4 add nau"
    assert {PLACE: 1}[PLACE.at(setting=Setting.parse("hidden=4"))] == 1
