"""The same unit many times over."""

from typing import Any

import pytest
import torch

from nalu_bench.errors import UsageError
from nalu_bench.plan import compose


def deep(*overrides: str, model: str = "deep") -> Any:
    words = ["task=arithmetic", "task.features=4", "task.subset_ratio=0.5", "task.overlap_ratio=0", f"model={model}"]
    return compose.plan_cells([*words, *overrides], multirun=False).cells[0].cell


def test_it_has_as_many_layers_of_one_width() -> None:
    cell = deep("unit=nac", "model.depth=3", "model.hidden_size=5")
    network = cell.model.build(cell.task)
    sizes = [(layer.in_features, layer.out_features) for layer in network.layers]
    assert sizes == [(4, 5), (5, 5), (5, 1)]
    assert cell.model.units() == ["nac"] * 3


def test_one_layer_is_the_unit_alone() -> None:
    cell, alone = deep("unit=nau", "model.depth=1"), deep("unit=nau", model="single")
    networks = [each.model.build(each.task) for each in (cell, alone)]
    x = torch.randn(7, 4)
    for network in networks:
        network.load_state_dict({"layers.0.W": torch.tensor([[1.0, -1.0, 0.5, 0.0]])})
    assert torch.equal(*(network(x) for network in networks))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.depth=0", "model.depth must be from 1 to 100 layers, got 0"),
        ("model.hidden_size=0", "at least 1, got 0"),
    ],
)
def test_sizes_that_cannot_be_are_refused(override: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        deep("unit=nac", override)
