"""The committed rankings of protocols: their gains, and other seeds than those of the search."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import nalu_bench
from nalu_bench import registry
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.protocols.explain import DISCREPANCIES
from nalu_bench.analysis.reports.forensics import Forensics, Score
from nalu_bench.errors import UsageError
from nalu_bench.plan import experiment

NUMBERS = ["ours", "ours_low", "ours_high"]


FINALISTS = [("table1_finalist", "table1_forensics"), ("table1_recurrent_finalist", "table1_recurrent_forensics")]


@pytest.mark.parametrize("name", [pytest.param("table1_finalist", marks=pytest.mark.slow), "table1_recurrent_finalist"])
def test_the_gain_is_shown_under_every_discrepancy_and_judged_under_the_one_that_suits_best(name: str) -> None:
    loaded = nalu_bench.load(f"trask2018/{name}")
    rows = {row.keys["metric"]: row for row in kind_of(name, tables=1).rows(loaded._measured.trained)}
    shown = {f"gain_held_out_{term}" for term in DISCREPANCIES}
    assert shown <= set(rows)
    committed = loaded.table[loaded.table["operation"] == ""].set_index("metric")
    for metric in (*shown, "gain_held_out", "discrepancy_without_limit", "chance_described"):
        numbers = rows[metric].ours, rows[metric].low, rows[metric].high
        assert numbers == pytest.approx(tuple(committed.loc[metric, NUMBERS]), rel=1e-6, nan_ok=True)
    used = rows[f"gain_held_out_{rows['discrepancy'].ours:g}"]
    assert (used.ours, used.note) == (rows["gain_held_out"].ours, rows["gain_held_out"].note)


def kind_of(name: str, **changes: Any) -> Forensics:
    """The report of an experiment with some settings changed."""
    found = experiment.load(f"trask2018/{name}")
    kind = registry.reports.load(found.report["kind"])(replace(found, report=found.report | changes))
    assert isinstance(kind, Forensics)
    return kind


def few_seeds(name: str) -> Measured:
    """What is recorded of the first seeds: enough for what is refused."""
    measured = nalu_bench.load(f"trask2018/{name}")._measured.trained
    return replace(measured, runs=measured.runs[measured.runs["seed"] < 4])


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
        (
            lambda scores: scores[:1],
            "scores of trask2018/table1_finalist must have one for each of its 2 hypotheses (law=",
        ),
        (lambda scores: [scores[0], scores[1] | {"metric": "mea"}], "unknown metric of a score 'mea'; did you mean"),
        (
            lambda scores: [scores[0], scores[1] | {"steps": 99}],
            "unknown steps of a score '99'. Known: 10000, 2500, 5000",
        ),
    ],
)
def test_scores_must_be_there_for_every_protocol(change: Callable[[list[Any]], list[Any]], words: str) -> None:
    measured = few_seeds("table1_finalist")
    scores = change(experiment.load("trask2018/table1_finalist").report["scores"])
    with pytest.raises(UsageError, match=re.escape(words)):
        kind_of("table1_finalist", scores=scores).rows(measured)


def test_only_models_of_the_table_can_choose() -> None:
    with pytest.raises(UsageError, match=r"unknown model in fitting 'nothing'\. Known: linear, nac, nalu, relu6"):
        kind_of("table1_finalist", fitting=["nothing"]).check([])


def test_training_is_cut_off_after_an_evaluation() -> None:
    measured = few_seeds("table1_finalist")
    with pytest.raises(UsageError, match=r"the first at step 500, got -5\."):
        kind_of("table1_finalist", steps=[10_000, -5]).rows(measured)
