"""Finished blocks as their records tell them, in the run store or in committed results."""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nalu_bench.errors import damage_named
from nalu_bench.files import read_json, read_table
from nalu_bench.store import schema

if TYPE_CHECKING:
    import pandas as pd

VERIFY = "see nalu-bench verify"


@dataclass(frozen=True)
class Finished:
    """One finished part of a cell.

    Attributes:
        place: where its record lies, for messages.
        identity: the cell's configuration.
        manifest: the part's: seeds, width, seconds, processor, device, mode, torch.
        runs: reads its rows.
    """

    place: str
    identity: Mapping[str, Any]
    manifest: Mapping[str, Any]
    runs: "Callable[[], pd.DataFrame]"

    @property
    def label(self) -> str:
        """Task, model and seeds, for messages."""
        words = (self.identity["task"]["name"], self.identity["model"]["name"])
        return f"{' / '.join(words)} seeds {self.manifest['seeds']} of {self.place}"


def in_cells(folders: Iterator[Path]) -> Iterator[Finished]:
    """The parts of some cells of a run store."""
    for folder in folders:
        with damage_named(folder, VERIFY):
            identity = read_json(folder / schema.CELL)
            for part in sorted(schema.parts_dir(folder).glob("[0-9]*")):
                manifest = read_json(part / schema.MANIFEST)
                yield Finished(str(part), identity, manifest, functools.partial(_stored, part))


def in_results(folder: Path) -> Iterator[Finished]:
    """The parts that a folder of results reports."""
    with damage_named(folder, VERIFY):
        manifest = read_json(folder / schema.MANIFEST)
        for name, part in manifest["parts"].items():
            digest, _, seeds = name.partition("/")
            identity = manifest["cells"][digest]["identity"]
            yield Finished(str(folder), identity, part, functools.partial(_reported, folder, digest, seeds))


def _stored(part: Path) -> "pd.DataFrame":
    with damage_named(part, VERIFY):
        return read_table(part / schema.RUNS)


def _reported(folder: Path, digest: str, part: str) -> "pd.DataFrame":
    import pandas as pd

    with damage_named(folder, VERIFY):
        runs = pd.read_csv(folder / "runs.csv", dtype={"cell": str, "part": str})
    return runs[(runs["cell"] == digest) & (runs["part"] == part)]
