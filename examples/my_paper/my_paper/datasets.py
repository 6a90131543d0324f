"""Images of stripes, as an example: label n has n stripes."""

import numpy as np

from nalu_bench.datasets.images import Dataset, Images
from nalu_bench.registry import register


@register("stripes", version=1)
def stripes() -> Dataset:
    """1,000 and 100 images of 0 to 9 stripes."""
    suits = "task.validation=100 task.test_lengths=[1,10]"  # told to whoever asks for more images than there are
    return Dataset(
        "stripes", training=1000, test=100, mean=0.16, deviation=0.37, load=load, suits=suits,
        stands_in="stripes instead of MNIST",
    )  # fmt: skip


def load(part: str) -> Images:
    """The images of a part: every label equally often."""
    labels = np.arange(1000 if part == "training" else 100, dtype=np.uint8) % 10
    pixels = np.zeros((labels.size, 28, 28), np.uint8)
    for stripe in range(9):
        pixels[labels > stripe, 3 * stripe + 1] = 255
    return Images(pixels, labels)
