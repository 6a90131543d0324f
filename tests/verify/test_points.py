"""The points of committed curves are those that thinning leaves, and no run has another's."""

import numpy as np
import pandas as pd
import pytest

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.record import POINTS, kept_points
from nalu_bench.verify.points import copies, lost_points


def curves(steps: int, *losses: float) -> pd.DataFrame:
    """An evaluation every 10 steps; the loss of each seed."""
    at = np.arange(0, steps + 1, 10)
    return pd.concat([pd.DataFrame({"cell": "c", "seed": seed, "step": at, "train_loss": loss / (1 + at)})
                      for seed, loss in enumerate(losses)], ignore_index=True)  # fmt: skip


def runs(steps: int) -> pd.DataFrame:
    return pd.DataFrame({"cell": ["c"], "seed": [0], "steps": [steps], "log_every": [10], "selected_step": [steps]})


@pytest.mark.parametrize("points", [10, POINTS])
@pytest.mark.parametrize("steps", [40, 2490, 2500, 10_000, 50_010])
def test_what_thinning_leaves_is_whole(steps: int, points: int) -> None:
    kept = kept_points(curves(steps, 1.0), runs(steps), points)
    assert not list(lost_points(Measured(runs(steps), kept), points))
    assert not list(lost_points(Measured(runs(steps), kept_points(kept, runs(steps), points)), points))


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0.3, 0.35), (0.2, 0.7)])
@pytest.mark.parametrize("steps", [60, 10_000])
def test_a_curve_without_points_that_thinning_leaves_is_named(steps: int, low: float, high: float) -> None:
    kept = kept_points(curves(steps, 1.0), runs(steps))
    left = kept[(kept["step"] < low * steps) | (kept["step"] > high * steps)]
    (line,) = lost_points(Measured(runs(steps), left), POINTS)
    assert line.startswith("cell c seed 0: its curve must have a point at 0 and every")


def test_one_curve_for_two_seeds_is_named_unless_all_have_it() -> None:
    twice = curves(40, 1.0, 2.0, 1.0)
    assert list(copies(twice)) == ["cell c: the seeds 0, 2 have one curve"]
    assert not list(copies(twice[twice["step"] == 0])), "first weights may be constants"
    assert not list(copies(curves(40, 1.0, 1.0)))
    lost = curves(40, np.nan, 2.0, np.nan).assign(sparsity_error=0.25)
    assert not list(copies(lost)), "nothing but their weights is known of these"
