"""Committed results against themselves: files against the manifest, facts against the curves."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nalu_bench.analysis.measure.collect import Collection, read_manifest
from nalu_bench.analysis.measure.recheck import Check, findings
from nalu_bench.errors import UsageError
from nalu_bench.files import hashes


@dataclass(frozen=True)
class Verified:
    """The check of one folder of `results/`.

    Attributes:
        files: how many files have the hash of the manifest.
        facts: how many selected steps, errors and solved steps were recomputed, bracketed or contradicted.
        faults: a line for each file or fact that does not match.
    """

    files: int
    facts: Counter[str]
    faults: list[str]

    def describe(self) -> str:
        """One line: `11 files match; 900 facts recomputed, 0 bracketed`."""
        facts = ", ".join(f"{self.facts[check]:,} {check}" for check in (Check.RECOMPUTED, Check.BRACKETED))
        return f"{self.files} files match; facts: {facts}" + (f"; FAULTS: {len(self.faults)}" if self.faults else "")


def verify(folder: Path) -> Verified:
    """Check every file of a folder against its manifest, and every run against its curve.

    Raises:
        UsageError if the folder holds no results.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        raise UsageError(f"{folder} must hold the results of an experiment, and has no manifest.json.")
    stated, found = manifest.get("files", {}), hashes(folder)
    others = [name for name in stated if stated[name] != found.get(name)]
    states = {name: "has another hash than in" if name in found else "is missing, and stands in" for name in others}
    faults = [f"{name} {state} manifest.json; restore this folder from git" for name, state in states.items()]
    faults += [f"{name} is not in manifest.json" for name in found if name not in (*stated, "manifest.json")]
    try:
        collection = Collection.read(folder)
    except UsageError as error:
        return Verified(len(stated) - len(others), Counter(), [*faults, str(error)])
    assert collection is not None
    checks = list(findings(collection, manifest))
    faults += [
        f"cell {one.cell} seed {one.seed}: {one.fact} is {one.check} by its curve ({one.why})"
        for one in checks
        if one.check == Check.CONTRADICTED
    ]
    return Verified(len(stated) - len(others), Counter(str(one.check) for one in checks), faults)


def folders(results: Path, names: list[str]) -> Iterator[tuple[str, Path]]:
    """(experiment, folder) of those named, else of all that hold results."""
    for path in sorted(results.glob("*/*/manifest.json")):
        name = path.parent.relative_to(results).as_posix()
        if path.parts[-3] != "local" and (not names or name in names):
            yield name, path.parent
