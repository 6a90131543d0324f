"""Numbers in prose that come from results. The program writes them between two marks, which a reader does not see:

    on + the NALU is solved by <!--= table2 add nalu success_rate %[] -->30 % [19, 44]<!--/--> of the seeds

A mark names an experiment (of the page's own paper, or as `paper/artifact`), then words of one line of its `table.csv`
(task, operation, split, model, metric, `key=value` of the setting, in quotes where it has blanks), then a form:

    %         30 %             our number in percent
    ,         1,395,500        in whole numbers
    .3g       0.0415           as Python formats it
    >60       14.5             a time, infinite as `> 60` if it was followed until 60
    %[] ,[] .3g[]              with its interval
    k/n       15 of 50         a rate as counts
    n         50               the number of seeds
    printed   0.14             the printed number, as it is printed; `printed%` in percent
    verdict   inconclusive

`claims` is what the index counts of the papers' claims. `paper/artifact "a + b" answer` is what an experiment answers
about it, if its kind of report answers anything. Of an experiment, `table2 verdicts` are the counts of all verdicts,
`table2 compared` is the sentence on those on numbers, `table2 counted` the cells of a table of them, see `tally`, and
`table2 same` how many undecided numbers are the printed ones; `table2 seeds`, `table2 runs` and `table2 time` are the
seeds asked for, the runs and the training time. `compared`, `counted` and `same` are those of a whole paper, too:
`"trask2018/*" counted`.
"""

import functools
import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from nalu_bench import paths
from nalu_bench.analysis import outcome
from nalu_bench.analysis import results as reports
from nalu_bench.analysis.measure.manifest import read_manifest
from nalu_bench.analysis.table import file
from nalu_bench.analysis.table.formats import in_prose
from nalu_bench.analysis.table.line import Line
from nalu_bench.errors import UsageError, unknown
from nalu_bench.pages.tally import compared, counted, same
from nalu_bench.plan import experiment

MARK = re.compile(r"<!--=\s*(.*?)\s*-->(.*?)<!--/-->", re.DOTALL)

CLAIMS = re.compile(r'<span id="counted">(.*?)</span>')
"""What the index says of the papers' claims."""

WHOLE = "/*"
"""The end of a mark that means all experiments of a paper."""

COUNTS: dict[str, Callable[[list[Line]], str]] = {
    "compared": compared, "counted": counted, "same": lambda lines: f"{same(lines):,}",
}  # fmt: skip
"""What is counted in the lines of a table, or of all tables of a paper."""

BRACKETS = "[]"
"""The end of a form that shows the interval, too."""


def filled(text: str, results: Path, paper: str) -> str:
    """The text with the present number between every two marks.

    Args:
        results: the folder of results. paper: the paper that the page is about.

    Raises:
        UsageError for a mark whose experiment has no results, whose words name no line or several, or that asks for a
        form that is not known.
    """

    @functools.cache
    def table(folder: Path) -> list[Line]:
        return file.read(folder / "table.csv")

    def number(found: re.Match[str]) -> str:
        try:
            words = shlex.split(found[1])
            new = _claims(results) if words == ["claims"] else _number(words, results, paper, table)
        except (UsageError, ValueError) as error:
            raise UsageError(f"the mark <!--= {found[1]} --> of {paper} cannot be filled: {error}") from None
        return f"<!--= {found[1]} -->{_wrapped_alike(found[2], new)}<!--/-->"

    return MARK.sub(number, text)


def is_about(results: Path) -> bool:
    """Whether these are the results that the pages of the experiments speak of: those of the checkout."""
    return paths.in_checkout() and results == paths.CHECKOUT / "results"


def plain(text: str) -> str:
    """The text without marks and comments."""
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


def section(text: str, heading: str) -> str:
    """The sections of this heading in Markdown, each up to the next heading of its level or above."""
    found = []
    for match in re.finditer(rf"^(#+) {re.escape(heading)}\n", text, re.MULTILINE):
        rest = text[match.end() :]
        end = re.search(rf"^#{{1,{len(match[1])}}} ", rest, re.MULTILINE)
        found.append(rest[: end.start()] if end else rest)
    return "\n".join(found)


def _wrapped_alike(old: str, new: str) -> str:
    """The old text if it says the same in other lines."""
    return old if old.split() == new.split() else new


def _claims(results: Path) -> str:
    """How many claims of the papers hold, do not, and so on, as the index says."""
    index = results / "index.html"
    found = CLAIMS.search(index.read_text(encoding="utf-8")) if index.exists() else None
    if not found:
        raise UsageError("there is no index with claims; first: nalu-bench report --all.")
    return found[1]


def _number(words: list[str], results: Path, paper: str, table: Callable[[Path], list[Line]]) -> str:
    if len(words) < 2:
        raise UsageError("it must name an experiment and a number.")
    name, *places, form = words
    if name.endswith(WHOLE):
        return _of_paper(results / name.removesuffix(WHOLE), form, table)
    folder = results / (name if "/" in name else f"{paper}/{name}")
    manifest = read_manifest(folder)
    if manifest is None:
        raise UsageError(f"there are no results in {folder.name}.")
    if not places:
        about: dict[str, Callable[[], str]] = {
            "verdicts": lambda: outcome.verdicts(folder),
            "time": lambda: outcome.cost(manifest["parts"].values()),
            "runs": lambda: f"{manifest['runs']:,}",
            "seeds": lambda: f"{manifest['budget']['seeds']}",
        } | {word: functools.partial(count, table(folder)) for word, count in COUNTS.items()}
        if form not in about:
            raise unknown("number of an experiment", form, about)
        return about[form]()
    if form == "answer":
        return _answer(name, table(folder), " ".join(places))
    return _written(_line(table(folder), places), form)


def _of_paper(folder: Path, form: str, table: Callable[[Path], list[Line]]) -> str:
    """The counts of all experiments of a paper."""
    if form not in COUNTS:
        raise unknown("number of a paper", form, COUNTS)
    found = sorted(path.parent for path in folder.glob("*/table.csv"))
    if not found:
        raise UsageError(f"there are no results in {folder.name}.")
    return COUNTS[form]([line for path in found for line in table(path)])


def _answer(name: str, lines: list[Line], about: str) -> str:
    """The sentence about this in what an experiment answers."""
    answers = dict(text.split(": ", 1) for text in reports.kind_of(experiment.load(name)).answers(lines))
    if about not in answers:
        raise unknown("answer of an experiment", about, answers)
    return answers[about]


def _line(lines: list[Line], words: list[str]) -> Line:
    """The one line that has all of these words, and no other words of a setting."""
    found = [line for line in lines if _named(line) >= set(words)]
    exact = [line for line in found if all(f"{key}={value}" in words for key, value in line.place.setting.items())]
    if len(exact or found) != 1:
        raise UsageError(f"{len(exact or found)} lines have the words {' '.join(words)}; name one.")
    return (exact or found)[0]


def _named(line: Line) -> set[str]:
    place = line.place
    return {place.task, place.operation, place.split, place.model, place.metric,
            *(f"{key}={value}" for key, value in place.setting.items())}  # fmt: skip


def _written(line: Line, form: str) -> str:
    if form == "verdict":
        return line.shown()
    if form == "n":
        return f"{line.n_seeds}"
    if form == "k/n":
        return f"{round(line.ours.value * line.n_seeds)} of {line.n_seeds}"
    if form.startswith("printed"):
        if not line.printed_text:
            raise UsageError("no number is printed there.")
        return _formatted(float(line.printed_text), "%") if form == "printed%" else line.printed_text
    plain = form.removesuffix(BRACKETS)
    if form == plain:
        return _formatted(line.ours.value, plain)
    return in_prose(*line.ours, lambda number: _formatted(number, plain))


def _formatted(number: float, form: str) -> str:
    if form.startswith(">"):
        return f"> {form[1:]}" if math.isinf(number) else f"{number:.3g}"
    return f"{100 * number + 0.0:.0f} %" if form == "%" else f"{number:,.0f}" if form == "," else f"{number:{form}}"
