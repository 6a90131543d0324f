"""The numbers that the README takes from results are those of the results."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from nalu_bench import paths
from nalu_bench.analysis.measure.manifest import read_manifest
from nalu_bench.analysis.outcome import duration
from nalu_bench.analysis.printed.seeds import read_seeds
from nalu_bench.analysis.stats.samples import paired
from nalu_bench.analysis.table.place import Place
from nalu_bench.plan import compose, experiment

FOLDER = experiment.load("madsen2020/table2").folder
README = re.sub(r"\s+", " ", (FOLDER / "README.md").read_text(encoding="utf-8"))
RUNS = {name: pd.read_csv(paths.CHECKOUT / "results/madsen2020" / name / "runs.csv") for name in ("table1", "table2")}
SEEDS = read_seeds(FOLDER / "table2.seeds.csv")


def ours(operation: str, model: str, setting: str = "", table: str = "table2") -> pd.DataFrame:
    runs = RUNS[table].fillna({"setting": ""})
    found = runs.query("operation == @operation and model == @model and setting == @setting")
    return found.sort_values("seed", ignore_index=True)


def theirs(operation: str, model: str) -> pd.DataFrame:
    return SEEDS[Place("arithmetic", operation=operation, model=model)].sort_values("seed", ignore_index=True)


def per_seed(operations: dict[str, pd.DataFrame]) -> NDArray[np.float64]:
    """The number of solved operations of every seed."""
    return np.sum([rows["solved_at"].notna().to_numpy(float) for rows in operations.values()], axis=0)


def says(text: str) -> None:
    assert text in README, f"the README must say: {text}"


@pytest.mark.parametrize("table", ["table1", "table2"])
def test_the_numbers_of_networks_are_those_of_the_plan(table: str) -> None:
    plan = compose.plan_experiment(experiment.load(f"madsen2020/{table}"), ["budget=paper"])
    steps = plan.cells[0].cell.recipe.steps
    says(f"{sum(len(want.seeds) for want in plan.cells):,} networks of {steps:,} steps")


def test_the_time_of_table_1_is_that_of_its_runs() -> None:
    manifest = read_manifest(paths.CHECKOUT / "results/madsen2020/table1")
    assert manifest is not None
    says(f"networks of 200,000 steps, {duration(manifest['seconds'])}")


def test_the_nmu_is_solved_after_the_ramp_begins() -> None:
    median = ours("mul", "nmu")["solved_at"].median()
    says(f"solved at a median of {median:,.0f} steps, {median - 1_000_000:,.0f} after the ramp begins")


def test_the_rates_of_the_nalu() -> None:
    rates = [f"{100 * ours(operation, 'nalu')['solved'].mean():.0f} %" for operation in ("add", "sub")]
    says(f"NALU on + and −: {rates[0]} and {rates[1]} where 14 % is printed")
    both, other = (
        per_seed({operation: of(operation, "nalu") for operation in ("add", "sub")}) for of in (ours, theirs)
    )
    says(f"solved operations a seed, {both.mean():.2f} against {other.mean():.2f}")
    rng, pooled, distance = np.random.default_rng(0), np.concatenate([both, other]), abs(both.mean() - other.mean())
    permuted = rng.permuted(np.tile(pooled, (20_000, 1)), axis=1)
    far = abs(permuted[:, : len(both)].mean(axis=1) - permuted[:, len(both) :].mean(axis=1)) >= distance - 1e-12
    says(f"p = {far.mean():.1g} by permutation")


def test_which_seeds_are_solved_on_the_authors_streams() -> None:
    p_values = []
    for operation in ("add", "sub"):
        here = ours(operation, "nalu", "streams=stable_nalu")
        there = theirs(operation, "nalu").query("25 <= seed < 50")
        assert here["seed"].tolist() == there["seed"].tolist()
        told = paired(here["solved"].to_numpy(bool), there["solved_at"].notna().to_numpy())
        p_values.append(told.rpartition("p = ")[2].rstrip(")"))
        if operation == "add":
            lists = [rows.loc[rows["solved_at"].notna(), "seed"].tolist() for rows in (here, there)]
            texts = [f"{', '.join(map(str, seeds[:-1]))} and {seeds[-1]}" for seeds in lists]
            says(f"on + ours are {texts[0]}, the authors' {texts[1]}")
    says(f"(McNemar: p = {p_values[0]} and {p_values[1]})")


def test_the_quartiles_of_errors_count_runs_that_are_not_finite_as_infinite() -> None:
    for operation, before in (("mul", "on ×, where nothing is solved, "), ("add", "on + ours are ")):
        errors = ours(operation, "nalu").query("seed < 25")["extrapolation_mse"].fillna(np.inf)
        low, middle, high = np.quantile(errors, [0.25, 0.5, 0.75], method="inverted_cdf")
        texts = (
            [f"{low:.1e}", f"{middle:.1e}", f"{high:.1e}"]
            if operation == "mul"
            else [f"{low:.0e}", f"{middle:.0f}", f"{high:.0f}"]
        )
        plain = [re.sub(r"e([+-])0?", lambda sign: "e" + sign[1].replace("+", ""), text) for text in texts]
        says(f"{before}{plain[0]}, {plain[1]} and {plain[2]}")
