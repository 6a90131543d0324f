"""The article holds every claim, every experiment and what the runs cost, and its links lead somewhere."""

import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from nalu_bench import paths
from nalu_bench.analysis.outcome import duration
from nalu_bench.analysis.stats.samples import compare_values
from nalu_bench.pages import article, prose, tally
from nalu_bench.pages.build import reported
from nalu_bench.pages.listing import listing
from nalu_bench.pages.title_page import title_page

RESULTS = paths.CHECKOUT / "results"


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.fixture(scope="module")
def text() -> str:
    return article.article(list(reported(RESULTS)))


def test_the_committed_article_is_that_of_the_results(text: str) -> None:
    assert (RESULTS / "article.md").read_text(encoding="utf-8") == text, "make it again: nalu-bench article"


def test_every_claim_in_words_and_every_experiment_is_in_it(text: str) -> None:
    for one in reported(RESULTS):
        assert f"[{one.experiment.name}]({one.experiment.name}/table.md)" in text
        for line in one.lines:
            if line.threshold:
                assert line.printed_text in text


def test_its_title_page_names_authors_version_and_licence_as_the_citation_does(text: str, tmp_path: Path) -> None:
    cited = yaml.safe_load(paths.citation().read_text(encoding="utf-8"))
    head = text.partition("## In short")[0]
    for told in (*(author["name"] for author in cited["authors"]), cited["title"], cited["version"], cited["license"]):
        assert told in head
    other = tmp_path / "CITATION.cff"
    person = "{given-names: Ada, family-names: Lovelace, affiliation: Analytical Society}"
    other.write_text(f"title: engine\nlicense: MIT\nauthors: [{person}, {{name: The others}}]\n")
    assert title_page(other)["authors"] == "Ada Lovelace (Analytical Society); The others"


def test_it_is_the_same_to_the_byte_wherever_it_is_made(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    assert article.article(list(reported(RESULTS))) == text
    assert str(paths.CHECKOUT) not in text


def test_an_experiment_of_a_package_needs_no_page_and_its_title_is_text(tmp_path: Path) -> None:
    one = next(reported(RESULTS))
    titled = replace(one.experiment, folder=tmp_path / "mine", title="Sums | products <script>x</script>")
    found = [replace(one, experiment=titled)]
    shown = article.page(article.article(found))
    assert "<script>" not in shown + listing(found)
    assert f"Sums \\| products &lt;script>x&lt;/script>]({titled.name}/table.md) |" in listing(found)


def test_every_printed_number_that_counts_is_in_the_table_by_unit_once() -> None:
    experiments = list(reported(RESULTS))
    titles = {one.experiment.folder.name: one.experiment.folder.name for one in experiments}
    header, rows = tally.by_unit(experiments, titles)
    shown = pd.DataFrame(rows, columns=header).replace("", 0)
    tables = pd.concat(
        [pd.read_csv(one.folder / "table.csv", dtype=str).fillna("").assign(paper=one.experiment.folder.name)
         for one in experiments]
    )  # fmt: skip
    counted = tables[(tables["printed"].str.fullmatch(r"[<>]?-?[\d.]+(e[+-]?\d+)?")) & (tables["verdict"] != "")]
    counted = counted[counted["verdict"] != "same seeds"]
    for paper, lines in counted.groupby("paper"):
        mine = shown[shown["source"].str.startswith(str(paper))]
        assert mine["how many"].sum() == len(lines)
        for verdict, count in lines["verdict"].value_counts().items():
            assert mine[verdict].sum() == count
        assert mine["compared"].sum() == (lines["verdict"] != "not comparable").sum()


def test_what_a_papers_readme_discusses_is_discussed(text: str) -> None:
    discussion = text.partition("\n## Discussion\n")[2].partition("\n## ")[0]
    readmes = [readme.read_text(encoding="utf-8") for readme in paths.experiments_dir().glob("*/README.md")]
    said = [prose.section(readme, heading) for readme in readmes for heading in ("Discussion", "Easy and hard")]
    assert sum(map(bool, said)) >= 6
    for section in said:
        assert prose.plain(re.sub(r"\]\([^)]*\)", "", section)).strip() in re.sub(r"\]\([^)]*\)", "", discussion)


def test_the_margin_of_samples_in_it_is_that_of_the_comparison(text: str) -> None:
    """Two samples of one shape, shifted until a seed of ours is larger in just less, and just more, of all pairs."""
    low, high = map(int, re.findall(r"lies within (\d+) to (\d+) %", one_line(text))[0])
    sample, unsure = np.arange(1000.0), 0.03  # half of the 90 % interval is 2 points

    def with_share(share: float) -> str:
        shift = sample.size * (1 - np.sqrt(2 - 2 * share))
        found = compare_values(sample + shift, sample)
        assert found.difference + 0.5 == pytest.approx(share, abs=0.002)
        return found.reason

    assert "confidence within" in with_share(high / 100 - unsure)
    assert "confidence not within" in with_share(high / 100 + unsure)
    assert low + high == 100


def test_its_links_lead_to_files(text: str) -> None:
    links = [link.partition("#")[0] for link in re.findall(r"\]\((?!https?:|#)([^)\s]+)\)", text)]
    assert len(links) > 20
    assert [link for link in links if not (RESULTS / link).exists()] == []


def test_the_time_is_that_of_all_manifests(text: str) -> None:
    manifests = [json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("*/*/manifest.json")]
    parts = {name: part for manifest in manifests for name, part in manifest["parts"].items()}
    cores, cards = (
        sum(part["seconds"] for part in parts.values() if (part["device"] == "cuda") is on_card)
        for on_card in (False, True)
    )
    told = f"{duration(cores)} and {duration(cards, 'GPU')}" if cards else duration(cores)
    assert f"All runs in this folder took {told}:" in text


def at_commit(commit: str, experiment: str) -> dict[str, Any]:
    """The manifest of an experiment's results in the history."""
    command = ["git", "show", f"{commit}:results/{experiment}/manifest.json"]
    done = subprocess.run(command, cwd=paths.CHECKOUT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("needs the whole history of the repository")
    manifest: dict[str, Any] = json.loads(done.stdout)
    return manifest


def present() -> set[str]:
    """The blocks behind all results."""
    manifests = paths.results_dir().glob("*/*/manifest.json")
    return {block for path in manifests for block in json.loads(path.read_text())["parts"]}


def runs_of(blocks: Iterable[str]) -> int:
    ends = [map(int, block.rpartition("/")[2].split("-")) for block in blocks]
    return sum(last - first + 1 for first, last in ends)


def test_what_discarded_experiments_cost_is_what_their_manifests_say() -> None:
    told = present()
    for row in pd.read_csv(paths.experiments_dir() / article.DISCARDED).to_dict("records"):
        manifest = at_commit(row["commit"], row["experiment"])
        gone = {block: part["seconds"] for block, part in manifest["parts"].items() if block not in told}
        told |= set(gone)
        runs = manifest["runs"] if len(gone) == len(manifest["parts"]) else runs_of(gone)
        assert (row["runs"], row["core_seconds"]) == (runs, pytest.approx(sum(gone.values())))


@pytest.mark.slow
def test_every_block_that_was_ever_committed_is_there_or_discarded() -> None:
    rows = pd.read_csv(paths.experiments_dir() / article.DISCARDED).to_dict("records")
    told = present().union(*(at_commit(row["commit"], row["experiment"])["parts"] for row in rows))
    command = ["git", "log", "--format=%h", "--name-only", "--", "results/*/*/manifest.json"]
    commit, lost = "", set()
    for line in subprocess.run(command, cwd=paths.CHECKOUT, capture_output=True, text=True, check=True).stdout.split():
        experiment = line.removeprefix("results/").removesuffix("/manifest.json")
        if experiment == line:
            commit = line
        elif in_tree(commit, line):
            lost |= {f"{experiment} {block}" for block in at_commit(commit, experiment)["parts"] if block not in told}
    assert not lost


def in_tree(commit: str, path: str) -> bool:
    command = ["git", "cat-file", "-e", f"{commit}:{path}"]
    return subprocess.run(command, cwd=paths.CHECKOUT, capture_output=True, check=False).returncode == 0


def test_the_page_has_its_tables_and_no_mark(text: str) -> None:
    page = article.page(text)
    assert page.count("<table>") > 20
    assert "<!--=" not in page
    assert "[TOC]" not in page
