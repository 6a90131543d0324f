"""Images of several digits on one canvas, of which the even ones are to be counted."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from nalu_bench.datasets.images import SIDE
from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.measure import Measure
from nalu_bench.tasks.of_images import ALL, OfImages, part
from nalu_bench.tasks.task import Rows, Task

if TYPE_CHECKING:
    from torch import Tensor

ATTEMPTS = 10_000
"""Places that are tried on a canvas before it counts as too small."""

CHECKED = 100
"""Canvases that are laid out to see whether there is room."""

NOWHERE = -1
"""The number of the image where a canvas has no further digit."""

MOST_SIDE = 512


@register("digit_canvas", version=1)
@dataclass
class DigitCanvas(OfImages, Task):
    """t_n = 1 if n of the digits on a canvas are even, else 0; a network gives a logit for each n.

    A canvas holds 0 to `digits` digits, each number as often, drawn with replacement. They are added up and cut at 1.
    Their centres are at least `apart` pixels from each other (rejection sampling), and every digit lies on the canvas
    whole. Networks see 2 x - 1.

    Source: Trask et al. 2018, section 4.6, after Seguí et al. 2015, https://arxiv.org/abs/1505.08082. Deviations: see
    the experiment's page.

    Attributes:
        dataset: mnist, or digits, which needs no network and is for a first look.
        side: pixels of a side of the canvas.
        digits: the most digits on it.
        apart: pixels.
        canvases, validation_canvases, test_canvases: of the three splits, the same in all epochs and for all seeds.
        validation: the last images of the training part, held out for the validation canvases.
    """

    inputs: ClassVar[str] = "canvas"
    evaluated: ClassVar[tuple[str, ...]] = ("validation",)
    tested: ClassVar[tuple[str, ...]] = ("test",)
    measures: ClassVar[tuple[Measure, ...]] = (Measure("correct"),)
    selecting: ClassVar[str] = "correct"
    judging: ClassVar[str] = "correct"
    larger_is_better: ClassVar[bool] = True

    dataset: str
    side: int
    digits: int
    apart: int
    canvases: int
    validation_canvases: int
    test_canvases: int
    validation: int

    def validate(self) -> None:
        if not SIDE <= self.side <= MOST_SIDE:
            raise UsageError(f"task.side must be {SIDE} to {MOST_SIDE}, so that a digit fits, got {self.side}.")
        if self.digits < 1 or self.apart < 0:
            raise UsageError(
                f"task.digits must be at least 1 and task.apart at least 0, got {self.digits} and {self.apart}."
            )
        if min(self.canvases, self.validation_canvases, self.test_canvases) < 1:
            raise UsageError("task.canvases, task.validation_canvases and task.test_canvases must be at least 1.")
        self.check_held_out(self.validation)
        corners(self.side, self.digits, self.apart, CHECKED, 0)

    @property
    def input_size(self) -> int:
        return self.side**2

    @property
    def output_size(self) -> int:
        return self.digits + 1

    def example_size(self, split: str) -> int:
        return 1

    def chunk(self, split: str) -> int | None:
        return 500

    def rows(self, split: str) -> Rows:
        return Rows({"train": self.canvases, "validation": self.validation_canvases}.get(split, self.test_canvases))

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The images (n, 28, 28) and their labels (n,) as bytes; of every canvas the images (m, D) and corners."""
        images, number = part(self.dataset, split, ALL, self.validation), self.rows(split).count
        place = ("train", "validation", "test").index(split)
        places, top_left = _canvases(self.side, self.digits, self.apart, number, place, len(images.labels))
        return {"images": images.pixels, "labels": images.labels, "shown": places, "corners": top_left}

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Canvases (B, side, side) from -1 to 1, and how many of their digits are even, one-hot (B, digits + 1)."""
        import torch

        shown, top_left = (split_parameters[name][numbers[0]].long() for name in ("shown", "corners"))
        there = shown != NOWHERE
        known = shown.clamp(min=0)
        pixels = split_parameters["images"][known].float() / 255 * there[..., None, None]
        across = torch.arange(SIDE, device=shown.device)
        rows, columns = (top_left[..., each, None] + across for each in (0, 1))
        where = rows[..., :, None] * self.side + columns[..., None, :]  # (B, D, 28, 28)
        empty = torch.zeros(len(shown), self.side**2, device=shown.device)
        canvas = empty.scatter_add(1, where.flatten(1), pixels.flatten(1)).clamp(max=1)
        even = (split_parameters["labels"][known].long() % 2 == 0) & there
        counts = (even.sum(-1, keepdim=True) == torch.arange(self.digits + 1, device=shown.device)).float()
        return 2 * canvas.view(-1, self.side, self.side) - 1, counts


def corners(side: int, digits: int, apart: int, count: int, seed: int) -> np.ndarray:
    """Upper left corners (count, digits, 2) of digits on canvases: each is uniform, as long as it keeps its distance.

    A digit that finds no place clears its canvas, which is begun again.

    Raises: UsageError if there is no room after `ATTEMPTS`.
    """
    rng = np.random.default_rng([seed, side, digits, apart])
    found = np.empty((count, digits, 2), np.int32)
    done = np.zeros(count, np.int64)  # digits that have a place
    for _ in range(ATTEMPTS):
        open_ = np.flatnonzero(done < digits)
        if not len(open_):
            return found
        tried = rng.integers(0, side - SIDE + 1, (len(open_), 2))
        distance = np.linalg.norm(found[open_] - tried[:, None], axis=-1)
        placed = np.arange(digits) < done[open_, None]
        free = ~((distance < apart) & placed).any(1)
        found[open_[free], done[open_[free]]] = tried[free]
        done[open_[free]] += 1
        stuck = open_[~free]
        done[stuck[rng.random(len(stuck)) < 0.01]] = 0
    raise UsageError(
        f"a canvas must have room for task.digits={digits} whose centres are task.apart={apart} pixels apart, "
        f"and none was found for {int((done < digits).sum())} of {count} canvases with task.side={side}; raise "
        "task.side, or lower the others."
    )


@functools.cache
def _canvases(side: int, digits: int, apart: int, count: int, split: int, images: int) -> tuple[np.ndarray, np.ndarray]:
    """The images of every canvas (count, digits), `NOWHERE` behind the last one, and their corners."""
    rng = np.random.default_rng([split, count, images])
    shown = rng.integers(0, images, (count, digits), dtype=np.int32)
    number = rng.integers(0, digits + 1, count)
    shown[np.arange(digits) >= number[:, None]] = NOWHERE
    return shown, corners(side, digits, apart, count, split)
