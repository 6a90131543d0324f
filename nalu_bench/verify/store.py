"""The cells of a run store against themselves: addresses, parts, and the facts of their whole curves."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from nalu_bench.analysis.measure.agree import block_fault
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.recheck import Check, findings
from nalu_bench.errors import DAMAGE, UsageError, damage_named, damage_told
from nalu_bench.files import folders_below, read_json, read_table
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.identity import address
from nalu_bench.plan.limits import MOST
from nalu_bench.plan.restored import cell_of
from nalu_bench.store import schema
from nalu_bench.store.integrity import links, part_faults, strangers
from nalu_bench.store.reader import NO_FOLDER, REMEDY, no_folder
from nalu_bench.verify.kept import kept_faults
from nalu_bench.verify.points import copies, lost_points
from nalu_bench.verify.stated import stated_faults
from nalu_bench.verify.verified import Verified

WRITTEN_AGAIN = "repeat the nalu-bench run of this cell, which writes it; a folder that was renamed needs its name back"


def cells(folder: Path) -> Iterator[Path]:
    """The folders of cells: all those of a store, or `folder` itself. Hidden folders hold no cells."""
    if _begun(folder):
        yield folder.resolve()
        return
    for path in folders_below(folder, 3):
        if _begun(path):
            yield path.resolve()


def _begun(folder: Path) -> bool:
    """Whether a folder is that of a cell, and one of its blocks has ended."""
    return (folder / schema.CELL).exists() or any(schema.parts_dir(folder).glob("*"))


def verify_cells(folders: Iterable[Path]) -> Verified:
    """Check every part of these cells."""
    return sum((_cell(folder) for folder in folders), Verified())


def _cell(folder: Path) -> Verified:
    place = "/".join(folder.parts[-3:])
    try:
        identity = _identity(folder)
    except UsageError as error:
        return Verified(faults=[str(error)])
    parts = schema.parts_dir(folder)
    if why := _kept_from_reading(parts):
        return Verified(faults=[f"{place}/parts: {why}"])
    found, cell = Verified(), _cell_of(identity)
    for part in sorted(parts.glob("[!.]*")):
        if why := _kept_from_reading(part) or next(filter(None, map(_closed, part.iterdir())), ""):
            found += Verified(faults=[f"{place}/parts/{part.name}: {why}"])
            continue
        one = _part(part, folder.name, identity, cell)
        faults = [f"{place}/parts/{part.name}: {fault}; {REMEDY}" for fault in one.faults]
        faults = faults or [f"{place}/parts/{part.name}: {fault}" for fault in strangers(part)]
        found += Verified(one.files, one.runs, one.facts, faults, one.unhashed)
    if not found.faults:
        found += Verified(faults=[f"{place}: {fault}; {REMEDY}" for fault in _copies(parts, folder.name)])
    return found


def _copies(parts: Path, digest: str) -> list[str]:
    """A line for all seeds of a cell that have one curve; parts may hold the same seeds."""
    curves = [read_table(part / schema.CURVES).assign(cell=digest) for part in parts.glob("[!.]*")]
    return [*copies(pd.concat(curves).drop_duplicates(["seed", "step"]))] if curves else []


def _kept_from_reading(folder: Path) -> str:
    """Why a folder is not read; empty if it is, or is not there."""
    return f"{NO_FOLDER}; {REMEDY}" if no_folder(folder) else _closed(folder)


def _closed(path: Path) -> str:
    """That a file or folder is closed to this user; empty if it is open, or not there. It may be sound."""
    closed = path.exists() and not os.access(path, os.R_OK | os.X_OK * path.is_dir())
    return f"{path.name} must be open to this user; change its permissions" if closed else ""


def _identity(folder: Path) -> dict[str, Any]:
    """The configuration of a cell.

    Raises:
        UsageError if it is damaged, or if the folder is not at the address of its configuration.
    """
    with damage_named(folder / schema.CELL, WRITTEN_AGAIN):
        identity: dict[str, Any] = read_json(folder / schema.CELL)
        place = (identity["task"]["name"], identity["model"]["name"], address(identity))
        if place != folder.parts[-3:]:
            raise ValueError(f"its configuration belongs to {'/'.join(map(str, place))}")
    return identity


def _cell_of(identity: Mapping[str, Any]) -> Cell | None:
    """The cell of an identity; None if this version of the program, or the packages that are installed, have it not."""
    try:
        return cell_of(identity)
    except UsageError:
        return None


def _part(part: Path, digest: str, identity: Mapping[str, Any], cell: Cell | None) -> Verified:
    """The check of one part; its facts are recomputed only if its files are sound or whole enough to be read."""
    faults: list[str] = []
    try:
        faults += [*links(part), *part_faults(part)]
        manifest = read_json(part / schema.MANIFEST)
        stated = manifest.get("files", {})
        measured = _measured(part, digest, identity)
        faults += stated_faults({"parts": {f"{digest}/{part.name}": manifest}}, [Wanted(cell, ())] if cell else [])
        if cell and (fault := block_fault(manifest, part.name, cell.model.width)):
            faults.append(fault)
        faults += lost_points(measured, MOST)
        faults += kept_faults(part, cell, measured) if cell and not faults else []
        checks = list(findings(measured, _as_manifest(digest, identity)))
    except DAMAGE as error:
        return Verified(faults=faults or [damage_told(error)])
    faults += [one.describe() for one in checks if one.check == Check.CONTRADICTED]
    edited = sum(1 for fault in faults if fault.startswith(tuple(stated)))
    runs = sum(1 for one in checks if one.fact == "status")
    facts = Counter(str(one.check) for one in checks)
    return Verified(len(stated) - edited, runs, facts, faults, int(not stated))


def _measured(part: Path, digest: str, identity: Mapping[str, Any]) -> Measured:
    recipe = {key: identity["recipe"][key] for key in ("steps", "log_every")}
    runs, curves = (read_table(part / file) for file in (schema.RUNS, schema.CURVES))
    return Measured(runs.assign(cell=digest, **recipe), curves.assign(cell=digest))


def _as_manifest(digest: str, identity: Mapping[str, Any]) -> dict[str, Any]:
    return {"cells": {digest: {"identity": identity, "criteria": {}}}}
