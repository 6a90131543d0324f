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

NAMES = {
    ("add", 2): "the sum of two", ("add", 5): "the sum of five", ("mul", 5): "the product of five",
    ("sqrt", 1): "√x", ("square", 1): "x²",
}  # fmt: skip
"""Those that a sentence names."""


def sentences(page: str) -> list[str]:
    """The pieces that the page must say word for word."""
    pages: dict[str, tuple[Callable[[], str], ...]] = {
        "classes": (first_steps, named_digits),
        "identity": (worst_seeds, training_range, exploded),
        "tables": (exact_sums, wide_ranges, means_below, quotient, reinitialisation, ranks, independent_means,
                   independent_ranks, failing_seeds, strict_means),
    }  # fmt: skip
    return [piece() for piece in pages.get(page, ())]


def first_steps() -> str:
    """When three NALUs on pixels from 0 to 1 end."""
    wide, small = (
        _stacks("deep-nalu", f"pixels=share;depth=3;hidden={size}")["diverged_at"].dropna() for size in (128, 16)
    )
    return (
        f"the median at step {wide.median():.0f} and the last at step {wide.max():.0f}. Of 16 units the median of "
        f"those that end does so at step {small.median():.0f}, and {(small > 10).sum()} of {len(small)} after step 10"
    )


def named_digits() -> str:
    """The shares of test images whose digit the stacks name, medians over the networks that reach the end."""
    settings = [f"pixels={pixels};depth={depth};hidden={size}" for pixels in ("share", "normalised")
                for depth in (2, 3) for size in (16, 128)]  # fmt: skip
    found = {model: [_stacks(model, each).query("diverged_at.isna()")["test_correct"].median() for each in settings]
             for model in ("deep-nalu", "deep-nac")}  # fmt: skip
    (low, high), (least, most) = ((np.nanmin(each), np.nanmax(each)) for each in found.values())
    return (
        f"the median stack of NALUs names {low:.0%} to {high:.0%} of the test digits, "
        f"that of NAC₊ {least:.0%} to {most:.0%}"
    ).replace("%", " %")


def worst_seeds() -> str:
    """How much of a mean error the worst seeds make."""
    return f"the worst 10 seeds make {_share_of_worst('relu', 10):.0%} of its mean".replace("%", " %")


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


def independent_means() -> str:
    """The cases whose means independent weights change, and what the others have."""
    p_values = [stats.ttest_ind(*_both(case), equal_var=False).pvalue for case in CASES]
    remain = _remain(p_values)
    told = []
    for case, p_value in remain.items():
        one, two = (accuracies.mean() for accuracies in _both(case))
        word = "higher" if two > one else "lower"
        told.append(f"{word} for {NAMES[case]} ({two:.1f} instead of {one:.1f} %, p = {p_value:.2g})")
    others = [p_value for case, p_value in zip(CASES, p_values, strict=True) if case not in remain]
    return (
        f"Of all {len(CASES)} means {len(remain)} differ by Welch's test after Holm's correction: "
        f"{' and '.join(told)}. The other {len(others)} have p = {min(others):.2g} or more"
    )


def independent_ranks() -> str:
    """The cases whose ranks independent weights change, and what ranks say of those whose means they change."""
    found = [stats.mannwhitneyu(*_both(case)) for case in CASES]
    remain = _remain([one.pvalue for one in found])
    above = {case: one.statistic < len(_both(case)[0]) ** 2 / 2 for case, one in zip(CASES, found, strict=True)}
    told = [f"{'up' if above[case] else 'down'} for {NAMES[case]} (p = {p:.2g})" for case, p in remain.items()]
    means = [("add", 2), ("mul", 5)]
    assert not remain.keys() & set(means)
    alone = " and ".join(f"p = {stats.mannwhitneyu(*_both(case)).pvalue:.2g} for {NAMES[case]}" for case in means)
    return f"Ranks go {', '.join(told)}, after Holm's correction of the Mann-Whitney test, and give {alone}"


def failing_seeds() -> str:
    """How many seeds fail in the cases whose means differ, with independent weights and without."""
    told = []
    for case in (("add", 2), ("mul", 5)):
        one, two = ((accuracies < 50).sum() for accuracies in _both(case))
        told.append(f"{two} instead of {one} for {NAMES[case]}")
    return f"Of {len(_both(CASES[0])[0])} seeds {' and '.join(told)} stay below half"


def strict_means() -> str:
    """The smallest and the largest strict mean of the NALU."""
    means = [_line(case, "strict")["ours"] for case in CASES]
    return f"between {min(means):.2f} and {max(means):.1f} %"


def _both(case: tuple[str, int]) -> tuple[Array, Array]:
    """The accuracies with one matrix and with two."""
    return _accuracies(case, False), _accuracies(case, True)


def _remain(p_values: list[float]) -> dict[tuple[str, int], float]:
    """The cases that remain after Holm's correction over all of them, with their p-values."""
    rejected = holm(p_values)
    return {case: p for case, p, remains in zip(CASES, p_values, rejected, strict=True) if remains}


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


def _stacks(model: str, setting: str) -> pd.DataFrame:
    """The runs of a stack on classes."""
    runs = _runs("classes")
    return runs[(runs["model"] == model) & (runs["setting"] == setting)]


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
