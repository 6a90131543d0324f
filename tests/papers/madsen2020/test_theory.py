"""Expectations at initialisation are measured with the units' own formulas."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from reported import line_with, lines_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.errors import UsageError
from nalu_bench.papers.madsen2020.theory import Theory
from nalu_bench.plan import experiment
from nalu_bench.units import NAC, NACMul

THEORY = experiment.load("madsen2020/theory")
FEW = replace(THEORY, report=THEORY.report | {"draws": 400})


def test_the_claims_have_intervals_around_what_the_paper_expects() -> None:
    lines = lines_of(Theory(FEW), Measured())
    gradient, product, mean = (line_with(lines, metric=f"claim_{name}") for name in ("gradient", "product", "mean"))
    assert gradient.ours.low == 0
    assert str(gradient.verdict) == "agrees"
    assert product.ours.low > 1, "a mean over W and -W is never below 1"
    assert mean.ours.value < 0.02
    assert mean.own


def test_the_samples_are_those_of_the_units() -> None:
    samples = Theory(FEW).samples
    assert {name: len(values) for name, values in samples.items()} == dict.fromkeys(
        ("gradient", "product", "mean", "nmu_mean", "nmu_variance", "nac_mean", "nac_variance"), 400
    )
    assert all(np.array_equal(values, Theory(FEW).samples[name]) for name, values in samples.items())
    assert samples["product"].min() >= 1 - 1e-12


def test_the_gradient_of_a_unit_has_the_size_that_is_its_measure() -> None:
    """An independent loop over single networks, other draws: the mean gradient is as near to 0."""
    relative, sizes = [], []
    for seed in range(60):
        torch.manual_seed(seed)
        first, second = NAC(100, 2).double(), NAC(2, 1).double()
        x = 1 + torch.rand(128, 100, dtype=torch.float64)
        t = x[:, :25].sum(1, keepdim=True) + x[:, 13:38].sum(1, keepdim=True)
        (second(first(x)) - t).square().mean().backward()
        relative.append(first.M_hat.grad.mean().item())
        sizes.append(first.M_hat.grad.abs().mean().item())
    ours = Theory(FEW).samples["gradient"]
    assert np.std(np.array(relative) / np.mean(sizes)) == pytest.approx(ours.std(), rel=0.35)


def test_the_moments_of_an_nmu_have_the_closed_forms_of_the_appendix() -> None:
    """Exactly, by quadrature: one factor of an NMU with W from U[1/4, 3/4] and x from U[-√3, √3]."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    W, x = 0.5 + 0.25 * nodes[:, None], 3**0.5 * nodes[None]
    mean, square = ((weights[:, None] * weights * (W * x + 1 - W) ** power).sum() / 4 for power in (1, 2))
    assert mean == pytest.approx(1 / 2)
    assert square == pytest.approx((1 / 48 + 1 / 4) * 2)
    samples = Theory(FEW).samples
    for name in ("nmu_mean", "nmu_variance"):
        error = samples[name].std(ddof=1) / len(samples[name]) ** 0.5
        assert abs(samples[name].mean()) < 4 * error


def test_an_unknown_claim_is_refused() -> None:
    limits = THEORY.report["limits"] | {"nmu_median": {"at_most": 1}}
    with pytest.raises(UsageError, match=r"unknown claim of madsen2020/theory 'nmu_median'"):
        Theory(replace(THEORY, report=THEORY.report | {"limits": limits})).check([])


def test_a_nac_mul_and_its_inverse_multiply_to_1() -> None:
    unit = NACMul(2, 1).double()
    x = torch.rand(5, 2, dtype=torch.float64) + 0.5
    y = unit(x)
    unit.W_hat.data.neg_()
    torch.testing.assert_close(y * unit(x), torch.ones_like(y))


def test_too_few_draws_are_refused() -> None:
    with pytest.raises(UsageError, match="draws of madsen2020/theory must be at least 100, got 10"):
        Theory(replace(THEORY, report=THEORY.report | {"draws": 10})).check([])
