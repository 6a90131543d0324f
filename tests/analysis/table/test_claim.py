"""A claim in words is judged by the whole interval of the number that tests it."""

import math

import pandas as pd
import pytest

from nalu_bench.analysis.table import claim as claims
from nalu_bench.analysis.table.claim import Claim, furthest_from_true
from nalu_bench.analysis.table.compared import compared
from nalu_bench.analysis.table.line import Line, Printed, Value
from nalu_bench.analysis.table.place import Place

PLACE = Place("identity", metric="claim_fail")
QUOTE = "all of them fail"


def line(claim: Claim, *behind: pd.DataFrame) -> Line:
    (found,) = compared([claim.row(PLACE, behind, "a remark")], {PLACE: Printed(QUOTE)})
    return found


@pytest.mark.parametrize(
    ("low", "high", "above", "verdict"),
    [
        (2.0, 4.0, True, "agrees"), (1.0, 1.9, True, "differs"), (1.9, 4.0, True, "inconclusive"),
        (1.0, 2.0, False, "agrees"), (2.1, 4.0, False, "differs"), (1.0, 2.1, False, "inconclusive"),
        (math.nan, math.nan, True, "inconclusive"), (3.0, math.inf, True, "agrees"),
    ],
)  # fmt: skip
def test_the_whole_interval_must_lie_on_the_claimed_side(low: float, high: float, above: bool, verdict: str) -> None:
    found = line(Claim("a ratio", Value(3.0, low, high), 2.0, above))
    assert found.verdict == verdict
    assert found.threshold == ("at least 2" if above else "at most 2")


def test_a_number_that_is_computed_needs_no_interval() -> None:
    assert line(Claim("a loss", Value(3.0), 2.0, exact=True)).verdict == "agrees"
    assert line(Claim("a loss", Value(3.0), 2.0)).verdict == "inconclusive"


def test_a_claim_that_cannot_be_tested_says_why_and_has_no_threshold() -> None:
    for claim in (Claim("a ratio", Value(3.0, 2.5, 4.0), 2.0, untested="no runs"), Claim.missing("no runs")):
        found = line(claim)
        assert (found.verdict, found.threshold, found.notes[-1]) == ("not comparable", "", "no runs")
        assert not found.judged


def test_a_claim_keeps_its_quote_and_the_seeds_of_the_smallest_group_behind_it() -> None:
    groups = [pd.DataFrame({"seed": range(seeds), "steps": 700}) for seeds in (5, 3)]
    found = line(Claim("a ratio", Value(3.0, 2.5, 4.0), 2.0, words="at least twice"), *groups)
    assert (found.n_seeds, found.steps) == (3, 700)
    assert found.printed is not None
    assert found.printed.in_words
    assert found.notes == ("a ratio", "a remark")
    assert claims.tested_by(found) == "a ratio; a remark, our threshold: at least twice"


def test_of_several_places_the_one_on_the_wrong_side_comes_first_then_the_one_that_reaches_furthest_there() -> None:
    values = {"wrong": (1.0, 1.9), "wide": (0.5, 9.0), "right": (2.5, 3.0)}
    claims = {name: Claim(name, Value(2.0, *limits), 2.0) for name, limits in values.items()}
    assert furthest_from_true(claims.values()) is claims["wrong"]
    del claims["wrong"]
    assert furthest_from_true(claims.values()) is claims["wide"]
    unknown = Claim("unknown", Value(2.0), 2.0)
    assert furthest_from_true([*claims.values(), unknown]) is unknown
