"""Single images of digits, each to be given its class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from nalu_bench.datasets.images import SIDE, dataset
from nalu_bench.errors import unknown
from nalu_bench.registry import register
from nalu_bench.tasks.measure import Measure
from nalu_bench.tasks.of_images import ALL, OfImages, part
from nalu_bench.tasks.task import KEEP, Rows, Task

if TYPE_CHECKING:
    from torch import Tensor

SOLVED = 0.9
"""The share of right digits that a solved run exceeds."""

SHARE, NORMALISED = PIXELS = ("share", "normalised")


@register("digit_classes", version=1)
@dataclass
class DigitClasses(OfImages, Task):
    """t = the digit on an image, one-hot (10); a network gives a logit for each digit.

        share         x = pixel / 255, from 0 to 1        normalised    x = (pixel / 255 - mean) / deviation

    Source: the IIT Indore report, section 6.1, after Schlör, Ring & Hotho 2020, who name the task and no more.
    Deviations: see the experiment's page.

    Attributes:
        dataset: mnist, or digits, which needs no network and is for a first look.
        pixels: one of the above; mean and deviation are those of the training part.
        validation: the last images of the training part, held out.
    """

    evaluated: ClassVar[tuple[str, ...]] = ("validation", "test")
    measures: ClassVar[tuple[Measure, ...]] = (Measure("correct"),)
    selecting: ClassVar[str] = "correct"
    judging: ClassVar[str] = "correct"
    larger_is_better: ClassVar[bool] = True

    dataset: str
    pixels: str
    validation: int

    def validate(self) -> None:
        if self.pixels not in PIXELS:
            raise unknown("form of the pixels", self.pixels, PIXELS)
        self.check_held_out(self.validation)

    @property
    def input_size(self) -> int:
        return SIDE * SIDE

    @property
    def output_size(self) -> int:
        return len(ALL)

    def example_size(self, split: str) -> int:
        return 1

    def chunk(self, split: str) -> int | None:
        return 500

    def rows(self, split: str) -> Rows:
        return Rows(len(part(self.dataset, split, ALL, self.validation).labels), remainder=KEEP)

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The images of the split (n, 784) and their labels (n,) as bytes."""
        images = part(self.dataset, split, ALL, self.validation)
        return {"images": images.pixels.reshape(-1, self.input_size), "labels": images.labels}

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Images (B, 784) and their digits, one-hot (B, 10)."""
        import torch

        pixels = split_parameters["images"][numbers[0]].float()
        x = dataset(self.dataset).normalised(pixels) if self.pixels == NORMALISED else pixels / 255
        classes = torch.arange(len(ALL), device=x.device)
        return x, (split_parameters["labels"][numbers[0]].long()[:, None] == classes).float()

    def threshold(self, criterion: str, samples: int = 1_000_000) -> float:
        """0.9 of the digits, ours: a linear layer reaches it on MNIST."""
        if criterion != "task":
            raise unknown("criterion", criterion, ["task"])
        return SOLVED
