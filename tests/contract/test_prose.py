"""What the pages of the experiments say about results is written by the program, or computed again by a test."""

import importlib
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from nalu_bench import paths
from nalu_bench.pages import prose
from nalu_bench.plan import experiment

PAGES = [paths.CHECKOUT / "README.md", *sorted(paths.experiments_dir().glob("*/*.md"))]
RESULTS = paths.CHECKOUT / "results"
FOUND, CAME_OUT, DISCUSSION = "What we found", "What came out", "Discussion"
CHANGED = "Changed after the runs"

NAMED = re.compile(
    r"`[^`]*`|\]\([^)]*\)"  # code and addresses
    r"|\b(Tables?|Figures?|[Ss]ections?|[Ee]quations?) \d+(\.\d+)*[a-z]?"
    r"|\b(9[05]|99) % (interval|confidence|limit)\w*|\[[^\]]*95 %[^\]]*\]"
    r"|NAC[•₊,σNMU]*|<!--.*?-->",
    re.DOTALL,
)
"""Digits that are names, and not results."""

COMMIT = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}\b")
"""The name of a commit, which has a digit and a letter."""

COUNTED = re.compile(
    r"\b(no|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (of|in) (the |our |its )?"
    r"(three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d+)\b"
)
"""A count of results in words."""

LETTER = re.compile(r"[^\W\d_]")

DIGITS = re.compile(r"(?<![\w.])[-−]?\d[\d,.]*(e[-+]?\d+)?")


def recomputed(page: Path) -> list[str]:
    """The sentences of a page that `tests/papers/<paper>/recomputed.py` computes again from the runs."""
    if not (paths.CHECKOUT / "tests/papers" / page.parent.name / "recomputed.py").exists():
        return []
    return importlib.import_module(f"tests.papers.{page.parent.name}.recomputed").sentences(page.stem)


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_the_numbers_between_marks_are_those_of_the_results(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert prose.filled(text, RESULTS, page.parent.name) == text, "make it again: nalu-bench report --all"


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_a_page_has_at_most_1500_words(page: Path) -> None:
    """Numbers, addresses and the log of what changed do not count."""
    text = page.read_text(encoding="utf-8").partition(f"## {CHANGED}")[0]
    words = [
        word for word in re.sub(r"<!--.*?-->|\]\([^)]*\)", " ", text, flags=re.DOTALL).split() if LETTER.search(word)
    ]
    assert len(words) <= 1500


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_the_sentences_that_are_recomputed_stand_in_the_page(page: Path) -> None:
    text = one_line(page.read_text(encoding="utf-8"))
    missing = [sentence for sentence in recomputed(page) if one_line(sentence) not in text]
    assert not missing, f"{page.name} must say: {missing}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_no_number_of_results_is_typed_by_hand(page: Path) -> None:
    """Constants of the protocol stand in a mark `<!--protocol: 1,000; 50 epochs-->` of their section."""
    whole = page.read_text(encoding="utf-8")
    text = "\n".join(prose.section(whole, heading) for heading in (FOUND, CAME_OUT, DISCUSSION))
    constants = [
        one.strip() for mark in re.findall(r"<!--protocol:(.*?)-->", text, re.DOTALL) for one in mark.split(";")
    ]
    text = one_line(prose.MARK.sub(" ", text))
    for sentence in recomputed(page):
        text = text.replace(one_line(sentence), " ")
    text = NAMED.sub(" ", text)
    for constant in sorted(map(one_line, constants), key=len, reverse=True):
        text = re.sub(rf"(?<![\w.,]){re.escape(constant)}(?![\w]|[.,]\d)", " ", text)
    typed = [
        text[max(0, hit.start() - 40) : hit.end() + 20] for hit in (*DIGITS.finditer(text), *COUNTED.finditer(text))
    ]
    assert not typed, f"mark these, or compute them in tests/papers/{page.parent.name}/recomputed.py: {typed}"


@pytest.mark.parametrize("name", experiment.names())
def test_an_experiment_with_results_has_a_page_that_says_what_came_out(name: str) -> None:
    one = experiment.load(name)
    if (RESULTS / name).exists():
        assert prose.section(one.page.read_text(encoding="utf-8"), CAME_OUT)


@pytest.mark.parametrize("name", experiment.names())
def test_a_change_of_the_report_after_its_runs_is_listed(name: str) -> None:
    one = experiment.load(name)
    listed = prose.section(one.page.read_text(encoding="utf-8"), CHANGED)
    for day, commit, keys in changes(f"experiments/{name}.yaml", f"results/{name}/runs.csv"):
        assert day in listed, f"{one.page.name} must list under '{CHANGED}' what {commit} of {day} changed: {keys}"


def test_the_commits_that_pages_list_are_there() -> None:
    if git("rev-parse", "--is-shallow-repository").strip() != "false":
        pytest.skip("needs the whole history of the repository")
    known = git("log", "--format=%H").split()
    for page in PAGES:
        for commit in COMMIT.findall(prose.section(page.read_text(encoding="utf-8"), CHANGED)):
            assert any(one.startswith(commit) for one in known), f"{page}: no commit is called {commit}"


def changes(file: str, runs: str) -> list[tuple[str, str, list[str]]]:
    """(day, commit, keys) of every change of a report block after the first runs were committed."""
    if git("rev-parse", "--is-shallow-repository").strip() != "false":
        pytest.skip("needs the whole history of the repository")
    first = git("log", "--diff-filter=A", "--format=%h", "--", runs).split()[-1:]
    if not first:
        return []
    before, found = block(first[0], file), []
    for entry in git("log", "--reverse", "--format=%h %cs", f"{first[0]}..HEAD", "--", file).splitlines():
        commit, day = entry.split()
        now = block(commit, file)
        keys = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
        found += [(day, commit, keys)] if keys else []
        before = now
    return found


def block(commit: str, file: str) -> dict[str, object]:
    content = yaml.safe_load(git("show", f"{commit}:{file}") or "{}") or {}
    return dict(content.get("report", {}))


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=paths.CHECKOUT, capture_output=True, text=True, check=False)
    return done.stdout
