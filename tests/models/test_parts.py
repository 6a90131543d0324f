"""Modules that are not units: they get torch's initial weights, drawn from the benchmark's own streams."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from nalu_bench.errors import UsageError
from nalu_bench.models.network import Network
from nalu_bench.models.parts import initialisers
from nalu_bench.plan.cell import Cell
from nalu_bench.training.check import check_network
from nalu_bench.training.random.addressable import initial
from nalu_bench.units import Linear


class Seeing(Network):
    """A convolution before a unit."""

    def __init__(self, *more: nn.Module) -> None:
        super().__init__()
        self.eye = nn.Sequential(nn.Conv2d(1, 4, 3), *more, nn.Flatten())
        self.head = Linear(4 * 6 * 6, 1)

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        return self.head(self.eye(x)), {}


PARTS = [
    nn.Linear(30, 40), nn.Linear(30, 40, bias=False), nn.Conv1d(6, 50, 5), nn.Conv2d(8, 40, 3, groups=4),
    nn.Conv3d(2, 60, 3),
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_a_part_begins_with_torchs_own_distribution(part: nn.Module) -> None:
    fan_in = math.prod(part.weight.shape[1:])
    bound = 1 / math.sqrt(fan_in)
    found = initialisers(part)
    assert set(found) == {name for name, _ in part.named_parameters()}
    ours = {name: initial(value, name, found[name], 0) for name, value in part.named_parameters()}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        part.reset_parameters()
    for name, theirs in part.named_parameters():
        for drawn in (theirs.detach(), ours[name]):
            assert drawn.abs().max() <= bound
            assert drawn.abs().max() > 0.9 * bound
        if theirs.numel() > 500:
            assert float(ours[name].std()) == pytest.approx(bound / math.sqrt(3), rel=0.05)


def test_initial_weights_are_those_of_seed_and_full_name() -> None:
    network = Seeing()
    found = network.initialisers()
    assert list(found) == ["eye.0.weight", "eye.0.bias", "head.W", "head.b"]
    weight = dict(network.named_parameters())["eye.0.weight"]
    keys = [("a", 0), ("a", 0), ("a", 1), ("b", 0)]
    draws = [initial(weight, name, found["eye.0.weight"], seed) for name, seed in keys]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert not torch.equal(draws[0], draws[3])
    assert network.weights().keys() == {"head.W"}


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (nn.PReLU(), r"must name every parameter, missing \['eye.1.weight'\]"),
        (nn.BatchNorm2d(4, affine=False), "not as buffers: .*'eye.1.running_mean'"),
    ],
)
def test_a_part_whose_values_would_be_left_undefined_is_refused(
    make_cell: Callable[..., Cell], part: nn.Module, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check_network(make_cell("linear linear"), Seeing(part))
