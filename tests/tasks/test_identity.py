"""The identity task."""

import numpy as np
import pytest
import torch

from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.tasks.identity import Identity, IdentityOnIntegers
from nalu_bench.training.data import Data
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


def on_integers(**changes: object) -> IdentityOnIntegers:
    values: dict[str, object] = {"interpolation": [-5, 5], "extrapolation": [-20, 20], "probed": 161}
    values |= {"reach": 1000, "whole": True} | changes
    return IdentityOnIntegers(kind="identity_integers", name="identity_integers", **values)  # type: ignore[arg-type]


def test_the_selected_network_is_tested_on_every_integer_once() -> None:
    numbers = on_integers(reach=3).fixed_numbers("integers")
    assert numbers is not None
    assert numbers.tolist() == [[-3, -2, -1, 0, 1, 2, 3]]
    assert on_integers().fixed_numbers("validation") is None


def test_whole_numbers_are_those_of_the_training_range_each_once_an_epoch() -> None:
    chosen = on_integers(interpolation=[-2.5, 3])
    rows = chosen.rows("train")
    assert rows is not None
    constants = {name: torch.from_numpy(array) for name, array in chosen.split_parameters("train").items()}
    x, t = chosen.sample(torch.randperm(rows.count)[None], {}, constants)
    assert torch.equal(x, t)
    assert sorted(x[:, 0].tolist()) == [-2, -1, 0, 1, 2, 3]
    assert chosen.rows("validation") is None, "validation has real numbers"
    assert chosen.program() != on_integers(interpolation=[-5, 5]).program(), "the constants have another shape"


def test_the_real_numbers_of_validation_are_as_many_as_are_asked_for() -> None:
    words = ["task=identity_integers", "model=mlp", "model.activation=tanh", "recipe.evaluation_size=50"]
    (want,) = compose.plan_cells(words, multirun=False).cells
    (examples,) = Data(want.cell, [0], torch.device("cpu")).evaluated["validation"]
    assert examples.x.shape[-2] == 50


def test_a_range_without_an_integer_has_no_whole_numbers_to_train_on() -> None:
    with pytest.raises(UsageError, match=r"task\.interpolation must hold an integer, got \[0\.2, 0\.8\]"):
        on_integers(interpolation=[0.2, 0.8]).validate()
    with pytest.raises(UsageError, match=r"task\.reach must be at least 1, got 0"):
        on_integers(reach=0).validate()
