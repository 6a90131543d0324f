"""The commands and the script that a README tells its reader to type."""

import re
from pathlib import Path

BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(document: Path, begin: str = "nalu-bench ") -> list[str]:
    """The commands of a document that begin so, without comments."""
    lines = [line.partition(" #")[0].strip() for block in _blocks(document, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith(begin)]


def script(document: Path) -> str:
    """The only script of a document."""
    (found,) = _blocks(document, "python")
    return found


def _blocks(document: Path, language: str) -> list[str]:
    return [block for found, block in BLOCK.findall(document.read_text(encoding="utf-8")) if found == language]
