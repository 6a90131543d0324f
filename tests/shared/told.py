"""The commands that a README tells its reader to type."""

import re
from pathlib import Path

BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(document: Path, begin: str = "nalu-bench ") -> list[str]:
    """The commands of a document that begin so, without comments."""
    blocks = BLOCK.findall(document.read_text(encoding="utf-8"))
    lines = [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith(begin)]
