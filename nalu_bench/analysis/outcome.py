"""What an experiment cost and what it found, read from its folder of `results/` without its measurements."""

import csv
import io
from pathlib import Path

from nalu_bench.analysis.measure.manifest import REMEDY, read_manifest
from nalu_bench.analysis.stats.verdicts import counts
from nalu_bench.analysis.table.line import OWN
from nalu_bench.errors import damage_named
from nalu_bench.files import read_text


def told(folder: Path) -> str:
    """`paper, 2.5 core-hours: 18 agrees, 78 differs`."""
    manifest = read_manifest(folder)
    assert manifest is not None
    cost = f", {duration(manifest['seconds'])}" if manifest["seconds"] else ""
    return f"{manifest['budget']['name']}{cost}: {verdicts(folder)}"


def verdicts(folder: Path) -> str:
    """`18 agrees, 78 differs`."""
    with damage_named(folder, REMEDY):
        rows = csv.DictReader(io.StringIO(read_text(folder / "table.csv")))
        found = counts(row["verdict"] for row in rows if OWN not in row["note"])
    return "nothing is printed" if found == "none" else found


def duration(seconds: float) -> str:
    """Training time of one core.

    >>> duration(9099), duration(50)
    ('2.5 core-hours', '1 core-minute')
    """
    number, unit = (seconds / 3600, "core-hour") if seconds >= 3600 else (seconds / 60, "core-minute")
    text = f"{number:.1f}" if seconds >= 3600 else f"{max(number, 1):.0f}"
    return f"{text} {unit}" + ("" if text == "1" else "s")
