"""The IDX format of MNIST: a magic number, sizes, then bytes."""

import gzip
import hashlib
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nalu_bench.errors import UsageError
from nalu_bench.files import refuse_pipe

Bytes = NDArray[np.uint8]


def read(path: Path, dimensions: int) -> Bytes:
    """The array of a gzipped IDX file of unsigned bytes.

    Args:
        path: of the file.
        dimensions: 3 for images (count, height, width), 1 for labels (count,).

    Raises:
        UsageError for a file that cannot be read, is cut short, or is of another kind.
    """
    try:
        refuse_pipe(path)
        packed = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} must be a file that can be read, got {error}; check its rights.") from None
    try:
        content = gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(
            f"{path} must be a whole gzip file, got one that is damaged or not packed ({error}); fetch it again, or "
            "pack it."
        ) from None
    expected = bytes([0, 0, 8, dimensions])
    if content[:4] != expected:
        raise UsageError(
            f"{path} must begin with the magic number {expected.hex()} of {dimensions}-dimensional bytes, "
            f"got {content[:4].hex() or 'nothing'}; fetch it again."
        )
    header = 4 + 4 * dimensions
    if len(content) < header:
        raise UsageError(f"{path} must have a header of {header} bytes, got {len(content)} bytes; fetch it again.")
    shape = tuple(np.frombuffer(content[4:header], ">u4").tolist())
    if len(content) - header != int(np.prod(shape)):
        raise UsageError(
            f"{path} must hold {' x '.join(map(str, shape))} bytes after its header, got {len(content) - header}; "
            "fetch it again."
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def md5(array: Bytes) -> str:
    """The MD5 of the unpacked file that holds an array."""
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return hashlib.md5(header + array.tobytes(), usedforsecurity=False).hexdigest()
