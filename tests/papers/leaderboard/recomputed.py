"""Pieces of sentences of the page about the leaderboard, computed again from its results."""

import functools
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench import paths

RESULTS = paths.CHECKOUT / "results" / "leaderboard" / "static"
POSITIVE, SIGNED = "range=[1, 2]", "range=[-2, 2]"
SUMS, PRODUCTS = ("add", "sub"), ("mul", "div")
ZERO = 1e-5
"""An effective weight below this is 0: it is the error of weights that the threshold allows."""

LABELS = {"single_nac_mul": "NAC•", "single_nalu": "the NALU", "single_nmu": "the NMU"}


def sentences(page: str) -> list[str]:
    """The pieces that the page must say word for word."""
    pages: dict[str, tuple[Callable[[], str], ...]] = {
        "static": (at_most, leaders, ties, signed_products, quotients, nalu, zeros, ten_inputs, still, halving),
    }
    return [piece() for piece in pages.get(page, ())]


def at_most() -> str:
    """The largest number of cells of which a unit solves a seed."""
    solved = _shares() > 0
    return f"None solves seeds of more than {solved.sum(axis=1).max()} of the {len(solved.columns)} cells"


def leaders() -> str:
    """Whether a linear layer and the NAU solve all sums and nothing else, and how many cells that are."""
    shares = _shares().loc[["single_linear", "single_nau"]]
    sums = shares.columns.get_level_values("operation").isin(SUMS)
    all_or_nothing = bool((shares.loc[:, sums] == 1).all(axis=None) and (shares.loc[:, ~sums] == 0).all(axis=None))
    return (
        f"{'solve' if all_or_nothing else 'do not solve'} all seeds of all sums and differences and nothing else: "
        f"{sums.sum()} of the {len(sums)} cells"
    )


def ties() -> str:
    """Whether the two leaders, and two units on NAC•, have the same place."""
    table = pd.read_csv(RESULTS / "table.csv")
    units = table[
        table["metric"].isin(["wins", "losses"]) | ((table["metric"] == "success_rate") & table["task"].isna())
    ]
    places = units.pivot_table("ours", "model", "metric")
    pairs = [("single_linear", "single_nau"), ("single_nac_mul_nmu", "single_nac_mul_sigma")]
    tie = all(places.loc[one].equals(places.loc[other]) for one, other in pairs)
    return f"The two {'tie' if tie else 'do not tie'}, and so do NAC•,NMU and NAC•,σ; names order them"


def signed_products() -> str:
    """Who multiplies inputs of both signs."""
    return f"Of inputs of both signs {_solvers('mul', SIGNED)} alone finds products"


def quotients() -> str:
    """Who divides."""
    return f"are solved by {_solvers('div', POSITIVE)} alone"


def nalu() -> str:
    """The range of the NALU's shares over the cells of positive inputs, and of both signs."""
    shares = _shares().loc["single_nalu"]
    positive, signed = (shares[[kind in setting for setting, _ in shares.index]] for kind in (POSITIVE, SIGNED))
    least, most, most_signed = (f"{100 * share:.0f}" for share in (positive.min(), positive.max(), signed.max()))
    return (
        f"It solves {least} to {most} % of the seeds of each operation on positive inputs, and {most_signed} % on "
        "inputs of both signs"
    )


def zeros() -> str:
    """In how many unsolved seeds of NAC+ and NAC• a weight is 0."""
    (sums, of_sums), (products, of_products) = (
        (int((_smallest_weights(unsolved) < ZERO).sum()), len(unsolved)) for unsolved in _unsolved_own()
    )
    return (
        f"in {sums} of {of_sums} such seeds of NAC₊ (sums and differences of two inputs), and in {products} of "
        f"{of_products} of NAC• (products and quotients of two positive inputs)"
    )


def ten_inputs() -> str:
    """Whether NAC+ and NAC• solve all seeds of these operations with ten inputs."""
    runs = _runs()
    wide = runs[runs["setting"].str.startswith("inputs=10")]
    sums = wide[(wide["model"] == "single_nac") & wide["operation"].isin(SUMS)]
    products = wide[(wide["model"] == "single_nac_mul") & wide["operation"].isin(PRODUCTS)]
    products = products[products["setting"].str.contains(POSITIVE, regex=False)]
    every = bool(sums["solved"].all() and products["solved"].all())
    return f"With ten inputs they solve {'all' if every else 'not all'} seeds of these operations"


def still() -> str:
    """How many seeds with a weight of 0 more than halved their error at the end."""
    runs = pd.concat(_unsolved_own())
    chosen = runs[_smallest_weights(runs) < ZERO]
    return (
        f"{_halved(chosen) or 'none'} of these {len(chosen)} more than halved their test error in the last 10,000 steps"
    )


def halving() -> str:
    """How many seeds of the NALU were still learning a difference of positive inputs."""
    runs = _runs()
    mine = runs[(runs["model"] == "single_nalu") & (runs["operation"] == "sub") & ~runs["solved"]]
    unsolved = mine[mine["setting"].str.contains(POSITIVE, regex=False)]
    return (
        f"Of the {len(unsolved)} seeds of the NALU that do not solve a difference of positive inputs, "
        f"{_halved(unsolved)} more than halved their test error in the last 10,000 steps"
    )


def _solvers(operation: str, kind: str) -> str:
    """The units that solve a seed of the operation on inputs of the kind."""
    runs = _runs()
    chosen = runs[(runs["operation"] == operation) & runs["setting"].str.contains(kind, regex=False) & runs["solved"]]
    return " and ".join(LABELS.get(model, model) for model in sorted(set(chosen["model"])))


def _unsolved_own() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The unsolved runs of NAC+ and of NAC• on two inputs and the operations that they can express."""
    runs = _runs()
    narrow = runs[runs["setting"].str.startswith("inputs=2") & ~runs["solved"]]
    sums = narrow[(narrow["model"] == "single_nac") & narrow["operation"].isin(SUMS)]
    products = narrow[(narrow["model"] == "single_nac_mul") & narrow["operation"].isin(PRODUCTS)]
    return sums, products[products["setting"].str.contains(POSITIVE, regex=False)]


def _smallest_weights(runs: pd.DataFrame) -> "pd.Series[float]":
    """The smallest absolute effective weight of every run, at its selected step."""
    weights = _weights()
    smallest = [float(np.abs(weights[cell, seed]).min()) for cell, seed in zip(runs["cell"], runs["seed"], strict=True)]
    return pd.Series(smallest, runs.index)


def _halved(runs: pd.DataFrame) -> int:
    """The number of runs whose test error more than halved in the last 10,000 steps."""
    errors = _curves().loc[pd.MultiIndex.from_frame(runs[["cell", "seed"]])]
    return int((errors[50_000] < errors[40_000] / 2).sum())


def _shares() -> pd.DataFrame:
    """The share of solved seeds: a row for each unit, a column for each cell."""
    return _runs().pivot_table("solved", "model", ["setting", "operation"], aggfunc="mean")


@functools.cache
def _runs() -> pd.DataFrame:
    return pd.read_csv(RESULTS / "runs.csv", low_memory=False)


@functools.cache
def _weights() -> dict[tuple[str, int], NDArray[np.float32]]:
    """The effective weights of NAC+ and NAC•, by cell and seed."""
    runs = _runs()
    cells = set(runs.loc[runs["model"].isin(["single_nac", "single_nac_mul"]), "cell"])
    found = pd.read_parquet(RESULTS / "weights.parquet", columns=["cell", "seed", "kind", "values"])
    found = found[found["cell"].isin(cells) & (found["kind"] == "weight")]
    return {(row.cell, row.seed): row.values for row in found.itertuples()}


@functools.cache
def _curves() -> pd.DataFrame:
    """The test error of every run 10,000 steps before the end, and at the end."""
    curves = pd.read_parquet(RESULTS / "curves.parquet", columns=["cell", "seed", "step", "extrapolation_mse"])
    ends = curves[curves["step"].isin([40_000, 50_000])]
    return ends.pivot_table("extrapolation_mse", ["cell", "seed"], "step")
