"""Pieces of sentences of the pages about Madsen & Johansen 2020, computed again from their results."""

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from nalu_bench import paths
from nalu_bench.analysis.measure.manifest import read_manifest
from nalu_bench.analysis.outcome import duration
from nalu_bench.analysis.printed.seeds import read_seeds
from nalu_bench.analysis.stats.compare import compare_rates
from nalu_bench.analysis.stats.samples import paired
from nalu_bench.analysis.table.place import Place
from nalu_bench.plan import experiment

Array = NDArray[np.float64]

RESULTS = paths.CHECKOUT / "results/madsen2020"
EXPERIMENTS = paths.experiments_dir() / "madsen2020"
AUTHORS_STREAMS = "streams=stable_nalu"
NEWER = 25
"""The first seed of Table 2 that does not come from an older revision of the authors' code."""

RAMP = 1_000_000
"""The step at which the penalty of the NMU begins."""

OUTLYING, CONFIDENCE = 10.0, 0.99
"""As in `series_success.py`: which references count, and the confidence of a threshold."""

EARLIER = 6
"""Evaluations before the last one, for what still moves at the end of training."""


def sentences(page: str) -> list[str]:
    """The pieces that the page must say word for word."""
    return [piece() for piece in PIECES.get(page, ())]


@functools.cache
def runs(artifact: str) -> pd.DataFrame:
    return _with_words(RESULTS / artifact / "runs.csv", "setting")


@functools.cache
def table(artifact: str) -> pd.DataFrame:
    return _with_words(RESULTS / artifact / "table.csv", "setting", "operation", "reason")


def _with_words(file: Path, *columns: str) -> pd.DataFrame:
    """The rows of a file, with empty words in place of missing ones."""
    found = pd.read_csv(file, dtype=dict.fromkeys(columns, str), low_memory=False)
    return found.fillna(dict.fromkeys(columns, ""))


@functools.cache
def measured(artifact: str, file: str) -> pd.DataFrame:
    """A file with rows for every run, with the model, setting and role of its cell."""
    cells = runs(artifact)[["cell", "model", "setting", "role"]].drop_duplicates()
    return pd.read_parquet(RESULTS / artifact / f"{file}.parquet").merge(cells, on="cell")


def joined(words: Iterable[object]) -> str:
    """The words as a sentence has them: a, b and c."""
    *rest, last = map(str, words)
    return f"{', '.join(rest)} and {last}" if rest else last


def spanned(numbers: Sequence[int]) -> str:
    """Numbers as a sentence has them: 4 to 9, or 1 and 2."""
    whole = len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1))
    return f"{numbers[0]} to {numbers[-1]}" if whole else joined(numbers)


# Tables 1 and 2


def networks(artifact: str) -> str:
    """How many networks the full scale has."""
    one = experiment.load(f"madsen2020/{artifact}")
    budget = one.budgets["paper"]
    seeds = sum((group.seeds or budget["seeds"]) * len(list(group.expand({}))) for group in one.cells)
    return f"{seeds:,} networks of {budget['steps']:,} steps"


def time_of_table1() -> str:
    manifest = read_manifest(RESULTS / "table1")
    assert manifest
    return f"{networks('table1')}, {duration(manifest['seconds'])}"


def difference(artifact: str, operation: str, model: str) -> str:
    """The difference of a rate from the printed one, from the reason of its verdict."""
    found = table(artifact).query(
        "operation == @operation and model == @model and setting == '' and metric == 'success_rate'"
    )
    told = re.search(
        r"of (\S+) points, from (\S+) to (\S+) with.* p = (\S+), and Holm's limit is (\S+) among (\d+) ",
        found["reason"].item(),
    )
    assert told
    points, low, high, p_value, limit, family = told.groups()
    return f"{points} points [{low}, {high}], p = {p_value} alone; Holm's limit among {family} comparisons is {limit}"


def million_seeds() -> str:
    """The p-value of our rate of the NAC• in Table 1 if it came from very many seeds."""
    rates = table("table1").query("model == 'nac_mul' and setting == '' and metric == 'success_rate'")
    rate, printed, seeds = rates["ours"].item(), float(rates["printed"].item()), 100
    found = compare_rates(round(rate * 1_000_000), 1_000_000, round(printed * seeds), seeds)
    return f"with a million seeds of the present rate p would be {found.p_value:.2g}"


def ours(operation: str, model: str, setting: str = "") -> pd.DataFrame:
    found = runs("table2").query("operation == @operation and model == @model and setting == @setting")
    return found.sort_values("seed", ignore_index=True)


@functools.cache
def published() -> dict[Place, pd.DataFrame]:
    return read_seeds(EXPERIMENTS / "table2.seeds.csv")


def theirs(operation: str, model: str) -> pd.DataFrame:
    return published()[Place("arithmetic", operation=operation, model=model)].sort_values("seed", ignore_index=True)


def runs_between_the_thresholds() -> str:
    """Whether a run lies between the threshold and that of the authors' own simulation."""
    simulated = {"add": 1.479e-5, "sub": 1.384e-8}
    limits = {
        operation: next(
            cell["criteria"]["threshold"]
            for cell in (read_manifest(RESULTS / "table2") or {})["cells"].values()
            if f"operation={operation}" in cell["label"]
        )
        for operation in simulated
    }
    errors = runs("table2").groupby("operation")["extrapolation_mse"]
    ends = {operation: sorted((limits[operation], simulated[operation])) for operation in simulated}
    between = sum(int(errors.get_group(one).between(*ends[one]).sum()) for one in simulated)
    return f"{between or 'no'} run of ours lies between"


def ratios(metric: str) -> list[float]:
    """The authors' plain means as multiples of the printed ones, where these differ by more than rounding."""
    words = ["setting", "operation", "model", "metric"]
    both = pd.read_csv(EXPERIMENTS / "table2.recomputed.csv").merge(
        pd.read_csv(EXPERIMENTS / "table2.published.csv"), on=words
    )
    chosen = both[both["setting"].isna() & (both["metric"] == metric)]
    found = (chosen["recomputed"] / chosen["printed"]).dropna()
    return sorted(found[(found - 1).abs() > 1e-6])


def plain_means() -> str:
    steps, sparsity = ratios("solved_at_mean"), ratios("sparsity_error_mean")
    return (
        f"The plain mean of the solved step is {steps[0]:.2f} to {steps[-1]:.1f} times the printed one in {len(steps)} "
        f"cells, that of the sparsity error {sparsity[0]:.1f} to {sparsity[-1]:.1f} times in {len(sparsity)}"
    )


def solved_operations(rows: Callable[[str, str], pd.DataFrame], first: int = 0) -> Array:
    """How many of + and − every seed of the NALU solves."""
    solved = []
    for operation in ("add", "sub"):
        found = rows(operation, "nalu")
        solved.append(found.loc[found["seed"] >= first, "solved_at"].notna().to_numpy(float))
    return np.sum(solved, axis=0, dtype=np.float64)


def permuted(one: Array, other: Array) -> float:
    """The p-value of the difference of two means, by permutation."""
    rng, pooled, distance = np.random.default_rng(0), np.concatenate([one, other]), abs(one.mean() - other.mean())
    drawn = rng.permuted(np.tile(pooled, (20_000, 1)), axis=1)
    far = abs(drawn[:, : len(one)].mean(axis=1) - drawn[:, len(one) :].mean(axis=1)) >= distance - 1e-12
    return float(far.mean())


def both_operations() -> str:
    here, there = solved_operations(ours), solved_operations(theirs)
    newer = permuted(here, solved_operations(theirs, NEWER))
    return (
        f"{here.mean():.2f} solved operations a seed against {there.mean():.2f}, p = {permuted(here, there):.2g} by "
        f"permutation (p = {newer:.2g} against the authors' seeds {NEWER} to {len(there) - 1}"
    )


def halves() -> str:
    """Solved seeds of the NALU in both halves of our seeds."""
    counts = [
        [int(ours(one, "nalu").query(half)["solved"].sum()) for one in ("add", "sub")]
        for half in ("seed < @NEWER", "seed >= @NEWER")
    ]
    (plus, minus), (later_plus, later_minus) = counts
    return f"of seeds 0 to 24, {plus} solve + and {minus} solve −; of seeds 25 to 49, {later_plus} and {later_minus}"


def same_seeds(operation: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    here = ours(operation, "nalu", AUTHORS_STREAMS)
    there = theirs(operation, "nalu")
    return here, there[there["seed"].isin(here["seed"])].reset_index(drop=True)


def seeds_of_both() -> str:
    lists = [joined(rows.loc[rows["solved_at"].notna(), "seed"]) for rows in same_seeds("add")]
    return f"On + our runs solve the seeds {lists[0]}, and the authors' runs {lists[1]}"


def mcnemar() -> str:
    p_values = []
    for here, there in map(same_seeds, ("add", "sub")):
        assert here["seed"].tolist() == there["seed"].tolist()
        told = paired(here["solved"].to_numpy(bool), there["solved_at"].notna().to_numpy())
        p_values.append(told.rpartition("p = ")[2].rstrip(")"))
    return f"(McNemar: p = {joined(p_values)})"


# Figure 3a


def nothing_is_solved() -> str:
    solved = runs("figure3a").groupby("model")["solved"].agg(["sum", "size"])
    parts = [
        f"{solved.loc[model, 'sum'] or 'none'} of {solved.loc[model, 'size']} {name}"
        for model, name in (("nmu", "NMUs"), ("nac_mul", "NAC•"))
    ]
    return f"{joined(parts)} is solved"


def after_the_short_ramp() -> str:
    curves = measured("figure3a", "curves").query("model == 'nmu' and setting == 'hidden=2'")
    errors = curves.groupby("step")[["sparsity_error", "validation_mse"]].median().loc[240_000:480_000]
    sparsity, validation = errors["sparsity_error"], errors["validation_mse"]
    return (
        f"the median sparsity error falls from {sparsity.iloc[0]:.2f} at step 240,000 to {sparsity.iloc[-1]:.2f} at "
        f"step 480,000, and the median validation error stays between {validation.min():.1f} and {validation.max():.1f}"
    )


def after_the_full_ramp() -> str:
    median = ours("mul", "nmu")["solved_at"].median()
    return f"solved at a median of {median:,.0f} steps, {median - RAMP:,.0f} after the ramp begins"


def printed_nac_mul() -> str:
    means = table("figure3a").query("model == 'nac_mul' and metric == 'solved_at_mean'")["printed"].dropna()
    return f"the printed means of its solved step are {means.min():,.0f} to {means.max():,.0f}"


def weights_between() -> str:
    """Weights of the first NAC₊ on a + b that are near no whole number, in Table 2."""
    found = runs("table2").query("operation == 'add' and model == 'nac'")
    weights = pd.read_parquet(RESULTS / "table2/weights.parquet").merge(found[["cell", "seed"]])
    kept = np.abs(np.stack(weights.loc[weights["name"] == "layers.0.W", "values"].tolist()))
    assert found["solved"].all()
    between = np.minimum(kept, np.abs(1 - kept)) > 0.1
    return (
        f"On a + b all {len(found)} seeds of the NAC₊ are solved ([Table 2](table2.md)), and of the {len(kept)} whose "
        f"weights are kept {100 * between.mean():.0f} % of those in the first layer are farther than 0.1 from -1, 0 "
        "and 1"
    )


# Series of digits


def lengths(artifact: str) -> dict[int, str]:
    """Length -> the column of its test error."""
    return {int(name.rpartition("_")[2]): name for name in runs(artifact) if name.startswith("test_mse_")}


def references(artifact: str, learned: bool = True) -> pd.DataFrame:
    """The references that have learned the task, or those that have not."""
    found = runs(artifact).query("role == 'reference'")
    near: pd.Series = found["test_mse_1"] <= OUTLYING * found["test_mse_1"].median()
    return found[near == learned]


def networks_of(artifact: str, model: str) -> pd.DataFrame:
    return runs(artifact).query("model == @model").sort_values("seed", ignore_index=True)


def path(artifact: str, model: str, weight: str = "recurrent_weight") -> pd.DataFrame:
    """The weight of the cell at every evaluation, a column for each seed."""
    return measured(artifact, "curves").query("model == @model").pivot(index="step", columns="seed", values=weight)


def solved_by_length(artifact: str, model: str) -> "pd.Series[int]":
    """Length -> the number of solved seeds."""
    rows = networks_of(artifact, model)
    return pd.Series({length: int(rows[f"solved_{name}"].sum()) for length, name in lengths(artifact).items()})


def printed(artifact: str, metric: str, *models: str) -> "pd.Series[float]":
    return table(artifact).query("metric == @metric and model in @models")["printed"].astype(float).dropna()


def printed_rates(artifact: str, model: str) -> str:
    rates = 100 * printed(artifact, "success_rate", model)
    return f"printed rates are {rates.min():.0f} to {rates.max():.0f} %"


def looseness(artifact: str) -> str:
    """How much thresholds exceed the references' mean errors."""
    errors = references(artifact)[list(lengths(artifact).values())].astype(np.float32).astype(float)
    reach = stdtrit(len(errors) - 1, CONFIDENCE) * errors.std() / len(errors) ** 0.5
    over = 1 + reach / errors.mean()
    return f"thresholds are {over.min():.1f} to {over.max():.1f} times the mean error of {len(errors)} references"


def reading() -> str:
    rounded = 100 * references("mnist_sum")["test_digits_1"]
    return f"read {rounded.min():.0f} to {rounded.max():.0f} % of single digits right"


def unsolved(artifact: str) -> str:
    solved = sum(int(solved_by_length(artifact, model).sum()) for model in ("image_nalu", "image_lstm_output"))
    return "A NALU or an LSTM is solved at some length" if solved else "No NALU and no LSTM is solved at any length"


def later_in_print(artifact: str, *models: str) -> str:
    """How late the printed networks are solved that ours, trained for less, are not."""
    steps, first = runs(artifact)["steps"].max(), printed(artifact, "solved_at_mean", *models).min()
    most = 100 * printed(artifact, "success_rate", *models).max()
    later = f"{first / steps:.1f} times those trained here"
    return f"up to {most:.0f} %, have mean solved steps of {first:,.0f} and more, {later}"


def nmu_weights() -> str:
    rows = networks_of("mnist_product", "image_nmu")
    exact = (rows[["input_weight", "recurrent_weight"]] == 1).all(axis=1).sum()
    return f"Both weights are exactly 1 at the selected step in {exact} of {len(rows)} seeds"


def nmu_lengths() -> str:
    solved, seeds = solved_by_length("mnist_product", "image_nmu"), len(networks_of("mnist_product", "image_nmu"))
    least = solved[solved < seeds].index[0]
    longer = solved.loc[least:]
    return (
        f"All are solved at {solved.index[0]} to {least - 1} images, and {longer.min()} to {longer.max()} of {seeds} "
        f"at {least} to {solved.index[-1]}"
    )


def nmu_errors() -> str:
    columns = list(lengths("mnist_product").values())
    over = networks_of("mnist_product", "image_nmu")[columns].mean() / references("mnist_product")[columns].mean()
    over.index = pd.Index(lengths("mnist_product"))
    rest = over.drop(over.idxmax())
    return (
        f"mean error is {rest.min():.1f} to {rest.max():.1f} times the references', and {over.max():.1f} times at "
        f"{over.idxmax()} images"
    )


def nac_nmu_lengths() -> str:
    solved = solved_by_length("mnist_product", "image_nac_mul_nmu")
    fewer = solved[solved.cummin() < 2].index[0]
    short, longer = solved.loc[: fewer - 1], solved.loc[fewer:]
    seeds = len(networks_of("mnist_product", "image_nac_mul_nmu"))
    return (
        f"{short.min()} or {short.max()} of {seeds} are solved at 1 to {fewer - 1} images, "
        f"{joined(sorted({*longer}))} at {fewer} to {solved.index[-1]}"
    )


def digits_with_a_minus(rows: pd.DataFrame) -> list[list[int]]:
    """The digits, from 1 on, to which each encoder gives a negative number."""
    means = rows[rows["name"] == "encoder_mean"].sort_values("seed")["values"]
    return [[digit for digit, mean in enumerate(np.ravel(one), 1) if mean < 0] for one in means]


def signs_of_the_nac_nmu() -> str:
    encoders = digits_with_a_minus(measured("mnist_product", "weights").query("model == 'image_nac_mul_nmu'"))
    first, other = (spanned(digits) for digits in encoders if digits)
    return f"the encoder of one seed gives the digits {first} a minus, that of another {other}"


def nac_weights() -> str:
    paths_of = [path("mnist_product", model) for model in ("image_nac_mul", "image_nac_mul_sigma")]
    last, before = (np.concatenate([one.iloc[-back] for one in paths_of]) for back in (1, EARLIER))
    rising = last[(last > 0) & (last > before)]
    return (
        f"At the last step {len(rising)} of {len(last)} recurrent weights are {rising.min():.2f} to {rising.max():.2f} "
        f"and higher than {EARLIER - 1} evaluations before; the other is {last.min():.2f}"
    )


def left_out() -> str:
    """The references that have not learned the task, if the sign of every digit is wrong."""
    out, count = references("mnist_product", learned=False), len(references("mnist_product"))
    weights = measured("mnist_product", "weights").query("role == 'reference'")
    wrong = digits_with_a_minus(weights[weights["seed"].isin(out["seed"])])
    assert all(len(digits) == 9 for digits in wrong)
    return f"In {len(wrong)} of {len(out) + count} references the encoder has the sign of every digit wrong"


def kept_references() -> str:
    count = len(references("mnist_product"))
    return f"{count} references with {count - 1} degrees of freedom are left"


def same_start() -> str:
    """Whether cells of four names start from the same weights."""
    cells = [("mnist_sum", "image_nac"), ("mnist_sum", "image_nac_inputs"), ("mnist_sum", "image_nalu"),
             ("mnist_product", "image_nac_mul")]  # fmt: skip
    first = [path(*cell, weight).loc[0].to_numpy() for cell in cells for weight in ("input_weight", "recurrent_weight")]
    alike = all(np.array_equal(first[place], first[place % 2]) for place in range(len(first)))
    return f"start from {'the same' if alike else 'other'} weights of the cell"


def nau_weights() -> str:
    recurrent, inputs = (path("mnist_sum", "image_nau", name) for name in ("recurrent_weight", "input_weight"))
    exact = recurrent.index[(recurrent != 1).any(axis=1)][-1]
    since = recurrent.index[recurrent.index > exact][0]
    last = inputs.iloc[-1]
    return (
        f"The recurrent weight of all {len(last)} seeds is exactly 1 from step {since} on. The weight on z is "
        f"{last.max():.2f} to {last.min():.2f} at the end"
    )


def nau_lengths() -> str:
    solved, rows = solved_by_length("mnist_sum", "image_nau"), networks_of("mnist_sum", "image_nau")
    all_of, rest = solved[solved == len(rows)], solved[solved < len(rows)]
    return (
        f"All are solved at {joined(all_of.index)} images, and {joined(sorted({*rest}))} of {len(rows)} at "
        f"{rest.index[0]} to {rest.index[-1]:,}"
    )


def nau_outlier() -> str:
    return f"a squared error of {networks_of('mnist_sum', 'image_nau')['test_mse_1000'].max():,.0f} at 1,000 images"


def recurrent_weights(model: str) -> str:
    """Where the recurrent weights of a model of the sum start and end."""
    found = path("mnist_sum", model)
    start, end = (joined(f"{weight:.2f}" for weight in found.iloc[place]) for place in (0, -1))
    return f"starts at {start} and ends at {end}"


def turned() -> str:
    found = path("mnist_sum", "image_nac_inputs")
    falling = (found.iloc[-1] < found.iloc[-EARLIER]).sum()
    return f"{falling} of these {found.shape[1]} fall again at the end"


def nalu_of_the_sum() -> str:
    found = path("mnist_sum", "image_nalu")
    moved = (found.iloc[-1] - found.iloc[0]).abs()
    return f"{(moved < 0.01).sum()} of {len(moved)} recurrent weights of the NALU stay where they begin"


PIECES: dict[str, tuple[Callable[[], str], ...]] = {
    "table1": (time_of_table1, lambda: difference("table1", "mul", "nac_mul"), million_seeds),
    "table2": (
        lambda: networks("table2"), runs_between_the_thresholds, plain_means, both_operations, halves, seeds_of_both,
        mcnemar, lambda: difference("table2", "add", "nalu"), lambda: difference("table2", "sub", "nalu"),
    ),
    "figure3a": (nothing_is_solved, after_the_short_ramp, after_the_full_ramp, printed_nac_mul),
    "mnist_product": (
        nmu_weights, nmu_lengths, nmu_errors, nac_nmu_lengths, signs_of_the_nac_nmu, nac_weights, left_out,
        lambda: printed_rates("mnist_product", "image_nmu"), lambda: looseness("mnist_product"),
        lambda: unsolved("mnist_product"), kept_references,
        lambda: later_in_print("mnist_product", "image_nac_mul", "image_nac_mul_sigma"),
    ),
    "theory": (weights_between,),
    "mnist_sum": (
        nau_weights, nau_lengths, nau_outlier, turned, nalu_of_the_sum, same_start,
        lambda: printed_rates("mnist_sum", "image_nau"), lambda: looseness("mnist_sum"), lambda: unsolved("mnist_sum"),
        reading, lambda: recurrent_weights("image_nac"),
        lambda: recurrent_weights("image_nac_inputs"), lambda: later_in_print("mnist_sum", "image_nac_inputs"),
    ),
}  # fmt: skip
"""Page -> the functions that make its pieces."""
