"""Quantile functions: moments and bounds of each distribution, and wrong values."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from nalu_bench.errors import UsageError
from nalu_bench.tasks.distributions import KINDS, Distribution, as_distribution

DRAWN = {
    "uniform": ([-10, -5], stats.uniform(-10, 5)),
    "normal": ([-2, 4], stats.truncnorm(-3, 3, 1, 1)),
    "exponential": ([0.8], stats.expon(0, 0.8)),
    "cut_normal": ([0, 1, -2, 2], stats.truncnorm(-2, 2, 0, 1)),
}  # fmt: skip


def uniforms(count: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 2**24, (count,), generator=generator).float() * 2**-24


@pytest.mark.parametrize("kind", DRAWN)
def test_numbers_have_the_distribution_and_the_moments_that_scipy_gives(kind: str) -> None:
    numbers, law = DRAWN[kind]
    x = as_distribution("x", [kind, *numbers]).of(uniforms(200_000)).double().numpy()
    assert stats.kstest(x, law.cdf).pvalue > 1e-3
    assert x.mean() == pytest.approx(law.mean(), abs=5 * law.std() / math.sqrt(x.size))
    assert x.std() == pytest.approx(law.std(), rel=0.01)
    low, high = law.support()
    assert low <= x.min()
    assert x.max() <= high


def test_two_normals_are_mirrored_and_equally_likely() -> None:
    x = as_distribution("x", ["two_normals", 10, 1]).of(uniforms(200_000)).double().numpy()
    assert (x > 0).mean() == pytest.approx(0.5, abs=0.005)
    assert stats.kstest(np.abs(x), stats.norm(10, 1).cdf).pvalue > 1e-3
    assert np.square(x).mean() == pytest.approx(101, rel=0.005)


@pytest.mark.parametrize("kind", KINDS)
def test_no_uniform_number_has_an_infinite_quantile(kind: str) -> None:
    numbers = DRAWN[kind][0] if kind in DRAWN else [10, 1]
    ends = torch.tensor([0.0, 2.0**-24, 0.5 - 2.0**-24, 0.5, 1 - 2.0**-24])
    x = as_distribution("x", [kind, *numbers]).of(ends)
    assert x.isfinite().all()
    assert (x.diff() >= 0).all()
    if kind == "exponential":
        assert x.min() > 0, "it is a divisor"


def test_a_label_is_what_the_source_writes() -> None:
    told = [
        as_distribution("x", value).told() for value in (["normal", -3, 3], ["exponential", 0.2], ["uniform", -1, 1])
    ]
    assert told == ["N(-3,3)", "Exp(0.2)", "U(-1,1)"]
    assert Distribution("cut_normal", (0, 1, -2, 2)).told() == "N(0,1²) on (-2,2)"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([-3, 3], r"task.x must be one of \[uniform,low,high\], .*got \[-3, 3\]"),
        (["normal", -3], "task.x must be one of"),
        (["normal", -3, math.inf], "with finite numbers"),
        (["normal", -3, True], "with finite numbers"),
        (["gauss", 0, 1], "task.x must be one of"),
        ("normal", "task.x must be one of"),
        (None, "task.x must be one of"),
        (["uniform", 3, 3], "task.x must have low < high"),
        (["exponential", 0], "above 0"),
        (["two_normals", 10, 0], "above 0"),
        (["cut_normal", 0, 1, 20, 30], "must leave enough of the normal"),
    ],
)
def test_what_is_no_distribution_is_refused(value: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        as_distribution("task.x", value)
