"""A claim in words is judged by the whole interval of the number that tests it."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import pytest
from scipy.special import ndtri

from nalu_bench.analysis.stats.intervals import no_finer
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table import claim as claims
from nalu_bench.analysis.table.claim import Claim, furthest_from_true
from nalu_bench.analysis.table.claims import claims_table, how_tested, together
from nalu_bench.analysis.table.compared import compared
from nalu_bench.analysis.table.line import OURS, Line, Printed
from nalu_bench.analysis.table.place import Place

PLACE = Place("identity", metric="claim_fail")
QUOTE = "all of them fail"


def line(claim: Claim, *behind: pd.DataFrame) -> Line:
    (found,) = compared([claim.row(PLACE, behind, "a remark")], {PLACE: Printed(QUOTE)})
    return found


def within(low: float, high: float) -> claims.Limits:
    """The same limits at every confidence up to 99.9 %."""
    return no_finer(lambda confidence: (low, high), 1999)


def normal(value: float, error: float) -> claims.Limits:
    """The limits of a normal number."""

    def limits(confidence: float) -> tuple[float, float]:
        half = -float(ndtri((1 - confidence) / 2)) * error
        return value - half, value + half

    return limits


def settled(*tested: Claim, sources: Sequence[str] = ()) -> list[Line]:
    """The lines of several claims of one experiment."""
    places = [PLACE.at(metric=f"claim_{number}") for number in range(len(tested))]
    printed = {
        place: Printed(QUOTE, source=source)
        for place, source in zip(places, sources or [""] * len(tested), strict=True)
    }
    return compared([claim.row(place) for claim, place in zip(tested, places, strict=True)], printed)


@pytest.mark.parametrize(
    ("low", "high", "above", "verdict"),
    [
        (2.0, 4.0, True, "agrees"), (1.0, 1.9, True, "differs"), (1.9, 4.0, True, "inconclusive"),
        (1.0, 2.0, False, "agrees"), (2.1, 4.0, False, "differs"), (1.0, 2.1, False, "inconclusive"),
        (math.nan, math.nan, True, "inconclusive"), (3.0, math.inf, True, "agrees"),
    ],
)  # fmt: skip
def test_the_whole_interval_must_lie_on_the_claimed_side(low: float, high: float, above: bool, verdict: str) -> None:
    found = line(Claim("a ratio", 3.0, within(low, high), 2.0, above))
    assert found.verdict == verdict
    assert found.threshold == ("at least 2" if above else "at most 2")


def test_a_number_that_is_computed_needs_no_interval() -> None:
    found = line(Claim("a loss", 3.0, None, 2.0))
    assert found.verdict == "agrees"
    assert "p =" not in found.reason


def test_a_claim_that_cannot_be_tested_says_why_and_has_no_threshold() -> None:
    for claim in (Claim("a ratio", 3.0, within(2.5, 4.0), 2.0, untested="no runs"), Claim.missing("no runs")):
        found = line(claim)
        assert (found.verdict, found.threshold, found.notes[-1]) == ("not comparable", "", "no runs")
        assert not found.judged


def test_a_claim_keeps_its_quote_and_the_seeds_of_the_smallest_group_behind_it() -> None:
    groups = [pd.DataFrame({"seed": range(seeds), "steps": 700}) for seeds in (5, 3)]
    found = line(Claim("a ratio", 3.0, within(2.5, 4.0), 2.0, words="at least twice"), *groups)
    assert (found.n_seeds, found.steps) == (3, 700)
    assert found.printed is not None
    assert found.printed.in_words
    assert found.notes == ("a ratio", "a remark")
    assert how_tested(found) == "a ratio; a remark, our threshold: at least twice"


def test_of_several_places_the_one_on_the_wrong_side_comes_first_then_the_one_that_reaches_furthest_there() -> None:
    values = {"wrong": (1.0, 1.9), "wide": (0.5, 9.0), "right": (2.5, 3.0)}
    found = {name: Claim(name, 2.0, within(*limits), 2.0) for name, limits in values.items()}
    assert furthest_from_true([*found.values()]).quantity == "wrong"
    del found["wrong"]
    assert furthest_from_true([*found.values()]).quantity == "wide"
    unknown = Claim("unknown", 2.0, within(math.nan, math.nan), 2.0)
    assert furthest_from_true([*found.values(), unknown]).quantity == "unknown"


def test_a_claim_on_several_places_tells_the_number_of_each() -> None:
    limits = {"a × b in extrapolation": (1.0, 1.9), "a / b in extrapolation": (2.5, 3.0)}
    found = [replace(Claim("a ratio", 2.5e7, within(*both), 2.0), where=where) for where, both in limits.items()]
    absent, exact = (replace(Claim("a ratio", value, None, 2.0), where="√a") for value in (math.nan, 1.5))
    everywhere = "everywhere: a × b in extrapolation 2.5e+07 [1, 1.9], a / b in extrapolation 2.5e+07 [2.5, 3], √a"
    for last, told in ((absent, "–"), (exact, "1.5")):
        tested = line(furthest_from_true([*found, last]))
        assert f"{everywhere} {told}" in tested.notes
        assert [*tested.everywhere] == [*limits, "√a"]
        assert tested.everywhere["a × b in extrapolation"] == 2.5e7
        assert tested.everywhere["√a"] == pytest.approx(last.value, nan_ok=True)


@pytest.mark.parametrize(("value", "verdicts"), [(1.0, ["differs", "inconclusive"]), (3.0, ["agrees", "agrees"])])
def test_a_claim_on_many_places_differs_only_if_the_worst_of_so_many_does(value: float, verdicts: list[str]) -> None:
    """p = 0.012, and 0.12 among ten; that it holds in the worst of ten places needs no correction."""
    alone = Claim("a ratio", value, normal(value, 0.4), 2.0)
    worst = furthest_from_true([alone] * 10)
    assert [str(line(one).verdict) for one in (alone, worst)] == verdicts


def test_the_place_with_the_weakest_agreement_and_the_strongest_difference_count() -> None:
    """Where all agree the largest p-value is that of the claim; where some differ, the smallest."""
    near, sure = Claim("near", 3.0, normal(3.0, 0.4), 2.0), Claim("sure", 2.4, normal(2.4, 0.01), 2.0)
    assert furthest_from_true([near, sure]).quantity == "near"
    weak, clear = Claim("weak", 1.0, normal(1.0, 0.4), 2.0), Claim("clear", 1.9, normal(1.9, 0.01), 2.0)
    assert furthest_from_true([weak, clear, near]).quantity == "clear"


def test_agreement_of_a_place_that_was_picked_is_corrected_too() -> None:
    alone = Claim("a ratio", 3.0, normal(3.0, 0.4), 2.0, places=10)
    assert [str(line(replace(alone, picked=picked)).verdict) for picked in (False, True)] == ["agrees", "inconclusive"]


@pytest.mark.parametrize("value", [1.0, 3.0])
def test_claims_of_one_experiment_are_corrected_together(value: float) -> None:
    """p = 0.012 is decided among four claims, not among five."""
    alone = Claim("a ratio", value, normal(value, 0.4), 2.0)
    assert {str(found.verdict) for found in settled(*[alone] * 4)} == {"agrees" if value > 2 else "differs"}
    five = settled(*[alone] * 5)
    assert {str(found.verdict) for found in five} == {"inconclusive"}
    assert five[0].notes[-1] == "decided alone, but not after Holm's correction"


def test_our_own_claims_are_corrected_and_counted_apart() -> None:
    alone = Claim("a ratio", 1.0, normal(1.0, 0.4), 2.0)
    found = settled(*[alone] * 8, sources=["a paper", OURS] * 4)
    assert {str(one.verdict) for one in found} == {"differs"}
    assert [one.counted for one in found] == [True, False] * 4
    assert found[1].told()[-1] == "our own claim in words, our threshold: at least 2"


def test_a_bootstrap_gives_no_smaller_p_value_than_its_resamples_allow() -> None:
    found = settled(*[Claim("a ratio", 9.0, within(8.0, 9.0), 2.0)] * 2)
    assert "p = 0.001," in found[0].reason


def test_a_sentence_stands_once_however_often_it_is_tested() -> None:
    one = line(Claim("a ratio", 3.0, within(2.5, 4.0), 2.0))
    lines = [one, replace(one, verdict=Verdict.DIFFERS), replace(one, verdict=Verdict.INCONCLUSIVE)]
    (table,) = claims_table("Table", lines, under=lambda _: "some inputs")
    assert [row[:2] for row in table.rows] == [[QUOTE, together(lines)], *[["", "some inputs"]] * 3]
    assert together(lines) == "holds under 1, does not hold under 1, not decided under 1"
    assert together(lines[:1] * 4) == "holds under all"
    (alone,) = claims_table("Table", [one], under=lambda _: "")
    assert (alone.header[:2], [row[0] for row in alone.rows]) == (["Claim", "tested by"], [QUOTE])
    assert claims_table("Table", [], under=lambda _: "") == []


def test_why_nothing_is_compared_stands_below_the_table_and_not_in_it() -> None:
    assert how_tested(line(Claim.missing("no runs"))) == "a remark"
