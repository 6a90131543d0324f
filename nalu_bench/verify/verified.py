"""The outcome of a verification."""

from collections import Counter
from dataclasses import dataclass, field

from nalu_bench.analysis.measure.recheck import Check


@dataclass(frozen=True)
class Verified:
    """The check of a folder of results or of cells of the run store; two can be added.

    Attributes:
        files: how many files have the hash of their manifest.
        runs: how many runs were checked against their curves.
        facts: how many outcomes, selected steps, errors and solved steps were recomputed, bracketed or contradicted.
        faults: a line for each file or fact that does not match, with what to do.
        unhashed: parts of the store from before manifests held hashes.
    """

    files: int = 0
    runs: int = 0
    facts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    unhashed: int = 0

    def __add__(self, other: "Verified") -> "Verified":
        facts, faults = self.facts + other.facts, self.faults + other.faults
        return Verified(self.files + other.files, self.runs + other.runs, facts, faults, self.unhashed + other.unhashed)

    def describe(self) -> str:
        """One line: `9 files match; 300 runs: 900 facts recomputed, 0 bracketed`."""
        facts = ", ".join(f"{self.facts[check]:,} {check}" for check in (Check.RECOMPUTED, Check.BRACKETED))
        words = [f"{self.files:,} files match", f"{self.runs:,} runs, facts: {facts}"]
        words += [f"{self.unhashed} parts are older than hashes"] if self.unhashed else []
        return "; ".join([*words, f"FAULTS: {len(self.faults)}" if self.faults else "no faults"])
