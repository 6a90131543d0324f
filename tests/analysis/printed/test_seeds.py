"""The seeds behind printed numbers are the source's, and wrong files are refused."""

from pathlib import Path

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis.printed.published import read
from nalu_bench.analysis.printed.seeds import read_seeds
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.plan import experiment

TABLE2 = experiment.load("madsen2020/table2")


def test_the_seeds_of_table_2_give_its_printed_rates_and_medians() -> None:
    published = read(TABLE2.published).set_index(["setting", "operation", "model", "metric"])["printed"]
    seeds = read_seeds(TABLE2.seeds)
    assert len(seeds) == 11
    for place, rows in seeds.items():
        keys = ("", place.operation, place.model)
        assert rows["solved_at"].notna().mean() == float(published[(*keys, "success_rate")])
        median = published[(*keys, "solved_at_median")]
        assert rows["solved_at"].median() == float(median) if median else rows["solved_at"].isna().all()


def test_the_seeds_of_table_2_are_those_of_the_published_list() -> None:
    path = paths.CHECKOUT.parent / "shared" / "published" / "madsen_seeds.csv"
    if not path.exists():
        pytest.skip("the published lists are not beside this checkout")
    theirs = pd.read_csv(path).set_index(["operation", "model", "seed"])
    for place, rows in read_seeds(TABLE2.seeds).items():
        for row in rows.itertuples():
            source = theirs.loc[(place.operation, place.model, row.seed)]
            assert source["solved"] == (row.solved_at == source["extrapolation_solved_at"])
            assert source["sparsity_error"] == row.sparsity_error


HEADER = "task,setting,operation,model,seed,steps,solved_at,sparsity_error\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "must be a CSV in UTF-8 with the columns task, setting"),
        (
            HEADER + "a,,add,nau,1,10,,0.1\na,,add,nau,2,10,,0.1,7,8\n",
            "must be a CSV in UTF-8",
        ),
        ("task,seed\na,1\n", "must have the columns task, setting"),
        (HEADER + "a,,add,nau,1,10,,0.1\n" * 2, "twice"),
        (HEADER + "a,,add,nau,x,10,,0.1\n", "be a number"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "seeds.csv").write_text(text)
    with pytest.raises(UsageError, match=told):
        read_seeds(tmp_path / "seeds.csv")


def test_without_a_file_no_seeds_are_known(tmp_path: Path) -> None:
    assert read_seeds(tmp_path / "none.csv") == dict[Place, pd.DataFrame]()
