"""Agents that tell the time: T50 of every seed, claims and differences."""

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from reported import cells_of, claims_of, line_with, lines_of, lines_with, measured_of, runs_of

from nalu_bench import paths
from nalu_bench.analysis.table.line import Line
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import timing_claims, timing_film
from nalu_bench.papers.trask2018.timing import OUTCOMES, Timing
from nalu_bench.papers.trask2018.timing_claims import Sentence
from nalu_bench.plan import compose, experiment

FIGURE5 = experiment.load("trask2018/figure5")
TIMES = range(5, 41)


def runs(model: str, last: Sequence[int], told: str = "time", scale: str = "1.0") -> pd.DataFrame:
    """Seeds that succeed up to their last T, and come late beyond it."""
    shares = {T: np.where(np.array(last) >= T, 0.99, 0.0) for T in TIMES}
    columns = {f"test_{name}_{T}": np.zeros(len(last)) for name in OUTCOMES for T in TIMES}
    for T, share in shares.items():
        columns |= {f"test_success_{T}": share, f"test_sampled_{T}": share, f"test_late_{T}": 1 - share}
    words = {"task": "grid_world", "setting": f"told={told};scale={scale}", "cell": f"{model}{told}{scale}"}
    return runs_of(model, len(last), steps=5000, late_gain=0.001, **words, **columns)


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    cells = [
        runs("agent_lstm", 5 * [13, 14]),
        runs("agent_nac_memory", [*5 * [20], 21, 22, 22, 22, 40]),
        runs("agent_linear_memory", 10 * [21]),
        runs("agent_nac_hidden", 5 * [12, 13]),
        runs("agent_linear_hidden", [11, *9 * [13]]),
        runs("agent_lstm", 10 * [40], told="remaining"),
        runs("agent_lstm", 10 * [18], scale="0.1"),
        runs("agent_lstm_pictures", 3 * [9]),
    ]
    return lines_of(Timing(FIGURE5), measured_of(*cells))


def test_t50_is_the_first_time_at_which_a_seed_fails_or_the_one_after_the_last(lines: list[Line]) -> None:
    t50 = {(line.place.model, str(line.place.setting)): line.ours.value for line in lines_with(lines, metric="t50")}
    assert t50["agent_lstm", "told=time;scale=1.0"] == 14.5
    assert t50["agent_nac_memory", "told=time;scale=1.0"] == 21.5
    assert t50["agent_lstm", "told=remaining;scale=1.0"] == 41


def test_claims_are_tested_for_each_scale_on_the_agent_furthest_from_true(lines: list[Line]) -> None:
    claims = claims_of(lines)
    verdicts = {(str(line.place.setting), line.place.metric): line.verdict for line in claims}
    assert verdicts["scale=1.0", "claim_master"] == "agrees"
    assert verdicts["scale=1.0", "claim_lstm"] == "agrees", "14 and 15 are below 16"
    assert verdicts["scale=1.0", "claim_nac"] == "fitted", "the agent was chosen by what it did in prototypes"
    assert verdicts["scale=1.0", "claim_beyond"] == "agrees"
    assert verdicts["scale=0.1", "claim_lstm"] == "differs", "its T50 is 19"
    assert verdicts["scale=0.1", "claim_master"] == "not comparable", "one of its two agents has no runs"
    assert all(line.printed and line.printed.text for line in claims)


def test_a_claim_on_pairs_needs_the_interval_of_each(lines: list[Line]) -> None:
    path, unit = (line_with(lines, setting="scale=1.0", metric=f"claim_{name}") for name in ("path", "unit"))
    assert path.verdict == "fitted"
    assert path.notes[0] == "T50 of NAC of [T, c] − NAC of [T, h]", "the smallest lower limit of the three"
    assert path.ours.value == pytest.approx(23.7 - 13.5)
    assert unit.ours.value == pytest.approx(-1.7)
    assert unit.verdict == "inconclusive", "one seed of the NAC goes to 40, and the interval reaches below −2"


def test_a_claim_differs_if_one_of_its_agents_is_on_the_other_side() -> None:
    """The lower limit of the second agent is the smaller one, but its interval holds the limit."""
    agents = {"a": runs("a", [13] * 6), "b": runs("b", [12, 12, 25, 25, 25, 25])}
    kind = Timing(FIGURE5)
    found = timing_claims.tested(Sentence(["a", "b"], at_least=18), agents, kind._t50, kind._mean)
    assert found is not None
    assert (found[0].quantity, found[0].ours) == ("a, T50", (14, 14, 14))


def test_differences_of_t50_have_welchs_interval_and_holms_correction(lines: list[Line]) -> None:
    found = {line.place.metric: line for line in lines if line.place.metric.startswith("t50_difference")}
    same = found["t50_difference agent_linear_memory agent_nac_memory"]
    assert "t50_difference agent_nac_memory agent_nac_direct" not in found, "it has no runs"
    assert same.ours.value == pytest.approx(22 - 22.7 - 1)
    assert same.ours.low < 0 < same.ours.high
    assert same.notes == ("not told apart",)
    other = found["t50_difference agent_nac_hidden agent_lstm"]
    assert (other.ours.value, other.notes) == (pytest.approx(-1), ("shorter",))
    assert found["t50_difference agent_nac_memory agent_lstm"].notes == ("longer",)


def test_the_tables_hold_every_agent_and_the_oracle(lines: list[Line]) -> None:
    success, *rest = Timing(FIGURE5).tables(lines)
    shown, (_, early, _, differences, claims) = cells_of(success), map(cells_of, rest)
    names = [row[0] for row in shown]
    assert "LSTM, told T − t" in names
    assert names[-1].endswith("; 3 seeds; not mastered"), "pictures have fewer seeds"
    first = dict(zip(success.header, shown[0], strict=True))
    assert first["14"] == "50 %"
    assert first["Late gain, points"] == "+0.1 [+0.1, +0.1]"
    oracle = dict(zip(success.header, shown[names.index("LSTM, told T − t")], strict=True))
    assert oracle["T50"] == "> 40 [> 40, > 40]"
    assert early[0][1:4] == ["0 / 1 / 0", "0 / 50 / 0", "0 / 100 / 0"]
    assert {row[-1] for row in differences} == {"not told apart", "longer", "shorter"}
    assert any("not mastered" not in cell for row in differences for cell in row[1:3])
    assert [row[2] for row in claims].count("us") == 4
    assert len(claims) == 12


def test_an_agent_that_has_not_mastered_the_trained_times_is_marked() -> None:
    kind = Timing(FIGURE5)
    cells = [runs("agent_lstm", 10 * [10]), runs("agent_nac_hidden", 10 * [14])]
    success, _, differences, _ = map(cells_of, kind.tables(lines_of(kind, measured_of(*cells))))
    assert [row[0] for row in success] == ["LSTM; not mastered", "NAC of [T, h]"]
    assert [row[1:3] for row in differences] == [["NAC of [T, h]", "LSTM; not mastered"]]


def test_the_late_gain_is_the_growth_over_the_last_fifth() -> None:
    (want, *_) = compose.plan_experiment(FIGURE5, ["budget=paper"]).cells
    steps = np.arange(0, 5001, 250)
    curves = pd.DataFrame({"seed": 7, "step": steps, "validation_return": np.where(steps < 4000, 0.5, steps / 10_000)})
    facts = Timing(FIGURE5).facts(want.cell, pd.DataFrame({"seed": [7, 8]}), curves, pd.DataFrame())
    assert facts["late_gain"].tolist() == pytest.approx([0.1, np.nan], nan_ok=True)


def test_a_seed_that_diverged_at_once_succeeds_nowhere() -> None:
    lost = runs("agent_lstm", [20, 20, 20])
    lost.loc[0, [column for column in lost if str(column).startswith("test_")]] = np.nan
    kind = Timing(FIGURE5)
    assert kind._t50(lost).tolist() == [13, 21, 21]
    assert kind._mean(lost, [5, 12])[0] == 0


def test_films_show_the_first_seed_of_every_agent_until_it_arrives() -> None:
    """One agent goes straight to the target with T = 10 and 18; the other stays where it is."""
    cells = [runs("agent_lstm", [20, 20]), runs("agent_nac_memory", [20, 20]), runs("agent_lstm", [9], scale="0.1")]
    straight = np.array([20, 15, 10, 5, 0, 1, 2, 3, *19 * [4]])
    waits = np.concatenate([2 * [20], straight[:-2]])
    kept = [
        {"cell": cell, "seed": seed, "name": name, "shape": np.shape(value), "values": np.ravel(value)}
        for cell, paths in {
            "agent_lstmtime1.0": [27 * [20], 27 * [20]],
            "agent_nac_memorytime1.0": [waits, waits],
            "agent_lstmtime0.1": [straight, straight],
        }.items()
        for seed in range(2)
        for name, value in {"squares": paths, "grid": [5, 4], "times": [10, 18]}.items()
    ]
    found = Timing(FIGURE5).pictures(measured_of(*cells, weights=pd.DataFrame(kept)))
    assert list(found) == ["film.png", "film.gif"]
    film = Image.open(io.BytesIO(found["film.gif"]))
    assert (film.format, getattr(film, "n_frames", 0)) == ("GIF", 27), "T = 18, and 8 actions more"
    assert Image.open(io.BytesIO(found["film.png"])).format == "PNG"

    still, moving = np.full(27, 20, np.float32), waits.astype(np.float32)
    squares = {"still": {10: still, 18: still}, "waits": {10: moving, 18: moving}}
    scenes = timing_film.scenes(squares, 5, 4, 8)
    assert [(scene.time, scene.arrived, len(scene.pictures)) for scene in scenes] == [
        (10, 0, 19), (18, 0, 27), (10, 10, 11), (18, 10, 11),
    ]  # fmt: skip
    assert [scene.colour(10) for scene in scenes[2:]] == [timing_film.IN_TIME, timing_film.NOT_IN_TIME]
    assert scenes[2].colour(9) == "black"


def test_the_committed_film_is_small_enough() -> None:
    assert (paths.CHECKOUT / "results/trask2018/figure5/film.gif").stat().st_size < 500_000


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ({"times": [5, 12], "at_least": 0.95}, "the claim master must be on models or on pairs of them"),
        ({"models": ["agent_lstm"]}, "the claim master must have one limit, at_least or at_most"),
        ({"models": ["agent_lstm"], "at_least": 1, "at_most": 2}, "the claim master must have one limit"),
    ],
)
def test_a_claim_on_nothing_or_without_a_limit_is_refused(claim: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Timing(replace(FIGURE5, report=FIGURE5.report | {"claims": {"master": claim}})).check([])


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("task.times=[5,20]", r"reports training on T = 5 to 12, got task.times=\[5, 20\]"),
        ("task.test_times=[3,12]", r"must begin at 5 or below and end above 12, got \[3, 12\]"),
        ("task.test_times=[10,40]", r"must begin at 5 or below and end above 12, got \[10, 40\]"),
    ],
)
def test_times_that_the_report_does_not_mean_are_refused_before_training(override: str, words: str) -> None:
    cells = compose.plan_experiment(FIGURE5, ["budget=smoke", "model=agent_lstm", override]).cells
    with pytest.raises(UsageError, match=words):
        Timing(FIGURE5).check(cells)


def test_a_report_on_times_needs_the_grid_world() -> None:
    cells = compose.plan_experiment(experiment.load("trask2018/table3"), ["budget=smoke"]).cells
    with pytest.raises(UsageError, match="needs a task with times and test_times"):
        Timing(FIGURE5).check(cells)
