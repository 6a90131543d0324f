"""Numbers in the pages of Trask et al. 2018 that stand in no line of a table, computed again from the results."""

import functools
import math
import re
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import torch
from num2words import num2words
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from nalu_bench import paths
from nalu_bench.analysis.printed import published
from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.ranges import read_printed
from nalu_bench.analysis.table.place import Place
from nalu_bench.papers.trask2018 import series_constant, series_printed
from nalu_bench.papers.trask2018.identity_claims import nonlinearity
from nalu_bench.plan import compose, experiment
from nalu_bench.tasks.subsections import Subsections
from nalu_bench.training.data import Data
from nalu_bench.training.random.addressable import Addressable
from tests.papers.trask2018 import laws

FOLDER = paths.CHECKOUT / "results/trask2018"
WORDS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
STANDARD = ["image_lstm", "image_gru", "image_rnn_tanh", "image_rnn_relu"]
NAC, NALU, REFERENCE = "image_nac_xavier", "image_nalu_xavier", "image_solved_sum"


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


def rounded_up(share: float) -> str:
    """A share in percent, so that `within` is true."""
    return f"{math.ceil(1000 * share) / 10:.1f}"


def joined(names: list[str]) -> str:
    """The names as a sentence has them: a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}"


# Table 6


def sentences_by_distribution(name: str) -> pd.DataFrame:
    """The verdict on every sentence, a row, under every distribution of the inputs, a column."""
    claims = table(name).query("metric.str.startswith('claim_')", engine="python")
    return claims.pivot(index="metric", columns="setting", values="verdict")


def under_all() -> str:
    """The verdicts on the four sentences under the four distributions."""
    found = sentences_by_distribution("table6")
    assert (found.nunique(axis=1) == 1).all()
    verdicts = found.iloc[:, 0]
    assert list(verdicts[verdicts == "differs"].index) == ["claim_nalu"]
    assert set(verdicts.drop("claim_nalu")) == {"agrees"}
    count = WORDS[found.shape[1]]
    others = WORDS[len(verdicts) - 1]
    return f"The sentence on the NALU differs under all {count}, and the {others} others hold under all {count}"


def still_falling(name: str) -> pd.Series:
    """What the last 10,000 steps left of the smallest validation error, of cells above 1 % that lost over a tenth.

    The index has their setting, model and operation.
    """
    key = ["setting", "model", "operation"]
    settings = runs(name)[["cell", "setting"]].drop_duplicates()
    curves = measured(name, "curves").query("role == 'cell'").merge(settings, on="cell")
    until = [curves[curves["step"] <= step] for step in (curves["step"].max() - 10_000, curves["step"].max())]
    before, after = (each.groupby([*key, "seed"])["validation_mse"].min() for each in until)
    left = (after / before.where(before > 0)).groupby(key).median()
    errors = table(name).query("metric == 'relative' and split == 'validation'").set_index(key)["ours"]
    return left[(left < 0.9) & (errors.reindex(left.index) > 1)]


def flat(name: str) -> str:
    """In how many cells of a table the errors still fell."""
    cells = runs(name).query("role == 'cell'")["cell"].nunique()
    return (
        f"In {len(still_falling(name))} of {cells} cells the smallest validation error is above 1 % of the untrained "
        "error, and fell by more than a tenth over the last 10,000 steps, in the median of the seeds"
    )


def flat_but() -> str:
    """Which errors of Table 6 still fell."""
    found = still_falling("table6").index
    models = ["hidden_tanh", "hidden_sigmoid", "hidden_softsign"]
    law = "range=[1, 2];lengths=[25, 25]"
    assert set(found) == {(law, model, operation) for model in models for operation in ("mul", "square")}
    return f"those of {joined([style.label(model).lower() for model in models])} at × and a² on U[1, 2]"


def flat_but_squares() -> str:
    """Which errors of Table 8 still fell."""
    found = still_falling("table8").index
    assert {operation for _, _, operation in found} == {"square"}
    errors = table("table8").query("metric == 'relative' and split == 'validation' and operation == 'square'")
    assert (errors.set_index(["setting", "model", "operation"])["ours"][found] <= 10).all()
    return "All are at a², and below our threshold"


def roots_printed() -> str:
    """The percentages of tanh and sigmoid for roots in interpolation: printed, and by the printed raw errors."""
    printed = table("table6").query("operation == 'sqrt' and split == 'validation' and printed != ''")
    untrained = float(printed.query("metric == 'untrained'")["printed"].iloc[0])
    words = ["hidden_tanh", "hidden_sigmoid"]
    raw, shares = (
        printed[printed["metric"] == name].set_index("model")["printed"][words] for name in ("mse", "relative")
    )
    assert not follows("table6")[[("sqrt", "validation", name) for name in words]].any()
    given = joined([f"{100 * float(value) / untrained:.2f}" for value in raw])
    return f"printed as {joined([*shares])} %, where Table 6 gives {given} %"


def missed() -> str:
    """By how much our medians miss the printed errors by which the distribution was chosen."""
    found = table("table6").query("metric in ['mse', 'untrained'] and printed != ''")
    ours = {(line.operation, line.split, line.model, line.metric): line.ours for line in found.itertuples()}
    names = {laws.NONE: ("hidden_linear", "mse"), laws.NAC: ("nac", "mse"), laws.RANDOM: ("hidden_linear", "untrained")}
    chosen = laws.read_printed()
    misses = [
        abs(math.log(ours[operation, split, *names[model]] / value))
        for (operation, split, model), value in chosen.items()
    ]
    return (
        f"our medians miss the {len(misses)} printed errors by a factor of {math.exp(np.mean(misses)):.1f} on average"
    )


def unbounded() -> str:
    """What a quotient of few terms does to the untrained error, where 1 / b² has no expectation."""
    mine = runs("table6").query("operation == 'div' and setting == 'range=[0, 1.75];lengths=[1, 20]'")
    untrained = mine[mine["role"] == "baseline"].set_index("seed")["validation_mse"]
    few = boundless(untrained.index)
    return (
        f"so it is in {len(few)} of the {len(untrained)} seeds, and the untrained error (raw, squared) is "
        f"{untrained[few].min():.0f} to {untrained[few].max():,.0f} there, against {untrained.median():.1f} in the "
        "median"
    )


def boundless(seeds: Iterable[int]) -> list[int]:
    """Those of the seeds with one or two terms in b."""
    task = Subsections("subsections", "subsections", "div", [0, 1.75], [1.75, 2.1875], 100, [1, 20])
    return [seed for seed in seeds if Addressable().seed_parameters(task, seed)["members"][1].sum() <= 2]


def without_them() -> str:
    """The third best model at its worst operation in interpolation, without the seeds of few terms in b."""
    mine = runs("table6").query("setting == 'range=[0, 1.75];lengths=[1, 20]'")
    keys = ["operation", "seed"]
    untrained = mine[mine["role"] == "baseline"].set_index(keys)["validation_mse"]
    standard = mine[(mine["role"] == "cell") & mine["model"].str.startswith("hidden_")]
    share = 100 * standard["validation_mse"] / untrained.loc[[*standard[keys].itertuples(index=False)]].to_numpy()
    kept = ~((standard["operation"] == "div") & standard["seed"].isin(boundless(mine["seed"].unique())))
    medians = share[kept].groupby([standard["model"], standard["operation"]]).median()
    third = medians.groupby("model").max().sort_values().iloc[2]
    return f"Without these seeds the third best of nine has {third:.2f} % in interpolation"


# Table 8

CHOSEN = "range=[0, 1.75];lengths=[1, 5]"
"""The distribution that is held against the printed numbers."""

NARROW = "range=[1, 2];lengths=[2, 2]"
"""That of Madsen & Johansen."""


def growth() -> str:
    """By how much an untrained LSTM's squared error grows from ten vectors to 1,000, ours and the printed one."""
    found = table("table8").query("metric == 'untrained' and setting == @CHOSEN")
    ours = found.pivot(index="operation", columns="split", values="ours")
    printed = found.pivot(index="operation", columns="split", values="printed").astype(float)
    grown, theirs = (each["extrapolation"] / each["validation"] for each in (ours, printed))
    return (
        f"The printed one grows by {theirs.min():,.0f} to {theirs.max():,.0f} times for all {WORDS[len(theirs)]} "
        f"operations; ours by {grown['sqrt']:,.0f} times for √a, {grown['div']:.2g} for a / b, {grown['a']:,.0f} "
        f"for a, {grown['mul']:.1e} for a × b"
    )


def shared() -> str:
    """How the two units of the NAC that adds keep their sum: the largest eigenvalue of their weights on themselves."""
    cells = runs("table8").query("model == 'sequence_nac' and operation == 'add'")
    cell = cells.loc[cells["setting"] == CHOSEN, "cell"].iloc[0]
    weights = measured("table8", "weights")
    chosen = weights[(weights["cell"] == cell) & (weights["name"] == "cell.W")]
    own = [np.reshape(each, (2, 12))[:, 10:] for each in chosen["values"]]
    off = [abs(1 - abs(np.linalg.eigvals(each)).max()) for each in own]
    return f"the larger eigenvalue of this feedback is off 1 by {np.median(off):.1g} in the median"


def largest_inside() -> str:
    """The largest median errors on ten vectors."""
    found = table("table8").query("metric == 'relative' and split == 'validation' and setting == @CHOSEN")
    found = found[found["model"] != "sequence_constant"]
    return f"the largest of the {len(found)} medians is {found['ours'].max():.2g} %"


def follows(name: str) -> pd.Series:
    """Whether each printed percentage follows from the printed raw errors, as far as these are rounded."""
    words = ["operation", "split"]
    printed = table(name).query("printed != ''")
    untrained = printed.query("metric == 'untrained'").set_index(words)["printed"].map(read_printed)
    raw = printed.query("metric == 'mse'").set_index([*words, "model"])["printed"].map(read_printed)
    shares = printed.query("metric == 'relative'").set_index([*words, "model"])["printed"].map(read_printed)

    def fits(place: tuple[str, str, str]) -> bool:
        above, below, share = raw[place], untrained[place[:2]], shares[place]
        low, high = 100 * max(above.least, 0) / below.most, math.inf if above.bound else 100 * above.most / below.least
        return high > share.value if share.bound else low <= share.most and high >= share.least

    return pd.Series({place: fits(place) for place in shares.index})


def not_following(name: str, tables: str) -> str:
    found = follows(name)
    return f"{(~found).sum()} of the {len(found)} percentages of {tables}"


def under_the_distributions() -> str:
    """The verdicts on the five sentences under the four distributions."""
    found = sentences_by_distribution("table8")
    everywhere = found[found.nunique(axis=1) == 1].iloc[:, 0]
    assert everywhere.to_dict() == {
        "claim_division": "fitted", "claim_extrapolation": "agrees", "claim_nac": "differs", "claim_nalu": "differs"
    }  # fmt: skip
    interpolation = found.loc["claim_interpolation"]
    (refuted,) = interpolation.index[interpolation == "differs"]
    assert set(interpolation.drop(refuted)) == {"agrees"}
    low_high = refuted.partition(";")[0].removeprefix("range=")
    every, others = (WORDS[found.shape[1] - less] for less in (0, 1))
    return (
        f"The sentences on the NAC and the NALU hold under none of the {every}, that on division is `fitted` under all "
        f"{every}, and that on extrapolation holds under all {every}. The sentence on interpolation holds under "
        f"{others}, and does not under U{low_high}"
    )


def above_the_threshold() -> str:
    """How many medians on ten vectors lie above 10 % on U[1, 2], all on differences."""
    found = table("table8").query("metric == 'relative' and split == 'validation' and ours > 10")
    assert set(found["setting"]) == {NARROW}
    assert set(found["operation"]) == {"sub"}
    assert set(found["model"]) == {"sequence_rnn_tanh", "sequence_rnn_relu"}
    return f"even on ten vectors, {WORDS[len(found)]} medians lie above 10 % on −, that of the RNN-tanh"


def below_a_constant() -> str:
    """The model whose median error on quotients of long sums comes nearest to a constant's, and whether it is above."""
    found = table("table8").query("metric == 'relative' and split == 'extrapolation' and operation == 'div'")
    medians = found[found["setting"] == CHOSEN].set_index("model")["ours"]
    nearest = medians.drop("sequence_constant").idxmin()
    assert medians[nearest] > medians["sequence_constant"]
    return f"No model beats it: the {style.label(nearest)}, which comes nearest, has"


def constants_themselves() -> str:
    """How many seeds of the RNN-ReLU on U[1, 2] have the very error of the constant, to four digits.

    Where a and b are the same sum, the quotient is always 1, and the constant has no error.
    """
    found = runs("table8").query("setting == @NARROW and operation == 'div'")
    errors = found.pivot_table(index="seed", columns=["role", "model"], values="extrapolation_mse")
    ours, constant = errors["cell"]["sequence_rnn_relu"], errors["constant"]["sequence_constant"]
    same = constant == 0
    alike = np.isclose(ours[~same], constant[~same], rtol=1e-3).sum()
    return (
        f"There a and b are the same sum in {same.sum()} of {len(ours)} seeds, and their quotient is always 1. In "
        f"{alike} of the other {(~same).sum()} seeds the RNN-ReLU has become the constant itself on quotients"
    )


@functools.cache
def best_constants() -> "pd.Series[float]":
    """Distribution, operation -> the least error of a constant on ten vectors, in percent of an untrained LSTM's."""
    planned = compose.plan_experiment(experiment.load("trask2018/table8"), ["budget=paper"]).cells
    cells = {want.cell.digest: want.cell for want in planned}

    def error(mine: pd.DataFrame) -> float:
        data = Data(cells[mine["cell"].iloc[0]], mine["seed"].tolist(), torch.device("cpu"))
        targets = torch.cat([examples.t for examples in data.evaluated["validation"]], dim=1).double()
        least = targets.flatten(1).var(1, correction=0).numpy()
        return float((100 * least / mine["validation_mse"]).median())

    untrained = runs("table8").query("role == 'baseline'")
    return untrained.groupby(["setting", "operation"])[["cell", "seed", "validation_mse"]].apply(error)


def constants_inside() -> str:
    """Whether a constant passes at all operations on all distributions but U[1, 2], and how well on the chosen one."""
    found = best_constants()
    assert (found.drop(NARROW, level="setting") < 10).all()
    return f"a constant has at most {found[CHOSEN].max():.1f} % at any operation, and would pass, too"


def constants_on_differences() -> str:
    """Whether a constant fails on U[1, 2] at differences alone."""
    found = best_constants()[NARROW]
    assert (found.drop("sub") < 10).all()
    return f"where the best constant has {found['sub']:.0f} %"


def raw_ones() -> str:
    """How many of the printed numbers that differ are squared errors as they are."""
    found = table("table8").query("verdict == 'differs' and not metric.str.startswith('claim_')", engine="python")
    raw = (found["metric"] != "relative").sum()
    return f"Of those that differ, {raw} are squared errors as they are"


def untrained_alike() -> str:
    """The printed errors of the untrained model over 1,000 vectors at a, + and −, and how near they are."""
    found = table("table8").query("metric == 'untrained' and split == 'extrapolation' and printed != ''")
    printed = found.set_index("operation")["printed"].astype(float)[["a", "add", "sub"]]
    told = joined([f"{value:,.0f}" for value in printed])
    return f"{told}, lie within {math.ceil(100 * (printed.max() / printed.min() - 1))} % of each other"


def lstm_alike() -> str:
    """The printed errors of the LSTM over 1,000 vectors, of all operations."""
    found = table("table8").query("metric == 'mse' and split == 'extrapolation' and model == 'sequence_lstm'")
    printed = found["printed"][found["printed"] != ""].astype(float)
    return f"between {printed.min():,.0f} and {printed.max():,.0f} for every operation"


# Table 4


def accuracies() -> pd.DataFrame:
    """The percentage of right counts of every seed, a row, with every last layer, a column."""
    return 100 * runs("table4").pivot(index="seed", columns="model", values="test_correct")


def in_validation() -> pd.DataFrame:
    """The same in validation, means over the seeds, at every evaluated step."""
    return 100 * measured("table4", "curves").pivot_table(index="step", columns="model", values="validation_correct")


def printed_shares() -> "pd.Series[float]":
    """The printed percentages."""
    return table("table4").query("metric == 'accuracy'").set_index("model")["printed"].astype(float)


def by_sigmoid(shares: pd.DataFrame) -> pd.Series:
    """What σ(W) costs, on average over layers with and without a bias."""
    return (shares[["canvas_linear", "canvas_linear_no_bias"]].mean(axis=1)
            - shares[["canvas_sigmoid", "canvas_sigmoid_no_bias"]].mean(axis=1))  # fmt: skip


def still_rising() -> str:
    found = in_validation()
    last, before = found.index[-1], found.index[-3]
    return f"by up to {(found.loc[last] - found.loc[before]).max():.1f} points from step {before:,} to {last:,}"


def sigmoid_in_print() -> str:
    return f"where the paper has some {by_sigmoid(printed_shares().to_frame().T).iloc[0]:.0f}"


def sigmoid_on_the_way() -> str:
    found = by_sigmoid(in_validation())
    return (
        f"the difference of the means is {found.max():.1f} points at step {found.idxmax():,}, and less at every other"
    )


def error_in_print() -> str:
    errors = 100 - printed_shares()
    return f"where the printed accuracies give {100 * (1 - errors['canvas_nac'] / errors['canvas_linear']):.0f} %"


def seeds_apart() -> str:
    found, printed = accuracies(), printed_shares()
    free = printed[~printed.index.str.contains("sigmoid")]
    return (
        f"One layer has seeds that are up to {(found.max() - found.min()).max():.1f} points apart; the printed "
        f"accuracies without σ(W) span {free.max() - free.min():.1f}, with one network each"
    )


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


def intermediate() -> str:
    """How the printed intermediate predictions of Figure 3 fare."""
    found = table("table3").query("metric == 'prediction' and printed != ''")
    found = found[~found["setting"].str.contains("reads=")]
    told = [WORDS[(found["verdict"] == each).sum()] for each in ("agrees", "differs", "uninformative")]
    assert len(found) == sum((found["verdict"] == each).sum() for each in ("agrees", "differs", "uninformative"))
    return "Of the {} that are compared {} agree, {} differ, and the draws of {} are too wide to tell".format(
        len(found), *told
    )


# Table 5 and Figure 1


def far_errors() -> pd.DataFrame:
    """The errors over the integers, ours and the printed ones, by activation."""
    found = table("table5").query("metric == 'mae' and split == 'integers'")
    found = found.assign(activation=found["setting"].str.removeprefix("activation=")).set_index("activation")
    return found.assign(theirs=found["printed"].str.strip("<").astype(float))


def judges() -> str:
    found = far_errors()
    verdicts = found[~found["note"].str.contains("chosen with this number")]["verdict"].value_counts()
    counted = [WORDS[verdicts[each]] for each in ("agrees", "differs", "inconclusive")]
    return "of the {} others {} agrees, {} differ and {} are open".format(WORDS[verdicts.sum()], *counted)


def alike() -> str:
    """How near the means of non-linear activations come."""
    found = far_errors().drop(["linear", "threshold"])
    ratios = found["ours"] / found["theirs"]
    order = found["ours"].rank().corr(found["theirs"].rank())
    bounded = ratios[found["theirs"] > 490]
    rest = ratios.drop(bounded.index).drop(["prelu", "tanhshrink"])
    near, zero = (bounded - 1).abs().max(), (1000 * 1001 / 2001 / found["theirs"][bounded.index] - 1).max()
    five, six = WORDS[len(bounded)], WORDS[len(rest)].capitalize()
    differ = WORDS[(found["verdict"][bounded.index] == "differs").sum()]
    return (
        f"the order of the activations is nearly the paper's: the rank correlation is {order:.2f}. The errors of the "
        f"{five} bounded ones are within {rounded_up(near)} % of the printed ones. {differ.capitalize()} of them "
        f"differ all the same, since the seeds hardly vary. Predicting 0 would be within {rounded_up(zero)} %, too. "
        f"{six} others have {rest.min():.2f} to {rest.max():.2f} of the printed errors"
    )


def no_threshold() -> str:
    found = runs("table5").query("setting == 'activation=threshold'")
    last = found.query("status == 'diverged'")["diverged_at"]
    return f"{len(last)} of {len(found)} networks diverge, all by step {last.max():.0f}"


def printed_severity() -> str:
    """The rank correlation of the printed errors of all non-linear activations with our degree of non-linearity."""
    found = far_errors()["theirs"].drop(["linear", "threshold"])  # of ours Threshold has no error
    near, far = (
        pd.Series({name: nonlinearity(name, -end, end) for name in found.index}).rank().corr(found.rank())
        for end in (5, 1000)
    )
    return f"The printed errors have {far:.2f} with the degree over [-1000, 1000], and {near:.2f} over [-5, 5]"


def failing() -> str:
    found = table("table5").query("metric == 'failing' and split == 'outside'").set_index("setting")["ours"]
    others = found.drop(["activation=linear", "activation=prelu"])
    return f"{100 * others.min():.0f} % or more of the networks do"


def severity_inside() -> str:
    note = table("table5").query("metric == 'claim_severity' and split == 'outside'")["note"].item()
    found = re.search(r"over the training range \[-5, 5\] it is (\S+ \[.*?\])", note)
    assert found
    return f"with the degree over [-5, 5] in its place {found[1]}"


# Table 2


def seeds_of(operation: str, model: str) -> pd.DataFrame:
    return runs("table2").query("operation == @operation and model == @model").set_index("seed")


def standard(lengths: tuple[int, ...], metric: str = "ratio") -> pd.Series:
    """The medians of the standard cells."""
    settings = [f"length={length}" for length in lengths]
    found = table("table2").query("metric == @metric and model in @STANDARD")
    return found[found["setting"].isin(settings)]["ours"]


def within_the_seeds() -> str:
    """How many printed numbers, widened by their rounding, meet the range of our seeds, and where the errors lie."""
    printed = table("table2").query("metric in ['mae', 'mse', 'digits'] and printed != ''")
    places = []
    for line in printed.itertuples():
        ours = seeds_of(line.operation, line.model)[f"test_{line.metric}_{line.setting.removeprefix('length=')}"]
        ours = (100 if line.metric == "digits" else 1) * ours.fillna(math.inf)
        theirs = read_printed(line.printed)
        places.append("above" if theirs.least > ours.max() else "below" if theirs.most < ours.min() else "within")
    found = pd.DataFrame({"place": places, "error": (printed["metric"] != "digits").to_numpy()})
    errors = found[found["error"]]["place"].value_counts()
    shares = found[~found["error"]]["place"].value_counts()
    return (
        f"Of the {errors.sum()} printed errors {errors['within']} lie within the range of our seeds, {errors['above']} "
        f"above and {errors['below']} below; of the {shares.sum()} printed accuracies {shares['within']} lie within"
    )


def ten_images() -> str:
    ten, far = standard((10,)), standard((1, 100, 1000), metric="way")
    return (
        f"Their median error is {ten.min():.2g} to {ten.max():.2g} times the reference's at ten images. At every other "
        f"length they answer as if there had been ten: their median error is at least {100 * far.min():.0f} % of "
        "the way from the reference's to the constant's"
    )


def one_image() -> str:
    """What can be read off one image, ours and printed, of the two cells that the paper names."""
    digits = table("table2").query("metric == 'digits' and operation == 'count'").set_index("model")
    every, (tanh, relu) = digits["ours"][STANDARD], digits["printed"][STANDARD[2:]]
    return (
        f"the digit is read off a count of all four in {100 * every.min():.0f} to {100 * every.max():.0f} %, where "
        f"{tanh} and {relu} % are printed for RNN-tanh and RNN-ReLU"
    )


def rectified_images() -> str:
    """The two smallest shares that the RNN-ReLU reads off one image; those of all seeds are below LSTM and GRU."""
    shares = {model: runs("table2").query("operation == 'count' and model == @model")["test_digits_1"].to_numpy()
              for model in STANDARD}  # fmt: skip
    assert max(map(max, [shares[model] for model in STANDARD[2:]])) < min(map(min, [shares[m] for m in STANDARD[:2]]))
    one, other, *_ = sorted(shares[STANDARD[3]])
    return (
        "LSTM and GRU read a little more of them in every seed, and two seeds of the RNN-ReLU read "
        f"{100 * one:.0f} and {100 * other:.0f} %"
    )


def printed_sums() -> str:
    digits = table("table2").query("metric == 'digits' and operation == 'sum'").set_index("model")["printed"]
    *rest, relu = digits[STANDARD]
    (zero,) = set(rest)
    return f"it is printed as {relu} % for the RNN-ReLU, and as {zero} % for the other three"


def errors_of_printed() -> dict[Place, series_printed.Pair]:
    return series_printed.pairs(published.typed(published.read(experiment.load("trask2018/table2").published)))


def contradictions() -> str:
    pairs = errors_of_printed().values()
    return (
        f"In {sum(pair.impossible for pair in pairs)} of {len(pairs)} places the printed mean absolute error is above "
        "the root of the printed mean squared error, by more than rounding"
    )


def halved() -> str:
    left = sum(pair.impossible_halved for pair in errors_of_printed().values())
    return f"{left} would stay if all errors of both tables were halved"


def doubled(operation: str, models: list[str], at: tuple[int, ...], metrics: tuple[str, ...]) -> float:
    """By what share printed errors are at most away from twice the constant's."""
    away = []
    for place, pair in errors_of_printed().items():
        length = int(place.setting["length"])
        if place.operation == operation and place.model in models and length in at:
            errors = dict(zip(("mae", "mse"), series_constant.errors(operation, length), strict=True))
            away += [abs(float(getattr(pair, metric)) / (2 * errors[metric]) - 1) for metric in metrics]
    return max(away)


def doubled_sums() -> str:
    squared = doubled("sum", STANDARD[:3], (10, 100, 1000), ("mse",))
    absolute = doubled("sum", STANDARD[:1], (10, 100, 1000), ("mae",))
    return (
        f"twice its squared errors are within {rounded_up(squared)} % of those printed for LSTM, GRU and RNN-tanh "
        f"at all three lengths, and twice its absolute errors within {rounded_up(absolute)} % of the LSTM's"
    )


def doubled_counts() -> str:
    both = doubled("count", STANDARD[:2], (100, 1000), ("mae", "mse"))
    return (
        f"for LSTM and GRU both errors are within {rounded_up(both)} % of twice the constant's at 100 and 1,000 images"
    )


def printed_limits() -> str:
    """The printed errors at 1,000 images as multiples of our reference's."""
    lines = table("table2").query("metric == 'mae' and setting == 'length=1000'").set_index(["operation", "model"])
    nac, nalu = (
        [float(lines.loc[(each, model), "printed"]) / lines.loc[(each, REFERENCE), "ours"] for each in ("count", "sum")]
        for model in (NAC, NALU)
    )
    return (
        f"at 1,000 images the printed NAC has {nac[0]:.1f} (counts) and {nac[1]:.1f} (sums) times the error of our "
        f"reference, the printed NALU {nalu[0]:.1f} and {nalu[1]:.0f}"
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


def adds_or_not() -> str:
    found = seeds_of("sum", NAC)
    adds = (found["recurrent_weight"] - 1).abs() < 1e-6
    alone = found["recurrent_weight"].abs() < 1e-4
    assert (adds | alone).all()
    one, other = sorted(found[adds]["test_mae_1000"])
    return (
        f"In {WORDS[adds.sum()]} of the {WORDS[len(found)]} seeds the recurrent weight ends at 1, and the errors at "
        f"1,000 images are {one:.0f} and {other:.0f}; in {WORDS[alone.sum()]} it ends at 0"
    )


def first_weights() -> str:
    curves = measured("table2", "curves").query("operation == 'sum' and model == @NAC and step == 0").set_index("seed")
    first, last = curves[["input_weight", "recurrent_weight"]], seeds_of("sum", NAC)["recurrent_weight"]
    below, above = (first < 0).all(axis=1), (first > 0).all(axis=1)
    assert (below | above).all()
    assert (below == (last.abs() < 1e-4)).all()
    return f"These {WORDS[below.sum()]} started with both weights below 0, the others with both above"


def nalu_counts() -> str:
    ten, far = (seeds_of("count", NALU)[f"test_mae_{length}"].fillna(math.inf) for length in (10, 1000))
    least = math.floor(far.min())
    return f"At ten images its seeds err by {ten.min():.2f} to {ten.max():.2f}, at 1,000 by {least} and more"


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
    kinds, found = nalu_sums(), seeds_of("sum", NALU)
    assert sum(map(len, kinds.values())) == len(found)
    assert len(kinds["alone"]) == 1
    one, other = found.loc[kinds["add"], "test_mae_1000"]
    return (
        f"The NALU adds in {WORDS[len(kinds['add'])]} of its {WORDS[len(found)]} seeds, well in one, and multiplies in "
        f"{WORDS[len(kinds['multiply'])]}.** Where it adds, it errs by {one:,.0f} and {other:,.0f} at\n  1,000 images"
    )


def nalu_multiplies() -> str:
    means = weights("sum", NALU, "encoder_mean")
    slopes = [np.polyfit(range(10), np.log(means[seed]), 1)[0] for seed in nalu_sums()["multiply"]]
    (growth,) = {f"{100 * math.expm1(slope):.0f} %" for slope in slopes}
    return f"{growth} more for every unit of the digit"


def late_falls() -> str:
    found = table("table2").query("metric == 'late_fall' and model in @STANDARD")["ours"]
    return f"{100 * found.min():.0f} to {100 * found.max():.0f} % in the median of the standard cells"


def controlled_nalus() -> str:
    found = runs("figure6").query("model == 'program_nalu' and role == 'cell'")
    far, near = (found["test_digits"] >= 0.95).sum(), (found["train_digits"] < 0.9).sum()
    curves = measured("figure6", "curves").query("model == 'program_nalu' and role == 'cell' and step >= 100_000")
    most = curves[curves["test_digits"] >= 0.95].groupby("step").size().max()
    return (
        f"{far} of {len(found)} have at least 95 % there, and {near} stay below 90 % in training. At no step from "
        f"100,000 on do more than {most} of {len(found)} have 95 %"
    )


def ten_of_them() -> str:
    """How many of the first ten seeds extrapolate: those that Figure 6 had before."""
    found = runs("figure6").query("model == 'program_nalu' and role == 'cell'")
    first, others = ((found.query(which)["test_digits"] >= 0.95).sum() for which in ("seed < 10", "seed >= 10"))
    return f"Of the first ten seeds {first} have 95 % at\n  the selected step, of the other twenty {others};"


def faster() -> str:
    """How many NALUs with the control's rate extrapolate, beside those with the rate of all."""
    found = runs("figure6").query("model == 'program_nalu'")
    solved = (found["test_digits"] >= 0.95).groupby(found["role"]).agg(["sum", "size"])
    counts = [[row["sum"], row["size"] - row["sum"]] for _, row in solved.iterrows()]
    usual, control = (row for _, row in solved.iterrows())
    p = fisher_exact(counts)[1]
    return (
        f"In the control, at 0.001, {control['sum']} of {control['size']} have 95 % (against the {usual['size']}: "
        f"p = {p:.2g}, Fisher's exact test)"
    )


def faster_integers() -> str:
    found = runs("figure6").query("model == 'program_nalu_integers' and role == 'control'")
    return f"At 0.001 {(found['test_digits'] >= 0.95).sum()} of {len(found)} such NALUs have 95 % in the test"


def printed_points() -> str:
    found = table("figure6").query("metric == 'digits'")
    agree, differ = (found[found["verdict"] == verdict] for verdict in ("agrees", "differs"))
    nalu, lstm = (agree[agree["model"] == model] for model in ("program_nalu", "program_lstm"))
    last = nalu["setting"].str.removeprefix("step=").astype(int).max()
    assert set(agree["split"]) == {"test"}
    assert len(nalu) + len(lstm) == len(agree)
    assert max(agree["ours"].max(), agree["printed"].astype(float).max()) < 20
    slight = differ[(differ["ours"] - differ["printed"].astype(float)).abs() < 1.5]
    assert set(slight["model"]) == {"program_lstm"}
    return (
        f"All that agree have less than 20 % in the test: {len(nalu)} of the NALU, up to step {last:,}, and "
        f"{len(lstm)} of the LSTM. {len(slight)} that differ are of the LSTM, by less than 1.5 points."
    )


def evaluating_nalus() -> str:
    found = 100 * runs("figure4").query("model == 'program_nalu'")[["train_digits", "test_digits"]]
    near, far = (f"{found[name].min():.0f} to {found[name].max():.0f} %" for name in found)
    return f"its ten seeds have {near} in training and {far} in the test" if len(found) == 10 else ""


def evaluating_with_integers() -> str:
    found = 100 * runs("figure4").query("model == 'program_nalu_integers'")[["train_digits", "test_digits"]]
    learned, others = found[found["train_digits"] >= 99], found[found["train_digits"] < 99]
    second, first = sorted(learned["test_digits"])
    far, near = (f"{others[name].min():.0f} to {others[name].max():.0f} %" for name in ("test_digits", "train_digits"))
    return f"the two have {first:.0f} and {second:.0f} % in the test, and the others {far}, with {near} in training"


def printed_programs() -> str:
    """The printed shares out of range over those in training, of the three networks without a NALU."""
    found = pd.read_csv(paths.experiments_dir() / "trask2018/figure4.published.csv").query("metric == 'digits'")
    found["step"] = found["setting"].str.removeprefix("step=").replace("last", "1250000").astype(int)
    shares = found.query("model != 'program_nalu' and step >= 100_000").set_index(["model", "step", "split"])
    wide = shares["printed"].astype(float).unstack("split")
    limits = {split: wide[split] / wide["train"] for split in ("test", "validation")}
    test, validation = (f"{ratio.min():.2f} to {ratio.max():.2f}" for ratio in limits.values())
    return (
        f"From step 100,000 on the three printed networks without a NALU have {test} of their training share in the "
        f"test, and {validation} of it in validation"
    )


def printed_lstms() -> str:
    files = {name: paths.experiments_dir() / f"trask2018/{name}.published.csv" for name in ("figure4", "figure6")}
    last = "model == 'program_lstm' and split == 'test' and setting == 'step=last'"
    programs, sums = (float(pd.read_csv(path).query(last)["printed"].iloc[0]) for path in files.values())
    return f"(printed: {programs - sums:.1f}, in the end)"


PIECES: dict[str, tuple[Callable[[], str], ...]] = {
    "figure4": (printed_programs, evaluating_nalus, evaluating_with_integers, printed_lstms),
    "figure6": (controlled_nalus, ten_of_them, faster, faster_integers, printed_points),
    "table2": (
        within_the_seeds, ten_images, one_image, rectified_images, printed_sums, contradictions, halved, doubled_sums,
        doubled_counts, printed_limits, counters, swapped, adds_or_not, first_weights, nalu_counts, nalu_adds,
        nalu_multiplies, late_falls,
    ),
    "table3": (least_units, intermediate),
    "table4": (still_rising, sigmoid_in_print, sigmoid_on_the_way, error_in_print, seeds_apart),
    "table5": (judges, alike, no_threshold, printed_severity, failing, severity_inside),
    "table6": (
        functools.partial(not_following, "table6", "Table 7 do not follow from Table 6"), under_all, missed, unbounded,
        without_them, functools.partial(flat, "table6"), flat_but, roots_printed,
    ),
    "table8": (
        growth, shared, under_the_distributions, above_the_threshold, below_a_constant, constants_themselves,
        lstm_alike, untrained_alike, largest_inside, functools.partial(flat, "table8"), flat_but_squares, raw_ones,
        constants_inside, constants_on_differences,
        functools.partial(not_following, "table8", "Table 9 do not follow from Table 8"),
    ),
}  # fmt: skip
"""Page -> what computes its pieces."""
