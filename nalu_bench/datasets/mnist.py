"""MNIST: from a folder of one's own, or downloaded once.

By Yann LeCun, Corinna Cortes and Christopher J.C. Burges. Tests and campaigns read the folder NALU_BENCH_DATA; without
it the four files are downloaded into the user's cache folder.
"""

import functools
import os
import warnings
from pathlib import Path

from nalu_bench.datasets import idx
from nalu_bench.datasets.images import Dataset, Images
from nalu_bench.errors import UsageError

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


class UnknownDataWarning(UserWarning):
    """A file has the shape of MNIST and other contents."""


def folder() -> Path:
    """The folder of the four files: NALU_BENCH_DATA, else the user's cache, to which they are downloaded once."""
    stated = os.environ.get("NALU_BENCH_DATA")
    if stated is None:
        return _downloaded()
    if not Path(stated).is_dir():
        raise UsageError(f"NALU_BENCH_DATA must be a folder with the four files of MNIST, got {stated}.")
    return Path(stated)


@functools.cache
def load(part: str) -> Images:
    """The `training` or `test` part.

    Raises:
        UsageError for files that are missing, damaged or do not fit together, and without a network to fetch them.
    Warns: UnknownDataWarning for contents that nobody knows.
    """
    place, prefix = folder(), PREFIXES[part]
    paths = [place / f"{prefix}-images-idx3-ubyte.gz", place / f"{prefix}-labels-idx1-ubyte.gz"]
    pixels, labels = idx.read(paths[0], 3), idx.read(paths[1], 1)
    if len(pixels) != len(labels):
        raise UsageError(f"{paths[0]} and {paths[1]} must be of one length, got {len(pixels)} and {len(labels)}.")
    for path, array in zip(paths, (pixels, labels), strict=True):
        if idx.md5(array) not in CONTENTS[path.name]:
            warnings.warn(f"{path} does not hold the images of MNIST that are known here.", UnknownDataWarning, 2)
    return Images(pixels, labels)


def _downloaded() -> Path:
    import pooch

    cache = Path(pooch.os_cache("nalu_bench")) / "mnist"
    for name, sha256 in FILES.items():
        _fetch(name, sha256, cache)
    return cache


def _fetch(name: str, sha256: str, cache: Path) -> None:
    """One file from the first mirror that gives it; pooch checks it and renames it when it is whole."""
    import pooch

    failures = []
    for mirror in MIRRORS:
        try:
            pooch.retrieve(mirror + name, f"sha256:{sha256}", fname=name, path=cache, progressbar=True)
            return
        except (OSError, ValueError) as error:  # no network, or another file than the official one
            failures.append(f"{mirror}: {str(error).splitlines()[0]}")
    raise UsageError(
        f"{name} of MNIST cannot be downloaded ({'; '.join(failures)}); "
        "put the four files into a folder and set NALU_BENCH_DATA to it."
    )


MNIST = Dataset("mnist", "1998", 60_000, 10_000, 0.1307, 0.3081, load)
"""LeCun et al. 1998, normalised as in pytorch/examples."""
