"""The article holds every claim, every experiment and what the runs cost, and its links lead somewhere."""

import json
import re
import subprocess

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis.outcome import duration
from nalu_bench.analysis.pages import article
from nalu_bench.analysis.pages.build import reported

RESULTS = paths.CHECKOUT / "results"


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


def test_its_links_lead_to_files(text: str) -> None:
    links = [link.partition("#")[0] for link in re.findall(r"\]\((?!https?:|#)([^)\s]+)\)", text)]
    assert len(links) > 20
    assert [link for link in links if not (RESULTS / link).exists()] == []


def test_the_time_is_that_of_all_manifests(text: str) -> None:
    manifests = [json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("*/*/manifest.json")]
    parts = {name: part["seconds"] for manifest in manifests for name, part in manifest["parts"].items()}
    assert f"All runs in this folder took {duration(sum(parts.values()))}" in text


def test_what_discarded_experiments_cost_is_what_their_manifests_say() -> None:
    for row in pd.read_csv(paths.experiments_dir() / article.DISCARDED).to_dict("records"):
        place = f"{row['commit']}:results/{row['experiment']}/manifest.json"
        command = ["git", "show", place]
        done = subprocess.run(command, cwd=paths.CHECKOUT, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip("needs the whole history of the repository")
        manifest = json.loads(done.stdout)
        assert (row["runs"], row["core_seconds"]) == (manifest["runs"], manifest["seconds"])


def test_the_page_has_its_tables_and_no_mark(text: str) -> None:
    page = article.page(text)
    assert page.count("<table>") > 20
    assert "<!--=" not in page
    assert "[TOC]" not in page
