"""Images of digits with their labels, by the name of a dataset."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nalu_bench.errors import UsageError
from nalu_bench.registry import datasets

Bytes = NDArray[np.uint8]

SIDE = 28
"""Height and width of every image: the networks for images are made for it."""

CLOSE = 0.01
"""How far a stated mean or deviation may lie from that of the pixels."""


@dataclass(frozen=True)
class Images:
    """One part of a dataset.

    Attributes:
        pixels: (count, 28, 28), 0 to 255.
        labels: (count,), 0 to 9.
    """

    pixels: Bytes
    labels: Bytes


@dataclass(frozen=True)
class Dataset:
    """A dataset that everybody knows, by name and version.

    Attributes:
        name: what configurations call it. Name and version are part of a run's identity; where its files lie is not.
        training, test: counts of the two parts, known without the files.
        mean, deviation: of the pixels of the training part, divided by 255: images are normalised by them.
        load: reads a part, `training` or `test`.
        checksums: of the files that `load` reads, by their names, as far as they are there.
        known: file -> the checksums of contents that count as this dataset.
        stands_in: what it is and for which dataset it stands in, in words; empty for one that results are made of.
        suits: overrides that suit its size.
        version: of the data, where those who publish them give one. The version in `@register` counts as well.
    """

    name: str
    training: int
    test: int
    mean: float
    deviation: float
    load: Callable[[str], Images]
    checksums: Callable[[], Mapping[str, str]] = dict
    known: Mapping[str, Collection[str]] = field(default_factory=dict)
    stands_in: str = ""
    suits: str = ""
    version: str = ""

    def identity(self) -> str:
        """Name and version, and the checksums of files that are there with other contents than those known.

        The registered version is left out at 1 where the data have one of their own, so that older runs count.
        """
        registered = datasets.version(self.name)
        own = [str(registered)] if registered > 1 or not self.version else []
        others = [md5 for name, md5 in self.checksums().items() if md5 not in self.known[name]]
        return " ".join([self.name, *filter(None, [self.version]), *own, *others])

    def normalised(self, pixels: Any) -> Any:
        """(pixel / 255 - mean) / deviation of a tensor, or of an array, of floats from 0 to 255."""
        return (pixels / 255 - self.mean) / self.deviation

    def images(self, part: str) -> Images:
        """A part, read and checked.

        Raises:
            UsageError for images of another number, size or type than there must be, and for a mean or deviation that
                is not that of the training pixels.
        """
        found, count = self.load(part), getattr(self, part)
        for what, array, must in (
            ("images", found.pixels, (count, SIDE, SIDE)),
            ("labels", found.labels, (count,)),
        ):
            if array.shape != must or array.dtype != np.uint8:
                raise UsageError(
                    f"the {part} {what} of the dataset {self.name} must be bytes (uint8) of the shape {must}, got "
                    f"{array.dtype} of {array.shape}."
                )
        if part == "training":
            self._check_brightness(found.pixels)
        return found

    def _check_brightness(self, pixels: Bytes) -> None:
        counts = sum(
            np.bincount(some.ravel(), minlength=256) for some in np.array_split(pixels, len(pixels) // 1000 + 1)
        )
        values = np.arange(256) / 255
        mean = np.average(values, weights=counts)
        deviation = np.average((values - mean) ** 2, weights=counts) ** 0.5
        if abs(self.mean - mean) > CLOSE or abs(self.deviation - deviation) > CLOSE:
            raise UsageError(
                f"the dataset {self.name} must have mean={mean:.4f} and deviation={deviation:.4f}, those of its "
                f"training pixels divided by 255, got {self.mean:g} and {self.deviation:g}."
            )


def dataset(name: str) -> Dataset:
    """The dataset called `name`, a registered function without arguments; raises UsageError for others."""
    found: Dataset = datasets.load(name)()
    if found.name != name:
        raise UsageError(f"the dataset registered as {name} must bear this name, got {found.name}.")
    return found
