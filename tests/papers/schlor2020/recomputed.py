"""Pieces of sentences of the pages about the experiments, computed again from their results."""

import functools
import itertools
from collections.abc import Callable

import pandas as pd
from scipy.stats import fisher_exact

from nalu_bench import paths

RESULTS = paths.CHECKOUT / "results" / "schlor2020"

WORDS = {"add": "sums", "sub": "differences", "mul": "products", "div": "quotients"}
RMSPROP, ONCE = "optimizer=rmsprop_tf", "reinitialized=0"


def sentences(page: str) -> list[str]:
    """The pieces that the page must say word for word."""
    pages: dict[str, tuple[Callable[[str], str], ...]] = {
        "experiment1": (shares, none_differs, furthest, once, tested, rmsprop, exponential),
        "experiment2": (shares, none_differs),
        "experiment3": (
            differing,
            by_means,
            learned_from_minus_one,
            learned_from_one,
            unlearned,
            products,
            quotients,
            defaults,
        ),
        "experiment4": (shares, none_differs, furthest, adam),
    }
    return [piece(page) for piece in pages.get(page, ())]


def shares(page: str) -> str:
    """The iNALUs' shares of solved seeds by operation: ours and printed, with shared and separate weights."""
    told = []
    for operation, word in WORDS.items():
        (shared, printed_shared), (separate, printed_separate) = _both(page, operation)
        told.append(f"{word} {shared} % and {separate} % (printed: {printed_shared} % and {printed_separate} %)")
    return f"{', '.join(told[:-1])} and {told[-1]}"


def none_differs(page: str) -> str:
    """How many printed rates there are, of which none differs."""
    rates = _rates(page)
    assert not (rates["verdict"] == "differs").any()
    return f"None of the {rates['printed'].notna().sum()} printed rates differs"


def furthest(page: str) -> str:
    """The rate that is furthest from the printed one, if it is one of differences with shared weights."""
    rates = _rates(page)
    rates = rates[rates["printed"].notna()].assign(printed=rates["printed"].astype(float))
    far = rates.loc[(rates["ours"] - rates["printed"]).abs().idxmax()]
    assert (far["operation"], far["model"].rpartition("-")[2]) == ("sub", "inalu_shared")
    drawn = far["setting"].removeprefix("range=").replace(",", ", ")
    return (
        f"The furthest apart are differences of {drawn} with shared weights, {100 * far['ours']:.0f} % "
        f"(printed: {100 * far['printed']:.0f} %)"
    )


def once(page: str) -> str:
    """Quotients and differences without reinitialisation, and with it."""
    (alone, _), (separate, _) = _both(page, "div", ONCE)
    (with_it, _), (separate_with_it, _) = _both(page, "div")
    (differences, _), (differences_with_it, _) = (_both(page, "sub", *words)[0] for words in ((ONCE,), ()))
    return (
        f"Without it they solve {alone} % and {separate} % of the quotients, with it {with_it} % and "
        f"{separate_with_it} %; and of the differences, with shared weights, {differences} % without and "
        f"{differences_with_it} % with it"
    )


def tested(page: str) -> str:
    """In how many cells reinitialisation changes the share of solved seeds, by Fisher's test with Holm's correction."""
    rates = _rates(page)
    rates = rates[(rates["split"] == "validation") & rates["model"].isin(["single-inalu", "single-inalu_shared"])]
    cells = rates.assign(solved=(rates["ours"] * rates["n_seeds"]).round().astype(int)).set_index(
        ["operation", "model", "setting"]
    )[["solved", "n_seeds"]]
    alone = cells[cells.index.get_level_values("setting").str.fullmatch(f"range=[^;]*;{ONCE}")]
    found = []
    for (operation, model, setting), (once, seeds) in alone.iterrows():
        with_it, others = cells.loc[(operation, model, setting.removesuffix(f";{ONCE}"))]
        p = fisher_exact([[with_it, others - with_it], [once, seeds - once]])[1]
        found.append((p, bool(with_it / others > once / seeds)))
    kept = list(itertools.takewhile(lambda item: item[1][0] <= 0.05 / (len(found) - item[0]), enumerate(sorted(found))))
    helps = sum(better for _, (_, better) in kept)
    return (
        f"by Fisher's exact test with Holm's correction over the {len(found)} cells it raises the share of solved "
        f"seeds in {helps} and lowers it in {len(kept) - helps}"
    )


def exponential(page: str) -> str:
    """Quotients of Exp(0.2), without reinitialisation and with it."""
    rates = _rates(page)
    mine = rates[(rates["operation"] == "div") & rates["setting"].str.startswith("range=Exp(0.2)")]
    mine = mine[mine["model"].isin(["single-inalu", "single-inalu_shared"])]
    for words, share in (("", 0.0), (f";{ONCE}", 1.0)):
        assert (mine.loc[mine["setting"] == f"range=Exp(0.2){words}", "ours"] == share).all()
    return "All quotients of Exp(0.2) are solved without it, and none with it"


def rmsprop(page: str) -> str:
    """Products and quotients with RMSprop; quotients without reinitialisation."""
    (products, _), (products_separate, _) = _both(page, "mul", RMSPROP)
    (quotients, _), (quotients_separate, _) = _both(page, "div", RMSPROP)
    (alone, _), (alone_separate, _) = _both(page, "div", RMSPROP, ONCE)
    return (
        f"{products} % and {products_separate} % of the products, and {quotients} % and {quotients_separate} % of the "
        f"quotients; without reinitialisation {alone} % and {alone_separate} % of these"
    )


def adam(page: str) -> str:
    """Products with Adam, ours alone."""
    (shared, _), (separate, _) = _both(page, "mul", "optimizer=adam_tf")
    return f"With Adam they solve {shared} % and {separate} % of the products"


def differing(page: str) -> str:
    """How many printed rates differ, of how many there are."""
    rates = _rates(page)
    counts = rates[rates["printed"].notna()].groupby("split")["verdict"].agg(lambda found: (found == "differs").sum())
    inside, outside = counts["validation"], counts["extrapolation"]
    return f"{inside} of 216 shares differ inside of the range, and {outside} of 216 outside"


def by_means(page: str) -> str:
    """The table of shares of solved seeds inside by the means of M̂ and Ŵ, over those of G and both deviations."""
    rates = _initialised(page)
    rows = []
    for M, W in itertools.product((-1, 0, 1), repeat=2):
        mine = rates[(rates["M"] == M) & (rates["W"] == W)]
        shares = [_shares(mine[mine["operation"] == operation]) for operation in ("add", "sub", "mul")]
        rows.append(f"| {M} | {W} | " + " | ".join(f"{ours} ({printed})" for ours, printed in shares) + " |")
    return "\n".join(rows)


def learned_from_minus_one(page: str) -> str:
    """Sums and differences where M̂ starts at -1, deviation 0.1."""
    rates = _initialised(page)
    mine = rates[(rates["M"] == -1) & (rates["deviation"] == 0.1)].set_index("operation")
    ours, printed = (100 * mine.groupby("operation")[column].min() for column in ("ours", "printed"))
    return (
        f"at least {ours['add']:.0f} % of the sums and {ours['sub']:.0f} % of the differences (printed: "
        f"{printed['add']:.0f} % and {printed['sub']:.0f} %)"
    )


def learned_from_one(page: str) -> str:
    """Sums where M̂ starts at 1 and Ŵ at 0 or 1."""
    rates = _initialised(page)
    mine = rates[(rates["M"] == 1) & (rates["W"] >= 0) & (rates["operation"] == "add")]
    assert len(mine) == 12
    ours, printed = 100 * mine["ours"], 100 * mine["printed"]
    return (
        f"{ours.min():.0f} to {ours.max():.0f} % of the networks of ours learn sums, "
        f"{printed.min():.0f} to {printed.max():.0f} % of the printed ones"
    )


def unlearned(page: str) -> str:
    """Sums and differences where M̂ starts at 1 and Ŵ at -1."""
    rates = _initialised(page)
    mine = rates[(rates["M"] == 1) & (rates["W"] == -1) & rates["operation"].isin(["add", "sub"])]
    assert (mine[["ours", "printed"]] == 0).all(axis=None)
    return "no network of ours or theirs learns a sum or a difference"


def quotients(page: str) -> str:
    """Quotients, all over."""
    rates = _rates(page)
    mine = rates[rates["operation"] == "div"]
    assert (mine[["ours", "printed"]] == 0).all(axis=None)
    return "No network divides, here or in print"


def defaults(page: str) -> str:
    """Sums and products inside from four initialisations: ours, the script's defaults, printed."""
    rates = _rates(page)
    inside = rates[rates["operation"].isin(["add", "mul"]) & (rates["split"] == "validation")]
    inside = inside.set_index(["operation", "setting"])[["ours", "printed"]].astype(float)
    words = ";shared=False;reinitialized=1"
    theirs = inside["ours"][inside.index.get_level_values("setting").str.endswith(words)].rename(
        index=lambda setting: setting.removesuffix(words)
    )
    found = (100 * inside.loc[theirs.index].assign(defaults=theirs)).round().astype(int).sort_index()
    off = found[["ours", "defaults"]].sub(found["printed"], axis=0).abs()
    nearer, further = off["defaults"] < off["ours"], off["defaults"] > off["ours"]
    (one, first), (other, second) = ((place, row) for place, row in found[nearer].iterrows())
    assert len(found) == 8
    assert [(place[0], _means(place[1])) for place in (one, other)] == [("add", "1, 1, 1"), ("mul", "0, 0, 0")]
    solved = found[(found[["ours", "printed"]] == 100).all(axis=1)].loc["add"]["defaults"]
    assert [*map(_means, solved.index)] == ["-1, -1, -1", "0, 0, 0"]
    return (
        f"they are\n  nearer to print in {nearer.sum()}, and further off in {further.sum()}. Nearer are sums from "
        f"1, 1, 1 at {first['defaults']} % (ours: {first['ours']} %, printed: {first['printed']} %) and "
        f"products\n  from 0, 0, 0 at {second['defaults']} % (ours: {second['ours']} %, printed: "
        f"{second['printed']} %). Of the sums from -1, -1, -1 and 0, 0, 0, which all are solved here and in\n  print, "
        f"they learn {solved.iloc[0]} % and {solved.iloc[1]} %."
    )


def _means(setting: str) -> str:
    """`-1, -1, -1`: the means of G, M̂ and Ŵ."""
    return setting.partition("means=[")[2].partition("]")[0]


def products(page: str) -> str:
    """How many shares of products differ where Ŵ starts at 0, below print, and at -1, above it."""
    rates = _initialised(page)
    rates = rates[rates["operation"] == "mul"]
    zero, minus = rates[rates["W"] == 0], rates[(rates["W"] == -1) & (rates["M"] <= 0)]
    assert zero["ours"].mean() < zero["printed"].mean()
    assert minus["ours"].mean() > minus["printed"].mean()
    differ = [(found["verdict"] == "differs").sum() for found in (zero, minus)]
    return f"{differ[0]} of {len(zero)}\n  and {differ[1]} of {len(minus)} shares differ"


Shares = tuple[tuple[str, str], tuple[str, str]]
"""Ours and printed in whole percent, with shared weights, then with separate ones."""


def _both(page: str, operation: str, *words: str) -> Shares:
    """Shares of solved seeds of both iNALUs, means over the distributions, interpolation; in a setting with words."""
    rates = _rates(page)
    further = rates["setting"].str.partition(";")[2]
    mine = rates[(rates["operation"] == operation) & (rates["split"] == "validation") & (further == ";".join(words))]
    shared, separate = (_shares(mine[mine["model"].str.fullmatch(rf"\w+-inalu{kind}")]) for kind in ("_shared", ""))
    return shared, separate


def _initialised(page: str) -> pd.DataFrame:
    """The shares inside by the means of M̂ and Ŵ and the deviation, of the cells that are printed."""
    rates = _rates(page)
    rates = rates[rates["printed"].notna() & (rates["split"] == "validation")]
    found = rates["setting"].str.extract(r"means=\[(?P<G>\S+), (?P<M>\S+), (?P<W>\S+)\];deviation=(?P<deviation>\S+)$")
    return rates.join(found.astype(float))


def _shares(rates: pd.DataFrame) -> tuple[str, str]:
    ours, printed = 100 * rates["ours"].mean(), 100 * rates["printed"].astype(float).mean()
    return f"{ours:.0f}", f"{printed:.0f}"


@functools.cache
def _rates(page: str) -> pd.DataFrame:
    table = pd.read_csv(RESULTS / page / "table.csv")
    return table[table["metric"] == "success_rate"]
