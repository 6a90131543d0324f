"""The sum of digits that are seen one after the other, and the description of a model that reads them.

Configurations are checked before torch is loaded, so this module does not import it: the network is in
`digits.digit_network`.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from nalu_bench.errors import UsageError
from nalu_bench.models.recurrent import EVERY, Recurrent
from nalu_bench.registry import register
from nalu_bench.tasks.measure import Measure
from nalu_bench.tasks.task import Rows, Task

if TYPE_CHECKING:
    from torch import Tensor

    from nalu_bench.models.network import Network

SIDE, GREYS, IMAGES = 8, 16, 1797
"""An image has 8 x 8 pixels of 0 to 16; there are 1,797 of them."""

SHA256 = "87ff0c9e40dc7e2c0e34e7257799c2e3f3aec1a016363bb11cad869ec428a826"
"""Checksum of the images and labels as bytes: the content that `fingerprint` names."""


@register("digit_sums", version=1)
@dataclass
class DigitSums(Task):
    """t = d_1 + ... + d_N, x_n an image (8, 8) of the digit d_n.

    Every epoch groups the training images anew, N to an example. Validation and test have images of their own.

    Source: scikit-learn's images, which are the test set of "Optical Recognition of Handwritten Digits" (Alpaydin &
    Kaynak 1998). Deviations: none; the splits are ours, in the order of the file.

    Attributes:
        digits: N.
        training, validation: images of these splits; the others are the test split.
    """

    inputs: ClassVar[str] = "image sequence"
    evaluated: ClassVar[tuple[str, ...]] = ("validation",)
    tested: ClassVar[tuple[str, ...]] = ("test",)
    measures: ClassVar[tuple[Measure, ...]] = (Measure("mse"), Measure("mae"), Measure("rounds"))

    digits: int
    training: int
    validation: int

    def validate(self) -> None:
        for key in ("digits", "training", "validation"):
            if getattr(self, key) < 1:
                raise UsageError(f"task.{key} must be at least 1, got {getattr(self, key)}.")

    @property
    def input_size(self) -> int:
        return SIDE * SIDE

    def example_size(self, split: str) -> int:
        return self.digits

    def chunk(self, split: str) -> int:
        return 30

    def fingerprint(self) -> dict[str, str]:
        """Name and version of the images: everybody has the same ones, wherever they lie."""
        return {"images": "optdigits, test set of July 1998"}

    def rows(self, split: str) -> Rows:
        return Rows(len(range(IMAGES)[self._images(split)]))

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The images of the split (n, 8, 8) and their labels (n,), as bytes."""
        images, labels = _data()
        return {"images": images[self._images(split)], "labels": labels[self._images(split)]}

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """x (B, N, 8, 8) in [0, 1] and t (B, 1), from the numbers of the images (N, B)."""
        chosen = numbers.mT
        x = split_parameters["images"][chosen].float() / GREYS
        return x, split_parameters["labels"][chosen].float().sum(-1, keepdim=True)

    def _images(self, split: str) -> slice:
        ends = {"train": (0, self.training), "validation": (self.training, self.training + self.validation)}
        return slice(*ends.get(split, (self.training + self.validation, IMAGES)))


@functools.cache
def _data() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_digits

    found = load_digits()
    images, labels = found.images.astype(np.uint8), found.target.astype(np.uint8)
    if hashlib.sha256(images.tobytes() + labels.tobytes()).hexdigest() != SHA256:
        raise UsageError("sklearn.datasets.load_digits must give the optdigits of July 1998, and gives other images.")
    return images, labels


@register("digit_reader", version=1)
@dataclass
class DigitReader(Recurrent):
    """image_n -> e_n, [e_n, h_{n-1}] -> h_n for every image, then h_N -> output_size.

    Attributes:
        channels: outputs of the convolution.
        features: size of e.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"image sequence"})

    channels: int
    features: int

    def validate(self) -> None:
        super().validate()
        if min(self.channels, self.features) < 1:
            raise UsageError(
                f"model.channels and model.features must be at least 1, got {self.channels} and {self.features}."
            )

    def network(self, task: Task) -> Network:
        from digits.digit_network import DigitNetwork

        cell, head = self.layers(self.features, task.output_size)
        return DigitNetwork(self.channels, self.features, cell, head, self.initial_state, self.outputs == EVERY)
