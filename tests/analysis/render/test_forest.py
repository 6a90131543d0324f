"""Forest plots: every printed number beside ours."""

import math
from dataclasses import replace

import pytest

from nalu_bench.analysis.render import forest, style
from nalu_bench.analysis.render.measures import by_measure, labels
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.line import Line, Printed, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.plan.setting import Setting

pytestmark = pytest.mark.pictures

PLACE = Place("arithmetic", operation="mul", model="nmu", split="extrapolation", metric="mae")
LINE = Line(PLACE, Value(0.5, 0.4, 0.6), 10, 100, Printed("0.45", "0.4", "0.5"), Verdict.AGREES)


def drawn(*lines: Line, shares: tuple[str, ...] = ()) -> dict[str, object]:
    with style.applied():
        return dict(forest.forests(lines, {}, shares))


def test_only_printed_numbers_that_are_compared_are_drawn_by_measure() -> None:
    sentence = replace(LINE, printed=Printed("it holds"))
    other = replace(LINE, place=PLACE.at(metric="mse"), verdict=Verdict.NOT_COMPARABLE)
    again = replace(LINE, place=PLACE.at(metric="rate"), verdict=Verdict.SAME_SEEDS)
    assert list(drawn(LINE, sentence, other, again, replace(LINE, printed=None))) == ["mae, extrapolation"]


def test_many_numbers_take_several_pictures() -> None:
    assert list(drawn(*[LINE] * (forest.ROWS + 1))) == ["mae, extrapolation, 1 of 2", "mae, extrapolation, 2 of 2"]


@pytest.mark.parametrize(
    ("values", "shares", "scale"),
    [
        ([0.5, 0.6], (), "linear"),
        ([0.5, 5000.0], (), "log"),
        ([0.0, 5000.0], (), "symlog"),
        ([0.001, 1.0], ("ma*",), "linear"),
        ([0.5, math.inf], (), "linear"),
        ([-0.001, 5000.0], (), "linear"),
    ],
)
def test_numbers_that_are_wide_apart_have_a_logarithmic_axis(
    values: list[float], shares: tuple[str, ...], scale: str
) -> None:
    (figure,) = drawn(*(replace(LINE, ours=Value(value)) for value in values), shares=shares).values()
    assert figure.axes[0].get_xscale() == scale  # type: ignore[attr-defined]


def test_a_bound_is_drawn_at_its_number() -> None:
    (figure,) = drawn(replace(LINE, printed=Printed(">999"))).values()
    assert figure.axes[0].lines[0].get_xdata() == [999.0]  # type: ignore[attr-defined]


def test_the_range_of_the_seeds_is_drawn_where_a_number_is_held_against_it() -> None:
    held = replace(LINE, ours=Value(0.5), held=(0.1, 0.9))
    for line, ends in ((held, [[0.1, 0.9]]), (replace(held, held=None), [])):
        (figure,) = drawn(line).values()
        thin = [one for one in figure.axes[0].lines if one.get_linewidth() < 0.7]  # type: ignore[attr-defined]
        assert [list(one.get_xdata()) for one in thin] == ends


def test_rows_have_the_words_by_which_they_differ() -> None:
    other = replace(LINE, place=PLACE.at(operation="add"))
    assert labels([LINE, other]) == ["a × b", "a + b"]
    assert labels([LINE]) == ["NMU"]
    hidden = [replace(LINE, place=PLACE.at(setting=Setting({"cost": 1, "T": time}))) for time in (5, 6)]
    assert labels(hidden) == ["T=5", "T=6"]
    assert list(by_measure([LINE, replace(LINE, place=PLACE.at(split=""))], {})) == ["mae, extrapolation", "mae"]


def test_a_measure_of_one_of_several_operations_says_of_which() -> None:
    lines = [LINE, replace(LINE, place=PLACE.at(operation="add")), replace(LINE, place=PLACE.at(metric="mse"))]
    words = {"mse": "Squared error", "extrapolation": "outside"}
    assert list(by_measure(lines, words)) == ["mae, outside", "Squared error, outside: a × b"]
