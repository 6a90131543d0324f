"""What an experiment cost and what it found, read from its folder of `results/` without its measurements."""

import csv
from dataclasses import dataclass
from pathlib import Path

from nalu_bench.analysis.measure.manifest import read_manifest
from nalu_bench.analysis.stats.verdicts import counts


@dataclass(frozen=True)
class Outcome:
    """The outcome of an experiment.

    Attributes:
        budget: the name of the budget that was run.
        seconds: training time of one core, in all.
        verdicts: the number of each verdict in words.
    """

    budget: str
    seconds: float
    verdicts: str

    def describe(self) -> str:
        """`paper, 2.5 core-hours: 18 agrees, 78 differs`."""
        cost = f", {duration(self.seconds)}" if self.seconds else ""
        return f"{self.budget}{cost}: {'nothing is printed' if self.verdicts == 'none' else self.verdicts}"


def read(folder: Path) -> Outcome:
    """The outcome that a folder with results holds."""
    manifest = read_manifest(folder)
    assert manifest is not None
    with (folder / "table.csv").open(encoding="utf-8", newline="") as stream:
        verdicts = [row["verdict"] for row in csv.DictReader(stream)]
    return Outcome(str(manifest["budget"]["name"]), float(manifest["seconds"]), counts(verdicts))


def duration(seconds: float) -> str:
    """Training time of one core.

    >>> duration(9099), duration(50)
    ('2.5 core-hours', '1 core-minute')
    """
    number, unit = (seconds / 3600, "core-hour") if seconds >= 3600 else (seconds / 60, "core-minute")
    text = f"{number:.1f}" if seconds >= 3600 else f"{max(number, 1):.0f}"
    return f"{text} {unit}" + ("" if text == "1" else "s")
