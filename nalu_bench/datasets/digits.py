"""The 8x8 digits of scikit-learn, enlarged: for tests and a first look without a network, not for results."""

import functools
from importlib import metadata

import numpy as np

from nalu_bench.datasets.images import SIDE, Dataset, Images
from nalu_bench.errors import UsageError
from nalu_bench.registry import register

TRAINING, TEST = 1397, 400


@functools.cache
def load(part: str) -> Images:
    """The first 1,397 images for `training`, the other 400 for `test`, each 28x28.

    Every pixel becomes 3x3 equal ones, inside a border of 2 that is empty. Source: `sklearn.datasets.load_digits`.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise UsageError("task.dataset=digits needs scikit-learn: pip install scikit-learn.") from None
    found = load_digits()
    small = np.clip(found.images * 16, 0, 255).astype(np.uint8)
    chosen = slice(TRAINING) if part == "training" else slice(TRAINING, TRAINING + TEST)
    large = small[chosen].repeat(3, axis=1).repeat(3, axis=2)
    border = (SIDE - large.shape[1]) // 2
    pixels = np.pad(large, ((0, 0), (border, border), (border, border)))
    return Images(np.ascontiguousarray(pixels), found.target[chosen].astype(np.uint8))


def _version() -> str:
    try:
        return metadata.version("scikit-learn")
    except metadata.PackageNotFoundError:
        return "none"


@register("digits", version=2)
def digits() -> Dataset:
    """The 8x8 digits of scikit-learn: 1,397 and 400 images."""
    return Dataset(
        "digits", TRAINING, TEST, 0.2251, 0.3499, load, version=_version(),
        stands_in="the 8x8 digits of scikit-learn instead of MNIST",
        suits="task.validation=200 task.test_lengths=[1,10,30]",
    )  # fmt: skip
