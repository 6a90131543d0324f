"""The manifest of a folder of `results/`: what was measured, under which budget, and the hashes of all files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nalu_bench.errors import damage_named
from nalu_bench.files import hashes, read_json
from nalu_bench.store.integrity import require_unedited
from nalu_bench.store.schema import LATER, PROVENANCE, TEXT, TEXTS, Form, form_faults

MANIFEST = "manifest.json"

REMEDY = "restore this folder, or delete it to have it made again"


MAPPING: Form = (dict, None, "a mapping")

NEEDED: dict[str, Form] = {
    "experiment": TEXT,
    "budget": MAPPING,
    "cells": (dict, dict, "a mapping of mappings"),
    "parts": (dict, dict, "a mapping of mappings"),
    "runs": (int, None, "a whole number"),
    "files": TEXTS,
}
"""The keys that every manifest has."""

BUDGET: dict[str, Form] = {
    "name": TEXT, "verb": TEXT, **dict.fromkeys(("overrides", "changes"), (list, str, "a list of texts")),
}  # fmt: skip
CELL: dict[str, Form] = {
    "label": TEXT, "role": TEXT, "stands_in": TEXT, "criteria": MAPPING, "identity": MAPPING,
}  # fmt: skip
"""What readers rely on in the budget and in a cell, where it is there; `verify` compares all of it with the plan."""

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


def checked(folder: Path, manifest: Mapping[str, Any], name: str) -> Path:
    """A file of a folder of results, if it is the one of which the manifest has the hash; raises UsageError if not."""
    with damage_named(folder, REMEDY):
        require_unedited(folder, manifest, [name])
    return folder / name


def _check_form(manifest: Any) -> None:
    """Raise ValueError for a manifest that is not of the form in which reports write it."""
    if absent := [key for key in NEEDED if not isinstance(manifest, dict) or key not in manifest]:
        raise ValueError(f"{MANIFEST} has no {', '.join(absent)}")
    for fault in form_faults(manifest, NEEDED, MANIFEST):
        raise ValueError(fault)
    inner = [("the budget", manifest["budget"], BUDGET)]
    inner += [(f"cell {name}", cell, CELL) for name, cell in manifest["cells"].items()]
    inner += [(f"part {name}", part, PROVENANCE | LATER) for name, part in manifest["parts"].items()]
    for where, values, forms in inner:
        for fault in form_faults(values, forms, f"{where} of {MANIFEST}"):
            raise ValueError(fault)
