"""Expectations at initialisation are measured with the units' own formulas."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from reported import line_with, lines_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.errors import UsageError
from nalu_bench.papers.madsen2020 import theory
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


def test_the_moments_of_a_nac_mul_are_held_against_the_taylor_series() -> None:
    """Units one by one, other draws: Var[W] is 2 / 5, by their initialisation."""
    torch.manual_seed(0)
    z = torch.cat([NACMul(4, 1).double()(1 + torch.rand(64, 4, dtype=torch.float64)) for _ in range(2000)]).detach()

    def f(c: float, d: float) -> float:
        return float((1 + c / 2 * 0.4 * np.log(1.5) ** 2) ** (4 * d))

    samples = Theory(FEW).samples
    for name, found in {"nac_mean": z.mean() / f(1, 1), "nac_variance": z.var() / (f(4, 1) - f(1, 2))}.items():
        error = samples[name].std(ddof=1) / len(samples[name]) ** 0.5
        assert abs(samples[name].mean() - (found.item() - 1)) < 4 * error, name


def trained(first: list[list[float]], second: list[float], seed: int) -> list[dict[str, object]]:
    """The kept weights of a network of two layers, as rows."""
    return [
        {"cell": "a", "seed": seed, "kind": "weight", "name": name, "shape": list(np.shape(values)),
         "values": np.ravel(values).tolist()}
        for name, values in {"layers.0.W": first, "layers.1.W": [second]}.items()
    ]  # fmt: skip


def test_the_bias_is_that_of_inputs_which_the_network_counts_once() -> None:
    """Three inputs: counted once by 0.3 and 0.7; by 1 and 0, through a weight of -1; the last one not at all."""
    weights = [row for seed in (0, 1) for row in trained([[0.3, 1.0, 0.5], [-0.7, 0.0, 0.5]], [1.0, -1.0], seed)]
    runs = pd.DataFrame({"cell": "a", "seed": [0, 1], "steps": 5_000_000})
    measured = Measured(runs=runs, weights=pd.DataFrame(weights))
    assert [np.sort(W).tolist() for W in theory._counted_once(measured)] == [[-0.7, 0.0, 0.3, 1.0]] * 2
    row = next(row for row in Theory(FEW).rows(measured) if row.place.metric == "claim_bias")
    assert row.ours.value == pytest.approx(0.15)
    assert row.n_seeds == 2


def test_without_trained_networks_the_claim_on_the_bias_is_not_judged() -> None:
    claim = line_with(lines_of(Theory(FEW), Measured()), metric="claim_bias")
    assert str(claim.verdict) == "not comparable"


def test_limits_must_name_a_claim() -> None:
    with pytest.raises(UsageError, match="must name a claim, and are empty"):
        Theory(replace(THEORY, report=THEORY.report | {"limits": {}})).check([])


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
