"""Series of images of digits, to be counted, added or multiplied."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nalu_bench.datasets.images import SIDE, Images, dataset
from nalu_bench.errors import UsageError, unknown
from nalu_bench.registry import register
from nalu_bench.tasks.measure import Measure
from nalu_bench.tasks.of_images import OfImages, part
from nalu_bench.tasks.task import KEEP, Probes, Rows, Task

if TYPE_CHECKING:
    from torch import Tensor

CLASSES = 10
PROBED = 100
"""Test images of each digit on which the encoder is recorded, or as many as there are."""

LAST, EVERY = TARGETS = ("last", "every")


def _counts(labels: Tensor) -> Tensor:
    from torch.nn.functional import one_hot

    return one_hot(labels, CLASSES).float().cumsum(-2)


OPERATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "count": _counts,
    "sum": lambda labels: labels.float().cumsum(-1).unsqueeze(-1),
    "product": lambda labels: labels.float().cumprod(-1).unsqueeze(-1),
}
"""Operation -> the targets (..., T, O) after every image, from the labels (..., T)."""


@register("digit_series", version=1)
@dataclass
class DigitSeries(OfImages, Task):
    """t = f(d_1, ..., d_T) of images of the digits d_1, ..., d_T.

        count    how many of each digit, 10 numbers        sum    d_1 + ... + d_T        product    d_1 · ... · d_T

    Source: Trask et al. 2018, section 4.2 (count and sum, the target after the last image); Madsen & Johansen 2020,
    sequential MNIST (sum and product, a target after every image). Deviations: see the experiments' READMEs.

    Attributes:
        dataset: mnist, or digits, which needs no network and is for a first look.
        operation: one of the above.
        targets: after the `last` image or after `every` one.
        digits: those that take part.
        length: images of a series in training and validation.
        test_lengths: lengths of the series in the test.
        fixed: whether the training series stay the same in every epoch.
        validation: the last images of the training part, held out; as many as that, before `digits` are chosen.
    """

    inputs: ClassVar[str] = "image sequence"
    evaluated: ClassVar[tuple[str, ...]] = ("validation", "test")
    tested: ClassVar[tuple[str, ...]] = ("test",)
    measures: ClassVar[tuple[Measure, ...]] = (Measure("mse"), Measure("mae"), Measure("rounds"))
    shares: ClassVar[tuple[str, ...]] = ("digits",)
    labels: ClassVar[dict[str, str]] = {"count": "Count", "sum": "Sum", "product": "Product"}

    dataset: str
    operation: str
    targets: str
    digits: list[int]
    length: int
    test_lengths: list[int]
    fixed: bool
    validation: int

    def validate(self) -> None:
        known = dataset(self.dataset)
        hint = f"; the dataset {known.name} is for a first look: {known.suits}" if known.suits else ""
        if self.operation not in OPERATIONS:
            raise unknown("operation on digits", self.operation, OPERATIONS)
        if self.targets not in TARGETS:
            raise unknown("targets of a series", self.targets, TARGETS)
        if not self.digits or not set(self.digits) <= set(range(CLASSES)) or len(set(self.digits)) < len(self.digits):
            raise UsageError(f"task.digits must name some of the digits 0 to 9, each once, got {list(self.digits)}.")
        self.check_held_out(self.validation)
        if not 1 <= self.length <= self.validation:
            raise UsageError(
                f"task.length must be at least 1 and at most task.validation={self.validation:,}, the images held out, "
                f"got {self.length:,}."
            )
        lengths = list(self.test_lengths)
        if not lengths or not 1 <= min(lengths) <= max(lengths) <= known.test or len(set(lengths)) < len(lengths):
            raise UsageError(
                f"task.test_lengths must name lengths of 1 to {known.test:,}, the test images of {known.name}, "
                f"each once, got {lengths}{hint if max(lengths, default=0) > known.test else ''}."
            )

    @property
    def input_size(self) -> int:
        return SIDE * SIDE

    @property
    def output_size(self) -> int:
        return CLASSES if self.operation == "count" else 1

    @property
    def judges(self) -> str:
        """The error on test series of the training length, or else of the first length."""
        length = self.length if self.length in self.test_lengths else self.test_lengths[0]
        return f"test_mse_{length}"

    def setting(self) -> dict[str, Any]:
        return {"operation": self.operation}

    def example_size(self, split: str) -> int:
        return 1 if split == "test" else self.length

    def chunk(self, split: str) -> int | None:
        return None if split == "test" else max(1, 2_000 // self.length)

    def rows(self, split: str) -> Rows:
        """The images of the split whose digits take part; a series must find as many there."""
        count = len(self._images(split).labels)
        key, longest = ("test_lengths", max(self.test_lengths)) if split == "test" else ("length", self.length)
        if longest > count:
            raise UsageError(
                f"task.{key} must be at most {count:,}, the images of the {split} split of {self.dataset} "
                f"with the digits {list(self.digits)}, got {longest:,}."
            )
        return Rows(count, fixed=self.fixed, remainder=KEEP)

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The images of the split (n, 28, 28) as bytes, and their labels (n,)."""
        images = self._images(split)
        return {"images": images.pixels, "labels": images.labels}

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Series (B, T, 28, 28), normalised, with their targets; in the test single images with their labels."""
        chosen = numbers.mT
        x = dataset(self.dataset).normalised(split_parameters["images"][chosen].float())
        labels = split_parameters["labels"][chosen].long()
        return x, self.series_targets(labels)

    def series_targets(self, labels: Tensor) -> Tensor:
        """(B, T) labels to (B, O), or (B, T, O) after every image."""
        every = OPERATIONS[self.operation](labels)
        return every if self.targets == EVERY else every[..., -1, :]

    def test(self, network: Any, x: Tensor, t: Tensor) -> dict[str, Tensor]:
        """The measures for every test length, and `digits_1`: the share of single images whose digit is read off.

        Every image passes the encoder once; then the recurrence runs over series made of these. A digit is read off a
        count as the largest of the ten, and off a sum or a product as the nearest whole number.
        """
        labels = self.labels_of(t)
        seen = network.encoded(x.squeeze(1))
        figures: dict[str, Tensor] = {}
        for length in self.test_lengths:
            series = self._series(len(labels), length).to(x.device)
            y, wanted = network.over(seen[series])[0], self.series_targets(labels[series])
            figures |= {f"{measure.name}_{length}": measure(y, wanted) for measure in self.measures}
            if length == 1:
                last = y[..., -1, :] if self.targets == EVERY else y
                read = last.argmax(-1) if self.operation == "count" else last[..., 0].round()
                right = (read == labels[series[:, 0]]) & last.isfinite().all(-1)
                figures["digits_1"] = right.to(y.dtype).mean()
        return figures

    def figures(self, split: str) -> Collection[str]:
        if split not in self.tested:
            return super().figures(split)
        names = [f"{measure.name}_{length}" for length in self.test_lengths for measure in self.measures]
        return [*names, "digits_1"] if 1 in self.test_lengths else names

    def probes(self) -> Probes:
        """The same number of test images of each digit, digit after digit."""
        images = self._images("test")
        count = min(PROBED, *(int((images.labels == digit).sum()) for digit in self.digits))
        chosen = np.concatenate([np.flatnonzero(images.labels == digit)[:count] for digit in self.digits])
        x = dataset(self.dataset).normalised(images.pixels[chosen, None].astype(np.float32))
        labels = images.labels[chosen]
        return Probes([str(label) for label in labels], x, labels[:, None].astype(np.float32))

    def record(self, network: Any, x: Tensor) -> dict[str, Tensor]:
        """The mean and the deviation of the encoder's output (digits, O) over the images of each digit."""
        z = network.encoded(x.squeeze(1)).unflatten(0, (len(self.digits), -1))
        return {"encoder_mean": z.mean(1), "encoder_deviation": z.std(1)}

    def labels_of(self, t: Tensor) -> Tensor:
        """The labels of single images, from their targets."""
        single = t if self.targets == LAST else t[..., 0, :]
        return single.argmax(-1) if self.operation == "count" else single[..., 0].long()

    @staticmethod
    @functools.cache
    def _series(images: int, length: int) -> Tensor:
        """(n, length) images of the test series, the same for every network."""
        import torch

        order = np.random.default_rng([images, length]).permutation(images)
        return torch.from_numpy(order[: images // length * length].reshape(-1, length))

    def _images(self, split: str) -> Images:
        return part(self.dataset, split, tuple(self.digits), self.validation)
