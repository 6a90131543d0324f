"""Numbers in the pages of Trask et al. 2018 that stand in no line of a table, computed again from the results."""

import functools
import math
import re
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
from num2words import num2words
from numpy.typing import NDArray

from nalu_bench import paths

FOLDER = paths.CHECKOUT / "results/trask2018"
WORDS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
STANDARD = ["image_lstm", "image_gru", "image_rnn_tanh", "image_rnn_relu"]
NAC, NALU, REFERENCE = "image_nac_xavier", "image_nalu_xavier", "image_solved_sum"
DIGIT_LENGTHS = (1, 10, 100, 1000)

READS_C = ["agent_nac_memory", "agent_linear_memory", "agent_nac_direct", "agent_nau_memory"]


def sentences(page: str) -> list[str]:
    """The pieces of sentences that the page of this name must have."""
    return [piece() for piece in PIECES.get(page, ())]


@functools.cache
def table(artifact: str) -> pd.DataFrame:
    """The lines of a table, with empty words in place of missing ones."""
    words = ["setting", "operation", "model", "printed", "note"]
    found = pd.read_csv(FOLDER / artifact / "table.csv", dtype=dict.fromkeys(words, str))
    return found.fillna(dict.fromkeys(words, ""))


@functools.cache
def runs(artifact: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER / artifact / "runs.csv", low_memory=False)


@functools.cache
def measured(artifact: str, file: str) -> pd.DataFrame:
    """A file of a row for each run and more, with the operation, model and role of its cell."""
    cells = runs(artifact)[["cell", "operation", "model", "role"]].drop_duplicates()
    return pd.read_parquet(FOLDER / artifact / f"{file}.parquet").merge(cells, on="cell")


def joined(names: list[str]) -> str:
    """The names as a sentence has them: a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}"


# Table 1


def best_nalu() -> str:
    static = table("table1").query("task == 'arithmetic' and model == 'nalu'")
    printed = static.query("metric == 'score'")["printed"]
    best = static.query("metric == 'score_best'")["ours"].max()
    zero = WORDS[(printed == "0.0").sum()]
    return f"Printed is 0.0 in {zero} of its {WORDS[len(printed)]} cells; our best of 100 seeds has at most {best:.1f}"


def best_recurrent_nalu() -> str:
    """The best seeds of the recurrent NALU in extrapolation, where 0.0 is printed."""
    words = "task == 'recurrent_arithmetic' and split == 'extrapolation' and model == 'rnn_nalu'"
    lines = table("table1").query(words).set_index("operation")
    printed = lines.query("metric == 'score'")["printed"]
    best = lines.query("metric == 'score_best'")["ours"][printed == "0.0"]
    return (
        f"0.0 is printed in {WORDS[len(best)]} of its {WORDS[len(printed)]} cells, and our best seeds have "
        f"{best.min():.0f} to {best.max():.0f} %"
    )


def recurrent(models: list[str], operations: list[str]) -> pd.Series:
    """The medians of recurrent cells in extrapolation."""
    found = table("table1").query("task == 'recurrent_arithmetic' and split == 'extrapolation' and metric == 'score'")
    return found.query("model in @models and operation in @operations")["ours"]


def nothing_extrapolates() -> str:
    flat = recurrent(["lstm", "rnn_relu", "rnn_nalu"], ["add", "mul", "square"])
    far = recurrent(["rnn_nac"], ["add", "sub", "mul", "div", "square", "sqrt"]) > 999
    return (
        f"LSTM, ReLU RNN and NALU come to {flat.min():.0f} to {flat.max():.0f} % for +, × and a², and the NAC₊ to more "
        f"than 999 % for {WORDS[far.sum()]} of the {WORDS[len(far)]} operations"
    )


def diverged() -> str:
    nalu = runs("table1").query("model == 'rnn_nalu' and role == 'cell'")
    counts = (nalu["status"] == "diverged").groupby(nalu["operation"]).sum()
    others = counts.drop("add")
    return f"The NALU diverges in {counts['add']} of 100 seeds for a + b, and in {others.min()} to {others.max()}"


# Table 3


def least_units() -> str:
    """Printed errors of the NAC, and what units in (-1, 1), summed over the tokens of a text, can reach."""
    printed = pd.read_csv(paths.experiments_dir() / "trask2018/table3.published.csv", dtype=str, keep_default_na=False)
    row = printed.query("setting == '' and model == 'text_lstm_nac' and metric == 'mae'").set_index("split")["printed"]
    total = sum(float(row[split]) * size for split, size in (("train", 169), ("validation", 200), ("test", 631)))
    tokens = [len(text.replace("-", " ").split()) for text in map(num2words, range(1000))]

    def least(units: int) -> float:
        return sum(max(0, number - units * length) for number, length in enumerate(tokens))

    needed = next(units for units in range(1000) if least(units) <= total)
    return (
        f"The printed errors of LSTM + NAC add up to {total:,.0f} over all numbers. A NAC that reads the sum of h "
        f"needs at least {needed} units for that; with 32 its mean error is at least {least(32) / 1000:.0f}"
    )


# Figure 1


def saturating() -> str:
    """Activations of which every seed fails."""
    labels = {"sigmoid": "Sigmoid", "tanh": "Tanh", "hardtanh": "Hardtanh", "softsign": "Softsign", "relu6": "ReLU6"}
    found = table("figure1").query("metric == 'failing' and split == 'outside'").set_index("setting")["ours"]
    return f"{joined([label for key, label in labels.items() if found[f'activation={key}'] == 1])} fail in every seed"


def severity_inside() -> str:
    note = table("figure1").query("metric == 'claim_severity'")["note"].item()
    found = re.search(r"over the training range \[-5, 5\] it is (\S+ \[.*?\])", note)
    assert found
    return f"Over the training range the correlation is {found[1]}"


# Table 2


def seeds_of(operation: str, model: str) -> pd.DataFrame:
    return runs("table2").query("operation == @operation and model == @model").set_index("seed")


def ratios(operation: str, model: str) -> pd.DataFrame:
    """The error of each seed as a multiple of the reference's median, by length; infinite where there is none."""
    columns = [f"test_mae_{length}" for length in DIGIT_LENGTHS]
    return seeds_of(operation, model)[columns].fillna(math.inf) / seeds_of(operation, REFERENCE)[columns].median()


def standard(lengths: tuple[int, ...], operations: tuple[str, ...] = ("count", "sum")) -> pd.Series:
    """The median ratios of the standard cells."""
    settings = [f"length={length}" for length in lengths]
    found = table("table2").query("metric == 'ratio' and model in @STANDARD and operation in @operations")
    return found[found["setting"].isin(settings)]["ours"]


def ten_images() -> str:
    ten, more = standard((10,)), math.floor(standard((100, 1000)).min())
    return f"{ten.min():.2g} to {ten.max():.2g} times the reference's at ten images, and {more} times or more at 100"


def one_image() -> str:
    count, total = (standard((1,), (operation,)) for operation in ("count", "sum"))
    return (
        f"{count.min():.0f} to {count.max():.0f} times for counts and {total.min():.0f} to {total.max():.0f} for sums"
    )


def weights(operation: str, model: str, name: str) -> dict[int, NDArray[np.float64]]:
    """The values of a kept array of every seed."""
    found = measured("table2", "weights").query("operation == @operation and model == @model and name == @name")
    return {seed: np.array(values, float) for seed, values in zip(found["seed"], found["values"], strict=True)}


def counting_weights() -> dict[int, NDArray[np.float64]]:
    """What every counter of a NAC₊ gets of the counters before, by seed."""
    found = weights("count", NAC, "recurrence.cell.W")
    return {seed: values.reshape(10, 20)[:, 10:] for seed, values in found.items()}


def others(kept: NDArray[np.float64]) -> float:
    """The largest weight of another counter."""
    return float(np.abs(kept - np.diag(np.diag(kept))).max())


def counters() -> str:
    found = counting_weights()
    right = [kept for kept in found.values() if others(kept) < 0.5]
    own = np.concatenate([np.diag(kept) for kept in right])
    return (
        f"In {WORDS[len(right)]} of the {WORDS[len(found)]} seeds a counter keeps {own.min():.4f} to {own.max():.4f} "
        f"of itself and gets at most {max(map(others, right)):.3f} of another"
    )


def swapped() -> str:
    (found,) = [(seed, kept) for seed, kept in counting_weights().items() if others(kept) >= 0.5]
    seed, kept = found
    one, other = np.flatnonzero(np.abs(np.diag(kept)) < 0.5)
    assert min(kept[one, other], kept[other, one]) > 0.9
    return f"Seed {seed} swaps its counters of {one} and {other} at every image"


def still_falling() -> str:
    curves = measured("table2", "curves").query("operation == 'count' and model == @NAC")
    last = curves[curves["step"] == curves["step"].max()]["test_mae_1000"]
    chosen = seeds_of("count", NAC)["test_mae_1000"]
    return (
        f"At the last step the errors at 1,000 images are {last.min():.0f} to {last.max():.0f}, at the selected steps "
        f"{chosen.min():.0f} to {chosen.max():.0f}"
    )


def adds_or_not() -> str:
    found, ratio = seeds_of("sum", NAC), ratios("sum", NAC)
    adds = (found["recurrent_weight"] - 1).abs() < 1e-6
    alone = found["recurrent_weight"].abs() < 1e-4
    assert (adds | alone).all()
    return (
        f"In {WORDS[adds.sum()]} of the {WORDS[len(found)]} seeds the recurrent weight ends at 1, and the errors are "
        f"{ratio[adds].min().min():.1f} to {ratio[adds].max().max():.1f} times the reference's at every length; in "
        f"{WORDS[alone.sum()]} it ends at 0"
    )


def first_weights() -> str:
    curves = measured("table2", "curves").query("operation == 'sum' and model == @NAC and step == 0").set_index("seed")
    first, last = curves[["input_weight", "recurrent_weight"]], seeds_of("sum", NAC)["recurrent_weight"]
    below, above = (first < 0).all(axis=1), (first > 0).all(axis=1)
    assert (below | above).all()
    assert (below == (last.abs() < 1e-4)).all()
    return f"These {WORDS[below.sum()]} started with both weights below 0, the others with both above"


def nalu_counts() -> str:
    ten, far = (ratios("count", NALU)[f"test_mae_{length}"] for length in (10, 1000))
    return (
        f"At ten images its seeds err by {ten.min():.1f} to {ten.max():.1f} times the reference's error, at 1,000 by "
        f"{math.floor(far.min())} times and more"
    )


def nalu_sums() -> dict[str, list[int]]:
    """The seeds of the NALU that add, that multiply, and that see the last image alone."""
    found = seeds_of("sum", NALU)
    gates = {seed: float(values[0]) for seed, values in weights("sum", NALU, "recurrence.cell.g").items()}
    additive = pd.Series(gates).reindex(found.index) > 0.5
    alone = found["recurrent_weight"].abs() < 0.001
    overflows = ~np.isfinite(found["test_mae_100"])
    kinds = {"add": additive & ~alone, "multiply": ~additive & overflows, "alone": alone}
    return {kind: list(found.index[chosen]) for kind, chosen in kinds.items()}


def nalu_adds() -> str:
    kinds, ratio = nalu_sums(), ratios("sum", NALU)
    assert sum(map(len, kinds.values())) == len(ratio)
    one, other = (joined([f"{value:.2g}" for value in ratio.loc[seed]]) for seed in kinds["add"])
    return (
        f"The NALU adds in {WORDS[len(kinds['add'])]} of its {WORDS[len(ratio)]} seeds, and multiplies in "
        f"{WORDS[len(kinds['multiply'])]}.** One of the first errs by {one} times the reference's error at the four "
        f"lengths, the other by {other}"
    )


def nalu_multiplies() -> str:
    seeds, means = nalu_sums()["multiply"], weights("sum", NALU, "encoder_mean")
    slopes = [np.polyfit(range(10), np.log(means[seed]), 1)[0] for seed in seeds]
    (growth,) = {f"{100 * math.expm1(slope):.0f} %" for slope in slopes}
    one, other = (f"{error:.1f}" for error in seeds_of("sum", NALU).loc[seeds, "test_mae_10"])
    return f"{growth} more for every unit of the digit. Ten digits are added with errors of {one} and {other}"


def holding() -> str:
    nac, nalu = (WORDS[(ratios("sum", model) <= 2).all(axis=1).sum()] for model in (NAC, NALU))
    return f"{nac} of the NAC₊ and {nalu} of the NALU stay within twice the reference's error at every length"


def best_seed() -> str:
    best = ratios("sum", NALU)["test_mae_1000"].min()
    reference = ratios("sum", REFERENCE)["test_mae_1000"]
    above = reference > 2
    return (
        f"the best NALU has {best:.1f} times the median reference's error at 1,000 images, and {WORDS[above.sum()]} of "
        f"the {WORDS[len(above)]} references has {reference.max():.1f} times"
    )


def misses(model: str, seeds: Iterable[int]) -> list[float]:
    """By how many digits a line through the encoder's mean output misses it at most, of each seed that adds."""
    digits, means = np.arange(10), weights("sum", model, "encoder_mean")
    worst = []
    for seed in seeds:
        slope, start = np.polyfit(digits, means[seed], 1)
        worst.append(float(np.abs((means[seed] - start - slope * digits) / slope).max()))
    return worst


def encoders() -> str:
    every, right = range(5), ratios("sum", NAC).query("test_mae_1000 < 2").index
    linear = misses(REFERENCE, every) + misses(NAC, right) + misses(NALU, nalu_sums()["add"])
    bent = [miss for model in STANDARD[:3] for miss in misses(model, every)]
    relu = misses(STANDARD[3], every)
    return (
        f"by {max(linear):.1f} digits at most in the references and in the NAC₊ and NALU that add, by {min(relu):.1f} "
        f"to {max(relu):.1f} behind the RNN-ReLU, and by {min(bent):.0f} to {max(bent):.0f} behind the other three"
    )


def late_falls() -> str:
    found = table("table2").query("metric == 'late_fall' and model in @STANDARD")["ours"]
    return f"{100 * found.min():.0f} to {100 * found.max():.0f} % in the median of the standard cells"


# Section 4.5


def censored(artifact: str, scale: str) -> pd.Series:
    """Agent -> how many of its seeds fail at no tested time, so that their T50 counts as 41."""
    found = runs(artifact).query("role == 'cell' and setting == @scale")
    success = found[[f"test_success_{time}" for time in range(13, 41)]]
    return (success >= 0.5).all(axis=1).groupby(found["model"]).sum()


def beyond_the_last_time() -> str:
    raw, tenth = (censored("figure5", f"told=time;scale={scale}")[READS_C] for scale in ("1.0", "0.1"))
    nac, linear, direct, nau = raw
    seeds = runs("figure5").query("model == 'agent_nac_memory'")["seed"].nunique()
    return (
        f"Told T that are {nac}, {linear} and {nau} of {seeds} seeds with a NAC₊, a linear layer and a NAU of [T, c], "
        f"and {direct} of {seeds} with T direct; told T / 10 {'some' if tenth.any() else 'none'} of them"
    )


def half_of_both() -> str:
    raw, tenth = (censored("figure5", f"told=time;scale={scale}") for scale in ("1.0", "0.1"))
    nac, linear = raw["agent_nac_memory"], raw["agent_linear_memory"]
    assert nac == linear == 5
    assert not tenth[["agent_nac_memory", "agent_linear_memory"]].any()
    return "Told T half of the seeds of both count as 41"


def difference(artifact: str, scale: str, one: str, other: str) -> str:
    lines = table(artifact).query("setting == @scale").set_index("metric")
    line = lines.loc[f"t50_difference agent_{one} agent_{other}"]
    return f"{line['ours']:.1f} [{line['ours_low']:.1f}, {line['ours_high']:.1f}]"


def both_scales(one: str, other: str) -> tuple[str, str]:
    """The difference of two T50 if agents are told T, and if they are told T / 10."""
    raw, tenth = (difference("figure5", f"scale={scale}", one, other) for scale in ("1.0", "0.1"))
    return raw, tenth


def path_of_nac() -> str:
    return "{} steps with a NAC₊, told T, and {} told T / 10".format(*both_scales("nac_memory", "nac_hidden"))


def path_of_linear() -> str:
    return "with a linear layer {} and {}".format(*both_scales("linear_memory", "linear_hidden"))


def hidden_lasts_no_longer() -> str:
    return "from the plain LSTM by {} and {}".format(*both_scales("nac_hidden", "lstm"))


def never_come() -> str:
    found = table("figure5").query("metric == 'never' and setting == 'told=time;scale=0.1;T=40' and model in @READS_C")[
        "ours"
    ]
    return f"told T / 10 with T = 40 they do not come in {100 * found.min():.0f} to {100 * found.max():.0f} %"


def late_gains() -> str:
    found = table("figure5").query("metric == 'late_gain' and task == 'grid_world'")["ours"]
    return f"grows by at most {100 * found.max():.1f} points in the median of any agent without pictures"


def still_succeed() -> str:
    most = runs("figure5_longer").groupby("model")["test_success_40"].agg(lambda shares: int((shares > 0.5).sum()))
    nac, linear = (WORDS[most[f"agent_{name}_memory"]] for name in ("nac", "linear"))
    return f"{nac} of five NAC₊ and {linear} of five linear layers of [T, c] still succeed in most episodes at T = 40"


def longer(one: str, other: str) -> str:
    return difference("figure5_longer", "scale=1.0", one, other)


def longer_lstm() -> str:
    nac, linear = (longer(f"{name}_memory", "lstm") for name in ("nac", "linear"))
    return f"T50 exceeds the LSTM's by {nac} steps with the NAC₊ and by {linear} with the linear layer"


def longer_unit() -> str:
    return f"differ by {longer('linear_memory', 'nac_memory')} steps"


PIECES: dict[str, tuple[Callable[[], str], ...]] = {
    "table1": (best_nalu, best_recurrent_nalu, nothing_extrapolates, diverged),
    "table2": (
        ten_images, one_image, counters, swapped, still_falling, adds_or_not, first_weights, nalu_counts, nalu_adds,
        nalu_multiplies, holding, best_seed, encoders, late_falls,
    ),
    "table3": (least_units,),
    "figure1": (saturating, severity_inside),
    "figure5": (
        beyond_the_last_time, half_of_both, path_of_nac, path_of_linear, hidden_lasts_no_longer, never_come, late_gains,
        still_succeed,
    ),
    "figure5_longer": (longer_lstm, longer_unit, still_succeed),
}  # fmt: skip
"""Page -> what computes its pieces."""
