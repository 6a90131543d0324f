"""Cells of one model that differ by a setting: their words, their rows, their curves; and shares below a limit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reported import cells_of, lines_of, lines_with, measured_of, runs_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.printed.published import COLUMNS
from nalu_bench.analysis.reports.cells import Cells
from nalu_bench.analysis.reports.success import Success
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, experiment
from nalu_bench.plan.experiment import CellGroup, Experiment

TABLE1 = experiment.load("madsen2020/table1")
PLAIN = replace(TABLE1, cells=TABLE1.cells[:1], settings={}, usual={})
STREAMS = CellGroup(["task=ten_parameter", "recipe=madsen2020", "recipe.streams=stable_nalu"], {"model": ["nac_mul"]})
BELOW = "share_below_1e-06"


@pytest.fixture
def both(tmp_path: Path) -> Experiment:
    """Table 1 with a row on the authors' streams, and with the share of runs below 1e-6."""
    rows = [
        f"ten_parameter,{setting},mul,extrapolation,nac_mul,{metric},{printed},,,100,NAC,invented"
        for setting in ("", "streams=stable_nalu")
        for metric, printed in (("success_rate", 0.13), ("solved_at_median", 55000), (BELOW, 0.1))
    ]
    (tmp_path / "table1.published.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    return replace(
        PLAIN, folder=tmp_path, cells=[*PLAIN.cells, STREAMS], settings={"streams": "recipe.streams"},
        usual={"streams": "addressable"}, report={**PLAIN.report, "below": {"extrapolation_mse": 1e-6}},
    )  # fmt: skip


def measured() -> Measured:
    """Runs of the NAC•: 24 of 100 are solved on our streams, 13 on the authors'; half of these have tiny errors."""
    cells = []
    for setting, solved in (("", 24), ("streams=stable_nalu", 13)):
        met = np.arange(100) < solved
        facts = {
            "solved": met, "solved_at": np.where(met, 55_000.0, np.nan), "sparsity_error": 1e-6,
            "extrapolation_mse": np.where(met, np.where(np.arange(100) % 2, 1e-7, 1.5e-6), np.nan),
        }  # fmt: skip
        words = {"task": "ten_parameter", "setting": setting, "operation": "mul", "steps": 200_000}
        cells.append(runs_of("nac_mul", 100, **words, **facts))
    return measured_of(*cells)


def test_a_usual_value_leaves_labels_and_addresses_as_they_are(both: Experiment) -> None:
    before, after = (compose.plan_experiment(one, ["budget=paper"]).cells for one in (PLAIN, both))
    assert [(want.label(), want.cell.digest) for want in after[:3]] == [
        (want.label(), want.cell.digest) for want in before
    ]
    assert after[3].label() == "ten_parameter operation=mul streams=stable_nalu / nac_mul"
    assert [str(want.words()) for want in after] == ["", "", "", "streams=stable_nalu"]
    assert after[3].cell.digest not in {want.cell.digest for want in before}


def test_cells_that_only_a_setting_tells_apart_can_be_reported(both: Experiment) -> None:
    cells = compose.plan_experiment(both, ["budget=paper"]).cells
    Success(both).check(cells)
    unnamed = replace(both, settings={}, usual={})
    with pytest.raises(UsageError, match="tells cells apart by operation and setting and model"):
        Success(unnamed).check(compose.plan_experiment(unnamed, ["budget=paper"]).cells)
    with pytest.raises(UsageError, match=r"two cells are both called ten_parameter .*nac_mul; a table cannot"):
        Cells(replace(unnamed, report={"kind": "cells"})).check(
            compose.plan_experiment(unnamed, ["budget=paper"]).cells
        )


def test_every_setting_has_rows_of_its_own_beside_its_printed_numbers(both: Experiment) -> None:
    kind = Success(both)
    lines = lines_of(kind, measured())
    rates = lines_with(lines, metric="success_rate")
    assert [(str(line.place.setting), line.ours.value) for line in rates] == [("", 0.24), ("streams=stable_nalu", 0.13)]
    assert [line.printed and line.printed.text for line in rates] == ["0.13", "0.13"]
    assert rates[1].verdict == "same seeds"
    assert not rates[1].counted
    assert [line.verdict for line in lines_with(lines, metric="solved_at_median")] == ["agrees", "same seeds"]
    (shown,) = kind.tables(lines)
    rows = cells_of(shown)
    assert shown.header[-1] == "Error below 1e-06"
    assert [row[0] for row in rows if row[0]] == ["NAC•", "NAC•, streams=stable_nalu"]
    assert [row[-1] for row in rows if row[1].startswith("ours")] == ["12 % [7 %, 20 %]", "6 % [3 %, 12 %]"]


def test_shares_below_a_limit_are_compared_as_rates(both: Experiment) -> None:
    independent = replace(both, report={**both.report, "same_seeds": {}})
    shares = lines_with(lines_of(Success(independent), measured()), metric=BELOW)
    assert [(line.ours.value, line.verdict) for line in shares] == [(0.12, "agrees"), (0.06, "agrees")]


def test_a_limit_of_a_column_that_no_run_has_is_refused(both: Experiment) -> None:
    wrong = replace(both, report={**both.report, "below": {"extrapolation_mss": 1e-6}})
    with pytest.raises(UsageError, match=r"unknown column of the runs 'extrapolation_mss'; did you mean"):
        Success(wrong).rows(measured())


def test_a_cell_whose_runs_all_failed_has_none_below_the_limit(both: Experiment) -> None:
    failed = measured().runs.assign(status="failed").drop(columns=["extrapolation_mse", "solved", "solved_at"])
    shares = [row.ours.value for row in Success(both).rows(Measured(failed)) if row.place.metric == BELOW]
    assert shares == [0, 0]


def test_the_curves_of_one_model_have_its_colour_and_its_printed_symbols_once(both: Experiment) -> None:
    from matplotlib import pyplot as plt

    kind = Success(both)
    figure, drawn = kind.figure(measured(), lines_of(kind, measured()))
    ours = [line for line in figure.axes[0].lines if len(line.get_xdata()) > 1]
    assert [line.get_label() for line in ours] == ["NAC•", "NAC•, streams=stable_nalu"]
    assert len({line.get_color() for line in ours}) == 1
    assert len({line.get_linewidth() for line in ours}) == 2
    assert len([line for line in figure.axes[0].lines if len(line.get_xdata()) == 1]) == 2
    plt.close(figure)
    last = drawn[(drawn["series"] == "ours") & (drawn["step"] == 200_000)].set_index("setting")["share"]
    assert last.to_dict() == {"": 0.24, "streams=stable_nalu": 0.13}


def test_usual_words_must_be_among_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "experiments" / "mine"
    folder.mkdir(parents=True)
    (folder / "it.yaml").write_text(
        "title: Mine\nsource: nowhere\ncells: []\n"
        "budgets: {smoke: {seeds: 1, steps: 20, log_every: 10, ramp_scale: 1}}\n"
        "report: {kind: success, criterion: task}\nsettings: {streams: recipe.streams}\nusual: {stream: addressable}\n"
    )
    monkeypatch.setenv("NALU_BENCH_CONF", str(tmp_path))
    with pytest.raises(UsageError, match=r"unknown word of usual .* 'stream'; did you mean 'streams'"):
        experiment.load("mine/it")
