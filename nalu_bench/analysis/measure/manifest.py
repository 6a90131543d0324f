"""The manifest of a folder of `results/`: what was measured, under which budget, and the hashes of all files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nalu_bench.errors import damage_named
from nalu_bench.files import hashes, read_json

MANIFEST = "manifest.json"

REMEDY = "restore this folder, or delete it to have it made again"


NEEDED: dict[str, tuple[type, type | None, str]] = {
    "experiment": (str, None, "a text"),
    "budget": (dict, None, "a mapping"),
    "cells": (dict, dict, "a mapping of mappings"),
    "parts": (dict, dict, "a mapping of mappings"),
    "runs": (int, None, "a whole number"),
    "files": (dict, str, "a mapping of texts"),
}
"""The keys that every manifest has: the type of the value, that of the values in it, and both in words."""

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
        manifest: dict[str, Any] = read_json(path)
        _check_form(manifest)
    return manifest


def _check_form(manifest: Any) -> None:
    """Raise ValueError for a manifest that is not of the form in which reports write it."""
    if absent := [key for key in NEEDED if not isinstance(manifest, dict) or key not in manifest]:
        raise ValueError(f"{MANIFEST} has no {', '.join(absent)}")
    for key, (kind, inner, form) in NEEDED.items():
        value: Any = manifest[key]
        held = value.values() if isinstance(value, dict) and inner is not None else ()
        if not isinstance(value, kind) or not all(isinstance(one, inner or object) for one in held):
            raise ValueError(f"{key} must be {form} in {MANIFEST}, got {value!r:.60}")
