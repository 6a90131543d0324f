"""Pieces of sentences of the page about single modules, computed again from its results."""

import functools
from collections.abc import Callable

import pandas as pd

from nalu_bench import paths
from nalu_bench.analysis.reports.advice import RELIABLE

RESULTS = paths.CHECKOUT / "results" / "mistry2022" / "single_module"

BEST = {
    ("add", ""): {"single_nau", "single_linear", "single-inalu_nalm", "single-mcfc"},
    ("sub", ""): {"single_nau", "single_linear"},
    ("mul", ""): {"single-snmu", "single-snmu_batch", "single-nru", "single-nmru"},
    ("div", ""): {"single-nru", "single-nmru"},
    ("div", "10"): set(),
}
"""Operation and inputs -> the units that the sentences name as reliable on all ranges."""


def sentences(page: str) -> list[str]:
    """The pieces that the page must say word for word."""
    pages: dict[str, tuple[Callable[[], str], ...]] = {
        "single_module": (reliable, below_the_nmru, last, slides, first_evaluation),
    }
    return [piece() for piece in pages.get(page, ())]


def reliable() -> str:
    """Whether the units named are those that are reliable on all ranges."""
    shares = _shares()
    found = {key: set(rows[rows.min(axis=1) >= RELIABLE].index) for key, rows in shares.items()}
    verb = "has units" if found == BEST else f"does not have these units: {found}"
    return f"Each operation but one {verb} that solve nearly all seeds on every range"


def below_the_nmru() -> str:
    """Whether no unit with ten inputs solves more on both signs than the NMRU."""
    column = _shares()["div", "10"]["[-2, 2]"]
    told = "all others less" if column.drop("single-nmru").max() < column["single-nmru"] else "others as many"
    return told


def last() -> str:
    """Whether both NALUs are in the lower half on every operation of two inputs."""
    halves = []
    for (_, inputs), rows in _shares().items():
        if not inputs:
            order = rows.mean(axis=1).rank(ascending=False)
            halves.append(order[["single_nalu", "single-nalu_separate"]].min() > len(rows) / 2)
    return f"The NALU is {'among the last' if all(halves) else 'not among the last'} on every operation"


def slides() -> str:
    """How many rates of the slides would differ by the simulated thresholds, and that none does by their own."""
    table = pd.read_csv(RESULTS / "table.csv", dtype={"printed": str})
    own = table[(table["metric"] == "success_rate_mse_1e-5") & table["printed"].notna()]
    return "no printed\n  rate differs" if not (own["verdict"] == "differs").any() else "some rates differ"


def first_evaluation() -> str:
    """Whether the median NRU solves a product at the first evaluation."""
    runs = pd.read_csv(RESULTS / "runs.csv", usecols=["model", "operation", "solved_at", "log_every"])
    mine = runs[(runs["model"] == "single-nru") & (runs["operation"] == "mul")]
    first = mine["solved_at"].median() == mine["log_every"].iloc[0]
    return f"the median seed solves a product {'at the first evaluation' if first else 'later'}"


@functools.cache
def _shares() -> dict[tuple[str, str], pd.DataFrame]:
    """Operation and inputs (empty for two) -> share of solved seeds, units x ranges."""
    table = pd.read_csv(RESULTS / "table.csv")
    rates = table[(table["metric"] == "success_rate") & (table["n_seeds"] > 0)]
    words = rates["setting"].str.extract(r"(?:inputs=(?P<inputs>\d+);)?range=(?P<range>.*)")
    rates = rates.assign(inputs=words["inputs"].fillna(""), range=words["range"])
    return {key: rows.pivot(index="model", columns="range", values="ours")
            for key, rows in rates.groupby(["operation", "inputs"])}  # fmt: skip
