"""Rate and size of the networks of Figures 4 and 6 are those of the search, by the rule that its page states."""

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.plan import compose, experiment

FOLDER = paths.experiments_dir() / "trask2018"
PAIR = ["learning_rate", "hidden_size"]


@pytest.fixture(scope="module")
def searched() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "figure6.searched.csv")


def medians(searched: pd.DataFrame, column: str) -> pd.DataFrame:
    """Rows are pairs of a rate and a size, columns models."""
    return searched.groupby([*PAIR, "model"])[column].median().unstack("model")


def test_the_pair_with_the_largest_sum_of_shares_in_training_was_taken(searched: pd.DataFrame) -> None:
    assert set(searched["seed"]) == set(range(10_000, 10_005))
    assert len(searched) == len(searched.drop_duplicates([*PAIR, "model", "seed"])) == 3 * 2 * 4 * 5
    rate, size = medians(searched, "train_digits").sum(axis="columns").idxmax()
    for name in ("figure4", "figure6"):
        for want in compose.plan_experiment(experiment.load(f"trask2018/{name}"), ["budget=paper"]).cells:
            assert (want.cell.recipe.learning_rate, want.cell.model.hidden_size) == (rate, size)


def test_what_the_page_says_of_the_search_is_what_it_found(searched: pd.DataFrame) -> None:
    page = (FOLDER / "figure6.md").read_text(encoding="utf-8")
    sums = 100 * medians(searched, "train_digits").sum(axis="columns")
    others = sums.drop(sums.idxmax())
    assert f"{sums.max():.1f} of 400 %; the others have {others.min():.1f} to {others.max():.1f}" in page
    test = 100 * medians(searched, "test_digits")
    for model in ("program_nalu", "program_nalu_integers"):
        assert f"{test[model].min():.0f} to {test[model].max():.0f} %" in page
    fast = test.loc[(0.003, 64)]
    alone, integers = fast["program_nalu"], fast["program_nalu_integers"]
    assert f"five is {alone:.0f} % with operators alone, and {integers:.0f} % with integers" in " ".join(page.split())
