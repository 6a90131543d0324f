"""The manifest of a folder of `results/`: what was measured, under which budget, and the hashes of all files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nalu_bench.errors import damage_named
from nalu_bench.files import hashes

MANIFEST = "manifest.json"

REMEDY = "restore this folder, or delete it to have it made again"


PAGE = "report.html"
"""The page of an experiment: it is built from the other files and not committed."""


def sealed(folder: Path) -> dict[str, str]:
    """SHA-256 of the files that a manifest vouches for, by name: all but itself and the page."""
    return {name: digest for name, digest in hashes(folder).items() if name not in (MANIFEST, PAGE)}


def stand_ins(manifest: dict[str, Any]) -> str:
    """Which data stand in for those of the source, in words; empty if none do. See `Task.stands_in`."""
    return " and ".join(dict.fromkeys(cell["stands_in"] for cell in manifest["cells"].values() if "stands_in" in cell))


def overrides(manifest: Mapping[str, Any]) -> list[str]:
    """The words that were typed beside the budget; older manifests hold only those that changed values."""
    budget = manifest["budget"]
    typed: list[str] = budget.get("overrides", budget.get("changes", []))
    return typed


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder of `results/`, or None if it has none."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    with damage_named(folder, REMEDY):
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        absent = [key for key in ("experiment", "budget", "cells", "parts", "runs", "files") if key not in manifest]
        if absent:
            raise ValueError(f"{MANIFEST} has no {', '.join(absent)}")
    return manifest
