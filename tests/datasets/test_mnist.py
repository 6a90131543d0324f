"""MNIST from files: what is whole is read, and what is not is refused with the file's name."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from nalu_bench.datasets import idx, mnist
from nalu_bench.datasets.images import dataset
from nalu_bench.errors import UsageError


def packed(array: np.ndarray, magic: bytes | None = None) -> bytes:
    """The gzipped IDX file of an array."""
    header = magic or bytes([0, 0, 8, array.ndim])
    return gzip.compress(header + np.array(array.shape, ">u4").tobytes() + array.tobytes())


pytestmark = pytest.mark.filterwarnings("ignore::nalu_bench.datasets.mnist.UnknownDataWarning")

PIXELS = np.arange(3 * 28 * 28, dtype=np.uint8).reshape(3, 28, 28)
LABELS = np.array([4, 0, 9], np.uint8)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three images in the files of either part."""
    for prefix in mnist.PREFIXES.values():
        (tmp_path / f"{prefix}-images-idx3-ubyte.gz").write_bytes(packed(PIXELS))
        (tmp_path / f"{prefix}-labels-idx1-ubyte.gz").write_bytes(packed(LABELS))
    monkeypatch.setattr(mnist, "COUNTS", dict.fromkeys(mnist.COUNTS, len(PIXELS)))
    monkeypatch.setenv("NALU_BENCH_DATA", str(tmp_path))
    mnist.load.cache_clear()
    return tmp_path


def test_files_are_read_as_they_are_and_unknown_contents_are_a_warning(folder: Path) -> None:
    with pytest.warns(mnist.UnknownDataWarning) as warned:
        found = mnist.load("training")
    assert len(warned) == 2
    assert np.array_equal(found.pixels, PIXELS)
    assert np.array_equal(found.labels, LABELS)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (packed(PIXELS)[:50], "must be a whole gzip file"),
        (b"no gzip", "must be a whole gzip file"),
        (gzip.compress(b""), "must begin with the magic number 00000803 .* got nothing"),
        (packed(LABELS), "must begin with the magic number 00000803 .* got 00000801"),
        (gzip.compress(gzip.decompress(packed(PIXELS))[:-1]), "must hold 3 x 28 x 28 bytes .* got 2351"),
        (gzip.compress(gzip.decompress(packed(PIXELS))[:9]), "must have a header of 16 bytes, got 9"),
    ],
    ids=["cut short", "no gzip", "empty", "labels", "a byte less", "half a header"],
)
def test_a_damaged_file_is_refused(folder: Path, content: bytes, words: str) -> None:
    (folder / "train-images-idx3-ubyte.gz").write_bytes(content)
    with pytest.raises(UsageError, match=rf"train-images-idx3-ubyte\.gz {words}"):
        mnist.load("training")


def test_a_file_that_cannot_be_read_is_not_called_damaged(folder: Path) -> None:
    path = folder / "train-images-idx3-ubyte.gz"
    path.unlink()
    path.mkdir()
    with pytest.raises(
        UsageError, match=r"train-images-idx3-ubyte\.gz must be a file that can be read, got .*Is a dir"
    ):
        idx.read(path, 3)


@pytest.mark.filterwarnings("error")
def test_files_of_another_length_are_refused_without_a_warning_about_their_contents(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(mnist.CONTENTS, "train-images-idx3-ubyte.gz", {idx.md5(PIXELS)})
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(packed(LABELS[:2]))
    for read in (lambda: mnist.load("training"), mnist.checksums, dataset("mnist").identity):
        with pytest.raises(
            UsageError, match=r"train-labels-idx1-ubyte\.gz must hold 3 labels, got 2 labels; fetch it again"
        ):
            read()


def test_a_folder_that_may_not_be_entered_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(path: Path) -> bool:
        raise PermissionError("[Errno 13] Permission denied")

    monkeypatch.setattr(Path, "is_file", forbidden)
    for read in (lambda: mnist.load("training"), mnist.checksums):
        with pytest.raises(UsageError, match=r"must be a folder that can be entered, got .*denied; check its rights"):
            read()


def test_missing_files_are_refused(folder: Path) -> None:
    (folder / "t10k-images-idx3-ubyte.gz").unlink()
    with pytest.raises(UsageError, match=r"has no t10k-images-idx3-ubyte\.gz; put the files there"):
        mnist.load("test")


@pytest.mark.parametrize(
    ("file", "array", "words"),
    [
        ("images-idx3", PIXELS[:, :14, :14], "must hold 3 images of 28 x 28, got 3 images of 14 x 14"),
        ("labels-idx1", np.array([4, 0, 77], np.uint8), "must hold labels from 0 to 9, got 77"),
    ],
)
def test_files_of_another_shape_are_refused(folder: Path, file: str, array: np.ndarray, words: str) -> None:
    (folder / f"train-{file}-ubyte.gz").write_bytes(packed(array))
    with pytest.raises(UsageError, match=words):
        mnist.load("training")


def test_a_part_of_the_images_is_not_mnist(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mnist, "COUNTS", dict.fromkeys(mnist.COUNTS, 60_000))
    with pytest.raises(UsageError, match="must hold 60,000 images of 28 x 28, got 3"):
        mnist.load("training")


def test_other_contents_have_an_identity_of_their_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pixels, labels = idx.md5(PIXELS), idx.md5(LABELS)
    assert dataset("mnist").identity() == f"mnist 1998 {pixels} {labels} {pixels} {labels}"
    for name in mnist.FILES:
        monkeypatch.setitem(dataset("mnist").known, name, {pixels, labels})  # type: ignore[arg-type]
    assert dataset("mnist").identity() == "mnist 1998"


def test_a_folder_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NALU_BENCH_DATA", "/no/such/folder")
    with pytest.raises(UsageError, match=r"NALU_BENCH_DATA must name a folder .* /no/such/folder is no folder"):
        mnist.folder()


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> str:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.delenv("NALU_BENCH_DATA", raising=False)
    monkeypatch.setattr("pooch.os_cache", unknown)
    with pytest.raises(UsageError, match=r"cache folder is not known .*; set HOME, XDG_CACHE_HOME or NALU_BENCH_DATA"):
        mnist.checksums()


def test_without_a_network_every_mirror_is_tried_and_the_way_out_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pooch

    asked: list[str] = []

    def offline(url: str, known: str, **options: object) -> str:
        asked.append(url)
        raise ConnectionError("no route to host" + " after a long while" * 50)

    monkeypatch.delenv("NALU_BENCH_DATA", raising=False)
    monkeypatch.setattr(pooch, "retrieve", offline)
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path)
    with pytest.raises(UsageError, match=r"cannot be downloaded .*no route to host.*set NALU_BENCH_DATA to it") as told:
        mnist.folder()
    assert "a first look without them: budget=smoke" in str(told.value)
    assert len(str(told.value)) < 800
    assert [url.rpartition("/")[0] + "/" for url in asked] == list(mnist.MIRRORS)


def test_the_checksum_of_an_array_is_that_of_its_unpacked_file() -> None:
    import hashlib

    content = gzip.decompress(packed(PIXELS))
    assert idx.md5(PIXELS) == hashlib.md5(content, usedforsecurity=False).hexdigest()


@pytest.mark.filterwarnings("error")
def test_mnist_itself_is_known_where_it_is() -> None:
    if "NALU_BENCH_DATA" not in os.environ:
        pytest.skip("NALU_BENCH_DATA does not name a folder with MNIST")
    mnist.load.cache_clear()
    for part in ("training", "test"):
        found, known = mnist.load(part), dataset("mnist")
        assert len(found.labels) == len(found.pixels) == getattr(known, part)
    pixels = mnist.load("training").pixels / 255
    assert (round(pixels.mean(), 4), round(pixels.std(), 4)) == (known.mean, known.deviation)


def test_an_unknown_dataset_is_refused() -> None:
    with pytest.raises(UsageError, match=r"unknown dataset of images 'minst'; did you mean 'mnist'\?"):
        dataset("minst")
