"""Campaigns: the order of experiments and stages, and files that are refused in one line."""

from pathlib import Path

import pytest

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.plan import campaign, experiment

COMPLETE = paths.experiments_dir() / "madsen2020/campaigns/complete.yaml"


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_all_experiments_come_at_the_first_stage_before_any_at_the_second(tmp_path: Path) -> None:
    text = """
budget: smoke
stages: [2, 4]
overrides: [recipe.batch_size=8]
experiments:
  - madsen2020/table1
  - {experiment: madsen2020/figure3a, overrides: ["model=nmu", "model.hidden_size=2"], stages: [3]}
  - {experiment: madsen2020/table2, overrides: ["model=nau"]}
"""
    legs = list(campaign.legs(campaign.load(written(tmp_path, text)), ["device.width=2"]))
    table1, figure3a, table2 = (f"madsen2020/{name}" for name in ("table1", "figure3a", "table2"))
    assert [(leg.name, leg.stage, leg.before, leg.seeds) for leg in legs] == [
        (table1, 0, 0, 2), (figure3a, 0, 0, 3), (table2, 0, 0, 2), (table1, 1, 2, 4), (table2, 1, 2, 4),
    ]  # fmt: skip
    assert legs[1].words == (
        figure3a, "budget=smoke", "recipe.batch_size=8", "model=nmu", "model.hidden_size=2", "device.width=2",
    )  # fmt: skip
    (only,) = legs[1].plan.cells
    assert (only.seeds, only.cell.recipe.batch_size, legs[1].plan.machine.width) == ((0, 1, 2), 8, 2)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("experiments: [madsen2020/tabel1]\nstages: [2]", "unknown experiment 'madsen2020/tabel1'; did you mean"),
        ("experiments: [madsen2020/table1]\nstages: [50, 25]", r"must rise from at least 1, .* got \[50, 25\]"),
        ("experiments: [madsen2020/table1]\nstages: [25, 25]", r"must rise .* got \[25, 25\]"),
        ("experiments: [madsen2020/table1]\nstages: [0]", r"must rise .* got \[0\]"),
        ("experiments: [madsen2020/table1]\nstages: []", r"must rise .* got \[\]"),
        ("experiments: [{experiment: madsen2020/table1, stages: [3, 2]}]\nstages: [2]", "stages of madsen2020/table1"),
        ("- madsen2020/table1", "mine.yaml must set experiments, stages, got"),
        ("just a text", "unknown key of mine.yaml 'just a text'"),
        ("experiments: madsen2020/table1\nstages: [2]", "experiments must be a list of experiments"),
        ("experiments: []\nstages: [2]", "must list at least one experiment"),
        ("experiments: [madsen2020/table1, madsen2020/table1]\nstages: [2]", "must list madsen2020/table1 once"),
        ("experiments: [{name: madsen2020/table1}]\nstages: [2]", "unknown key of an experiment of mine.yaml 'name'"),
        ("experiments: [madsen2020/table1]\nstages: [2]\nmicroseconds: .nan", "microseconds .* above 0, got nan"),
        ("experiments: [madsen2020/table1]\nstages: [2]\nmicroseconds: -4", "microseconds .* above 0, got -4"),
        ("stages: [2]", "must set experiments"),
        ("experiments: [", "a campaign must be a file of YAML with a list of experiments, and .* is none"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as refused:
        campaign.load(written(tmp_path, text))
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a campaign must be a file .* is not there"):
        campaign.load(tmp_path / "none.yaml")


@pytest.mark.slow
def test_the_shipped_campaign_is_no_experiment_and_trains_25_seeds_everywhere_first() -> None:
    assert not [name for name in experiment.names() if "campaign" in name]
    legs = list(campaign.legs(campaign.load(COMPLETE), []))
    assert [leg.seeds for leg in legs] == [25] * 9 + [50] * 9
    assert legs[0].name == "madsen2020/all_models"
    assert len({want.cell.digest for leg in legs for want in leg.plan.cells}) == 262
    assert {want.cell.recipe.steps for leg in legs for want in leg.plan.cells} == {5_000_000}
