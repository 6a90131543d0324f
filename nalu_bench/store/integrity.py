"""Whether a part of the run store is what its manifest says: its name, its files, its seeds.

Neither reading nor checking a part can run code: Parquet and NumPy files are read as plain arrays.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from nalu_bench.files import hashes, read_arrays, read_json, read_table
from nalu_bench.plan.blocks import parse_ranges, ranges_text
from nalu_bench.store import schema


def part_faults(part: Path) -> Iterator[str]:
    """A line for every contradiction between a part's name, its manifest, its files and their seeds.

    Parts from before manifests held hashes are checked by their seeds alone. A file that the manifest does not name
    changes nothing in a part; see `strangers`.

    Raises:
        OSError if one of its files is a pipe.
    """
    try:
        manifest = read_json(part / schema.MANIFEST)
        seeds = parse_ranges(part.name)
    except (OSError, ValueError) as error:
        yield f"its name must be a list of seeds and its {schema.MANIFEST} JSON: {error}"
        return
    if not isinstance(manifest, dict) or manifest.get("seeds") != part.name or ranges_text(seeds) != part.name:
        stated = manifest.get("seeds") if isinstance(manifest, dict) else None
        yield f"its name says seeds {part.name}, and its {schema.MANIFEST} says {stated}"
        return
    if stated := other_cell(manifest, part.parents[1].name):
        yield f"its place is that of the cell {part.parents[1].name}, and its {schema.MANIFEST} says {stated}"
        return
    if wrong := [*schema.form_faults(manifest, schema.PROVENANCE | schema.LATER, schema.MANIFEST)]:
        yield from wrong
        return
    if "files" in manifest:
        yield from edited(part, manifest)
    yield from _seed_faults(part, seeds)


def other_cell(manifest: Mapping[str, Any], digest: str) -> str:
    """The cell that a part's manifest names, if it is not this one; the oldest name none, and those are empty."""
    stated = manifest.get("cell", digest)
    return "" if stated == digest else str(stated)


def strangers(part: Path) -> Iterator[str]:
    """A line for every file in a part that its manifest does not name, such as those that file managers leave."""
    stated = read_json(part / schema.MANIFEST).get("files")
    for name in sorted({path.name for path in part.iterdir()} - {schema.MANIFEST, *stated} if stated else ()):
        yield f"{name} is not in {schema.MANIFEST}; remove it"


def edited(folder: Path, manifest: Mapping[str, Any], among: Collection[str] | None = None) -> Iterator[str]:
    """A line for every file of a manifest, or some `among` them, that is not the one whose hash it holds."""
    stated = {name: digest for name, digest in manifest["files"].items() if among is None or name in among}
    yield from file_faults(stated, hashes(folder, stated), schema.MANIFEST)


def require_unedited(folder: Path, manifest: Mapping[str, Any], among: Collection[str]) -> None:
    """Raise ValueError for the first of some files of a folder that is not the one whose hash its manifest holds."""
    for fault in edited(folder, manifest, among):
        raise ValueError(fault)


def links(folder: Path) -> Iterator[str]:
    """A line for every link or folder directly in a folder: what is behind it may change while the hashes here stay."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.is_dir():
            yield f"{path.name} must be a file of its own, and is a {'link' if path.is_symlink() else 'folder'}"


def file_faults(stated: Mapping[str, str], found: Mapping[str, str], manifest: str) -> Iterator[str]:
    """A line for every file that is edited or truncated, missing, or not in the manifest."""
    for name in sorted({*stated, *found} - {manifest}):
        if name not in found:
            yield f"{name} is missing, and stands in {manifest}"
        elif name not in stated:
            yield f"{name} is not in {manifest}"
        elif stated[name] != found[name]:
            yield f"{name} must have the SHA-256 of {manifest}, and has another"


def _seed_faults(part: Path, seeds: list[int]) -> Iterator[str]:
    """A line for every file with the rows of other seeds."""
    for file in (schema.RUNS, schema.CURVES, schema.WEIGHTS, schema.PREDICTIONS):
        if (part / file).exists() or file in (schema.RUNS, schema.CURVES):
            yield from _table_faults(part / file, seeds)
    for file in (schema.PARAMETERS, schema.ARRAYS):
        if (part / file).exists():
            yield from _array_faults(part / file, len(seeds))


def _table_faults(path: Path, seeds: list[int]) -> Iterator[str]:
    try:
        counts = Counter(read_table(path, ["seed"])["seed"].tolist())
    except (OSError, ValueError, KeyError) as error:
        yield f"{path.name} cannot be read: {error}"
        return
    if not counts and path.name == schema.WEIGHTS:  # a network without matrices
        return
    if path.name == schema.RUNS and (others := {*read_table(path, ["status"])["status"]} - {*schema.TRAINED}):
        yield f"{path.name} must have runs that were trained to their end, and has some of the status {min(others)}"
    if sorted(counts) != seeds:
        yield f"{path.name} must have rows of the seeds {ranges_text(seeds)}, and has {ranges_text(counts) or 'none'}"
    elif len(set(counts.values())) > 1 or (path.name == schema.RUNS and sum(counts.values()) != len(seeds)):
        yield f"{path.name} must have as many rows for one seed as for another, and has {_spread(counts)}"


def _spread(counts: Mapping[int, int]) -> str:
    return f"{min(counts.values())} to {max(counts.values())}"


def _array_faults(path: Path, count: int) -> Iterator[str]:
    try:
        shapes = {name: array.shape for name, array in read_arrays(path).items()}
    except (OSError, ValueError) as error:
        yield f"{path.name} cannot be read: {error}"
        return
    for name, shape in shapes.items():
        if shape[:1] != (count,):
            yield f"{path.name} must hold {count} networks, and {name} has the shape {shape}"
