"""Images of a dataset are checked before anything is trained on them, and one of another version is another one."""

from dataclasses import replace

import numpy as np
import pytest

from nalu_bench import registry
from nalu_bench.datasets.images import Dataset, Images
from nalu_bench.errors import UsageError

PIXELS = np.tile(np.array([0, 255], np.uint8), (10, 28, 14))
HALF = Dataset("digits", 10, 10, 0.5, 0.5, lambda part: Images(PIXELS, np.arange(10, dtype=np.uint8)))


def loading(pixels: np.ndarray, labels: int = 10) -> Dataset:
    return replace(HALF, load=lambda part: Images(pixels, np.zeros(labels, np.uint8)))


def test_images_as_they_are_stated_are_read() -> None:
    assert HALF.images("training").pixels is PIXELS


@pytest.mark.parametrize(
    ("dataset", "told"),
    [
        (loading(PIXELS[:, :16, :16]), r"training images of the dataset digits must be bytes \(uint8\) of the shape "
                                       r"\(10, 28, 28\), got uint8 of \(10, 16, 16\)"),
        (loading(PIXELS / 255), "got float64 of"),
        (loading(PIXELS[:9]), r"got uint8 of \(9, 28, 28\)"),
        (loading(PIXELS, labels=9), r"training labels of the dataset digits .* got uint8 of \(9,\)"),
        (replace(HALF, mean=0.1), r"must have mean=0.5000 and deviation=0.5000, .* got 0.1 and 0.5"),
        (replace(HALF, deviation=1.0), r"must have mean=0.5000 and deviation=0.5000, .* got 0.5 and 1"),
    ],
)  # fmt: skip
def test_other_images_are_refused_by_name(dataset: Dataset, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        dataset.images("training")


@pytest.mark.parametrize(
    ("registered", "own", "identity"),
    [(1, "", "digits 1"), (2, "", "digits 2"), (1, "1998", "digits 1998"), (2, "1998", "digits 1998 2")],
)
def test_the_registered_version_and_that_of_the_data_are_part_of_the_identity(
    registered: int, own: str, identity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry.datasets, "version", lambda name: registered)
    assert replace(HALF, version=own).identity() == identity


def test_the_shipped_stand_in_is_as_it_says() -> None:
    pytest.importorskip("sklearn")
    for part in ("training", "test"):
        registry.datasets.load("digits")().images(part)
