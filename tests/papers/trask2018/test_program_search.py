"""Rates and sizes of the networks of Figures 4 and 6 are those of their searches, by the rules that the pages state."""

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.plan import compose, experiment
from nalu_bench.plan.cell import Cell

FOLDER = paths.experiments_dir() / "trask2018"
PAIR = ["learning_rate", "hidden_size"]
PILOT = "program_ugrnn_relu"
NALUS = ["program_nalu", "program_nalu_integers"]


@pytest.fixture(scope="module")
def sums_of_two() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "figure6.searched.csv")


@pytest.fixture(scope="module")
def programs() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "figure4.searched.csv")


def cells(name: str) -> list[Cell]:
    """The cells of an experiment without its controls."""
    plan = compose.plan_experiment(experiment.load(f"trask2018/{name}"), ["budget=paper"])
    return [want.cell for want in plan.cells if want.role == "cell"]


def summed(found: pd.DataFrame, by: list[str]) -> "pd.Series[float]":
    """What was searched -> the sum over the models of their medians in training, in percent; the largest first."""
    medians = found.groupby([*by, "model"])["train_digits"].median()
    return 100 * medians.groupby(by).sum().sort_values(ascending=False)


def page(name: str) -> str:
    return " ".join((FOLDER / f"{name}.md").read_text(encoding="utf-8").split())


def test_figure_6_has_the_pair_with_the_largest_sum_of_shares_in_training(sums_of_two: pd.DataFrame) -> None:
    found = sums_of_two[sums_of_two["model"] != PILOT]
    assert set(found["seed"]) == set(range(10_000, 10_005))
    assert len(found) == len(found.drop_duplicates([*PAIR, "model", "seed"])) == 3 * 2 * 4 * 5
    rate, size = summed(found, PAIR).index[0]
    for cell in cells("figure6"):
        assert (cell.recipe.learning_rate, cell.model.hidden_size) == (rate, size)


def test_what_the_page_says_of_the_search_of_figure_6_is_what_it_found(sums_of_two: pd.DataFrame) -> None:
    best, *others = summed(sums_of_two[sums_of_two["model"] != PILOT], PAIR)
    assert f"{best:.1f} of 400 %; the others have {others[-1]:.1f} to {others[0]:.1f} " in page("figure6")
    learned = (sums_of_two["train_digits"] >= 0.9).groupby(sums_of_two["model"]).agg(["sum", "size"])
    assert (learned.loc[["program_lstm", "program_ugrnn"], "sum"] == 30).all()
    some, most = ("{sum} of {size} with ".format(**learned.loc[model]) for model in NALUS)
    told = f"of the NALUs {some}an LSTM that reads the operators alone, {most}one that reads all."
    assert told in page("figure6")
    nalus = sums_of_two[sums_of_two["model"].isin(NALUS)]
    larger = nalus["learning_rate"] > cells("figure6")[0].recipe.learning_rate
    slow, faster = ((part["test_digits"] >= 0.95).agg(["sum", "size"]) for _, part in nalus.groupby(larger))
    told = "{sum} of {size} had 95 % in the test after these 50,000 steps, ".format(**slow)
    assert told + "and with the larger rates {sum} of {size}.".format(**faster) in page("figure6")


def test_figure_4_has_the_rate_then_the_numbers_with_the_largest_sums_in_training(programs: pd.DataFrame) -> None:
    rates = programs[programs["numbers"] != 16]
    assert set(programs["seed"]) == set(range(10_000, 10_005))
    assert len(programs) == len(programs.drop_duplicates(["model", "learning_rate", "numbers", "seed"])) == 14 * 5
    rate = summed(rates, ["learning_rate"]).index[0]
    numbers = summed(programs.query("model in @NALUS and learning_rate == @rate"), ["numbers"]).index[0]
    for cell in cells("figure4"):
        if cell.task.name == "programs":
            assert cell.recipe.learning_rate == rate
            assert getattr(cell.model, "numbers", numbers) == numbers


def test_what_the_page_says_of_the_search_of_figure_4_is_what_it_found(programs: pd.DataFrame) -> None:
    rates = summed(programs[programs["numbers"] != 16], ["learning_rate"])
    first, second, third = (f"{share:.1f}" for share in rates)
    assert list(rates.index) == [0.001, 0.003, 0.0003]
    assert f"{first} of 400 %, against {second} with 0.003 and {third} with 0.0003 " in page("figure4")
    sizes = summed(programs.query("model in @NALUS and learning_rate == 0.001"), ["numbers"])
    assert list(sizes.index) == [4, 16]
    assert "4 outputs: {:.1f} of 200 %, against {:.1f} with 16.".format(*sizes) in page("figure4")
    medians = programs[programs["numbers"] != 16].groupby(["model", "learning_rate"])["train_digits"].median().unstack()
    best = {*medians.idxmax(axis=1).items()}
    assert best == {("program_lstm", 0.001), *((model, 0.003) for model in (*NALUS, PILOT))}
    lstm = 100 * programs.loc[programs["model"] == "program_lstm", "test_digits"].max()
    assert f"no LSTM had more than {lstm:.1f} % in the test" in page("figure4")
    assert f"no network had more than {100 * programs['train_digits'].max():.1f} % " in page("figure4")
