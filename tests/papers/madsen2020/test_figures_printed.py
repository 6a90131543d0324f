"""The printed numbers of the figures and of the comparison of all models are their converted sources."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis.printed import published, recomputed
from nalu_bench.analysis.printed.seeds import read_seeds
from nalu_bench.analysis.reports.kind import place_of
from nalu_bench.analysis.results import kind_of
from nalu_bench.plan import compose, experiment

convert = runpy.run_path(str(paths.CHECKOUT / "tests/analysis/printed/converter.py"))["convert"]

SOURCES = paths.CHECKOUT.parent / "shared" / "published"
FIGURES = {
    "figure3a_all": "madsen_fig_hidden_size.csv", "figure3b": "madsen_fig_range.csv",
    "regularization": "madsen_fig_regularization.csv", "overlap": "madsen_fig_overlap.csv",
    "subset": "madsen_fig_subset.csv", "input_size": "madsen_fig_input_size.csv",
    "ablation": "madsen_fig_hidden_size_ablation.csv",
}  # fmt: skip
MOST_INPUTS = 100
"""Larger inputs are printed, and not trained."""

ALL = experiment.load("madsen2020/all_models")
TABLE = 'Table "all models" (function-task-static-defaults-all), '


def source(file: str) -> Path:
    if not (SOURCES / file).exists():
        pytest.skip(f"the source {file} is not at hand")
    return SOURCES / file


@pytest.mark.parametrize("name", FIGURES)
def test_the_numbers_beside_a_figure_are_its_converted_source(name: str) -> None:
    theirs = convert(source(FIGURES[name]))
    inputs = theirs["setting"].str.extract(r"inputs=(\d+)")[0].fillna("0").astype(int)
    ours = published.read(experiment.load(f"madsen2020/{name}").published)
    pd.testing.assert_frame_equal(ours, theirs[inputs <= MOST_INPUTS].reset_index(drop=True))


@pytest.mark.parametrize("name", ["all_models", *FIGURES])
def test_every_cell_has_a_printed_rate_and_every_printed_number_a_cell(name: str) -> None:
    one = experiment.load(f"madsen2020/{name}")
    cells = {place_of(want) for want in compose.plan_experiment(one, ["budget=paper"]).cells}
    printed = kind_of(one).published
    assert {place.cell() for place in printed} == cells
    assert {place.cell() for place in printed if place.metric == "success_rate"} == cells


@pytest.mark.parametrize("name", ["all_models", *FIGURES])
def test_runs_are_on_the_faster_kernels_and_the_published_protocol(name: str) -> None:
    for want in compose.plan_experiment(experiment.load(f"madsen2020/{name}"), ["budget=paper"]).cells:
        recipe = want.cell.recipe
        assert (recipe.kernels, recipe.steps, recipe.ramp_scale, recipe.log_every) == ("own", 5_000_000, 1.0, 1000)
        assert want.cell.skip() is None


def test_figure_3a_keeps_its_numbers_where_all_models_have_them_too() -> None:
    both = [published.read(experiment.load(f"madsen2020/{name}").published) for name in ("figure3a", "figure3a_all")]
    pd.testing.assert_frame_equal(both[0], both[1].merge(both[0]))


def test_the_numbers_of_all_models_are_exact_where_they_are_known_and_printed_for_the_gated_unit() -> None:
    path = source("madsen_all_models.csv")
    exact = convert(path, {"experiment": [f"{TABLE}exact"]})
    gated = convert(path, {"experiment": [f"{TABLE}printed"], "model": ["Gated NAU/NMU"]})
    expected = pd.concat([exact, gated], ignore_index=True)
    pd.testing.assert_frame_equal(published.read(ALL.published), expected)
    assert expected.groupby("model").size().to_dict() == dict.fromkeys(expected["model"].unique(), 24)


def test_exact_numbers_of_all_models_round_to_the_printed_ones() -> None:
    path = source("madsen_all_models.csv")
    exact = convert(path, {"experiment": [f"{TABLE}exact"]}).set_index(published.KEYS)["printed"]
    rounded = convert(path, {"experiment": [f"{TABLE}printed"]}).set_index(published.KEYS)["printed"]
    for key, text in exact.items():
        assert bool(text) == bool(rounded[key])
        assert not text or float(text) == pytest.approx(float(rounded[key]), rel=0.051)


def test_recomputed_means_of_all_models_are_those_of_their_source() -> None:
    only = {"metric": ["solved_at_iteration_sample_mean", "sparsity_error_sample_mean"]}
    theirs = convert(source("madsen_sft_recomputed.csv"), only).rename(columns={"printed": "recomputed"})
    ours = published.read_keyed(ALL.recomputed, recomputed.OWN_COLUMNS)
    columns = [*published.KEYS, "recomputed", "n_seeds", "printed_model", "source"]
    pd.testing.assert_frame_equal(ours[columns], ours[published.KEYS].merge(theirs, "left")[columns])
    assert len(ours) == len(theirs) == 120


def test_seeds_of_all_models_are_those_of_the_published_list() -> None:
    theirs = pd.read_csv(source("madsen_seeds.csv")).set_index(["operation", "model", "seed"]).sort_index()
    seeds = read_seeds(ALL.seeds)
    assert len(seeds) == 60
    for place, rows in seeds.items():
        part = theirs.loc[(place.operation, place.model)].loc[rows["seed"]]
        assert list(rows["seed"]) == list(range(100))
        solved_at = part["extrapolation_solved_at"].where(part["solved"]).to_numpy(float)
        np.testing.assert_array_equal(solved_at, rows["solved_at"].to_numpy(float))
        np.testing.assert_array_equal(part["sparsity_error"].to_numpy(), rows["sparsity_error"].to_numpy())


def test_seeds_of_all_models_give_the_printed_rates_and_medians() -> None:
    printed = published.read(ALL.published).set_index(["operation", "model", "metric"])["printed"]
    for place, rows in read_seeds(ALL.seeds).items():
        keys = (place.operation, place.model)
        assert rows["solved_at"].notna().mean() == float(printed[(*keys, "success_rate")])
        median = printed[(*keys, "solved_at_median")]
        assert rows["solved_at"].median() == float(median) if median else rows["solved_at"].isna().all()
