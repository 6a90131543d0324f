"""All models on all operations: tables with operations down and models across, and a heat map."""

import numpy as np
import pytest
from reported import cells_of, line_with, lines_of, lines_with, measured_of, runs_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.printed.seeds import read_seeds
from nalu_bench.papers.madsen2020.all_models import AllModels
from nalu_bench.plan import experiment

ALL = experiment.load("madsen2020/all_models")
SEEDS = {(place.operation, place.model): rows for place, rows in read_seeds(ALL.seeds).items()}


def measured(steps: int = 5_000_000) -> Measured:
    """Runs of all models, with the outcomes of the authors' first 25 seeds; the gated unit solves nothing."""
    cells = []
    for model in ALL.report["layout"]["model"]:
        for operation in ALL.report["layout"]["operation"]:
            theirs = SEEDS.get((operation, model))
            at = np.full(25, np.nan) if theirs is None else theirs["solved_at"].to_numpy(float)[:25]
            error = np.full(25, 0.3) if theirs is None else theirs["sparsity_error"].to_numpy(float)[:25]
            facts = {"solved": ~np.isnan(at), "solved_at": at, "sparsity_error": error}
            cells.append(runs_of(model, 25, operation=operation, steps=steps, **facts))
    return measured_of(*cells)


def test_a_subset_of_the_authors_seeds_never_differs_from_all_of_them() -> None:
    lines = lines_of(AllModels(ALL), measured())
    assert "differs" not in {line.verdict for line in lines}
    assert line_with(lines, metric="success_rate", model="nmu", operation="square").verdict == "agrees"
    assert line_with(lines, metric="solved_at_mean", model="nmu", operation="square").verdict == "not comparable"
    reason = line_with(lines, metric="solved_at_mean_recomputed", model="nmu", operation="square").reason
    assert "log-rank" in reason


def test_other_runs_differ_from_the_authors_seeds() -> None:
    found = measured()
    late = found.runs.assign(solved_at=found.runs["solved_at"] * 3)
    lines = lines_of(AllModels(ALL), Measured(late))
    assert line_with(lines, metric="solved_at_mean_recomputed", model="nmu", operation="square").verdict == "differs"


def test_tables_have_operations_down_and_models_across() -> None:
    kind = AllModels(ALL)
    lines = lines_of(kind, measured())
    rates = [table for table in kind.tables(lines) if table.title.startswith("Success rate")]
    assert [heading for table in rates for heading in table.header[2:]] == [
        "NAC•,NMU", "NAC•,σ", "NAC•", "NAC₊", "Gated NAU/NMU", "Linear", "NALU", "NAU", "NMU", "ReLU", "ReLU6",
    ]  # fmt: skip
    rows = cells_of(rates[0])
    assert [row[0] for row in rows] == [word for each in ("a × b", "a / b", "a + b", "a − b", "√a", "a²")
                                        for word in (each, "", "")]  # fmt: skip
    assert [row[1] for row in rows[:3]] == ["ours", "printed", "verdict"]
    assert rows[1][2] == "93 %"


def test_tables_of_solved_seeds_leave_out_an_operation_that_nothing_solves() -> None:
    kind = AllModels(ALL)
    tables = kind.tables(lines_of(kind, measured()))
    medians = cells_of(next(table for table in tables if table.title.startswith("Solved at step, median")))
    assert "a / b" not in {row[0] for row in medians}


@pytest.mark.parametrize("steps", [50_000])
def test_where_nothing_is_compared_there_are_no_rows_of_verdicts(steps: int) -> None:
    kind = AllModels(ALL)
    (first, *_) = kind.tables(lines_of(kind, measured(steps)))
    assert {row[1] for row in cells_of(first)} == {"ours", "printed"}
    assert len(first.header) == 13, "all models side by side"


def test_the_heat_map_shows_every_share_ours_and_printed() -> None:
    kind = AllModels(ALL)
    lines = lines_of(kind, measured())
    figure, drawn = kind.figure(measured(), lines)
    assert [axis.get_title(loc="left") for axis in figure.axes] == [
        "Ours (25 seeds, 5,000,000 steps)", "Printed (5,000,000 steps)",
    ]  # fmt: skip
    assert [len(axis.texts) for axis in figure.axes] == [66, 66]
    assert len(drawn) == len(lines_with(lines, metric="success_rate")) == 66
