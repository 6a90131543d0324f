"""The page of an experiment: verdicts, figures, curves, weights, failures and provenance in one file of HTML."""

import base64
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nalu_bench.analysis.measure.measured import CELL_KEYS, records
from nalu_bench.analysis.outcome import cost
from nalu_bench.analysis.render import final_weights, html, learning_curves, style
from nalu_bench.analysis.render.forest import forests
from nalu_bench.analysis.stats.verdicts import Verdict, meanings
from nalu_bench.analysis.table.claims import about_claims
from nalu_bench.analysis.table.formats import four_digits
from nalu_bench.files import require_file
from nalu_bench.pages import document, prose
from nalu_bench.pages.claims import claims, shown
from nalu_bench.pages.rendered import rendered
from nalu_bench.pages.svg import svg
from nalu_bench.pages.tally import compared

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded

LARGEST = 1_950_000
"""Bytes of a page. Runs are listed if there is room, curves and weights are drawn while there is room for them."""

PANELS, MOST = 12, 24
"""Panels in a picture, and in all pictures of a section: a second of work for each picture."""

FORESTS = 6
"""The most forest plots of a page."""

WORDS = {
    Verdict.AGREES: "agrees", Verdict.DIFFERS: "differs", Verdict.INCONCLUSIVE: "inconclusive or uninformative",
    Verdict.NOT_COMPARABLE: "not comparable, or fitted",
}  # fmt: skip
LOOKS = [{"text": words, **vars(style.verdict(found))} for found, words in WORDS.items()]
"""The legend of forest plots."""

ROWS = ["seed", "status", "last_step", "selected_step", "solved", "solved_at"]
"""Columns of a run that a page always lists; what was measured on each split follows."""

SPLITS = ("train_", "validation_", "interpolation_", "extrapolation_", "test_")


FACTS = ("nalu_bench", "torch", "python", "numpy", "processor", "device", "mode", "commit", "finished")
"""What the manifest of a block says of the machine and the program."""


@dataclass(frozen=True)
class Section:
    """A section of a page: its anchor, its name and its HTML."""

    id: str
    name: str
    html: str

    @property
    def bytes(self) -> int:
        return len(self.html.encode())


def page(loaded: "Loaded", largest: int = LARGEST) -> str:
    """The page as HTML that needs no other file and no network, with runs, curves and weights up to `largest` bytes."""
    with style.applied():
        sections = _sections(loaded, largest)
    report = loaded.report
    return rendered(
        "report.html", title=f"{loaded.experiment.name}: {loaded.experiment.title}", name=loaded.experiment.name,
        heading=loaded.experiment.title, source=loaded.experiment.source, verdicts=compared(report.lines),
        intervals=report.intervals(),
        provenance=report.provenance(), sections=[section for section in sections if section.html],
    )  # fmt: skip


def _sections(loaded: "Loaded", largest: int) -> list[Section]:
    """All sections; runs are listed if they fit, and curves and weights share the bytes that the others leave."""
    before = list(_results(loaded))
    if loaded.runs.empty:
        return before
    room = largest - sum(section.bytes for section in before)
    after = list(_about_runs(loaded, listed=True))
    if sum(section.bytes for section in after) > room:
        after = list(_about_runs(loaded, listed=False))
    room -= sum(section.bytes for section in after)
    last = _weights(loaded, room // 2)
    return [*before, _curves(loaded, room - last.bytes), last, *after]


def _results(loaded: "Loaded") -> Iterator[Section]:
    found, lines = claims([loaded]), loaded.report.lines
    answers, told = loaded.kind.answers(lines), _told(loaded)
    asked = loaded.kind.asked
    outcome = rendered("outcome.html", asked=asked, answers=answers, claims=[shown(claim) for claim in found], **told)
    yield Section("outcome", "What came out", outcome if found or answers or told["told"] else "")
    figure = _picture(loaded.figure(), f"figure of {loaded.experiment.title}")
    further = "".join(_image(*each) for each in loaded.pictures().items())
    pictures = Section("figure", "Figure", figure + further)
    numbers = list(_numbers(loaded))
    yield from [pictures, *numbers] if answers else [*numbers, pictures]  # it shows the answers
    yield Section("provenance", "Where the numbers come from", rendered("provenance.html", **_provenance(loaded)))


def _numbers(loaded: "Loaded") -> Iterator[Section]:
    """Printed numbers beside ours, then the tables of the source."""
    lines = loaded.report.lines
    tables = [table for table in loaded.report.tables if not about_claims(table)]  # they open the page
    if numbers := html.numbers(lines, loaded.runs, loaded.kind.named):
        drawn = "".join(f"<div><h3>{title}</h3>{_picture(figure, title)}</div>" for title, figure in _forests(loaded))
        told = meanings({line.verdict for line in lines if line.printed and not line.in_words})
        held = any(line.held for line in lines)
        above = rendered(
            "forests.html", drawn=drawn, looks=LOOKS, meanings=told, held=held, brackets=loaded.kind.brackets
        )
        yield Section("numbers", "Printed and ours", above + numbers)
        layout = f"<details><summary>In the layout of the source</summary>{html.tables(tables, [])}</details>"
    else:
        layout = html.tables(tables, lines, loaded.runs)
    notes = rendered("notes.html", notes=loaded.report.remarks)
    yield Section("tables", "Tables", layout + notes)


def _told(loaded: "Loaded") -> dict[str, str]:
    """What the text beside the experiment says came out, and its protocol; empty if it is about other results."""
    parts = {"told": "What came out", "protocol": "Protocol"}
    beside, results = loaded.experiment.page, loaded.folder.parents[1]
    if not (prose.is_about(results) and beside.exists()):
        return dict.fromkeys(parts, "")
    text = prose.filled(require_file(beside).read_text(encoding="utf-8"), results, beside.parent.name)
    sections = {name: prose.plain(prose.section(text, heading)) for name, heading in parts.items()}
    return {name: document.part(section, beside, loaded.folder) for name, section in sections.items()}


def _forests(loaded: "Loaded") -> "Iterator[tuple[str, style.Figure]]":
    """The first forest plots; the tables below them have all numbers."""
    shares = [name for name, span in loaded.kind.metrics.items() if span == (0, 1)]
    return itertools.islice(forests(loaded.report.lines, loaded.kind.named, shares), FORESTS)


def _about_runs(loaded: "Loaded", *, listed: bool) -> Iterator[Section]:
    """The sections of an experiment in which something is trained, but for its pictures."""
    yield Section("failures", "Failures and divergences", rendered("failures.html", cells=list(_failures(loaded))))
    yield Section("runs", "Runs", rendered("runs.html", cells=list(_runs(loaded)), listed=listed))


def _curves(loaded: "Loaded", room: int) -> Section:
    cells = learning_curves.cells(loaded.measured)

    def draw(some: Sequence[Any]) -> "style.Figure":
        return learning_curves.picture(loaded.measured, some)

    drawn, shown = _drawn(cells, draw, "learning curves of cells", room)
    rest = _rest(loaded, shown, len(cells), "cells with curves", "learning_curves")
    text = rendered("curves.html", seeds=learning_curves.SEEDS, drawn=drawn, **rest)
    return Section("curves", "Learning curves", text if cells else "")


def _weights(loaded: "Loaded", room: int) -> Section:
    panels, errors = list(final_weights.panels(loaded.measured)), _sparsity(loaded)
    drawn, shown = _drawn(panels, final_weights.draw, "final weights, matrices", room)
    rest = _rest(loaded, shown, len(panels), "matrices", "final_weights")
    text = rendered("weights.html", near=final_weights.NEAR, drawn=drawn, errors=errors, **rest)
    return Section("weights", "Final weights and gates", text if panels or errors else "")


def _rest(loaded: "Loaded", shown: int, count: int, what: str, method: str) -> dict[str, Any]:
    """How many of so many are drawn, and how to draw the others: `rest.html`."""
    name, model = loaded.experiment.name, loaded.runs["model"].iloc[0]
    return {"shown": shown, "all": count, "what": what, "method": method, "name": name, "model": model}


def _drawn(
    panels: Sequence[Any], draw: "Callable[[Sequence[Any]], style.Figure]", label: str, room: int
) -> tuple[str, int]:
    """Pictures of the first panels, `MOST` or as many as there are bytes for; and how many panels these are."""
    text, shown = "", 0
    for start in range(0, min(len(panels), MOST), PANELS):
        some = panels[start : start + PANELS]
        added = _picture(draw(some), f"{label} {shown + 1} to {shown + len(some)}")
        if len(text) + len(added) > room:
            break
        text, shown = text + added, shown + len(some)
    return text, shown


def _picture(figure: Any, label: str) -> str:
    return f'<figure class="picture">{svg(figure, html.escaped(label))}</figure>'


def _image(name: str, data: bytes) -> str:
    """A PNG or a GIF, in the page itself."""
    suffix = name.rpartition(".")[2]
    text = base64.b64encode(data).decode()
    return f'<figure class="picture"><img src="data:image/{suffix};base64,{text}" alt="{html.escaped(name)}"></figure>'


def _name(words: dict[str, Any]) -> str:
    return " ".join(str(words[key]) for key in CELL_KEYS if words[key])


def _sparsity(loaded: "Loaded") -> list[dict[str, Any]]:
    return [
        {"name": _name(line), "low": four_digits(line["min"]), "median": four_digits(line["50%"]),
         "high": four_digits(line["max"])}
        for line in records(final_weights.sparsity(loaded.measured)) if line["count"]
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
    shared, configurations = _configurations(manifest["cells"].items())
    return {
        "command": loaded.report.command(), "run": loaded.report.command("run"), "time": cost(found),
        "facts": {key: ", ".join(values) for key, values in facts.items() if values}, "blocks": len(found),
        "shared": shared, "configurations": configurations,
    }  # fmt: skip


def _configurations(cells: Iterable[tuple[str, dict[str, Any]]]) -> tuple[str, list[dict[str, Any]]]:
    """The settings that all cells share as text, and for each cell its others."""
    settings = {
        digest: {f"{part}.{key}": value for part, values in cell["identity"].items() for key, value in values.items()}
        for digest, cell in cells
    }
    lines = {
        digest: [f"{key}: {value if isinstance(value, str) else json.dumps(value)}" for key, value in each.items()]
        for digest, each in settings.items()
    }
    often = Counter(line for each in lines.values() for line in each)
    shared = [line for line, count in often.items() if count == len(lines)]
    own = [
        {
            "name": cell["label"],
            "digest": digest,
            "text": "\n".join(line for line in lines[digest] if line not in shared),
        }
        for digest, cell in cells
    ]
    return "\n".join(shared), own


def _runs(loaded: "Loaded") -> Iterator[dict[str, Any]]:
    """Every cell with its runs as text, a line each; what is the same in all of them is told once."""
    errors = [column for column in loaded.runs if str(column).startswith(SPLITS)]
    for digest, group in loaded.runs.groupby("cell", sort=False):
        columns = [column for column in [*ROWS, *errors] if column in group and group[column].notna().any()]
        same = [column for column in ROWS[1:] if column in columns and group[column].nunique(dropna=False) == 1]
        text = group[[column for column in columns if column not in same]].to_csv(
            index=False, float_format="%.4g", lineterminator="\n"
        )
        told = ", ".join(f"{column} {group[column].iloc[0]}" for column in same)
        name = _name(records(group)[0])
        yield {"id": html.anchor(str(digest)), "name": name, "count": len(group), "same": told, "text": text}
