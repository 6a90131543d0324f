"""The network that counts digits on a canvas: the function of plain layers, and training that goes on."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from resumed import check_resumed
from torch import Tensor, nn
from torch.nn.functional import linear

from nalu_bench.models.canvas_network import CanvasNetwork
from nalu_bench.plan import compose
from nalu_bench.plan.blocks import Block
from nalu_bench.units import NAC
from nalu_bench.units.squashed import Squashed

WORDS = [
    "task=digit_canvas", "recipe=trask2018_parity", "task.dataset=digits", "task.validation=200", "task.canvases=64",
    "task.validation_canvases=50", "task.test_canvases=50", "recipe.batch_size=4", "budget=smoke", "budget.steps=4",
    "budget.log_every=2",
]  # fmt: skip


def test_it_is_the_function_of_plain_layers() -> None:
    torch.manual_seed(0)
    network, x = CanvasNetwork(40, NAC(32, 6)).double(), torch.rand(3, 40, 40, dtype=torch.float64)
    plain = nn.Sequential(
        network.conv1, nn.ReLU(), nn.MaxPool2d(2), network.conv2, nn.ReLU(), network.conv3, nn.ReLU(), network.conv4,
        nn.ReLU(), nn.Flatten(), network.hidden, nn.ReLU(), network.head,
    )  # fmt: skip
    torch.testing.assert_close(network(x), plain(x.unsqueeze(1)))


@pytest.mark.parametrize(("squash", "function"), [("sigmoid", torch.sigmoid), ("tanh", torch.tanh)])
def test_weights_of_a_last_layer_lie_under_their_function(squash: str, function: Callable[[Tensor], Tensor]) -> None:
    unit, x = Squashed(3, 2, squash=squash).double(), torch.rand(5, 3, dtype=torch.float64)
    torch.testing.assert_close(unit(x), linear(x, function(unit.W_hat), unit.b))


def test_training_that_is_interrupted_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    chosen = compose.plan_cells([*WORDS, "model=canvas_nac"], multirun=False).cells[0].cell
    check_resumed(chosen, Block(0, 1), tmp_path, asked_before=2)
