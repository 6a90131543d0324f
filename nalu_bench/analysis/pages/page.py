"""The page of an experiment: verdicts, figures, curves, weights, failures and provenance in one file of HTML."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nalu_bench.analysis.measure.measured import CELL_KEYS, records
from nalu_bench.analysis.outcome import duration
from nalu_bench.analysis.pages import curves, parts, weights
from nalu_bench.analysis.pages.environment import environment
from nalu_bench.analysis.pages.svg import svg
from nalu_bench.analysis.render import style

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded

ROWS = ["seed", "status", "last_step", "selected_step", "solved", "solved_at"]
"""Columns of a run that a page always lists; errors on each split follow."""


FACTS = ("nalu_bench", "torch", "python", "numpy", "processor", "device", "mode", "commit", "finished")
"""What the manifest of a block says of the machine and the program."""


@dataclass(frozen=True)
class Section:
    """A section of a page: its anchor, its name and its HTML."""

    id: str
    name: str
    html: str


def page(loaded: "Loaded") -> str:
    """The page as HTML that needs no other file and no network."""
    with style.applied():
        sections = [section for section in _sections(loaded) if section.html]
    document = loaded.document
    return environment().get_template("report.html").render(
        title=f"{loaded.experiment.name}: {loaded.experiment.title}", name=loaded.experiment.name,
        heading=loaded.experiment.title, source=loaded.experiment.source, verdicts=document.verdicts(),
        provenance=document.provenance(), sections=sections,
    )  # fmt: skip


def _sections(loaded: "Loaded") -> Iterator[Section]:
    yield Section(
        "verdicts",
        "Printed and reproduced",
        parts.tables(loaded) + _render("notes.html", notes=loaded.document.remarks),
    )
    yield Section("figure", "Figure", _picture(loaded.figure(), f"figure of {loaded.experiment.title}"))
    yield Section("provenance", "Where the numbers come from", _render("provenance.html", **_provenance(loaded)))
    if len(loaded.runs):
        yield from _about_runs(loaded)


def _about_runs(loaded: "Loaded") -> Iterator[Section]:
    """The sections of an experiment in which something is trained."""
    drawn = "".join(_picture(each, f"learning curves, {title}") for title, each in curves.pictures(loaded))
    yield Section("curves", "Learning curves", _render("curves.html", seeds=curves.SEEDS) + drawn if drawn else "")
    drawn = "".join(_picture(each, f"final weights, {title}") for title, each in weights.pictures(loaded))
    told = _render("weights.html", near=weights.NEAR, drawn=drawn, errors=_sparsity(loaded))
    yield Section("weights", "Final weights and gates", told if drawn or _sparsity(loaded) else "")
    yield Section("failures", "Failures and divergences", _render("failures.html", cells=list(_failures(loaded))))
    yield Section("runs", "Runs", _render("runs.html", cells=list(_runs(loaded))))


def _render(template: str, **values: Any) -> str:
    return environment().get_template(template).render(**values)


def _picture(figure: Any, label: str) -> str:
    return f'<figure class="picture">{svg(figure, parts.escaped(label))}</figure>'


def _name(words: dict[str, Any]) -> str:
    return " ".join(str(words[key]) for key in CELL_KEYS if words[key])


def _sparsity(loaded: "Loaded") -> list[dict[str, Any]]:
    return [
        {"name": _name(line), "low": parts.number(line["min"]), "median": parts.number(line["50%"]),
         "high": parts.number(line["max"])}
        for line in records(weights.sparsity(loaded)) if line["count"]
    ]  # fmt: skip


def _failures(loaded: "Loaded") -> Iterator[dict[str, Any]]:
    """The cells in which a run did not finish: how many of which status, and the reasons."""
    for words, group in loaded.runs.groupby(CELL_KEYS, sort=False):
        counts = Counter(group["status"])
        if set(counts) - {"finished"}:
            reasons = sorted({note for note in group["note"] if note}) if "note" in group else []
            counted = ", ".join(f"{count} {status}" for status, count in counts.items())
            yield {"name": _name(dict(zip(CELL_KEYS, words, strict=True))), "counts": counted, "reasons": reasons}


def _provenance(loaded: "Loaded") -> dict[str, Any]:
    manifest, found = loaded.manifest, list(loaded.manifest["parts"].values())
    facts = {key: sorted({str(part[key]) for part in found if part.get(key)}) for key in FACTS}
    facts["finished"] = facts["finished"][:: len(facts["finished"]) - 1 or 1]  # the first and the last
    configurations = [
        {"name": cell["label"], "digest": digest, "text": json.dumps(cell["identity"], indent=1)}
        for digest, cell in manifest["cells"].items()
    ]
    return {
        "command": loaded.document.command(), "run": _run_command(loaded), "time": duration(manifest["seconds"]),
        "facts": {key: ", ".join(values) for key, values in facts.items() if values}, "configurations": configurations,
        "blocks": len(found),
    }  # fmt: skip


def _run_command(loaded: "Loaded") -> str:
    return f"nalu-bench run {loaded.experiment.name} budget={loaded.manifest['budget']['name']}"


def _runs(loaded: "Loaded") -> Iterator[dict[str, Any]]:
    """Every cell with its runs as text, a line each."""
    errors = [column for column in loaded.runs if str(column).endswith(("_mse", "_mae", "_accuracy", "_return"))]
    for digest, group in loaded.runs.groupby("cell", sort=False):
        columns = [column for column in [*ROWS, *errors] if column in group and group[column].notna().any()]
        text = group[columns].to_csv(index=False, float_format="%.4g", lineterminator="\n")
        yield {"id": parts.anchor(str(digest)), "name": _name(records(group)[0]), "count": len(group), "text": text}
