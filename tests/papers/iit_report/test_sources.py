"""The report is quoted word for word, and named so that a reader can tell which document it is."""

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis.printed import published
from nalu_bench.analysis.table.line import OURS
from nalu_bench.plan import experiment

REPORT = paths.CHECKOUT.parent / "shared" / "seeds" / "iit-indore-report.txt"


def theirs(name: str) -> pd.DataFrame:
    """What the report prints of an experiment, without our own claims."""
    found = published.read(experiment.load(name).published)
    return found[found["source"] != OURS]


@pytest.mark.parametrize("name", ["iit_report/challenges", "iit_report/identity", "iit_report/tables"])
def test_every_source_names_author_and_title_of_the_report_and_no_file(name: str) -> None:
    sources = theirs(name)["source"]
    assert sources.str.startswith("Bharath kollanur, Counting/Manipulating numbers").all()
    assert not sources.str.contains("seeds/|[.]txt").any()


def test_the_claims_are_quoted_from_the_report_and_its_title_is_the_printed_one() -> None:
    if not REPORT.exists():
        pytest.skip("the source is not at hand")
    text = " ".join(REPORT.read_text(encoding="utf-8").split()).replace("$y \\neq 0$", "y ≠ 0")
    lines, challenges = (theirs(f"iit_report/{name}") for name in ("identity", "challenges"))
    assert all(quote in text for quote in [*lines["printed"], *challenges["printed"]])
    author, _, title = lines["source"].iloc[0].partition(" (")[0].partition(", ")
    assert author in text
    assert title in text
