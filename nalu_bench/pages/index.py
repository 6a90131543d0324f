"""The index of all experiments: which claims hold, which unit to take, and do the printed numbers come out?"""

import base64
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nalu_bench.analysis.measure.measured import seeds_told
from nalu_bench.analysis.outcome import cost
from nalu_bench.analysis.report import OF_FULL
from nalu_bench.analysis.stats.verdicts import Verdict, counts, meanings
from nalu_bench.analysis.table.place import FROM_RUNS
from nalu_bench.pages.claims import SIGNS, Outcome, by_question, claims, shown
from nalu_bench.pages.rendered import rendered

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded

COUNTED = {
    Outcome.HOLDS: "hold", Outcome.FAILS: "do not hold", Outcome.MIXED: "hold in part",
    Outcome.OPEN: "are not decided", Outcome.UNTESTED: "are trained too little to judge",
}  # fmt: skip
"""What became of several claims."""

WIDTH = 240
"""Pixels of a small picture."""

TALLEST = 1.5
"""The most of its height that is shown, in widths."""


def index(experiments: Sequence["Loaded"]) -> str:
    """The index as HTML that needs no network: claims by question, then a line for each table of numbers."""
    found = claims(experiments)
    questions = [
        {"id": f"question-{number}", "asks": asks or "Other claims",
         "claims": [shown(claim, f"{claim.experiment}/report.html") for claim in part]}
        for number, (asks, part) in enumerate(by_question(found).items(), 1)
    ]  # fmt: skip
    of_papers = Counter(claim.outcome for claim in found if not claim.own)
    numbers = [line for loaded in experiments for line in loaded.lines if line.counted and not line.in_words]
    verdicts = [line.verdict for line in numbers if line.verdict]
    return rendered(
        "index.html", title="nalu_bench: which claims hold?", questions=questions, answers=list(_answers(experiments)),
        experiments=[_experiment(loaded) for loaded in experiments], verdicts=counts(verdicts), total=len(verdicts),
        short=sum(any(OF_FULL in note for note in line.notes) for line in numbers),
        meanings=meanings(verdicts),
        counted=", ".join(f"{of_papers[outcome]} {words}" for outcome, words in COUNTED.items() if of_papers[outcome]),
        legend=[{"look": outcome.name.lower(), "sign": SIGNS[outcome], "text": str(outcome)} for outcome in Outcome],
    )  # fmt: skip


def _answers(experiments: Sequence["Loaded"]) -> list[dict[str, Any]]:
    found = [(loaded.experiment, loaded.kind, loaded.kind.answers(loaded.lines)) for loaded in experiments]
    return [
        {"name": each.name, "title": each.heading, "asked": kind.asked, "told": told}
        for each, kind, told in found
        if told
    ]


def _experiment(loaded: "Loaded") -> dict[str, Any]:
    numbers = _numbers(loaded)
    only_words = any(line.verdict for line in loaded.lines)
    return {
        "name": loaded.experiment.name, "title": loaded.experiment.title, "source": loaded.experiment.source,
        "picture": _small(loaded.folder / "figure.png"), "scale": scale(loaded),
        "time": cost(loaded.manifest["parts"].values()), **numbers,
        "nothing": "Claims in words alone." if only_words else "Nothing is printed to compare with.",
    }  # fmt: skip


def scale(loaded: "Loaded") -> str:
    """The budget, and how much of it was run."""
    budget = loaded.manifest["budget"]
    if not budget["seeds"]:
        return "computed, no network is trained"
    runs, total = loaded.manifest["runs"], sum(cell["seeds"] for cell in loaded.manifest["cells"].values())
    so_far = f", {runs:,} of {total:,} runs" if runs < total else ""
    return f"{budget['name']}: {seeds_told(loaded.runs)} seeds, {budget['steps']:,} steps{so_far}"


def _numbers(loaded: "Loaded") -> dict[str, Any]:
    """The printed numbers of an experiment: how many of which kind, and their verdicts."""
    numbers = [line for line in loaded.lines if line.counted and not line.in_words]
    counted = Counter(line.verdict for line in numbers)
    printed = [line for line in numbers if line.printed_text]
    again = sum(line.place.recomputed for line in printed)
    told = [f"{len(printed) - again} printed numbers"] if numbers else []
    told += [f"{again} {FROM_RUNS}"] if again else []
    told += [f"{len(numbers) - len(printed)} of ours where none is printed"] if len(printed) < len(numbers) else []
    badges = [
        {"look": verdict.name.lower(), "text": f"{counted[verdict]} {verdict}"}
        for verdict in Verdict
        if counted[verdict]
    ]
    return {"told": ", ".join(told), "verdicts": badges}


def _small(path: Path) -> str:
    """A picture of `WIDTH` pixels as a data URL; of a tall one the upper part."""
    from PIL import Image

    with Image.open(path) as image:
        upper = image.crop((0, 0, image.width, min(image.height, round(TALLEST * image.width))))
        height = round(upper.height * WIDTH / upper.width)
        small = upper.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS).quantize(32)
    buffer = io.BytesIO()
    small.save(buffer, format="PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
