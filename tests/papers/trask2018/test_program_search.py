"""Rate and size of the networks of Figures 4 and 6 are those of the search, by the rule that its page states."""

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.plan import compose, experiment

FOLDER = paths.experiments_dir() / "trask2018"
PAIR = ["learning_rate", "hidden_size"]
PILOT = "program_ugrnn_relu"


@pytest.fixture(scope="module")
def searched() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "figure6.searched.csv")


def test_the_pair_with_the_largest_sum_of_shares_in_training_was_taken(searched: pd.DataFrame) -> None:
    found = searched[searched["model"] != PILOT]
    assert set(found["seed"]) == set(range(10_000, 10_005))
    assert len(found) == len(found.drop_duplicates([*PAIR, "model", "seed"])) == 3 * 2 * 4 * 5
    rate, size = sums(found).idxmax()
    for name in ("figure4", "figure6"):
        for want in compose.plan_experiment(experiment.load(f"trask2018/{name}"), ["budget=paper"]).cells:
            assert (want.cell.recipe.learning_rate, want.cell.model.hidden_size) == (rate, size)


def sums(found: pd.DataFrame) -> "pd.Series[float]":
    """Rate and size -> the sum of the medians of the four models in training, in percent."""
    medians = found.groupby([*PAIR, "model"])["train_digits"].median()
    return 100 * medians.groupby(PAIR).sum()


def test_what_the_page_says_of_the_search_is_what_it_found(searched: pd.DataFrame) -> None:
    page = " ".join((FOLDER / "figure6.md").read_text(encoding="utf-8").split())
    best, *others = sums(searched[searched["model"] != PILOT]).sort_values(ascending=False)
    assert f"{best:.1f} of 400 %; the others have {others[-1]:.1f} to {others[0]:.1f} " in page
    learned = (searched["train_digits"] >= 0.9).groupby(searched["model"]).agg(["sum", "size"])
    assert (learned.loc[["program_lstm", "program_ugrnn"], "sum"] == 30).all()
    assert "{sum} of {size} NALUs".format(**learned.loc["program_nalu"]) in page
