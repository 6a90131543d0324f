"""What tasks on a dataset of images share: its identity, and its parts."""

import functools
from collections.abc import Collection, Mapping

import numpy as np

from nalu_bench.datasets.images import Images, dataset
from nalu_bench.errors import UsageError

ALL = tuple(range(10))
"""Every digit."""


class OfImages:
    """A task whose field `dataset` names its images."""

    dataset: str

    def check_held_out(self, count: int) -> None:
        """Raise UsageError unless some images are held out for validation, and some are left for training."""
        known = dataset(self.dataset)
        if not 0 < count < known.training:
            small = count > 0 and known.suits
            hint = f"; the dataset {known.name} is for a first look: {known.suits}" if small else ""
            raise UsageError(
                f"task.validation must leave images of {known.name} for training: 1 to {known.training - 1:,}, "
                f"got {count:,}{hint}."
            )

    def fingerprint(self) -> dict[str, str]:
        return {"images": dataset(self.dataset).identity()}

    def data_notes(self) -> dict[str, str]:
        """The checksum of every file."""
        return dict(dataset(self.dataset).checksums())

    def known_notes(self) -> Mapping[str, Collection[str]]:
        """The checksums of every file that count as this dataset, and those of the files that are there."""
        chosen, here = dataset(self.dataset), self.data_notes()
        return {name: {*known, here.get(name, "")} - {""} for name, known in chosen.known.items()}

    def stands_in(self) -> str:
        return dataset(self.dataset).stands_in


@functools.cache
def part(name: str, split: str, digits: tuple[int, ...], validation: int) -> Images:
    """The images of a split whose digits take part; `validation`: how many of the training part are held out."""
    known = dataset(name)
    found = known.images("test" if split == "test" else "training")
    ends = {"train": slice(-validation), "validation": slice(-validation, None), "test": slice(None)}
    pixels, labels = found.pixels[ends[split]], found.labels[ends[split]]
    chosen = np.isin(labels, digits)
    if not chosen.any():
        raise UsageError(f"task.digits must leave images of {name}, and the {split} split has none of {list(digits)}.")
    return Images(pixels[chosen], labels[chosen])
