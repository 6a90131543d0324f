"""Clipping of gradients, for each seed on its own, compared with torch's."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import utils

from nalu_bench.plan.blocks import WIDTH, Block
from nalu_bench.plan.cell import Cell
from nalu_bench.registry import clippings
from nalu_bench.training.compilation import Mode
from nalu_bench.training.loop import train_block

LIMIT = 1.5
SEEDS = 4


def gradients() -> dict[str, Tensor]:
    """Gradients of four seeds: their norms are on both sides of the limit, and one is zero."""
    generator = torch.Generator().manual_seed(0)
    size = torch.tensor([0.1, 1.0, 10.0, 0.0]).double()
    shapes = {"W": (2, 3), "b": (2,), "kernel": (2, 1, 3, 3)}
    return {
        name: torch.randn(SEEDS, *shape, generator=generator, dtype=torch.float64) * size.view(-1, *[1] * len(shape))
        for name, shape in shapes.items()
    }


def torchs(clip: Callable[[list[Tensor], float], object], seed: int) -> list[Tensor]:
    """The gradients of one seed, clipped by torch."""
    parameters = []
    for gradient in gradients().values():
        parameters.append(torch.zeros_like(gradient[seed], requires_grad=True))
        parameters[-1].grad = gradient[seed].clone()
    clip(parameters, LIMIT)
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


@pytest.mark.parametrize(
    ("name", "theirs"),
    [("norm", utils.clip_grad_norm_), ("value", utils.clip_grad_value_), ("none", lambda parameters, limit: None)],
)
def test_a_clipping_is_that_of_torch_seed_by_seed(name: str, theirs: Callable[..., object]) -> None:
    clipped = clippings.load(name)(gradients(), LIMIT)
    for seed in range(SEEDS):
        expected = torchs(theirs, seed)
        torch.testing.assert_close([gradient[seed] for gradient in clipped.values()], expected, rtol=1e-12, atol=0)


def test_a_step_of_gradient_descent_is_as_long_as_the_largest_norm(
    make_cell: Callable[..., Cell], tmp_path: Path
) -> None:
    descent = {"optimizer": "sgd", "learning_rate": 1.0, "steps": 1, "log_every": 1, "selection": "last"}
    before, after = (
        train_block(
            make_cell("linear linear", **descent | change),
            Block(0), Mode("cpu", compiled=False), tmp_path / "block.pt", lambda *_: None,
        ).parameters
        for change in ({"steps": 0}, {"clipping": "norm", "clip_at": 1e-3})
    )  # fmt: skip
    moved = sum(((after[name] - before[name]) ** 2).reshape(WIDTH, -1).sum(1) for name in before) ** 0.5
    assert moved == pytest.approx([1e-3] * WIDTH, rel=1e-3)
