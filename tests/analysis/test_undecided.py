"""The rule by which a campaign goes on: a verdict that is inconclusive, whichever way its number points."""

from dataclasses import replace
from pathlib import Path

import pytest

from nalu_bench.analysis import undecided
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.line import Line, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.plan import compose, experiment
from nalu_bench.plan.setting import Setting
from nalu_bench.store.reader import Store


def line(model: str, metric: str, verdict: Verdict | None) -> Line:
    place = Place("arithmetic", operation="mul", split="extrapolation", model=model, metric=metric)
    return Line(place, Value(0.5), 25, 5_000_000, verdict=verdict)


@pytest.mark.parametrize("verdict", [*(each for each in Verdict if each is not Verdict.INCONCLUSIVE), None])
def test_only_inconclusive_goes_on(verdict: Verdict | None) -> None:
    lines = [line("nmu", "success_rate", verdict), line("nac_mul", "success_rate", Verdict.INCONCLUSIVE)]
    assert {place.model for place in undecided.places(lines)} == {"nac_mul"}


def test_one_statistic_is_enough() -> None:
    lines = [line("nmu", "success_rate", Verdict.AGREES), line("nmu", "solved_at_median", Verdict.INCONCLUSIVE)]
    assert [str(place.metric) for place in undecided.places(lines)] == [""]


def test_a_word_of_the_lines_alone_is_none_of_the_cell() -> None:
    late = replace(line("nmu", "digits", Verdict.INCONCLUSIVE), place=Place("a", Setting({"step": "5", "x": "1"})))
    assert undecided.places([late], ("step",)) == {Place("a", Setting({"x": "1"}))}


def test_without_runs_nothing_is_undecided(tmp_path: Path) -> None:
    plan = compose.plan_experiment(experiment.load("madsen2020/table1"), ["budget=smoke"])
    assert undecided.undecided(plan, Store(tmp_path)) == set()
