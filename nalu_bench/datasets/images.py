"""Images of digits with their labels, by the name of a dataset."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nalu_bench.registry import datasets

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Images:
    """One part of a dataset.

    Attributes:
        pixels: (count, height, width), 0 to 255.
        labels: (count,), 0 to 9.
    """

    pixels: Bytes
    labels: Bytes


@dataclass(frozen=True)
class Dataset:
    """A dataset that everybody knows, by name and version.

    Attributes:
        name: what configurations call it.
        version: part of a run's identity, with the name; where its files lie is not.
        training, test: counts of the two parts, known without the files.
        mean, deviation: of the pixels of the training part, divided by 255: images are normalised by them.
        load: reads a part, `training` or `test`.
        checksums: of the files that `load` reads, by their names, as far as they are there.
        known: file -> the checksums of contents that count as this dataset.
        stands_in: what it is and for which dataset it stands in, in words; empty for one that results are made of.
        suits: overrides that suit its size.
    """

    name: str
    version: str
    training: int
    test: int
    mean: float
    deviation: float
    load: Callable[[str], Images]
    checksums: Callable[[], Mapping[str, str]] = dict
    known: Mapping[str, Collection[str]] = field(default_factory=dict)
    stands_in: str = ""
    suits: str = ""

    def identity(self) -> str:
        """Name and version, and the checksums of files that are there with other contents than those known."""
        others = [md5 for name, md5 in self.checksums().items() if md5 not in self.known[name]]
        return " ".join([self.name, self.version, *others])


def dataset(name: str) -> Dataset:
    """The dataset called `name`, a registered function without arguments; raises UsageError for others."""
    found: Dataset = datasets.load(name)()
    return found
