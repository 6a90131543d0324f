"""Agents that tell the time: rewards, T50 of every seed, claims and differences."""

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from reported import cells_of, line_with, lines_of, lines_with, measured_of, runs_of, verdicts_of

from nalu_bench.analysis.table.line import Line
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import timing_film, timing_t50
from nalu_bench.papers.trask2018.timing import Timing
from nalu_bench.plan import compose, experiment

FIGURE5 = experiment.load("trask2018/figure5")
TIMES = range(5, 61)
PIXELS = {"task": "grid_world_pixels"}
FITTED = "cost=0.14;scale=1.0"


def runs(model: str, last: Sequence[int], setting: str = FITTED, task: str = "grid_world") -> pd.DataFrame:
    """Seeds that succeed up to their last T, and come at T = 12 beyond it."""
    columns = {f"test_{name}_{T}": np.zeros(len(last)) for name in ("late", "never") for T in TIMES}
    for T in TIMES:
        share = np.where(np.array(last) >= T, 1.0, 0.0)
        columns |= {f"test_{name}_{T}": share for name in ("success", "sampled")}
        columns |= {f"test_early_{T}": 1 - share, f"test_longest_{T}": 1 - share}
        columns |= {f"test_reward_{T}": share + (1 - share) * (1 - 0.14 * (T - 12))}
    words = {"task": task, "setting": setting, "cell": f"{task}{model}{setting}"}
    return runs_of(model, len(last), steps=5000, late_gain=0.001, **words, **columns)


def without(frame: pd.DataFrame, share: str) -> pd.DataFrame:
    return frame.drop(columns=[column for column in frame if str(column).startswith(f"test_{share}_")])


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    cells = [
        runs("agent_lstm_pictures", 10 * [12], **PIXELS),
        runs("agent_b_pictures", [*5 * [19], *5 * [20]], **PIXELS),
        runs("agent_lstm", 5 * [13, 14]),
        runs("agent_b", 10 * [13]),
        runs("agent_b_memory", [*4 * [30], *6 * [60]]),
        runs("agent_b_hidden", [11, *9 * [13]]),
        runs("agent_b_linear", [*5 * [30], *5 * [60]]),
        runs("agent_lstm", 10 * [18], "cost=0.0;scale=1.0"),
        runs("agent_b_memory", 3 * [18], "cost=0.0;scale=1.0"),
    ]
    return lines_of(Timing(FIGURE5), measured_of(*cells))


def t50(lines: Sequence[Line], **words: str) -> tuple[float, ...]:
    return line_with(lines, metric="t50", **words).ours


def test_a_seed_that_fails_at_no_tested_time_is_censored_and_bounds_the_median_from_below(lines: list[Line]) -> None:
    main: dict[str, str] = {"task": "grid_world", "setting": FITTED}
    assert t50(lines, model="agent_lstm", **main) == (14, 14, 15)
    assert t50(lines, model="agent_b_memory", **main) == (np.inf, 31, np.inf)
    assert t50(lines, model="agent_b_linear", **main) == (31, 31, np.inf), "half of the seeds have failed at 31"


def test_the_middle_of_a_time_and_an_unknown_one_is_not_made_up() -> None:
    assert timing_t50.median_of(np.array([17.0, np.inf]))[0] == 17
    assert timing_t50.median_of(np.array([17.0, np.inf, np.inf]))[0] == np.inf
    assert timing_t50.shown(np.full(10, np.inf)) == (np.inf,) * 3


def test_differences_are_of_means_that_no_censored_seed_enters(lines: list[Line]) -> None:
    found = {
        line.place.metric: line
        for line in lines_with(lines, task="grid_world", setting=FITTED)
        if line.place.metric.startswith("t50_difference")
    }
    same = found["t50_difference agent_b_linear agent_b_memory"]
    assert same.ours.value == pytest.approx((5 * 31 + 5 * 60) / 10 - (4 * 31 + 6 * 60) / 10)
    assert same.notes == ("not told apart", "restricted at T = 60")
    assert found["t50_difference agent_b_memory agent_lstm"].notes[0] == "longer"
    assert found["t50_difference agent_b_hidden agent_lstm"].notes[0] == "shorter"


def test_a_claim_is_tested_for_every_agent_beside_which_its_sentence_is_printed(lines: list[Line]) -> None:
    names = ("lstm", "twelve", "nac", "never")
    claims = [line for name in names for line in lines_with(lines, task="grid_world_pixels", metric=f"claim_{name}")]
    pixels = verdicts_of(claims)
    assert pixels == {
        "claim_lstm": "agrees", "claim_twelve": "agrees", "claim_nac": "agrees", "claim_never": "differs",
    }, "B comes at T = 12 instead"  # fmt: skip
    nac = verdicts_of(lines_with(lines, task="grid_world", metric="claim_nac"), "model")
    assert nac == {"agent_b": "differs", "agent_b_memory": "agrees", "agent_b_hidden": "differs"}
    claims = [line for line in lines if line.place.metric.startswith("claim_")]
    assert {str(line.place.setting) for line in claims} == {FITTED}, "the controls test no claim"
    assert all(line.printed and line.printed.text for line in claims)


def test_a_claim_on_pairs_is_tested_on_restricted_means_where_it_is_furthest_from_true(lines: list[Line]) -> None:
    path, unit = (line_with(lines, metric=f"claim_{name}") for name in ("path", "unit"))
    assert path.notes[0] == "T50 of linear of [T, c] − LSTM, restricted at T = 60"
    assert path.ours.value == pytest.approx(45.5 - 14.5)
    assert path.verdict == "fitted"
    assert (unit.verdict, unit.ours.value) == ("inconclusive", pytest.approx(45.5 - 48.4))


def test_rewards_stand_beside_those_that_were_read_off_the_figure(lines: list[Line]) -> None:
    found = {
        (line.place.model, line.place.setting["T"]): line
        for line in lines_with(lines, task="grid_world_pixels", metric="reward")
    }
    assert found["agent_b_pictures", "15"].verdict == "differs", "1 is not 0.91 ± 0.02"
    assert found["agent_b_pictures", "12"].verdict == "agrees"
    assert found["agent_lstm_pictures", "17"].verdict == "differs", "0.3 is not 0.34 ± 0.02"
    assert found["agent_lstm_pictures", "16"].verdict == "differs"
    assert found["agent_lstm_pictures", "19"].printed_text == "0.08"
    assert found["agent_lstm_pictures", "19"].ours.value == pytest.approx(0.02)
    assert found["agent_lstm_pictures", "18"].verdict == "differs"
    assert found["agent_lstm_pictures", "20"].verdict == "differs"
    assert found["agent_lstm_pictures", "12"].verdict == "agrees"
    assert found["agent_lstm_pictures", "60"].verdict is None, "the figure ends at 25"


def test_a_printed_reward_by_which_the_cost_was_chosen_is_fitted() -> None:
    at_17 = runs("agent_lstm_pictures", 10 * [12], **PIXELS).assign(test_reward_17=0.33)
    made = lines_of(Timing(FIGURE5), measured_of(at_17))
    found = lines_with(made, metric="reward", model="agent_lstm_pictures")
    assert {line.place.setting["T"]: line.verdict for line in found}["17"] == "fitted"


def test_runs_without_rewards_are_reported_all_the_same() -> None:
    kind = Timing(FIGURE5)
    old = without(runs("agent_lstm", 10 * [13]), "reward")
    made = lines_of(kind, measured_of(old))
    assert not [line for line in lines_with(made, metric="reward") if line.n_seeds]
    assert not any(table.title.startswith("Average reward") for table in kind.tables(made))
    assert kind.figure(measured_of(old), made)[1]["panel"].unique().tolist() == ["success", "T50"]


def test_the_tables_hold_every_group_and_the_printed_rewards(lines: list[Line]) -> None:
    tables = Timing(FIGURE5).tables(lines)
    names = [table.title.partition(". ")[0] for table in tables]
    pixels, planes, control = (
        f"{seen}, {paid}, told T"
        for seen, paid in (("pixels", "early costs 0.14"), ("planes", "early costs 0.14"), ("planes", "early earns 0"))
    )
    assert [name for name in names if "reward" in name] == [
        f"Average reward, {pixels}", f"Average reward, {planes}", f"Average reward, {control}"
    ]  # fmt: skip
    shown = {name: (table.header, cells_of(table)) for name, table in zip(names, tables, strict=True)}
    header, rewards = shown[f"Average reward, {pixels}"]
    assert [row[:2] for row in rewards[:3]] == [["LSTM, pixels", "ours"], ["", "printed"], ["", "verdict"]]
    at_17 = [row[header.index("T = 17")] for row in rewards[:3]]
    assert (at_17[0], at_17[1]) == ("0.30 [0.30, 0.30]", "0.34")
    assert len(shown[f"Average reward, {planes}"][1]) == 5, "nothing is printed for those without pictures"
    header, success = shown[f"Success, {planes}"]
    by_agent = {row[0]: dict(zip(header, row, strict=True)) for row in success}
    assert by_agent["B, NAC of [T, c]"]["T50"] == "> 60 [31, > 60]"
    assert by_agent["LSTM"]["T = 13"] == "100 %"
    assert "B, NAC of [T, c]; 3 seeds" not in by_agent
    assert cells_of(tables[-1])[0][1:3] == ["B, NAC of [T], pixels", "LSTM, pixels"]
    claims = cells_of(tables[0])
    said = [row[1] for row in claims]
    assert (said.count("us"), said.count("the source"), said.count("")) == (2, 5, 18)


def test_the_figure_draws_a_censored_seed_beyond_the_last_time_and_keeps_it_infinite() -> None:
    kind = Timing(FIGURE5)
    measured = measured_of(runs("agent_lstm", [13, 60]))
    figure, numbers = kind.figure(measured, lines_of(kind, measured))
    assert numbers.loc[numbers["panel"] == "T50", "y"].tolist() == [14, np.inf]
    below = figure.axes[-1]
    assert below.lines[0].get_xdata()[1] == 61  # type: ignore[index]
    assert below.get_xticklabels()[-1].get_text() == "> 60"


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
    assert kind._mean(lost, "success", [5, 12])[0] == 0


def test_the_agents_are_trained_with_the_cost_that_fits_the_printed_curve() -> None:
    """By least squares of reward = 1 - cost (T - 12) over the digitised points of agent A beyond T = 12."""
    printed = pd.read_csv(FIGURE5.published).query("model == 'agent_lstm_pictures' and metric == 'reward'")
    d = printed["setting"].str.partition("T=")[2].astype(float) - 12
    assert sorted(d) == list(range(-4, 14))
    d, missing = d[d > 0].to_numpy(), 1 - printed["printed"][d > 0].to_numpy(float)
    (cost,), *_ = np.linalg.lstsq(d[:, None], missing, rcond=None)
    assert (f"{cost:.3f}", f"{np.abs(missing - cost * d).max():.2f}") == ("0.139", "0.11")
    cells = compose.plan_experiment(FIGURE5, ["budget=paper"]).cells
    costs = {want.cell.task.early_cost for want in cells}  # type: ignore[attr-defined]
    assert costs == {0.0, round(cost, 2)}


def test_films_show_the_first_seed_of_every_agent_until_it_arrives() -> None:
    """One agent goes straight to the target with T = 10 and 18; the other stays where it is."""
    cells = [runs("agent_lstm", [20, 20]), runs("agent_b", [20, 20])]
    straight = np.array([20, 15, 10, 5, 0, 1, 2, 3, *19 * [4]])
    waits = np.concatenate([2 * [20], straight[:-2]])
    kept = [
        {"cell": cell, "seed": seed, "name": name, "shape": np.shape(value), "values": np.ravel(value)}
        for cell, paths in {
            f"grid_worldagent_lstm{FITTED}": [27 * [20], 27 * [20]],
            f"grid_worldagent_b{FITTED}": [waits, waits],
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


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ({"times": [5, 12], "at_least": 0.95}, "the claim master must be on models or on pairs of them"),
        ({"models": ["agent_lstm"]}, "the claim master must have one limit, at_least or at_most"),
        ({"models": ["agent_lstm"], "at_least": 1, "at_most": 2}, "the claim master must have one limit"),
        ({"models": ["agent_lstm"], "at_least": 1, "share": "soon"}, "unknown share of the claim master 'soon'"),
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
