"""Sweeps: the experiment's `settings` tell cells apart, and the figure draws them beside the printed numbers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reported import cells_of, line_with, lines_of, lines_with, measured_of, runs_of

from nalu_bench.analysis.collect import collect
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.markdown import markdown
from nalu_bench.analysis.table.line import Line
from nalu_bench.errors import UsageError
from nalu_bench.papers.madsen2020.side_by_side import WIDEST
from nalu_bench.papers.madsen2020.sweep import Sweep
from nalu_bench.plan import compose, experiment
from nalu_bench.plan.setting import Setting
from nalu_bench.store.reader import Store

FIGURE3A = experiment.load("madsen2020/figure3a")
SIZES = range(2, 11)


def measured(seeds: int = 40, steps: int = 5_000_000) -> Measured:
    """Every NMU is solved, later with more hidden units, and only one NAC•, with 2 hidden units."""
    cells = []
    for model in ("nmu", "nac_mul"):
        for size in SIZES:
            number = np.arange(seeds)
            solved = number < (seeds if model == "nmu" else int(size == 2))
            at = np.where(solved, 1e5 * size + 1000 * number, np.nan)
            facts = {"solved": solved, "solved_at": at, "sparsity_error": 1e-4 * (1 + number)}
            cells.append(runs_of(model, seeds, setting=f"hidden={size}", operation="mul", steps=steps, **facts))
    return measured_of(*cells)


def lines(found: Measured) -> list[Line]:
    return lines_of(Sweep(FIGURE3A), found)


def test_cells_of_other_hidden_sizes_have_other_settings() -> None:
    plan = compose.plan_experiment(FIGURE3A, ["budget=short"])
    found = [(want.cell.model.name, want.setting()) for want in plan.cells]
    assert found == [(model, {"operation": "mul", "hidden": size}) for model in ("nmu", "nac_mul") for size in SIZES]
    assert plan.cells[0].label() == "arithmetic operation=mul hidden=2 / nmu"


def test_the_settings_reach_the_rows_of_the_results(tmp_path: Path) -> None:
    plan = compose.plan_experiment(FIGURE3A, ["budget=smoke"])
    skipped = [replace(want, seeds=()) for want in plan.cells]
    manifest = collect(Sweep(FIGURE3A), {}, skipped, Store(tmp_path), []).manifest
    labels = [entry["label"] for entry in manifest["cells"].values()]
    assert labels[1] == "arithmetic operation=mul hidden=3 / nmu"
    assert len(set(labels)) == len(labels) == 18


def test_every_size_is_compared_with_its_own_printed_rate_and_number_of_seeds() -> None:
    rates = lines_with(lines(measured()), metric="success_rate")
    assert len(rates) == 18
    assert line_with(rates, model="nmu", setting="hidden=2").verdict == "agrees"
    assert line_with(rates, model="nmu", setting="hidden=9").verdict == "differs"
    last = line_with(rates, model="nmu", setting="hidden=10").printed
    assert last is not None
    assert last.text == "0.631578947368421"


def test_fewer_steps_than_printed_are_not_compared() -> None:
    found = lines(measured(10, 500_000))
    assert {line.verdict for line in found} == {None, "not comparable"}
    rates = lines_with(found, metric="success_rate")
    assert {line.notes for line in rates} == {("trained for 500,000 steps, printed for 5,000,000",)}


def test_a_table_has_one_row_a_size_and_a_figure_one_point_a_number() -> None:
    found, sweep = measured(), Sweep(FIGURE3A)
    rows = lines(found)
    tables = sweep.tables(rows)
    assert {len(layout.rows) for layout in tables} == {9}
    headings = {layout.title.partition(". ")[0]: layout.header for layout in tables}
    assert headings["Success rate: NMU"] == ["Hidden size", "NMU", "NMU printed", "NMU verdict"]
    assert headings["Success rate: NAC•"] == ["Hidden size", "NAC•", "NAC• printed", "NAC• verdict"]
    assert headings["Solved at step, median"] == ["Hidden size", "NMU", "NAC•"]
    assert [row[0] for row in cells_of(tables[0])] == [str(size) for size in SIZES]
    figure, drawn = sweep.figure(found, rows)
    labels = [(axis.get_xlabel(), axis.get_ylabel()) for axis in figure.axes]
    assert labels == [("Hidden size", name) for name in ("Success rate", "Solved at [million steps]", "Sparsity error")]
    counts = drawn.groupby(["series", "model", "metric"]).size().to_dict()
    assert counts[("ours", "nmu", "solved_at_median")] == 9
    assert counts[("ours", "nac_mul", "solved_at_median")] == 1
    assert counts[("printed", "nac_mul", "solved_at_mean")] == 3
    assert counts[("printed", "nmu", "success_rate")] == 9
    assert drawn["hidden"].isin(SIZES).all()


def test_models_that_do_not_fit_side_by_side_have_tables_below_each_other_and_lose_no_number() -> None:
    rows = lines(measured())
    twins = [
        replace(row, place=row.place.at(model=model))
        for row in lines_with(rows, model="nmu")
        for model in ("nalu", "nau", "nac")
    ]
    rates = [table for table in Sweep(FIGURE3A).tables([*rows, *twins]) if table.title.startswith("Success rate")]
    assert len(rates) > 1
    assert all("Success rate: " in table.title for table in rates)
    shown = "\n".join(markdown(table, Footnotes.of([])) for table in rates)
    assert max(len(line) for line in shown.splitlines() if line.startswith("|")) <= WIDEST + 10  # tabulate pads
    headings = [heading for table in rates for heading in table.header]
    models = ("NMU", "NAC•", "NALU", "NAU", "NAC₊")
    assert all(headings.count(f"{model}{word}") == 1 for model in models for word in ("", " printed", " verdict"))


def test_where_nothing_is_compared_no_column_says_so_row_by_row() -> None:
    rows = lines(measured(10, 500_000))
    rates = Sweep(FIGURE3A).tables(rows)[0]
    assert rates.header == ["Hidden size", "NMU", "NMU printed", "NAC•", "NAC• printed"]


@pytest.mark.parametrize(
    ("report", "setting", "message"),
    [({"against": "size"}, None, "a sweep needs size in every setting"), ({}, "hidden=2;L={}", "two for some hidden")],
)
def test_what_cannot_be_drawn_as_one_line_a_model_is_refused(
    report: dict[str, Any], setting: str | None, message: str
) -> None:
    sweep = Sweep(replace(FIGURE3A, report=FIGURE3A.report | report))
    rows = lines(measured())
    if setting:
        settings = [Setting.parse(setting.format(number)) for number in range(len(rows))]
        rows = [replace(row, place=row.place.at(setting=at)) for row, at in zip(rows, settings, strict=True)]
    with pytest.raises(UsageError, match=message):
        sweep.tables(rows)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"against": "size"}, "a sweep needs size in every setting"),
        ({"step_axis": "lgo"}, "unknown step_axis"),
        ({"layout": {"modle": ["nmu"]}}, "unknown word of layout"),
        ({"below": {"extrapolation_mse": 1e-6}}, "a report of kind sweep has no place for below"),
    ],
)
def test_settings_that_it_cannot_show_are_refused_before_training(changes: dict[str, Any], told: str) -> None:
    cells = compose.plan_experiment(FIGURE3A, ["budget=smoke"]).cells
    Sweep(FIGURE3A).check(cells)
    with pytest.raises(UsageError, match=told):
        Sweep(replace(FIGURE3A, report=FIGURE3A.report | changes)).check(cells)


def test_a_setting_that_no_cell_has_is_refused() -> None:
    with pytest.raises(UsageError, match=r"hiden_size'; did you mean 'hidden_size'\?"):
        compose.plan_experiment(replace(FIGURE3A, settings={"hidden": "model.hiden_size"}), ["budget=smoke"])
