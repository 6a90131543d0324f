"""A report without cells: the loss over two weights, from the units' own formulas."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reported import lines_of, table_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.cli import main
from nalu_bench.papers.madsen2020.surface import Surface
from nalu_bench.plan import compose, experiment

FIGURE2 = experiment.load("madsen2020/figure2")


def ours() -> pd.DataFrame:
    return table_of(Surface(FIGURE2), Measured()).set_index(["model", "setting", "metric"])


def test_the_losses_are_those_of_the_formulas() -> None:
    _, drawn = Surface(FIGURE2).figure(Measured(), [])
    losses = drawn.set_index(["w1", "w2"])
    for (w1, w2), found in losses.sample(50, random_state=0).iterrows():
        a, b = 2.2 * w1, 6.0 * w1
        for epsilon in (1e-7, 0.1, 1.0):
            output = ((abs(a) + epsilon) * (abs(b) + epsilon)) ** w2
            assert found[f"nac_mul epsilon={epsilon:g}"] == pytest.approx((output - 13.2) ** 2, rel=1e-5, abs=1e-10)
        if w2 >= 0:
            output = (w2 * a + 1 - w2) * (w2 * b + 1 - w2)
            assert found["nmu"] == pytest.approx((output - 13.2) ** 2, rel=1e-5, abs=1e-10)
        else:
            assert np.isnan(found["nmu"])


def test_the_solution_is_exact_for_a_small_epsilon_and_for_the_nmu_only() -> None:
    losses = ours().xs("loss_at_solution", level="metric")["ours"]
    assert losses["nac_mul", "epsilon=1e-07"] == pytest.approx(0, abs=1e-11)
    assert losses["nmu", ""] == 0
    assert losses["nac_mul", "epsilon=0.1"] == pytest.approx((2.3 * 6.1 - 13.2) ** 2)
    assert losses["nac_mul", "epsilon=1"] == pytest.approx((3.2 * 7 - 13.2) ** 2)


def test_other_solutions_of_the_nac_mul_have_the_weights_that_algebra_gives() -> None:
    shares = ours().xs("other_solutions", level="metric")["ours"]
    grid = np.linspace(-1, 1, 101)
    for epsilon in (1e-7, 0.1, 1.0):
        ends = [(low := math.log(epsilon**2)), math.log((2.2 + epsilon) * (6 + epsilon))]
        reached = [max(w2 * end for end in ends) > math.log(13.2) * (1 + 1e-5) for w2 in grid]
        passed = [
            above and min(w2 * end for end in ends) < math.log(13.2) for above, w2 in zip(reached, grid, strict=True)
        ]
        assert low <= 0
        assert shares["nac_mul", f"epsilon={epsilon:g}"] == pytest.approx(np.mean(passed), abs=1e-6)
    assert shares["nmu", ""] == 0


def test_the_largest_loss_explodes_as_epsilon_shrinks() -> None:
    losses = ours().xs("largest_loss", level="metric")["ours"]
    assert losses["nac_mul", "epsilon=1e-07"] == pytest.approx(1e28, rel=1e-5)
    assert losses["nac_mul", "epsilon=0.1"] == pytest.approx((100 - 13.2) ** 2, rel=1e-5)
    assert losses["nac_mul", "epsilon=1"] < 200
    assert losses["nmu", ""] < 200


def test_claims_in_words_are_tested_and_the_threshold_is_called_ours() -> None:
    judged = [line for line in lines_of(Surface(FIGURE2), Measured()) if line.verdict]
    assert {line.verdict for line in judged} == {"agrees"}
    assert {line.printed.text for line in judged if line.printed} == {
        "the solution is w1 = w2 = 1 in (a)",
        "with many unstable alternatives",
    }
    assert {line.threshold for line in judged} == {"a loss of at most 1e-05", "a share of at least 10 %"}


def test_a_claim_that_does_not_hold_differs() -> None:
    wrong = replace(FIGURE2, report=FIGURE2.report | {"target": 10.0})
    judged = table_of(Surface(wrong), Measured()).set_index("printed")["verdict"]
    assert judged["the solution is w1 = w2 = 1 in (a)"] == "differs"


def test_the_picture_has_the_weights_as_axes() -> None:
    figure, _ = Surface(FIGURE2).figure(Measured(), [])
    panels = [axis for axis in figure.axes if axis.get_xlabel() == "$w_1$"]
    assert len(panels) == 8
    assert [axis.get_title() for axis in panels if axis.name == "3d"] == [
        "NAC•, ε = 1e-07", "NAC•, ε = 0.1", "NAC•, ε = 1", "NMU",
    ]  # fmt: skip


def test_an_experiment_without_cells_trains_nothing_and_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    assert main(["run", "experiment=madsen2020/figure2"]) == 0
    assert "nothing to train: the experiment has no cells." in capsys.readouterr().out
    assert not (tmp_path / "runs").exists()
    for _ in range(2):
        assert main(["report", "--no-page", "madsen2020/figure2", "budget=paper"]) == 0
        assert "Computed from the formulas; no network is trained." in capsys.readouterr().out
    assert main(["status", "experiment=madsen2020/figure2"]) == 0
    assert main(["run", "experiment=madsen2020/figure2", "+typo=1"]) == 2


def test_an_experiment_without_cells_has_none() -> None:
    assert compose.plan_experiment(FIGURE2, ["budget=short"]).cells == []
