"""Sweeps in columns of panels: values that are words, several operations, variants of one model."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reported import cells_of, line_with, lines_of, measured_of, runs_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.papers.madsen2020.sweep_columns import SweepColumns
from nalu_bench.plan import compose, experiment
from nalu_bench.plan.experiment import Experiment
from nalu_bench.running import memory

NAMES = ["figure3a_all", "figure3b", "regularization", "overlap", "subset", "input_size", "ablation"]


def measured(one: Experiment, seeds: int = 50) -> Measured:
    """Every run of all cells is solved."""
    number = np.arange(seeds)
    facts = {"solved": True, "solved_at": 1e6 + 1000 * number, "sparsity_error": 1e-4, "steps": 5_000_000}
    return measured_of(*(
        runs_of(want.cell.model.name, seeds, setting=str(want.words()), operation=want.setting()["operation"], **facts)
        for want in compose.plan_experiment(one, ["budget=paper"]).cells
    ))  # fmt: skip


@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])])
def test_every_model_has_a_column_of_panels_with_all_its_numbers(name: str) -> None:
    one = experiment.load(f"madsen2020/{name}")
    kind, found = SweepColumns(one), measured(one)
    lines = lines_of(kind, found)
    figure, drawn = kind.figure(found, lines)
    ours = drawn[(drawn["series"] == "ours") & (drawn["metric"] == "success_rate")]
    rates = drawn[(drawn["series"] == "printed") & (drawn["metric"] == "success_rate")]
    cells = len(compose.plan_experiment(one, ["budget=paper"]).cells)
    assert len(ours) == len(rates) == cells
    assert len(figure.axes) == 3 * drawn["curve"].nunique()
    headings = {heading for table in kind.tables(lines) for heading in table.header}
    assert set(drawn["curve"]) <= headings


def test_ranges_stand_in_the_order_of_the_paper_at_equal_distances() -> None:
    one = experiment.load("madsen2020/figure3b")
    kind = SweepColumns(one)
    lines = lines_of(kind, measured(one))
    rows = cells_of(kind.tables(lines)[0])
    assert [row[0] for row in rows] == one.report["values"]
    assert kind.at(line_with(lines, metric="success_rate", model="nmu", setting="range=[10, 20]")) == 6.0
    figure, _ = kind.figure(measured(one), lines)
    assert [tick.get_text() for tick in figure.axes[-1].get_xticklabels()] == one.report["values"]


def test_a_value_that_is_not_listed_is_refused() -> None:
    one = experiment.load("madsen2020/figure3b")
    kind = SweepColumns(replace(one, report=one.report | {"values": one.report["values"][:-1]}))
    with pytest.raises(UsageError, match=r"unknown value of range .* '\[10, 20\]'"):
        kind.tables(lines_of(kind, measured(one)))


def test_an_operation_is_told_where_there_are_several() -> None:
    one = experiment.load("madsen2020/regularization")
    kind = SweepColumns(one)
    headings = {heading for table in kind.tables(lines_of(kind, measured(one))) for heading in table.header}
    assert {"NAU, a + b", "NAU, a − b", "NMU, a × b", "NMU, a × b printed"} <= headings


def test_variants_of_the_nmu_share_its_cells_but_for_what_they_leave_out() -> None:
    plan = compose.plan_experiment(experiment.load("madsen2020/ablation"), ["budget=paper"])
    models = {want.cell.model.name: want.cell.model for want in plan.cells}
    options = {name: [layer.options for layer in model.layers] for name, model in models.items()}  # type: ignore[attr-defined]
    weights = {name: model.penalties["sparsity"].weight for name, model in models.items()}
    free = [{"clamped": False}] * 2
    assert options == {
        "nmu": [{}, {}], "nmu_no_sparsity": [{}, {}], "nmu_no_clamp": free, "nmu_no_sparsity_no_clamp": free,
    }  # fmt: skip
    assert weights == {"nmu": 10, "nmu_no_sparsity": 0, "nmu_no_clamp": 10, "nmu_no_sparsity_no_clamp": 0}


def test_experiments_share_the_cells_that_they_have_in_common() -> None:
    digests: dict[str, set[str]] = {}
    for name in ["all_models", *NAMES]:
        plan = compose.plan_experiment(experiment.load(f"madsen2020/{name}"), ["budget=paper"])
        digests[name] = {want.cell.digest for want in plan.cells}
    shared = {name: len(digests[name] & digests["all_models"]) for name in NAMES}
    assert shared == {
        "figure3a_all": 5, "figure3b": 5, "regularization": 3, "overlap": 6, "subset": 6, "input_size": 6,
        "ablation": 1,
    }  # fmt: skip
    assert len(digests["ablation"] & digests["figure3a_all"]) == 9
    assert len(set().union(*digests.values())) == 256


CHEAPEST = {
    "all_models": ["model=linear", "task.operation=add,sub"],
    "figure3a_all": ["model=nac_mul", "model.hidden_size=2,3"],
    "figure3b": ["model=nac_mul"], "regularization": ["model=nau", "task.operation=add"], "overlap": ["model=nac_mul"],
    "subset": ["model=nac_mul"], "input_size": ["model=nmu", "task.features=4,10"],
    "ablation": ["model=nmu_no_sparsity_no_clamp", "model.hidden_size=2,3"],
}  # fmt: skip

FIRST, OTHERS = [*CHEAPEST][:2], [*CHEAPEST][2:]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FIRST, *(pytest.param(name, marks=pytest.mark.thorough) for name in OTHERS)])
def test_the_cheapest_cells_of_an_experiment_run_and_report(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    monkeypatch.setattr(memory, "need", lambda cell: memory.Need(0, 0, 0, 0))
    words = [f"madsen2020/{name}", "budget=smoke", "device.width=2", "recipe.evaluation_size=100", *CHEAPEST[name]]
    assert main(["run", *words, "device.workers=1"]) == 0
    assert main(["report", "--no-page", *words]) == 0
    assert "Success rate" in capsys.readouterr().out
