"""Images of digits with their classes: what networks see, and what is refused."""

from typing import Any

import numpy as np
import pytest
import torch

from nalu_bench.datasets.images import dataset
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.training.data import tensors

WORDS = ["task=digit_classes", "model=deep", "unit=nalu", "recipe=iit_classes", "task.dataset=digits",
         "task.validation=200"]  # fmt: skip


def task(*words: str) -> Any:
    return compose.plan_cells([*WORDS, *words], multirun=False).cells[0].cell.task


@pytest.mark.parametrize("pixels", ["share", "normalised"])
def test_an_image_is_a_vector_of_shares_or_normalised_and_its_digit_is_one_hot(pixels: str) -> None:
    found, known = task(f"task.pixels={pixels}"), dataset("digits")
    parameters = found.split_parameters("test")
    count = len(parameters["labels"])
    x, t = found.sample(torch.arange(count)[None], {}, tensors(parameters))
    assert x.shape == (count, 28 * 28)
    shares = known.images("test").pixels.reshape(count, -1) / 255
    wanted = shares if pixels == "share" else (shares - known.mean) / known.deviation
    assert np.allclose(x, wanted, atol=1e-6)
    assert (t.sum(-1) == 1).all()
    assert (t.argmax(-1).numpy() == known.images("test").labels).all()


def test_the_last_images_of_the_training_part_are_held_out() -> None:
    found, labels = task(), dataset("digits").images("training").labels
    assert (found.split_parameters("validation")["labels"] == labels[-200:]).all()
    assert found.rows("train").count == len(labels) - 200


def test_a_run_is_solved_above_nine_of_ten_digits() -> None:
    found = task()
    assert found.solves(0.91, found.threshold("task"))
    assert not found.solves(0.9, found.threshold("task"))


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("task.pixels=raw", "unknown form of the pixels 'raw'"),
        ("task.validation=0", "task.validation must leave images"),
    ],
)
def test_values_that_cannot_be_are_refused(word: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        compose.plan_cells([*(one for one in WORDS if "validation" not in one), word], multirun=False)
