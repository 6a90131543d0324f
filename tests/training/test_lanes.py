"""A block of one seed computes the same without vmap as with it."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import grad_and_value

from nalu_bench.training.lanes import over_seeds


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def loss(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
    return (x @ parameters["W"].mT + parameters["b"]).square().mean()


def figures(parameters: dict[str, Tensor], x: Tensor) -> dict[str, Tensor]:
    y = x @ parameters["W"].mT + parameters["b"]
    return {"mean": y.mean(), "rows": y.sum(-1)}


PARAMETERS = {"W": drawn(1, 2, 3), "b": drawn(1, 2, seed=1)}


@pytest.mark.parametrize("function", [loss, grad_and_value(loss), figures, lambda p, x: (p["W"], [x.sum()])])
@pytest.mark.parametrize(("dims", "x"), [(0, drawn(1, 5, 3, seed=2)), ((0, None), drawn(5, 3, seed=2))])
def test_one_seed_alone_equals_vmap(function: Any, dims: Any, x: Tensor) -> None:
    alone = over_seeds(function, 1, dims)(PARAMETERS, x)
    mapped = torch.vmap(function, in_dims=dims)(PARAMETERS, x)
    torch.testing.assert_close(alone, mapped, rtol=1e-13, atol=1e-15)
    assert torch.utils._pytree.tree_structure(alone) == torch.utils._pytree.tree_structure(mapped)


def test_several_seeds_are_mapped() -> None:
    stacked = {name: value.repeat(3, *[1] * (value.ndim - 1)) for name, value in PARAMETERS.items()}
    x = drawn(3, 5, 3, seed=3)
    each = [over_seeds(loss, 1)(PARAMETERS, x[lane : lane + 1]) for lane in range(3)]
    torch.testing.assert_close(over_seeds(loss, 3)(stacked, x), torch.cat(each))
