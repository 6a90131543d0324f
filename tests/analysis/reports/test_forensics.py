"""The committed rankings of protocols: what they say under other discrepancies."""

import pytest

import nalu_bench
from nalu_bench.analysis.protocols.explain import DISCREPANCIES

NUMBERS = ["ours", "ours_low", "ours_high", "note"]


@pytest.mark.parametrize("name", ["table1_forensics", "table1_finalist", "table1_recurrent_forensics"])
def test_the_gain_is_shown_under_every_discrepancy_and_judged_under_the_one_that_suits_best(name: str) -> None:
    table = nalu_bench.load(f"trask2018/{name}").table
    found = table[(table["operation"] == "") & (table["setting"] == "")].set_index("metric")
    used = float(found.loc["discrepancy", "ours"])
    assert found.loc["gain_held_out", NUMBERS].equals(
        found.loc[f"gain_held_out_{used:g}", NUMBERS].rename("gain_held_out")
    )
    assert {f"gain_held_out_{term}" for term in DISCREPANCIES} <= set(found.index)
