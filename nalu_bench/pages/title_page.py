"""Who made a document, in which version, under which licence: read from `CITATION.cff`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import nalu_bench


def title_page(citation: Path) -> dict[str, str]:
    """Authors with their affiliations, title and version of the package, licence.

    Args:
        citation: a file in the Citation File Format 1.2.0, whose authors are persons or entities.
    """
    cited = yaml.safe_load(citation.read_text(encoding="utf-8"))
    return {
        "authors": "; ".join(map(_author, cited["authors"])),
        "package": cited["title"],
        "version": nalu_bench.__version__,
        "license": cited["license"],
    }


def _author(author: Mapping[str, Any]) -> str:
    """`The nalu_bench developers`, or `Ada Lovelace (Analytical Society)`."""
    name = author.get("name") or " ".join(filter(None, [author.get("given-names"), author.get("family-names")]))
    return f"{name} ({author['affiliation']})" if author.get("affiliation") else str(name)
