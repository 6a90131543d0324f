"""The index of all experiments: which claims of the papers hold?"""

import base64
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nalu_bench.analysis.outcome import duration
from nalu_bench.analysis.stats.verdicts import Verdict, counts
from nalu_bench.analysis.table.formats import four_digits
from nalu_bench.analysis.table.line import Line, Value
from nalu_bench.analysis.table.place import RECOMPUTED
from nalu_bench.pages.rendered import rendered

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded

WIDTH = 240
"""Pixels of a small picture."""


def index(experiments: Sequence["Loaded"]) -> str:
    """The index as HTML that needs no network: a line for each claim in words, and one for each table of numbers."""
    told = [_experiment(loaded) for loaded in experiments]
    verdicts = Counter[str]()
    for loaded in experiments:
        verdicts.update(str(line.verdict) for line in loaded.lines if line.counted)
    return rendered(
        "index.html", title="nalu_bench: which claims hold?", experiments=told, verdicts=counts(verdicts.elements())
    )  # fmt: skip


def _experiment(loaded: "Loaded") -> dict[str, Any]:
    seconds = loaded.manifest["seconds"]
    return {
        "name": loaded.experiment.name, "title": loaded.experiment.title, "source": loaded.experiment.source,
        "picture": _small(loaded.folder / "figure.png"), "lines": list(_lines(loaded)), "scale": scale(loaded),
        "time": duration(seconds) if seconds else "",
    }  # fmt: skip


def scale(loaded: "Loaded") -> str:
    """The budget, and how much of it was run."""
    budget, most = loaded.manifest["budget"], max(line.n_seeds for line in loaded.lines)
    runs, asked = loaded.manifest["runs"], sum(cell["seeds"] for cell in loaded.manifest["cells"].values())
    if not budget["seeds"]:
        return "computed, nothing is trained"
    seeds = f"{most} of {budget['seeds']}" if most < budget["seeds"] else f"{budget['seeds']}"
    so_far = f", {runs:,} of {asked:,} runs" if runs < asked else ""
    return f"{budget['name']}: {seeds} seeds, {budget['steps']:,} steps{so_far}"


def where(line: Line) -> str:
    """The setting and the operation of a claim, in words; empty if it is about all."""
    return " ".join(filter(None, [str(line.place.setting), line.place.operation]))


def _lines(loaded: "Loaded") -> Iterator[dict[str, Any]]:
    """The claims in words, then the printed numbers together."""
    for line in loaded.lines:
        if line.verdict and line.printed and line.printed.in_words:
            found = ": ".join(filter(None, ["; ".join(line.told()), _number(line.ours)]))
            found += f" ({place})" if (place := where(line)) else ""
            quoted = f"Our own claim: {line.printed.text}" if line.printed.own else f"“{line.printed.text}”"
            yield {"text": quoted, "verdicts": [_verdict(line.verdict)], "found": found}
    numbers = [line for line in loaded.lines if line.counted and not (line.printed and line.printed.in_words)]
    if numbers:
        counted = Counter(line.verdict for line in numbers)
        printed = [line for line in numbers if line.printed_text]
        again = sum(line.place.metric.endswith(RECOMPUTED) for line in printed)
        badges = [_verdict(verdict, counted[verdict]) for verdict in Verdict if counted[verdict]]
        told = [f"{len(printed) - again} printed numbers"]
        told += [f"{again} recomputed from the source's runs"] if again else []
        told += [f"{len(numbers) - len(printed)} of ours where none is printed"] if len(printed) < len(numbers) else []
        yield {"text": ", ".join(told), "verdicts": badges, "found": ""}


def _number(ours: Value) -> str:
    value, low, high = map(four_digits, ours)
    return f"{value} [{low}, {high}]" if low else value


def _verdict(verdict: Verdict | None, count: int = 0) -> dict[str, str]:
    """A verdict as a badge, with its count if there are several."""
    assert verdict is not None
    return {"look": verdict.name.lower(), "text": f"{count} {verdict}" if count else str(verdict)}


def _small(path: Path) -> str:
    """A picture of `WIDTH` pixels as a data URL."""
    from PIL import Image

    with Image.open(path) as image:
        height = round(image.height * WIDTH / image.width)
        small = image.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS).quantize(64)
    buffer = io.BytesIO()
    small.save(buffer, format="PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
