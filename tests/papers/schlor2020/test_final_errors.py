"""Success and errors of both splits, beside what is printed for them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reported import line_with, lines_of, lines_with, measured_of, runs_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.table.line import Line
from nalu_bench.errors import UsageError
from nalu_bench.papers.schlor2020.final_errors import FinalErrors
from nalu_bench.plan import compose, experiment

EXPERIMENT = experiment.load("schlor2020/experiment4")
PLACE = {"task": "inalu_arithmetic", "setting": "range=N(-3,3)"}


def measured(inside: list[float], outside: list[float], steps: int = 100_000, model: str = "inalu_shared") -> Measured:
    """Runs of one cell, the product, with these final errors."""
    errors = {"validation_mse": inside, "extrapolation_mse": outside}
    runs = runs_of(f"two_layer-{model}", len(inside), operation="mul", steps=steps, **PLACE, **errors)
    cells = {cell: {"criteria": {"criterion": "task", "threshold": 1e-5}} for cell in runs["cell"]}
    return measured_of(runs, manifest={"cells": cells})


def lines(*values: object, **words: object) -> list[Line]:
    return lines_of(FinalErrors(EXPERIMENT), measured(*values, **words))  # type: ignore[arg-type]


def test_success_is_judged_split_by_split_against_the_printed_share_of_ten_seeds() -> None:
    found = lines_with(lines([1e-9] * 95 + [2.0] * 5, [1e-4] * 100), model="two_layer-inalu_shared", operation="mul",
                       setting="range=N(-3,3)")  # fmt: skip
    inside = line_with(found, split="validation", metric="success_rate")
    outside = line_with(found, split="extrapolation", metric="success_rate")
    assert inside.ours.value == 0.95
    assert (inside.printed_text, inside.printed.n_seeds if inside.printed else 0) == ("1.0", 10)
    assert (str(outside.verdict), outside.ours.value) == ("inconclusive", 0.0)
    failed = lines_with(lines([1.0] * 100, [1.0] * 100), split="validation", metric="success_rate", operation="mul")
    rate = line_with(failed, model="two_layer-inalu_shared", setting="range=N(-3,3)")
    assert rate.verdict == "differs"


def test_a_run_without_a_finite_error_is_the_worst_and_errors_are_not_compared() -> None:
    found = lines_with(lines([np.nan, np.inf, 1e-9, 4.0, 3.0], [1.0] * 5), split="validation", operation="mul",
                       model="two_layer-inalu_shared", setting="range=N(-3,3)")  # fmt: skip
    assert line_with(found, metric="success_rate").ours.value == 0.2
    assert line_with(found, metric="mse_median").ours.value == 4.0
    assert line_with(found, metric="mse_min").ours.value == 1e-9
    assert all(line_with(found, metric=metric).verdict == "not comparable" for metric in ("mse_median", "mse_min"))


def test_another_number_of_steps_is_not_compared() -> None:
    found = lines([1e-9] * 4, [1.0] * 4, steps=20_000)
    rate = lines_with(found, metric="success_rate", model="two_layer-inalu_shared", operation="mul")[0]
    assert rate.verdict == "not comparable"


def test_tables_have_a_row_a_cell_and_heat_maps_a_row_for_ours_and_one_for_theirs() -> None:
    kind, found = FinalErrors(EXPERIMENT), measured([1e-9] * 4, [1.0] * 4)
    rows = lines_of(kind, found)
    shares, errors = kind.tables(rows)
    assert shares.header[3:6] == ["Interpolation", "printed", "verdict"]
    assert len(shares.rows) == len(errors.rows) == 32
    _, drawn = kind.figure(found, rows)
    assert set(drawn["metric"]) == {"success_rate"}
    maps = kind._maps([row for row in rows if row.place.metric == "success_rate"])
    assert set(maps) == {f"{split}, {op}" for split in ("Interpolation", "Extrapolation")
                         for op in ("a + b", "a − b", "a × b", "a / b")}  # fmt: skip
    assert any(name.endswith(", printed") for name in maps["Interpolation, a × b"])


def test_printed_shares_stand_beside_ours_if_the_columns_are_operations() -> None:
    words = {"columns": "operation", "headings": {"range=U(-3,3)": ""}}
    kind = FinalErrors(replace(EXPERIMENT, report=EXPERIMENT.report | words))
    found = kind._maps(lines_with(lines([1e-9] * 4, [1.0] * 4), metric="success_rate"))
    assert set(found) == {"Interpolation", "Extrapolation"}
    assert {"a × b", "a × b, printed"} < set(found["Interpolation"]["iNALU (shared)"])


def test_claims_are_on_what_is_solved_inside_and_an_empty_word_is_the_usual_setting() -> None:
    """All of ours are solved inside and none outside; with RMSprop, beside the protocol, none is."""
    told = {"of": {"model": "two_layer-inalu_shared", "optimizer": ""}, "each": "operation", "at_least": 0.5}
    kind = FinalErrors(replace(EXPERIMENT, report=EXPERIMENT.report | {"claims": {"solved": told}}))
    usual, other = measured([1e-9] * 20, [1.0] * 20), measured([1.0] * 20, [1.0] * 20)
    both = measured_of(
        pd.concat([usual.runs, other.runs.assign(setting="range=N(-3,3);optimizer=adam_tf", cell="another")]),
        manifest={"cells": usual.manifest["cells"] | {"another": {"criteria": {"threshold": 1e-5}}}},
    )
    row = next(row for row in kind.rows(both) if row.place.metric == "claim_solved")
    assert (row.place.operation, row.ours.value, row.n_seeds) == ("mul", 1.0, 20)


def test_cells_without_its_criterion_or_its_errors_are_refused() -> None:
    cells = compose.plan_experiment(EXPERIMENT, ["budget=smoke"]).cells
    FinalErrors(EXPERIMENT).check(cells)
    other = compose.plan_cells(["task=operands", "model=iit_nalu", "budget=smoke"], multirun=False).cells
    with pytest.raises(UsageError, match="column"):
        FinalErrors(EXPERIMENT).check(other)


def test_the_two_readings_of_the_nalu_are_one_where_there_is_one_output() -> None:
    printed = pd.read_csv(experiment.load("schlor2020/experiment1").published, dtype=str)
    matrix, vector = (printed[printed["model"] == f"single-schlor_nalu_{kind}"] for kind in ("matrix", "vector"))
    assert matrix["printed"].tolist() == vector["printed"].tolist()
