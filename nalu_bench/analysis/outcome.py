"""What an experiment cost and what it found, read from its folder of `results/` without its measurements."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nalu_bench.analysis.measure.manifest import REMEDY, read_manifest
from nalu_bench.analysis.stats.verdicts import counts
from nalu_bench.analysis.table.line import OWN
from nalu_bench.errors import damage_named
from nalu_bench.files import read_text


def told(folder: Path) -> str:
    """`paper, 2.5 core-hours: 18 agrees, 78 differs`."""
    manifest = read_manifest(folder)
    assert manifest is not None
    known = [manifest["budget"]["name"], cost(manifest["parts"].values())]
    return f"{', '.join(filter(None, known))}: {verdicts(folder)}"


def verdicts(folder: Path) -> str:
    """`18 agrees, 78 differs`."""
    with damage_named(folder, REMEDY):
        rows = csv.DictReader(io.StringIO(read_text(folder / "table.csv")))
        found = counts(row["verdict"] for row in rows if OWN not in row["note"])
    return "nothing is printed" if found == "none" else found


def cost(parts: Iterable[Mapping[str, Any]], times: float = 1.0) -> str:
    """The training time of parts by their manifests, or `times` as much; empty if it is 0.

    >>> cost([{"device": "cpu", "seconds": 9099.0}, {"device": "cuda", "seconds": 5000.0}])
    '2.5 core-hours and 1.4 GPU-hours'
    """
    seconds = {"core": 0.0, "GPU": 0.0}
    for part in parts:
        seconds["core" if part["device"] == "cpu" else "GPU"] += part["seconds"] * times
    return " and ".join(duration(spent, what) for what, spent in seconds.items() if spent)


def duration(seconds: float, of: str = "core") -> str:
    """Training time of one core, or of another kind of processor.

    >>> duration(9099), duration(50)
    ('2.5 core-hours', '1 core-minute')
    """
    number, unit = (seconds / 3600, f"{of}-hour") if seconds >= 3600 else (seconds / 60, f"{of}-minute")
    text = f"{number:.1f}" if seconds >= 3600 else f"{max(number, 1):.0f}"
    return f"{text} {unit}" + ("" if text == "1" else "s")
