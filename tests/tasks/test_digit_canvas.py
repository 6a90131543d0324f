"""Canvases of digits: what is on them, what is counted, and when there is no room."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch

from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.tasks.digit_canvas import NOWHERE, corners
from nalu_bench.training.data import tensors

WORDS = ["task=digit_canvas", "model=canvas_nac", "task.dataset=digits", "task.validation=200", "task.canvases=300"]


def task(*words: str) -> Any:
    return compose.plan_cells([*WORDS, *words], multirun=False).cells[0].cell.task


@pytest.fixture(scope="module")
def canvases() -> tuple[torch.Tensor, torch.Tensor, dict[str, np.ndarray]]:
    found = task()
    parameters = found.split_parameters("train")
    x, t = found.sample(torch.arange(300)[None], {}, tensors(parameters))
    return x, t, parameters


def test_every_digit_lies_whole_on_its_canvas_and_even_ones_are_counted(canvases: Any) -> None:
    x, t, parameters = canvases
    assert (t.sum(-1) == 1).all()
    images, labels = parameters["images"], parameters["labels"]
    for canvas, count, shown, places in zip(x, t.argmax(-1), parameters["shown"], parameters["corners"], strict=True):
        made = np.zeros((100, 100), np.float32)
        there = shown[shown != NOWHERE]
        for image, (top, left) in zip(there, places, strict=False):
            made[top : top + 28, left : left + 28] += images[image].astype(np.float32) / 255
        assert np.allclose(canvas, 2 * made.clip(max=1) - 1, atol=1e-6)
        assert count == (labels[there] % 2 == 0).sum()


def test_every_number_of_digits_is_as_frequent(canvases: Any) -> None:
    numbers = (canvases[2]["shown"] != NOWHERE).sum(1)
    assert set(numbers) == set(range(6))
    assert np.bincount(numbers).min() > 300 / 6 - 4 * (300 * 5 / 36) ** 0.5


def test_centres_keep_their_distance_and_places_are_the_same_for_all_networks() -> None:
    found = corners(100, 5, 28, 200, 0)
    assert found.min() == 0
    assert found.max() == 100 - 28
    gaps = np.linalg.norm(found[:, :, None] - found[:, None], axis=-1)[:, ~np.eye(5, dtype=bool)]
    assert gaps.min() >= 28
    assert (corners(100, 5, 28, 200, 0) == found).all()
    assert (corners(100, 5, 28, 200, 1) != found).any()


def test_splits_share_no_image() -> None:
    found = task()
    parts = {split: found.split_parameters(split)["images"] for split in ("train", "validation", "test")}
    assert [len(part) for part in parts.values()][1] == 200
    seen = [{image.tobytes() for image in part} for part in parts.values()]
    assert not any(one & other for one, other in combinations(seen, 2))


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("task.side=27", "task.side must be 28 to 512"), ("task.side=100000", "task.side must be 28 to 512"),
        ("task.side=40", "a canvas must have room for task.digits=5 whose centres are task.apart=28 pixels apart"),
        ("task.digits=60", "a canvas must have room for task.digits=60"),
        ("task.digits=0", "task.digits must be at least 1"), ("task.apart=-1", "task.apart at least 0"),
        ("task.canvases=0", "task.test_canvases must be at least 1"),
        ("task.validation=1500", "task.validation must leave images of digits for training"),
    ],
)  # fmt: skip
def test_a_canvas_that_cannot_be_is_refused(word: str, told: str) -> None:
    words = [each for each in WORDS if each.partition("=")[0] != word.partition("=")[0]]
    with pytest.raises(UsageError, match=told):
        compose.plan_cells([*words, word], multirun=False)


def test_more_logits_than_counts_are_no_answer(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two digits have three counts, and the network learns to tell them."""
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    assert task("task.digits=2").output_size == 3
    small = ["recipe=trask2018_parity", "budget=smoke", "task.digits=2", "task.side=56", "device.workers=1"]
    small += ["task.validation_canvases=20", "task.test_canvases=20", "budget.steps=4", "budget.log_every=2"]
    assert main(["run", *WORDS, *small, "seeds=1"]) == 0
