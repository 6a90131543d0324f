"""MNIST: from a folder of one's own, or downloaded once.

By Yann LeCun, Corinna Cortes and Christopher J.C. Burges. Tests and campaigns read the folder NALU_BENCH_DATA; without
it the four files are downloaded into the user's cache folder.
"""

import functools
import os
import textwrap
import warnings
from pathlib import Path

from nalu_bench.datasets import idx
from nalu_bench.datasets.images import Bytes, Dataset, Images
from nalu_bench.errors import UsageError, named
from nalu_bench.registry import register

FILES = {
    "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}
"""SHA-256 of the official files."""

MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)

CONTENTS = {
    "train-images-idx3-ubyte.gz": {"6bbc9ace898e44ae57da46a324031adb", "2120c626b3f721358a650005d9261aaf"},
    "train-labels-idx1-ubyte.gz": {"a25bea736e30d166cdddb491f175f624"},
    "t10k-images-idx3-ubyte.gz": {"2646ac647ad5339dbf082846283269ea"},
    "t10k-labels-idx1-ubyte.gz": {"27ae3e4e09519cfbb04c329615203637"},
}
"""MD5 of the unpacked files that count as MNIST: the official ones, and training images rebuilt from
PNG files, in which about 0.05 % of the pixels read 0 instead of 1."""

PREFIXES = {"training": "train", "test": "t10k"}
COUNTS = {"training": 60_000, "test": 10_000}
SIZES: dict[str, tuple[int, ...]] = {"images": (28, 28), "labels": ()}
DIGITS = 10


class UnknownDataWarning(UserWarning):
    """A file has the shape of MNIST and other contents."""


def folder() -> Path:
    """The folder of the four files: NALU_BENCH_DATA, else the user's cache, to which they are downloaded once.

    Raises:
        UsageError if the folder does not hold them, or if they are not there yet and cannot be downloaded.
    """
    place = _place()
    if not os.environ.get("NALU_BENCH_DATA"):
        for name, sha256 in FILES.items():
            _fetch(name, sha256, place)
    missing = [name for name in FILES if not _is_there(place / name)]
    if missing:
        lacks = f"has no {', no '.join(missing)}" if place.is_dir() else "is no folder"
        raise UsageError(
            f"NALU_BENCH_DATA must name a folder with the four gzipped files of MNIST, and {place} {lacks}; "
            "put the files there, or unset NALU_BENCH_DATA to download them."
        )
    return place


def checksums() -> dict[str, str]:
    """The MD5 of the contents of every file that is there; nothing is downloaded.

    Raises:
        UsageError for a file that is damaged or of another shape.
    Warns: UnknownDataWarning for contents that nobody knows.
    """
    place = _place()
    return {name: _file(place / name)[1] for name in FILES if _is_there(place / name)}


@functools.cache
def load(part: str) -> Images:
    """The `training` or `test` part.

    Raises:
        UsageError for files that are missing, damaged or of another shape, and without a network to fetch them.
    Warns: UnknownDataWarning for contents that nobody knows.
    """
    place = folder()
    (pixels, _), (labels, _) = (_file(place / name) for name in FILES if name.startswith(PREFIXES[part]))
    return Images(pixels, labels)


@functools.cache
def _file(path: Path) -> tuple[Bytes, str]:
    """The array of a file of MNIST's shape, and the MD5 of its contents; warns for contents that nobody knows."""
    kind = "images" if "idx3" in path.name else "labels"
    array = idx.read(path, 3 if kind == "images" else 1)
    shape = (COUNTS["training" if path.name.startswith(PREFIXES["training"]) else "test"], *SIZES[kind])
    if array.shape != shape:
        raise UsageError(f"{path} must hold {_told(shape, kind)}, got {_told(array.shape, kind)}; fetch it again.")
    if kind == "labels" and array.max() >= DIGITS:
        raise UsageError(f"{path} must hold labels from 0 to 9, got {array.max()}; fetch it again.")
    md5 = idx.md5(array)
    if md5 not in CONTENTS[path.name]:
        warnings.warn(
            f"the contents of {path} are not MNIST's (MD5 {md5}): runs on them have an address of their own.",
            UnknownDataWarning,
            2,
        )
    return array, md5


def _is_there(path: Path) -> bool:
    """Whether a file is there; raises UsageError if nobody may look."""
    try:
        return path.is_file()
    except OSError as error:
        raise UsageError(
            f"{path.parent} must be a folder that can be entered, got {error}; check its rights."
        ) from None


def _told(shape: tuple[int, ...], kind: str) -> str:
    """`60,000 images of 28 x 28`, `60,000 labels`."""
    count, *sizes = shape
    return f"{count:,} {kind}" + (f" of {' x '.join(map(str, sizes))}" if sizes else "")


def _place() -> Path:
    """The folder of the files, whether they are there or not."""
    stated = os.environ.get("NALU_BENCH_DATA")
    if stated:
        return Path(stated).expanduser()
    import pooch

    try:
        return Path(pooch.os_cache("nalu_bench")) / "mnist"
    except RuntimeError as error:  # no HOME, and a user without a name, as in a container
        raise UsageError(
            f"the user's cache folder is not known ({error}); set HOME, XDG_CACHE_HOME or NALU_BENCH_DATA."
        ) from None


def _fetch(name: str, sha256: str, cache: Path) -> None:
    """One file from the first mirror that gives it; pooch checks it and renames it when it is whole."""
    import pooch

    failures = []
    for mirror in MIRRORS:
        try:
            pooch.retrieve(mirror + name, f"sha256:{sha256}", fname=name, path=cache, progressbar=True)
            return
        except (OSError, ValueError) as error:  # no network, or another file than the official one
            failures.append(f"{mirror}: {textwrap.shorten(named(error), 120)}")
    raise UsageError(
        f"MNIST must be downloaded or lie in a folder, and {name} cannot be downloaded ({'; '.join(failures)}). Put "
        f"the four files, {', '.join(FILES)}, into a folder and set NALU_BENCH_DATA to it; or have a first look "
        "without them: budget=smoke for an experiment, task.dataset=digits for a task."
    )


@register("mnist", version=1)
def mnist() -> Dataset:
    """LeCun et al. 1998, normalised as in pytorch/examples: 60,000 and 10,000 images."""
    counts = COUNTS["training"], COUNTS["test"]
    return Dataset("mnist", *counts, 0.1307, 0.3081, load, checksums, CONTENTS, version="1998")
