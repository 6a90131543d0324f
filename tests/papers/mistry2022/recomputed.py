"""Pieces of sentences of the pages, computed again from their results."""

import functools
from collections.abc import Callable

import pandas as pd
from num2words import num2words
from scipy.stats import fisher_exact

from nalu_bench import paths
from nalu_bench.analysis.reports.advice import RELIABLE
from nalu_bench.analysis.stats.verdicts import holm

RESULTS = paths.CHECKOUT / "results" / "mistry2022"

BEST = {
    ("add", ""): {"single_nau", "single-inalu_nalm", "single-mcfc"},
    ("sub", ""): {"single_nau", "single_linear"},
    ("mul", ""): {
        "single-snmu",
        "single-snmu_batch",
        "single-nru",
        "single-nmru",
        "single-mul_mcfc_inalu",
        "single-mul_mcfc_real_npu",
    },
    ("div", ""): {"single-nru", "single-nmru"},
    ("div", "10"): set(),
}
"""Operation and inputs -> the units that the sentences name as reliable on all ranges."""


def sentences(page: str) -> list[str]:
    """The pieces that the page must say word for word."""
    pages: dict[str, tuple[Callable[[], str], ...]] = {
        "single_module": (reliable, below_the_nmru, last, slides, ends, first_evaluation),
        "arithmetic_dataset": (noise_alone, sooner, narrow_ranges, bnau, after_the_switch),
    }
    return [piece() for piece in pages.get(page, ())]


def reliable() -> str:
    """Whether the units named are those that are reliable on all ranges."""
    shares = _shares()
    found = {key: set(rows[rows.min(axis=1) >= RELIABLE].index) for key, rows in shares.items()}
    verb = "has units" if found == BEST else f"does not have these units: {found}"
    return f"On two inputs each operation {verb} that solve nearly all seeds on every range"


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
    table = _table("single_module")
    own = table[(table["metric"] == "success_rate_mse_1e-5") & table["printed"].notna()]
    return "no printed\n  rate differs" if not (own["verdict"] == "differs").any() else "some rates differ"


def ends() -> str:
    """Whether most rates that agree are 0 or 1, ours and the printed ones."""
    table = _table("single_module")
    agree = table[table["verdict"] == "agrees"]
    at_ends = (agree[["ours", "printed"]].isin([0, 1]).all(axis=1)).mean()
    return f"{'Most' if at_ends > 1 / 2 else 'Few'} that\nagree are 0 % or 100 % on both sides"


def first_evaluation() -> str:
    """Whether the median NRU solves a product at the first evaluation."""
    runs = pd.read_csv(RESULTS / "single_module" / "runs.csv", usecols=["model", "operation", "solved_at", "log_every"])
    mine = runs[(runs["model"] == "single-nru") & (runs["operation"] == "mul")]
    first = mine["solved_at"].median() == mine["log_every"].iloc[0]
    return f"the median seed solves a product {'at the first evaluation' if first else 'later'}"


NARROW = ["[-1.2, -1.1]", "[1.1, 1.2]"]
"""The ranges of 100 inputs on which no network without the correlation solves anything."""


def noise_alone() -> str:
    """Whether noise alone changes the rate of no range, and on which one it is nearest to that."""
    table = _of_100_inputs("success_rate")
    nmu, snmu = (_solved(table.loc[model, ""]) for model in ("nmu", "snmu"))
    p_values = {where: fisher_exact([nmu.loc[where], snmu.loc[where]])[1] for where in nmu.index}
    differs = "some range differs" if any(holm([*p_values.values()])) else "no range differs"
    least = min(p_values, key=p_values.__getitem__)
    return (
        f"By Fisher's exact test {differs} after Holm's\n  correction over the {num2words(len(p_values))}. The "
        f"smallest p, {p_values[least]:.1g} before it, is that on {least}, where"
    )


def _solved(rates: pd.DataFrame) -> pd.DataFrame:
    """Range -> the numbers of seeds that are solved and that are not."""
    solved = (rates["ours"] * rates["n_seeds"]).round()
    return pd.DataFrame({"solved": solved, "others": rates["n_seeds"] - solved}).astype(int)


def sooner() -> str:
    """The ranges on which noise alone changes the median step of solved seeds, and by how much."""
    table = _of_100_inputs("solved_at_median")
    nmu, snmu = table.loc["nmu", ""], table.loc["snmu", ""]
    apart = nmu.index[nmu["ours_low"] > snmu["ours_high"]]
    assert not (snmu["ours_low"] > nmu["ours_high"]).any()
    less = 100 * (1 - snmu["ours"] / nmu["ours"])[apart]
    *others, last = apart
    return (
        f"With noise {num2words(len(apart))} ranges are solved sooner**: on {', '.join(others)} and {last} the "
        f"intervals of the median\n  step do not overlap, and that of the sNMU is {less.min():.0f} to "
        f"{less.max():.0f} % smaller."
    )


def narrow_ranges() -> str:
    """Whether the networks without the correlation solve no seed on the narrow ranges, and some on all others."""
    rates = _of_100_inputs("success_rate").xs("", level="first")["ours"].unstack()
    unsolved = sorted(rates.columns[(rates == 0).any()])
    who = "no network solves" if (rates[unsolved] == 0).all(axis=None) else "one network solves"
    return f"on {' and '.join(unsolved)} {who} a seed\n  without it"


def bnau() -> str:
    """Whether the rates of the bNAU on the narrow ranges are held against the printed ones without a difference."""
    mine = _of_100_inputs("success_rate").loc["snmu_beta"].droplevel("first").loc[NARROW]
    decide = "do not decide" if set(mine["verdict"]) == {"inconclusive"} else "decide"
    return f"These 25\n  seeds beside 20 {decide} whether that is a difference."


def after_the_switch() -> str:
    """By how many steps after 750,000 half of the solved seeds are solved, on the wide ranges."""
    medians = _of_100_inputs("solved_at_median").xs("first=correlation", level="first")["ours"].unstack()
    return f"half of it within\n  {medians.drop(columns=NARROW).max(axis=None) - 750_000:,.0f} steps, on all ranges but"


@functools.cache
def _table(experiment: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / experiment / "table.csv")


def _of_100_inputs(metric: str) -> pd.DataFrame:
    """Model, first loss (empty for the squared error) and range -> the row of the table."""
    table = _table("arithmetic_dataset")
    words = table["setting"].str.extract(r"range=(?P<range>[^;]*)(?:;(?P<first>.*))?").fillna("")
    return table.join(words)[table["metric"] == metric].set_index(["model", "first", "range"])


@functools.cache
def _shares() -> dict[tuple[str, str], pd.DataFrame]:
    """Operation and inputs (empty for two) -> share of solved seeds, units x ranges."""
    table = _table("single_module")
    rates = table[(table["metric"] == "success_rate") & (table["n_seeds"] > 0)]
    words = rates["setting"].str.extract(r"(?:inputs=(?P<inputs>\d+);)?range=(?P<range>.*)")
    rates = rates.assign(inputs=words["inputs"].fillna(""), range=words["range"])
    return {key: rows.pivot(index="model", columns="range", values="ours")
            for key, rows in rates.groupby(["operation", "inputs"])}  # fmt: skip
