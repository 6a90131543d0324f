"""Pieces of sentences of the pages about the IIT report, computed again from its results."""

import functools
import re
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from nalu_bench import paths
from nalu_bench.analysis.stats.verdicts import holm

Array = NDArray[np.float64]

RESULTS = paths.CHECKOUT / "results" / "iit_report"
TRAINED = 10
"""The identity is trained for |x| up to this."""

CASES = [(operation, operands) for operation in ("add", "sub", "mul", "div") for operands in (2, 5)]
CASES += [("sqrt", 1), ("square", 1)]
"""Operations and numbers of operands that the report prints an accuracy of the NALU for."""


def sentences(page: str) -> list[str]:
    """The pieces that the page must say word for word."""
    pages: dict[str, tuple[Callable[[], str], ...]] = {
        "identity": (worst_seeds, training_range, exploded),
        "tables": (exact_sums, wide_ranges, means_below, quotient, reinitialisation, ranks, more_sums, fewer_products,
                   failed_products, strict_means),
    }  # fmt: skip
    return [piece() for piece in pages.get(page, ())]


def worst_seeds() -> str:
    """How much of a mean error the worst seeds make."""
    shares = [_share_of_worst(activation, 10) for activation in ("leaky_relu", "relu")]
    return "the worst 10 seeds make {:.0%} of LeakyReLU's mean and {:.0%} of ReLU's".format(*shares).replace("%", " %")


def training_range() -> str:
    """The rank correlation over the training range, from the note of the claim."""
    table = pd.read_csv(RESULTS / "identity/table.csv")
    note = table.loc[table["metric"] == "claim_severity", "note"].item()
    found = re.search(r"over the training range \[-10, 10\] it is (\S+ \[\S+ \S+\])\)", note)
    assert found, note
    return f"taken over the training range it is {found[1]}"


def exploded() -> str:
    """The networks whose training diverged."""
    runs = _runs("identity")
    which = [
        f"{str(run.setting).removeprefix('activation=').capitalize()}, seed {run.seed}, at step {run.diverged_at:.0f}"
        for run in runs[runs["status"] == "diverged"].itertuples()
    ]
    return f"{len(which)} of {len(runs):,} networks exploded ({'; '.join(which)})"


def exact_sums() -> str:
    """Whether every network of the NAC adds and subtracts within the strict tolerance."""
    runs = _runs("tables")
    sums = runs[(runs["model"] == "iit_nac") & runs["operation"].isin(["add", "neg_sum"])]
    every = bool((sums["test_accuracy_1e-05"] == 1).all())
    return f"in {'every one' if every else 'not every one'} of our seeds, at the strict tolerance too"


def wide_ranges() -> str:
    """How many printed accuracies of the NALU are uninformative."""
    verdicts = [_line(case, "accuracy")["verdict"] for case in CASES]
    return f"In {verdicts.count('uninformative')} of the {len(verdicts)} printed cases"


def means_below() -> str:
    """How many means, and how many of their intervals, lie below the printed accuracy."""
    pairs = [(float(_line(case, "accuracy")["printed"]), _line(case, "mean")) for case in CASES]
    means = sum(mean["ours"] < printed for printed, mean in pairs)
    whole = sum(mean["ours_high"] < printed for printed, mean in pairs)
    return f"Our mean is below the printed number in {means} of {len(pairs)} cases, its whole interval in {whole}"


def quotient() -> str:
    """The largest mean of four variants for the quotient of five numbers."""
    means = [
        _accuracies(("div", 5), *kind).mean() for kind in ((False, True), (False, False), (True, True), (True, False))
    ]
    return f"the largest mean of the {len(means)} variants of the NALU is {max(means):.1f} %"


def reinitialisation() -> str:
    """The differences of means that reinitialisation makes, and how many of the paired ones are real."""
    gains = {separate: [_accuracies(case, separate, True) - _accuracies(case, separate, False) for case in CASES]
             for separate in (False, True)}  # fmt: skip
    least, most = ([end(gain.mean() for gain in one) for one in gains.values()] for end in (min, max))
    every = [gain for one in gains.values() for gain in one]
    real = sum(holm([float(stats.ttest_1samp(gain, 0).pvalue) for gain in every]))
    return (
        f"{least[0]:.0f} to {most[0]:.0f} points higher, and that of the NALU with independent weights "
        f"{least[1]:.0f} to {most[1]:.0f}; {real} of these {len(every)} differences"
    )


def ranks() -> str:
    """Whether the printed accuracies have uniform ranks among our seeds, with and without reinitialisation."""
    found = [stats.kstest([_rank(case, again) for case in CASES], "uniform").pvalue for again in (True, False)]
    return "p = {:.2f} with it, {:.2f} without".format(*found)


def more_sums() -> str:
    """Means of sums with one matrix and with two."""
    return "; ".join(_means(("add", operands)) for operands in (2, 5))


def fewer_products() -> str:
    """Means of products with one matrix and with two."""
    return "; ".join(_means(("mul", operands)) for operands in (2, 5))


def failed_products() -> str:
    """Seeds that fail at a product, and whether ranks differ."""
    pairs = [(_accuracies(("mul", operands), False), _accuracies(("mul", operands), True)) for operands in (2, 5)]
    failed = [" and ".join(f"{(one < 50).sum()}" for one in column) for column in zip(*pairs, strict=True)]
    found = [stats.mannwhitneyu(*pair).pvalue for pair in pairs]
    return (
        f"{failed[1]} of {len(pairs[0][0])} seeds stay below half, instead of {failed[0]}; ranks show no difference "
        "(Mann-Whitney, p = {:.2f} and {:.2f})".format(*found)
    )


def strict_means() -> str:
    """The smallest and the largest strict mean of the NALU."""
    means = [_line(case, "strict")["ours"] for case in CASES]
    return f"between {min(means):.2f} and {max(means):.1f} %"


def _means(case: tuple[str, int]) -> str:
    one, two = (_accuracies(case, separate) for separate in (False, True))
    p_value = stats.ttest_ind(one, two, equal_var=False).pvalue
    return f"{two.mean():.1f} instead of {one.mean():.1f} % (p = {p_value:.2g})"


def _rank(case: tuple[str, int], again: bool) -> float:
    """The share of our seeds below the printed accuracy; equal ones count half."""
    ours, printed = _accuracies(case, False, again), float(_line(case, "accuracy")["printed"])
    return float((ours < printed).mean() + 0.5 * (ours == printed).mean())


def _accuracies(case: tuple[str, int], separate: bool, again: bool = True) -> Array:
    """The accuracy of every seed in percent: of independent weights or not, reinitialised or not."""
    runs, (operation, operands) = _runs("tables"), case
    setting = f"operands={operands};reinitialized={15 if again else 0}"
    chosen = runs[
        (runs["setting"] == setting) & (runs["operation"] == operation) & (runs["model"] == _model(case, separate))
    ]
    return 100 * chosen.sort_values("seed")["test_accuracy_0.1"].fillna(0).to_numpy(np.float64)


def _line(case: tuple[str, int], metric: str) -> "pd.Series[float]":
    """The line of a reinitialised NALU."""
    table, (operation, operands) = _table(), case
    setting = f"operands={operands};reinitialized=15"
    return table.loc[_model(case, False), operation, setting, metric]


def _model(case: tuple[str, int], separate: bool) -> str:
    return f"iit_nalu{'_two' * (case[0] == 'square')}{'_separate' * separate}"


def _share_of_worst(activation: str, worst: int) -> float:
    """The share of the summed errors outside the training range that the worst seeds have."""
    runs = _runs("identity")
    cell = runs.loc[runs["setting"] == f"activation={activation}", "cell"].iloc[0]
    mine = _predictions().loc[lambda found: (found["cell"] == cell) & (found["target"].abs() > TRAINED)]
    errors = (mine["prediction"] - mine["target"]).abs().groupby(mine["seed"]).mean().sort_values(ascending=False)
    return float(errors.head(worst).sum() / errors.sum())


@functools.cache
def _runs(artifact: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / artifact / "runs.csv", low_memory=False)


@functools.cache
def _predictions() -> pd.DataFrame:
    return pd.read_parquet(RESULTS / "identity/predictions.parquet")


@functools.cache
def _table() -> pd.DataFrame:
    table = pd.read_csv(RESULTS / "tables/table.csv")
    return table.set_index(["model", "operation", "setting", "metric"]).sort_index()
