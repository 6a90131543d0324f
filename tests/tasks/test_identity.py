"""The identity task."""

import numpy as np
import pytest
import torch

from nalu_bench.errors import UsageError
from nalu_bench.tasks.identity import Identity
from nalu_bench.training.random import draws


def task(**changes: object) -> Identity:
    values: dict[str, object] = {"interpolation": [-5, 5], "extrapolation": [-20, 20], "probed": 161}
    return Identity(kind="identity", name="identity", **values | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("split", "end"), [("train", 5), ("validation", 5), ("extrapolation", 20)])
def test_inputs_fill_the_range_of_their_split_and_are_their_own_targets(split: str, end: float) -> None:
    numbers = draws.spread(torch.rand(1, 10_000), draws.coefficients(task().intervals(split)))
    x, t = task().sample(numbers, {}, {})
    assert torch.equal(x, t)
    assert x.shape == (10_000, 1)
    assert x.min().item() == pytest.approx(-end, abs=0.01 * end)
    assert x.max().item() == pytest.approx(end, abs=0.01 * end)


def test_probes_are_evenly_spaced_over_the_test_range() -> None:
    probes = task().probes()
    assert np.array_equal(probes.inputs, probes.targets)
    assert probes.labels[:2] == ["-20", "-19.75"]
    assert np.array_equal(probes.inputs[:, 0], np.arange(-20, 20.25, 0.25, dtype=np.float32))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"probed": 1}, "task.probed must be at least 2, got 1"),
        ({"interpolation": [5, -5]}, "task.interpolation must have low < high"),
        ({"extrapolation": [[-20, -5], [5, 20]]}, "task.extrapolation must be one interval, got 2"),
    ],
)
def test_values_that_cannot_be_are_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        task(**change).validate()
