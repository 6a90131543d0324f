"""The committed rankings of protocols: their gains, and other seeds than those of the search."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import nalu_bench
from nalu_bench import registry
from nalu_bench.analysis.document import trained
from nalu_bench.analysis.protocols.explain import DISCREPANCIES
from nalu_bench.analysis.reports.forensics import Forensics, Score
from nalu_bench.errors import UsageError
from nalu_bench.plan import experiment

NUMBERS = ["ours", "ours_low", "ours_high", "note"]


@pytest.mark.parametrize(
    "name", ["table1_forensics", "table1_finalist", "table1_recurrent_forensics", "table1_recurrent_finalist"]
)
def test_the_gain_is_shown_under_every_discrepancy_and_judged_under_the_one_that_suits_best(name: str) -> None:
    table = nalu_bench.load(f"trask2018/{name}").table
    found = table[(table["operation"] == "") & (table["setting"] == "")].set_index("metric")
    used = float(found.loc["discrepancy", "ours"])
    assert found.loc["gain_held_out", NUMBERS].equals(
        found.loc[f"gain_held_out_{used:g}", NUMBERS].rename("gain_held_out")
    )
    assert {f"gain_held_out_{term}" for term in DISCREPANCIES} <= set(found.index)


FINALISTS = [("table1_finalist", "table1_forensics"), ("table1_recurrent_finalist", "table1_recurrent_forensics")]


@pytest.mark.parametrize(("finalist", "search"), FINALISTS)
def test_other_seeds_judge_the_scores_that_the_search_chose(finalist: str, search: str) -> None:
    ranked = nalu_bench.load(f"trask2018/{search}").table
    ranked = ranked[ranked["metric"] == "misfit_fitted"]
    described, best = ranked[ranked["setting"].str.endswith("(described)")].iloc[0], ranked.iloc[0]
    scores = experiment.load(f"trask2018/{finalist}").report["scores"]
    assert [Score(**score).choice().told() for score in scores] == [described["note"], best["note"]]
    judged = nalu_bench.load(f"trask2018/{finalist}").table
    judged = judged[judged["metric"] == "misfit_fitted"].set_index("setting")
    assert {name.endswith("(described)"): note for name, note in judged["note"].items()} == {
        True: described["note"],
        False: best["note"],
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda scores: scores[:1], "scores of trask2018/table1_finalist must have one for each protocol, which are 2"),
        (lambda scores: [scores[0], scores[1] | {"metric": "mea"}], "unknown score of a hypothesis 'best, mea / mean"),
    ],
)
def test_scores_must_be_there_for_every_protocol(change: Callable[[list[Any]], list[Any]], words: str) -> None:
    found = experiment.load("trask2018/table1_finalist")
    scores = change(found.report["scores"])
    kind = registry.reports.load("forensics")(replace(found, report=found.report | {"scores": scores}))
    assert isinstance(kind, Forensics)
    with pytest.raises(UsageError, match=re.escape(words)):
        kind.rows(trained(nalu_bench.load(found.name)._measured))
