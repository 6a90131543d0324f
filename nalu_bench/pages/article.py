"""One document over all experiments, as venues for reproductions ask for it: in Markdown, and as a page of HTML.

Numbers come from the results. Prose comes from the pages beside the experiments (`experiments/<paper>/<artifact>.md`)
and from the README of each paper; this module only puts them in order.
"""

import csv
import itertools
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabulate import tabulate

from nalu_bench import paths
from nalu_bench.analysis.outcome import cost, duration
from nalu_bench.analysis.printed.published import read, typed
from nalu_bench.analysis.render.markdown import escaped, plain
from nalu_bench.analysis.stats.compare import EQUIVALENCE, MARGIN_MEDIAN, MARGIN_RATE
from nalu_bench.analysis.stats.intervals import FEWEST, RESAMPLES
from nalu_bench.analysis.stats.ranges import DECADES, ENOUGH, MOST_AGREE
from nalu_bench.analysis.stats.samples import MARGIN
from nalu_bench.analysis.stats.verdicts import ALPHA
from nalu_bench.analysis.table.formats import four_digits, interval
from nalu_bench.analysis.table.line import Line
from nalu_bench.errors import in_a_line
from nalu_bench.files import require_file
from nalu_bench.pages import document, prose, tally
from nalu_bench.pages.claims import Outcome, by_question, claims, where
from nalu_bench.pages.index import scale
from nalu_bench.pages.rendered import rendered
from nalu_bench.pages.title_page import title_page
from nalu_bench.plan.experiment import LEAST_SHARE
from nalu_bench.registry import datasets

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded

DISCARDED = "discarded.csv"
"""Beside the experiments: those whose results are not kept, with what they cost."""

LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")


def article(experiments: Sequence["Loaded"]) -> str:
    """The document in Markdown. Its links are those of a file in the folder of results."""
    discarded = _discarded()
    papers = [_Page(folder / "README.md") for folder in dict.fromkeys(one.experiment.folder for one in experiments)]
    printed = {one.experiment.folder for one in experiments if one.experiment.published.exists()}
    parts = {name: part for one in experiments for name, part in one.manifest["parts"].items()}  # some are shared
    own = sum(one.experiment.folder not in printed for one in experiments)
    lost = sum(float(row["core_seconds"]) for row in discarded)
    return rendered(
        "article.md", **title_page(paths.citation()), **_rules(),
        experiments=experiments, papers=papers, pages=[_Page(one.experiment.page, _title(one)) for one in experiments],
        own=own, references=[paper.reference for paper in papers if paper.folder in printed and paper.reference],
        questions=_by_question(experiments), by_unit=_by_unit(experiments, papers),
        same_seeds=tally.on_same_seeds(experiments), scope=_scope(experiments),
        claims=list(_claims(experiments)), numbers=_numbers(experiments), seeds=_seeds(experiments),
        compute=_compute(experiments), total=cost(parts.values()), discarded=_lost(discarded), lost=duration(lost),
        data=_data(experiments), unfinished=_unfinished(experiments),
    )  # fmt: skip


def _rules() -> dict[str, str]:
    """The thresholds of the statistics, as the text names them."""
    low, high = (f"{100 * (0.5 + sign * MARGIN):.0f}" for sign in (-1, 1))
    shares = {
        "alpha": ALPHA,
        "equivalence": EQUIVALENCE,
        "least": LEAST_SHARE,
        "widest": MOST_AGREE,
    }
    return {name: f"{100 * share:.0f} %" for name, share in shares.items()} | {
        "rate": f"{100 * MARGIN_RATE:.0f} points", "median": f"{math.exp(MARGIN_MEDIAN):.3g}",
        "samples": f"{low} to {high} %", "decades": f"{DECADES} powers of ten", "few": f"{FEWEST}",
        "resamples": f"{RESAMPLES:,}", "enough": f"{ENOUGH}",
    }  # fmt: skip


def page(text: str) -> str:
    """The document as a page of HTML that needs no network but for its pictures."""
    title, _, rest = text.partition("\n")
    return document.page(f"{title}\n\n[TOC]\n{rest}", "nalu_bench: the article")


class _Page:
    """The page of an experiment, or the README of a paper, with headings and links that suit the document.

    Attributes:
        folder: where it lies. title: the one that is given, or that of a README.
        first: its first paragraph; empty if there is none.
    """

    def __init__(self, path: Path, title: str = "") -> None:
        text = require_file(path).read_text(encoding="utf-8") if path.exists() else ""
        self.folder = path.parent
        self.title = title or text.partition("\n")[0].lstrip("# ") or self.folder.name
        self._text = LINK.sub(lambda link: _moved(link[1], path), prose.plain(text))
        _, self.first, *_ = [*self._text.split("\n\n"), ""]

    @property
    def warning(self) -> str:
        """Its first paragraph, if this says in bold what a reader must know before all else."""
        return self.first if self.first.startswith("**") else ""

    @property
    def reference(self) -> str:
        """Its first paragraph in one line, which is authors, title and place in the README of a paper."""
        return " ".join(self.first.split())

    def section(self, heading: str) -> str:
        """The section of this heading; empty if the page has none."""
        return re.sub(r"^#+ ", "#### ", prose.section(self._text, heading), flags=re.MULTILINE).strip()


def _title(loaded: "Loaded") -> str:
    return escaped(loaded.experiment.about)


def _moved(link: str, path: Path) -> str:
    """A link of a page, as it must read in the folder of results."""
    place, _, anchor = link.partition("#")
    target = os.path.relpath((path.parent / place).resolve() if place else path, paths.shipped_results_dir())
    return f"]({target}{'#' + anchor if anchor else ''})"


def _table(rows: Sequence[Sequence[object]], *header: str) -> str:
    texts = [[str(entry).replace("|", "\\|") for entry in row] for row in rows]
    return tabulate(texts, header, tablefmt="github", disable_numparse=True)


def _scope(experiments: Sequence["Loaded"]) -> str:
    rows = [
        [f"[{one.experiment.name}]({one.experiment.name}/table.md)", _title(one), scale(one), tally.told(one.lines)]
        for one in experiments
    ]
    return _table(rows, "experiment", "what", "run so far", "printed numbers")


def _by_question(experiments: Sequence["Loaded"]) -> dict[str, list[str]]:
    """Question -> the papers' claims that were tested: in plain words, what came out, whether it holds."""
    tested = [claim for claim in claims(experiments) if not claim.own and claim.outcome is not Outcome.UNTESTED]
    return {
        asks or "Other claims": [
            f"{claim.says} {claim.found} {claim.tested} *{claim.verdict.capitalize()}* ({claim.source})."
            for claim in part
        ]
        for asks, part in by_question(tested).items()
    }


def _claims(experiments: Sequence["Loaded"]) -> Iterator[dict[str, str]]:
    """A table of the claims in words of every experiment that has some: a paper's, then our own."""
    for one in experiments:
        sources = {place: printed.source for place, printed in typed(read(one.experiment.published)).items()}
        said = [line for line in one.lines if line.verdict and line.in_words]
        own_last = sorted(said, key=lambda line: not line.counted)
        shared = _beginning([sources.get(line.place, "") for line in own_last if line.counted])
        places = [sources.get(line.place, "").removeprefix(shared) for line in own_last]
        rows = [[*_claim(*each), str(each[0].verdict)] for each in zip(own_last, places, strict=True)]
        if rows:
            header = ("claim", "source", "where", "tested by", "our threshold", "ours", "verdict")
            yield {"title": _title(one), "source": shared.rstrip(" ,"), "table": _table(rows, *header)}


def _beginning(sources: Sequence[str]) -> str:
    """What all sources begin with, up to a comma: the citation, without the place of each sentence."""
    columns = zip(*(f"{source}, " for source in sources), strict=False)
    same = itertools.takewhile(lambda letters: len(set(letters)) == 1, columns)
    return "".join(letters[0] for letters in same).rpartition(", ")[0] + ", " if sources else ""


def _claim(line: Line, source: str) -> list[str]:
    quote = f"“{line.printed_text}”" if line.counted else f"our own: {line.printed_text}"
    return [quote, source, where(line), "; ".join(line.notes), line.threshold, interval(*line.ours, four_digits)]


def _numbers(experiments: Sequence["Loaded"]) -> str:
    """How many printed numbers of each experiment, and numbers recomputed from a source's runs, got which verdict."""
    return _table(tally.by_experiment(experiments), "experiment", "numbers", "how many", *map(str, tally.COUNTED))


def _by_unit(experiments: Sequence["Loaded"], papers: Sequence[_Page]) -> str:
    header, rows = tally.by_unit(experiments, {paper.folder.name: paper.title for paper in papers})
    return _table(rows, *header)


def _seeds(experiments: Sequence["Loaded"]) -> str:
    """The seeds of every experiment, and how its runs ended."""
    rows = []
    for one in experiments:
        if one.runs.empty:
            continue
        each = one.runs.groupby("cell").size()
        asked = sum(cell["seeds"] for cell in one.manifest["cells"].values())
        ended = ", ".join(f"{count:,} {state}" for state, count in one.runs["status"].value_counts().items())
        rows.append([one.experiment.name, f"{asked:,}", ended, f"{each.min()} to {each.max()}"])
    return _table(rows, "experiment", "runs asked for", "how they ended", "seeds a cell")


def _compute(experiments: Sequence["Loaded"]) -> str:
    rows = []
    for one in experiments:
        parts = one.manifest["parts"].values()
        if parts:
            kinds = sorted({_stated(part["processor"]).replace("(R)", "") for part in parts})
            versions = sorted({_stated(part["torch"]) for part in parts})
            runs = f"{one.manifest['runs']:,}"
            rows.append([one.experiment.name, runs, cost(parts), ", ".join(kinds), ", ".join(versions)])
    return _table(rows, "experiment", "runs", "training time", "processors", "torch")


def _stated(text: str) -> str:
    """What a manifest states, which may be another person's: no HTML, and nothing that a terminal obeys.

    >>> print(_stated("<script>\\x1b[31m"))
    &lt;script>\\x1b[31m
    """
    return plain(in_a_line(text))


def _discarded() -> list[dict[str, str]]:
    with (paths.experiments_dir() / DISCARDED).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _lost(rows: Sequence[Mapping[str, str]]) -> str:
    told = [
        [
            row["experiment"],
            f"{int(row['runs']):,}",
            duration(float(row["core_seconds"])),
            f"`{row['commit']}`",
            row["why"],
        ]
        for row in rows
    ]
    return _table(told, "experiment", "runs", "time of one core", "commit", "why they are gone")


def _data(experiments: Sequence["Loaded"]) -> str:
    """The data that are not drawn by the program: who uses them, and the checksums of their unpacked files."""
    users: dict[str, list[str]] = {}
    for one in experiments:
        for cell in one.manifest["cells"].values():
            for name in cell["identity"].get("data", {}).values():
                users.setdefault(str(name), []).append(one.experiment.name)
    rows = [
        [name, ", ".join(dict.fromkeys(users[name])), file, " or ".join(f"`{md5}`" for md5 in sorted(known))]
        for name in users
        if name.split()[0] in datasets.entries  # others are tables, or made by a library
        for file, known in datasets.load(name.split()[0])().known.items()
    ]
    return _table(rows, "data", "used by", "file", "MD5, unpacked")


def _unfinished(experiments: Sequence["Loaded"]) -> list[str]:
    """What the full scale of every experiment still lacks, with what it would cost at the speed of its runs so far."""
    told = []
    for one in experiments:
        budget, full = one.manifest["budget"], one.experiment.printed_steps
        asked = sum(cell["seeds"] for cell in one.manifest["cells"].values())
        missing = asked - one.manifest["runs"]
        if budget["steps"] < full:
            told.append(f"`{one.experiment.name}` has {budget['steps']:,} of {full:,} steps, {_cost(one, full)}")
        elif missing:
            rest = cost(one.manifest["parts"].values(), missing / one.manifest["runs"])
            told.append(f"`{one.experiment.name}` lacks {missing:,} of {asked:,} runs, about {rest}")
    return told


def _cost(one: "Loaded", full: int) -> str:
    """What all runs of the full scale would take."""
    budget = one.manifest["budget"]
    times = one.experiment.budgets["paper"]["seeds"] / budget["seeds"] * full / budget["steps"]
    return f"and would need about {cost(one.manifest['parts'].values(), times)}"
