"""Networks that were published with other numbers of steps are compared each at its own."""

import numpy as np
import pandas as pd
from reported import lines_of, lines_with, measured_of, runs_of

from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.papers.madsen2020.sweep_columns import SweepColumns
from nalu_bench.plan import compose, experiment

ONE = experiment.load("mistry2022/arithmetic_dataset")
RATE = {"metric": "success_rate", "setting": "range=[1, 2]"}


def runs(model: str, steps: int) -> pd.DataFrame:
    """25 runs on [1, 2] of 50 that were asked for, all solved."""
    facts = {"asked": 50, "solved": True, "solved_at": 1000 * np.arange(1, 26), "sparsity_error": 1e-4, "steps": steps}
    return runs_of(model, 25, setting="range=[1, 2]", operation="mul", **facts)


def test_the_stochastic_unit_is_trained_and_compared_at_its_own_length() -> None:
    planned = compose.plan_experiment(ONE, ["budget=paper"])
    lengths = {want.cell.model.name: want.cell.recipe.steps for want in planned.cells}
    assert lengths == {"nmu": 5_000_000} | dict.fromkeys(["snmu", "snmu_batch", "snmu_beta"], 2_000_000)
    kind, found = SweepColumns(ONE), measured_of(runs("nmu", 5_000_000), runs("snmu", 2_000_000))
    lines = lines_of(kind, found)
    assert [line.verdict for line in lines_with(lines, **RATE)] == [Verdict.AGREES] * 2
    figure, _ = kind.figure(found, lines)
    assert figure.get_suptitle().splitlines() == [
        "Lines: ours (25 seeds, 2,000,000 or 5,000,000 steps), 95 % bands",
        "Hollow: printed (2,000,000 or 5,000,000 steps).",
    ]


def test_another_length_is_compared_with_nothing() -> None:
    lines = lines_of(SweepColumns(ONE), measured_of(runs("snmu", 1_000_000)))
    (line,) = lines_with(lines, model="snmu", **RATE)
    assert line.verdict is Verdict.NOT_COMPARABLE
    assert "1,000,000 steps" in line.notes[-1]
