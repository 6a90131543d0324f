"""The arithmetic task whose law, sizes and growth are values."""

from typing import Any

import numpy as np
import pytest
import torch

from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.training.data import tensors


def task(*overrides: str) -> Any:
    return compose.plan_cells(["task=arithmetic_terms", *overrides], multirun=False).cells[0].cell.task


def examples(chosen: Any, split: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Inputs (B, N), targets (B,), and which inputs are summed (N,)."""
    seed = chosen.seed_parameters(np.random.default_rng(1))
    numbers = torch.rand(chosen.features, 20_000, generator=torch.Generator().manual_seed(0))
    x, t = chosen.sample(numbers, tensors(seed), tensors(chosen.split_parameters(split)))
    return x, t[:, 0], torch.as_tensor(seed["members"].sum(0) > 0)


@pytest.mark.parametrize(
    ("law", "limits", "mean", "deviation"),
    [("uniform", [1, 3], 2.0, 3**-0.5), ("whole", [0, 5], 2.0, 2**0.5), ("normal", [1, 2], 1.0, 2.0)],
)
def test_the_inputs_have_their_law(law: str, limits: list[float], mean: float, deviation: float) -> None:
    x, _, _ = examples(task(f"task.law={law}", f"task.interpolation={limits}"), "train")
    assert x.mean().item() == pytest.approx(mean, abs=0.01)
    assert x.std().item() == pytest.approx(deviation, abs=0.01)
    if law == "whole":
        assert x.unique().tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("grown", "rest"), [("all", 4.0), ("summed", 0.5)])
def test_extrapolation_grows_all_inputs_or_the_summed_ones(grown: str, rest: float) -> None:
    chosen = task(f"task.grown={grown}", "task.extrapolation=[0,8]", "task.terms=[3,2]")
    x, _, summed = examples(chosen, "extrapolation")
    assert x[:, summed].mean().item() == pytest.approx(4.0, abs=0.02)
    assert x[:, ~summed].mean().item() == pytest.approx(rest, abs=0.02)


def test_the_sums_have_their_sizes_and_share_inputs() -> None:
    chosen = task("task.terms=[4,3]", "task.shared=2", "task.operation=sub")
    seed = chosen.seed_parameters(np.random.default_rng(0))["members"]
    assert seed.sum(1).tolist() == [4, 3]
    assert (seed.prod(0)).sum() == 2
    x, t, _ = examples(chosen, "train")
    members = torch.as_tensor(chosen.seed_parameters(np.random.default_rng(1))["members"])
    assert t.tolist() == pytest.approx((x @ (members[0] - members[1])).tolist(), abs=1e-4)


def test_the_words_of_a_cell_tell_hypotheses_apart() -> None:
    words = task("task.terms=[4,3]", "task.shared=2").setting()
    assert words["terms"] == [4, 3]
    assert words["shared"] == 2
    assert "shared" not in task().setting()


@pytest.mark.parametrize(
    ("overrides", "must"),
    [
        (["task.law=gaussian"], "unknown task.law 'gaussian'"),
        (["task.grown=some"], "unknown task.grown 'some'"),
        (["task.terms=[3]"], "two sizes of at least 1"),
        (["task.terms=[0,3]"], "two sizes of at least 1"),
        (["task.shared=30"], "task.shared must lie between 0 and the smaller"),
        (["task.terms=[60,60]"], "need 120 inputs, got task.features=100"),
        (["task.law=normal", "task.operation=sqrt"], "sqrt needs sums that cannot be negative"),
        (["task.law=normal", "task.extrapolation=[0,0]"], "must be [mean, deviation above 0], got [0, 0]"),
        (["task.interpolation=[-1,1]", "task.operation=sqrt"], "sqrt needs sums that cannot be negative"),
        (["task.interpolation=[[0,1],[2,3]]"], "must be one interval"),
    ],
)
def test_what_is_impossible_is_refused(overrides: list[str], must: str) -> None:
    with pytest.raises(UsageError, match=must.replace("[", r"\[")):
        task(*overrides)
