"""Results never shrink, and lesser runs never replace them."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reported import verdicts_of

from nalu_bench import load, paths
from nalu_bench.analysis import folders
from nalu_bench.analysis import results as writer
from nalu_bench.analysis.collect import collect
from nalu_bench.analysis.measure.measured import by_cell
from nalu_bench.analysis.measure.read import read
from nalu_bench.analysis.measure.solved import solved_facts
from nalu_bench.analysis.report import Report
from nalu_bench.analysis.reports.success import Success
from nalu_bench.analysis.stats.compare import compare_rates
from nalu_bench.analysis.stats.ranges import compare_single
from nalu_bench.analysis.table.compared import compared
from nalu_bench.analysis.table.line import Printed, Row, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, experiment
from nalu_bench.plan.experiment import Experiment
from nalu_bench.store.reader import Store
from nalu_bench.tasks.task import Task


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


BUDGET: dict[str, Any] = {"seeds": 3, "steps": 20, "log_every": 10, "ramp_scale": 1.0}


@pytest.fixture(scope="module")
def small() -> Experiment:
    """An experiment with budgets of its own."""
    budgets = {"smoke": BUDGET | {"seeds": 1}, "short": BUDGET | {"seeds": 2}, "paper": BUDGET}
    return replace(experiment.load("madsen2020/table1"), budgets=budgets)


@pytest.fixture(scope="module")
def trained(small: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the runs of the small experiment."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NALU_BENCH_HOME", str(home))
        patch.setattr(experiment, "load", lambda name: small)
        assert main(["run", "experiment=madsen2020/table1", "budget=paper", "compile=false", "device.workers=1"]) == 0
    return home


@pytest.fixture
def plan(small: Experiment, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> compose.Plan:
    """The small experiment, in a home that holds its runs."""
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    monkeypatch.setattr(experiment, "load", lambda name: small)
    shutil.copytree(trained / "runs", tmp_path / "runs")
    return compose.plan_experiment(small, ["budget=paper"])


def test_reporting_twice_changes_nothing(plan: compose.Plan, tmp_path: Path) -> None:
    store, results = Store(tmp_path / "runs"), tmp_path / "results"
    first = files(writer.write(plan, store, results)[0])
    assert files(writer.write(plan, store, results)[0]) == first


def test_a_run_has_one_text_whether_it_comes_from_the_store_or_from_earlier_results(
    plan: compose.Plan, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    first = (writer.write(plan, Store(tmp_path / "runs"), results)[0] / "runs.csv").read_text()
    shutil.rmtree(next(tmp_path.glob("runs/*/*/*/parts/*")))
    assert (writer.write(plan, Store(tmp_path / "runs"), results)[0] / "runs.csv").read_text() == first


def test_a_report_is_written_whole_or_not_at_all(
    plan: compose.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "results"

    def fail(*_: Any) -> Any:
        raise ValueError("no figure")

    monkeypatch.setattr(Success, "figure", fail)
    with pytest.raises(ValueError, match="no figure"):
        writer.write(plan, Store(tmp_path / "runs"), home)
    assert not any(path.is_file() for path in home.rglob("*"))


@pytest.mark.parametrize("other", [{"files": {}}, {"finished": "later"}], ids=["another processor", "the same bits"])
def test_a_committed_block_that_was_trained_again_stays_as_it_is(
    plan: compose.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]
) -> None:
    store, results = Store(tmp_path / "runs"), tmp_path / "results"
    first = files(writer.write(plan, store, results)[0])
    manifests, runs = Store.manifests, Store.runs
    monkeypatch.setattr(Store, "manifests", lambda *given: [one | other for one in manifests(*given)])
    monkeypatch.setattr(Store, "runs", lambda *given: runs(*given).assign(commit="another"))
    assert set(writer.measured(plan, store).runs["commit"]) == {"another"}
    assert files(writer.write(plan, store, results)[0]) == first


def test_a_committed_block_of_which_more_seeds_are_asked_for_is_taken_from_its_new_training(
    plan: compose.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, results = Store(tmp_path / "runs"), tmp_path / "results"
    fewer = replace(plan, cells=[replace(want, seeds=want.seeds[:1]) for want in plan.cells])
    writer.write(fewer, store, results)
    manifests, runs, other = Store.manifests, Store.runs, {"files": {}, "commit": "another"}
    monkeypatch.setattr(Store, "manifests", lambda *given: [one | other for one in manifests(*given)])
    monkeypatch.setattr(Store, "runs", lambda *given: runs(*given).assign(commit="another"))
    committed = read(writer.write(plan, store, results)[0])
    assert committed is not None
    assert len(committed.runs) == sum(len(want.seeds) for want in plan.cells)
    assert set(committed.runs["commit"]) == {"another"}


def test_a_smaller_budget_and_changed_values_go_to_local(plan: compose.Plan, tmp_path: Path) -> None:
    results = tmp_path / "results"
    shared = results / "madsen2020" / "table1"
    assert writer.write(plan, Store(tmp_path / "runs"), results)[0] == shared
    local = results / "local" / "madsen2020" / "table1"
    assert writer.target(replace(plan, budget="short"), results) == local
    assert writer.target(replace(plan, budget="smoke"), results) == local
    assert writer.target(replace(plan, overrides=["model=nau"]), results) == local


def test_an_excerpt_of_other_experiments_is_always_local(plan: compose.Plan, tmp_path: Path) -> None:
    excerpt = replace(plan, experiment=replace(plan.experiment, excerpt=["madsen2020/table2"]))
    assert writer.target(excerpt, tmp_path) == tmp_path / "local" / plan.experiment.name


def test_an_experiment_of_a_package_leaves_the_results_of_the_project_alone(plan: compose.Plan, tmp_path: Path) -> None:
    committed, name = paths.CHECKOUT / "results", plan.experiment.name
    theirs = replace(plan, experiment=replace(plan.experiment, name="mine2027/table2", folder=tmp_path))
    assert writer.target(theirs, committed) == committed / "local" / "mine2027/table2"
    assert writer.target(theirs, tmp_path) == tmp_path / "mine2027/table2", "results of their own, NALU_BENCH_HOME"
    assert writer.target(plan, committed).relative_to(committed) in (Path(name), Path("local", name))


def test_changed_values_are_held_against_nothing_and_named(plan: compose.Plan, tmp_path: Path) -> None:
    results = tmp_path / "results"
    changed = replace(plan, overrides=["task.interpolation=[1,3]"])
    text = (writer.write(changed, Store(tmp_path / "runs"), results)[0] / "table.md").read_text(encoding="utf-8")
    assert f"budget={plan.budget} 'task.interpolation=[1,3]' -->" in text
    assert "not comparable, " in text
    assert "changed by hand (task.interpolation=[1,3])" in text
    assert not re.search(r"agrees|differs|inconclusive", text)


@pytest.mark.parametrize(("steps", "compared"), [(1000, True), (999, False)])
def test_runs_shorter_than_a_fifth_of_the_full_scale_are_held_against_nothing(steps: int, compared: bool) -> None:
    report = load("iit_report/identity").report
    budget = report.measured.manifest["budget"]
    measured = replace(report.measured, manifest=report.measured.manifest | {"budget": budget | {"steps": steps}})
    shorter = Report.of(report.kind, measured)
    assert {line.judged for line in shorter.lines if line.verdict} == {compared}
    told = "trained for 999 steps, less than 20 % of the full scale's 5,000"
    assert any(told in remark for remark in shorter.remarks) is not compared


def test_a_choice_among_the_cells_is_told_in_the_words_typed_and_compared(plan: compose.Plan, tmp_path: Path) -> None:
    store, results = Store(tmp_path / "runs"), tmp_path / "results"
    for words in (["model=nau"], ["seeds=3", "model=nau"]):
        chosen = replace(plan, overrides=words, cells=plan.cells[:1])
        text = (writer.write(chosen, store, results)[0] / "table.md").read_text(encoding="utf-8")
        assert f"made by: nalu-bench report madsen2020/table1 budget=paper {' '.join(words)} -->" in text
        assert f"Budget paper with {' '.join(words)}. Runs: 3 finished (asked for: 3)." in text
        assert "changed by hand" not in text


def test_a_report_with_fewer_runs_than_are_there_is_refused(plan: compose.Plan, tmp_path: Path) -> None:
    store, results = Store(tmp_path / "runs"), tmp_path / "results"
    before = files(writer.write(plan, store, results)[0])
    fewer = replace(plan, cells=plan.cells[:1])
    with pytest.raises(UsageError, match=f"reports {3 * len(plan.cells)} runs, and only 3"):
        writer.write(fewer, store, results)
    assert files(results / "madsen2020" / "table1") == before


def test_local_results_follow_the_budget_that_was_asked_for(plan: compose.Plan, tmp_path: Path) -> None:
    store, results = Store(tmp_path / "runs"), tmp_path / "results"
    writer.write(replace(plan, overrides=["model=nau"]), store, results)
    folder = writer.write(replace(plan, overrides=["model=nau"], cells=plan.cells[:1]), store, results)[0]
    assert len(pd.read_csv(folder / "runs.csv")) == 3


@pytest.mark.parametrize("file", ["runs.csv", "curves.parquet", "manifest.json"])
def test_damaged_results_are_refused_and_kept(plan: compose.Plan, tmp_path: Path, file: str) -> None:
    store, results = Store(tmp_path / "runs"), tmp_path / "results"
    path = writer.write(plan, store, results)[0] / file
    path.write_bytes(path.read_bytes()[:900])
    before = files(path.parent)
    with pytest.raises(UsageError, match="is damaged"):
        writer.write(plan, store, results)
    assert files(path.parent) == before


def test_a_damaged_folder_costs_only_its_own_runs(plan: compose.Plan, tmp_path: Path) -> None:
    results = tmp_path / "results"
    sound = writer.write(plan, Store(tmp_path / "runs"), results)[0]
    before = folders.usable(plan.cells, results)
    shutil.copytree(sound, results / "mine/damaged")
    (results / "mine/damaged/manifest.json").write_text("{")
    with pytest.warns(UserWarning, match="its runs do not count as finished: .*mine/damaged is damaged"):
        assert folders.usable(plan.cells, results) == before


def test_new_seeds_join_the_committed_ones(plan: compose.Plan, tmp_path: Path) -> None:
    results = tmp_path / "results"
    first = replace(plan, cells=[replace(want, seeds=(0, 1)) for want in plan.cells])
    writer.write(first, Store(tmp_path / "runs"), results)
    for path in tmp_path.glob("runs/*/*/*/parts/*"):
        shutil.rmtree(path)
    arguments = ["experiment=madsen2020/table1", "budget=paper", "compile=false", "device.workers=1"]
    assert main(["run", *arguments]) == 0
    parts = sorted(path.name for path in tmp_path.glob("runs/*/*/*/parts/*"))
    assert parts == ["0-24"] * len(plan.cells)
    folder = writer.write(plan, Store(tmp_path / "runs"), results)[0]
    runs = pd.read_csv(folder / "runs.csv")
    for _, group in runs.groupby("cell"):
        assert group["seed"].tolist() == [0, 1, 2]
    curves = pd.read_parquet(folder / "curves.parquet")
    assert len(curves) == 3 * 3 * len(plan.cells)


def test_no_runs_at_all_says_how_to_make_them(plan: compose.Plan, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="first: nalu-bench run madsen2020/table1 budget=paper"):
        writer.write(plan, Store(tmp_path / "elsewhere"), tmp_path / "results")


def test_failed_runs_are_in_the_denominator(plan: compose.Plan, tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    cell = plan.cells[0].cell
    shutil.rmtree(tmp_path / "runs" / cell.folder / "parts")
    failures = tmp_path / "runs" / cell.folder / "failures"
    failures.mkdir()
    (failures / "0-2.json").write_text('{"seeds": [0, 1, 2], "traceback": "Boom: no"}')
    folder = writer.write(plan, store, tmp_path / "results")[0]
    table = pd.read_csv(folder / "table.csv")
    rate = table[(table["model"] == cell.model.name) & (table["metric"] == "success_rate")].iloc[0]
    assert rate["n_seeds"] == 3
    assert rate["ours"] == 0
    assert "Boom: no" in (folder / "runs.csv").read_text()


def test_an_unfinished_cell_says_how_many_seeds_it_has(plan: compose.Plan, tmp_path: Path) -> None:
    more = replace(plan, cells=[replace(want, seeds=(*want.seeds, 25, 26)) for want in plan.cells])
    folder = writer.write(more, Store(tmp_path / "runs"), tmp_path / "results")[0]
    table = pd.read_csv(folder / "table.csv")
    assert set(table["n_seeds"]) == {3}
    assert table["note"].str.contains("3 of 5 seeds").all()


def test_a_custom_report_takes_in_what_committed_results_hold(plan: compose.Plan, tmp_path: Path) -> None:
    results = tmp_path / "results"
    writer.write(plan, Store(tmp_path / "runs"), results)
    one = replace(plan, overrides=["model=nau"], cells=plan.cells[:1])
    folder = writer.write(one, Store(tmp_path / "elsewhere"), results)[0]
    assert folder == results / "local" / "madsen2020" / "table1"
    assert pd.read_csv(folder / "runs.csv")["seed"].tolist() == [0, 1, 2]
    parts = json.loads((folder / "manifest.json").read_text())["parts"]
    assert {name.split("/")[0] for name in parts} == {plan.cells[0].cell.digest}


def test_another_criterion_needs_the_whole_curves(
    plan: compose.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    folder = writer.write(plan, Store(tmp_path / "runs"), results)[0]
    monkeypatch.setattr(type(plan.cells[0].cell.task), "threshold", lambda *_, **__: 1e9)
    with pytest.raises(UsageError, match="its whole curves are not in the store"):
        writer.write(plan, Store(tmp_path / "elsewhere"), results)
    assert pd.read_csv(folder / "runs.csv")["solved"].sum() == 0
    writer.write(plan, Store(tmp_path / "runs"), results)
    assert pd.read_csv(folder / "runs.csv")["solved"].sum() == 3 * len(plan.cells)


def test_a_report_of_failures_alone_is_a_table_of_zeros(plan: compose.Plan, tmp_path: Path) -> None:
    for want in plan.cells:
        shutil.rmtree(tmp_path / "runs" / want.cell.folder / "parts")
        failures = tmp_path / "runs" / want.cell.folder / "failures"
        failures.mkdir()
        (failures / "0-2.json").write_text('{"seeds": [0, 1, 2], "traceback": "Boom: no"}')
    folder = writer.write(plan, Store(tmp_path / "runs"), tmp_path / "results")[0]
    table = pd.read_csv(folder / "table.csv")
    assert set(table[table["metric"] == "success_rate"]["ours"]) == {0}


def test_runs_of_two_cells_of_the_same_name_are_never_mixed() -> None:
    runs = frame(task="a", setting="", operation="add", model="nau", cell=["one", "two"])
    with pytest.raises(UsageError, match="two cells are both called a add nau"):
        list(by_cell(runs))


def test_a_cell_that_is_skipped_has_a_row_with_the_reason(
    plan: compose.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(plan.cells[0].cell.task), "inputs", "image")
    monkeypatch.setattr(type(plan.cells[0].cell.model), "accepts", frozenset({"vector"}))
    runs = collect(Success(plan.experiment), {}, plan.cells, Store(tmp_path), []).runs
    assert set(runs["status"]) == {"skipped"}
    assert runs["note"].iloc[0] == "a two_layer model takes vector inputs, ten_parameter gives images"


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(columns)


def test_solved_is_judged_at_the_selected_step_and_solved_at_is_the_first_below(
    make_task: Callable[..., Task],
) -> None:
    runs = frame(seed=[0, 1, 2], extrapolation_mse=[0.5, 2.0, np.nan])
    steps = [0, 10, 20]
    curves = frame(
        seed=np.repeat([0, 1, 2], 3), step=steps * 3, extrapolation_mse=[3, 0.5, 0.2, 3, 0.5, 2, 3, np.nan, 3]
    )
    facts = solved_facts(runs, curves, 1.0, make_task())
    assert facts["solved"].tolist() == [True, False, False]
    assert facts["solved_at"].isna().tolist() == [False, True, True]
    assert facts["solved_at"].iloc[0] == 10
    unfollowed = solved_facts(runs, curves.drop(columns="extrapolation_mse"), 1.0, make_task())
    assert unfollowed["solved"].tolist() == [True, False, False]
    assert unfollowed["solved_at"].isna().all()


def test_every_printed_number_has_a_row_and_verdicts_are_settled_together() -> None:
    place = Place("a", operation="add", split="extrapolation", model="nau")
    published = {
        place.at(metric=metric): Printed(text)
        for metric, text in {"success_rate": "0.45", "score": "0.0", "lonely": "3"}.items()
    }
    rows = [
        Row(place.at(metric="success_rate"), Value(0.6, 0.5, 0.7), 100, 10, lambda _: compare_rates(60, 100, 45, 100)),
        Row(place.at(metric="score"), Value(5.0, 4.0, 6.0), 3, 10, lambda given: compare_single([4, 5, 6], given.text)),
        Row(place.at(metric="alone"), Value(1.0), 3, 10, lambda _: compare_rates(1, 2, 1, 2)),
    ]
    lines = compared(rows, published)
    assert verdicts_of(lines) == {
        "success_rate": "differs", "score": "differs", "alone": "", "lonely": "not comparable",
    }  # fmt: skip
    told = "no runs of ours, and the report makes success_rate, score, alone alone; perhaps 'alone' is meant"
    assert lines[-1].notes == (told,), "the nearest of the metrics that nothing printed has"
    assert "Holm's limit is 0.05 among 1 comparisons" in lines[0].reason
