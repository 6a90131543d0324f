"""Reading the run store: the runs that exist, their rows and their curves."""

import csv
import errno
import functools
import stat
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterator
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nalu_bench.errors import UsageError, damage_named, in_a_line
from nalu_bench.files import read_arrays, read_json, read_table
from nalu_bench.plan.blocks import parse_ranges
from nalu_bench.plan.cell import Cell
from nalu_bench.store import schema
from nalu_bench.store.integrity import edited, other_cell, part_faults, require_unedited
from nalu_bench.store.leases import Lease, System

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

NO_FOLDER = "it must be a folder, and is a file, a pipe or a link to nothing"
REMEDY = "delete this folder, and repeat the nalu-bench run that asks for its seeds"


class Store:
    """The runs below `root`, and those that committed results already report.

    Args:
        root: the run store.
        results: the folder of committed results, whose runs count as finished; None for none.
        experiments: the experiments whose results count; None for all. A report takes only those that judged their runs
            by its own criteria.
        hashed: whether a part counts only if its files have the hashes of its manifest; otherwise the manifest alone is
            opened, so that a store of thousands of parts is looked through in a second.
    """

    def __init__(
        self, root: Path, results: Path | None = None, experiments: Collection[str] | None = None, hashed: bool = False
    ) -> None:
        self.root = root
        self.results = results
        self.experiments = experiments
        self.hashed = hashed
        self._sound: set[Path] = set()
        self._unedited: set[Path] = set()

    def parts(self, cell: Cell) -> list[Path]:
        """Finished parts of a cell, by name; the first that holds a seed is the one that counts."""
        return [path for path in self._named(cell) if _filled(path)]

    def _named(self, cell: Cell) -> list[Path]:
        """Whatever has the name of a part, sorted; raises PermissionError, where `Path.glob` would find nothing."""
        try:
            there = sorted(schema.parts_dir(self.root / cell.folder).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [path for path in there if path.name[:1].isdigit()]

    def sorted_out(self, cell: Cell) -> tuple[set[int], dict[Path, str]]:
        """The seeds with a row in the store; and the parts that do not count, with the reason."""
        found = {part: damage(part) or self._edited(part) for part in self.parts(cell)}
        found |= {path: NO_FOLDER for path in self._named(cell) if no_folder(path)}
        seeds = {seed for part, why in found.items() if why is None for seed in parse_ranges(part.name)}
        return seeds, {part: why for part, why in found.items() if why is not None}

    def _edited(self, part: Path) -> str | None:
        """Why the hashes of a part are wrong, or None; a part is hashed once, if at all."""
        if not self.hashed or part in self._unedited:
            return None
        manifest = read_json(part / schema.MANIFEST)
        try:
            why = next(edited(part, manifest), None) if "files" in manifest else None  # older manifests hold no hashes
        except OSError as error:
            _refuse_unreachable(error)
            return str(error)
        if why is None:
            self._unedited.add(part)
        return why

    def stored_seeds(self, cell: Cell) -> set[int]:
        """Seeds with a row in the store."""
        return self.sorted_out(cell)[0]

    def finished_seeds(self, cell: Cell) -> set[int]:
        """Seeds that are already trained: they are stored, or reported by committed results."""
        return self.stored_seeds(cell) | self.committed[cell.digest]

    @functools.cached_property
    def committed(self) -> defaultdict[str, set[int]]:
        """Cell digest -> seeds that committed results report. A damaged file costs only its own, with a warning."""
        seeds: defaultdict[str, set[int]] = defaultdict(set)
        names = ["*/*"] if self.experiments is None else self.experiments
        found = {path for name in names for path in self.results.glob(f"{name}/runs.csv")} if self.results else set()
        for path in sorted(found):
            try:
                for cell, seed in list(_trained_runs(path)):
                    seeds[cell].add(seed)
            except (OSError, ValueError, LookupError, TypeError, csv.Error) as error:
                warnings.warn(
                    f"{path} is damaged ({error}), so its runs do not count as finished; restore it from git.",
                    stacklevel=2,
                )
        return seeds

    def failures(self, cell: Cell) -> dict[int, str]:
        """Seed -> the last line of its traceback, for blocks that could not be trained."""
        failed: dict[int, str] = {}
        for path in sorted((self.root / cell.folder / "failures").glob("[0-9]*.json")):
            failed |= _failure(path)
        stored = self.stored_seeds(cell) if failed else set()
        return {seed: why for seed, why in failed.items() if seed not in stored}

    def leases(self, cell: Cell) -> dict[str, Lease]:
        """Name of a block -> the lease of the process that trains it; without those of processes known to be dead."""
        system, files = System(), sorted((self.root / cell.folder / "leases").glob("[0-9]*.json"))
        found = {path.stem: Lease.parsed(system.read(path) or "") for path in files}
        return {name: lease for name, lease in found.items() if lease is not None and not system.dead(lease)}

    def in_progress(self, cell: Cell) -> dict[str, int]:
        """Name of a block -> the step of its checkpoint, for blocks that are not finished."""
        files = sorted((self.root / cell.folder / "checkpoints").glob("*.json"))
        stored = {part.name for part in self.parts(cell)} if files else set()
        return {path.stem: _noted_step(path) for path in files if path.stem not in stored}

    def runs(self, cell: Cell) -> "pd.DataFrame":
        """One row for every stored seed, sorted, with the facts of its part."""
        return self._frame(self.parts(cell), schema.RUNS, self._part_facts, ["seed"])

    def curves(self, cell: Cell) -> "pd.DataFrame":
        """One row for every stored seed and evaluation."""
        return self._frame(self.parts(cell), schema.CURVES, None, ["seed", "step"])

    def weights(self, cell: Cell) -> "pd.DataFrame":
        """One row for every stored seed and every effective matrix or gate."""
        return self._frame(self.parts(cell), schema.WEIGHTS, None, ["seed", "name"])

    def predictions(self, cell: Cell) -> "pd.DataFrame":
        """One row for every stored seed, probe and output; empty if the task has no probes."""
        parts = [part for part in self.parts(cell) if (part / schema.PREDICTIONS).exists()]
        return self._frame(parts, schema.PREDICTIONS, None, ["seed", "probe", "output"])

    def parameters(self, cell: Cell, seed: int) -> dict[str, "np.ndarray"]:
        """The parameters of a seed's selected network, by full name; see `training.rebuild.network`.

        Raises:
            UsageError if the seed is not stored, or was stored before parameters were kept.
        """
        return self._arrays(cell, seed, schema.PARAMETERS)

    def array_rows(self, cell: Cell) -> "pd.DataFrame":
        """One row for every stored seed and recorded array, in the form of `weights`, of the kind `array`."""
        import pandas as pd

        rows = [
            {"seed": seed, "name": name, "kind": schema.ARRAY, "shape": list(array.shape), "values": array.reshape(-1)}
            for part in self.parts(cell)
            if (part / schema.ARRAYS).exists()
            for name, stacked in self._stacked(part, schema.ARRAYS).items()
            for seed, array in zip(parse_ranges(part.name), stacked, strict=True)
        ]
        columns = ["seed", "name", "kind", "shape", "values"]
        return pd.DataFrame(rows, columns=columns).drop_duplicates(["seed", "name"], ignore_index=True)

    def arrays(self, cell: Cell, seed: int) -> dict[str, "np.ndarray"]:
        """The named arrays that the task recorded of a seed's selected network, beside its predictions."""
        return self._arrays(cell, seed, schema.ARRAYS)

    def _arrays(self, cell: Cell, seed: int, file: str) -> dict[str, "np.ndarray"]:
        for part in self.parts(cell):
            seeds = parse_ranges(part.name)
            if seed in seeds and (part / file).exists():
                return {name: stacked[seeds.index(seed)] for name, stacked in self._stacked(part, file).items()}
        raise UsageError(
            f"the store must hold {file} of seed {seed} of {cell.label()}, and no part does; "
            "train it: nalu-bench run ... committed=false"
        )

    def _stacked(self, part: Path, file: str) -> dict[str, "np.ndarray"]:
        """The arrays of a part by name, with a leading axis of its seeds."""
        with damage_named(part, REMEDY):
            return read_arrays(part / file)

    def manifests(self, cell: Cell) -> list[dict[str, Any]]:
        """The manifests of the finished parts."""
        return [self._manifest(part) for part in self.parts(cell)]

    def sound_manifests(self, cell: Cell) -> list[dict[str, Any]]:
        """The same of the parts that count."""
        return [self._manifest(part) for part in self.parts(cell) if damage(part) is None]

    def _manifest(self, part: Path) -> dict[str, Any]:
        with damage_named(part, REMEDY):
            manifest: dict[str, Any] = read_json(part / schema.MANIFEST)
        return manifest

    def _part_facts(self, part: Path) -> dict[str, Any]:
        manifest = self._manifest(part)
        return {"part": part.name, "device": manifest["device"], "mode": manifest["mode"], "commit": manifest["commit"]}

    def _refuse_faults(self, part: Path) -> None:
        """Raise ValueError if a part does not match its manifest; each is checked once."""
        if part not in self._sound:
            for fault in part_faults(part):
                raise ValueError(fault)
            self._sound.add(part)

    def _frame(self, parts: list[Path], file: str, facts: Any, order: list[str]) -> "pd.DataFrame":
        import pandas as pd

        frames = []
        for part in parts:
            with damage_named(part, REMEDY):
                self._refuse_faults(part)
                frames.append(read_table(part / file).assign(**(facts(part) if facts else {})))
        if not frames:
            return pd.DataFrame(columns=order)
        return pd.concat(frames, ignore_index=True).drop_duplicates(order).sort_values(order, ignore_index=True)


def damage(part: Path) -> str | None:
    """Why a part does not count, or None: its manifest must be there, with the seeds of its name and all its files."""
    try:
        manifest = read_json(part / schema.MANIFEST)
        seeds, files = str(manifest["seeds"]), {schema.RUNS, schema.CURVES, *manifest.get("files", {}).keys()}
        lacking = files - {path.name for path in part.iterdir()}
        parse_ranges(seeds)
    except FileNotFoundError:
        return f"{schema.MANIFEST} is not there"
    except OSError as error:
        _refuse_unreachable(error)
        return f"{schema.MANIFEST} cannot be read: {error}"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return f"{schema.MANIFEST} cannot be read: {error}"
    if seeds != part.name:
        return f"{schema.MANIFEST} says seeds {seeds}"
    if cell := other_cell(manifest, part.parents[1].name):
        return f"{schema.MANIFEST} says cell {cell}"
    return f"{', '.join(sorted(lacking))} not there" if lacking else None


def _refuse_unreachable(error: OSError) -> None:
    """Raise an error that tells nothing about a part: it may be sound, and closed to this user or out of reach."""
    if error.errno not in (None, errno.ENOENT, errno.EISDIR, errno.ENOTDIR):
        raise error


def no_folder(path: Path) -> bool:
    """Whether a file, a pipe or a link to nothing is there; not for a folder that another process has just removed."""
    try:
        return not stat.S_ISDIR(path.lstat().st_mode) and not path.is_dir()
    except FileNotFoundError:
        return False


def _filled(path: Path) -> bool:
    """Whether a path is a folder with anything in it; see `leases.System.there` for the moment in which it is empty."""
    try:
        return any(path.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False


def _trained_runs(path: Path) -> Iterator[tuple[str, int]]:
    """(cell digest, seed) of every run in a file of committed results that was trained to its end."""
    manifest = read_json(path.parent / schema.MANIFEST)
    require_unedited(path.parent, manifest, [path.name])
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream, strict=True)  # a dictionary a row takes three times as long
        names, wanted = next(rows, []), ("cell", "seed", "status")
        if not set(wanted) <= set(names):
            raise ValueError(f"it must have the columns {', '.join(wanted)}")
        for cell, seed, status in map(itemgetter(*map(names.index, wanted)), rows):
            if status in (schema.Status.FINISHED, schema.Status.DIVERGED):
                yield cell, int(seed)


def _failure(path: Path) -> dict[int, str]:
    """Seed -> the last line of the traceback. A file that is cut off is named instead, for the seeds in its name."""
    try:
        entry = read_json(path)
        return dict.fromkeys(map(int, entry["seeds"]), in_a_line(entry["traceback"].strip().splitlines()[-1]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return dict.fromkeys(parse_ranges(path.stem), f"its record {path} is damaged; run the same command again")


def _noted_step(path: Path) -> int:
    """The step in the note beside a checkpoint; 0 if the note is cut off. The checkpoint itself is not read."""
    try:
        return max(0, int(read_json(path)["step"]))
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return 0
