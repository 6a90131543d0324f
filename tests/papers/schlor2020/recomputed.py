"""Pieces of sentences of the page about experiment 1, computed again from its results."""

import functools
from collections.abc import Callable

import pandas as pd

from nalu_bench import paths

RESULTS = paths.CHECKOUT / "results" / "schlor2020" / "experiment1"


def sentences(page: str) -> list[str]:
    """The pieces that the page must say word for word."""
    pages: dict[str, tuple[Callable[[], str], ...]] = {
        "experiment1": (quotients, without, products, sums, where),
    }
    return [piece() for piece in pages.get(page, ())]


def quotients() -> str:
    """Quotients over the seven distributions: ours and printed, shared and separate weights."""
    shared, separate = (_share("div", f"single-inalu{kind}") for kind in ("_shared", ""))
    return f"{shared[0]} % of the quotients with shared weights and {separate[0]} % with separate ones; printed are " \
           f"{shared[1]} % and {separate[1]} %"  # fmt: skip


def without() -> str:
    """The same without reinitialisation."""
    shared, separate = (_share("div", f"single-inalu{kind}", again=False)[0] for kind in ("_shared", ""))
    return f"Without reinitialisation our quotients are {shared} % and {separate} %"


def products() -> str:
    """Products: ours and printed."""
    shared, separate = (_share("mul", f"single-inalu{kind}") for kind in ("_shared", ""))
    return f"of the products {shared[0]} % and {separate[0]} %, printed {shared[1]} % and {separate[1]} %"


def sums() -> str:
    """Sums: ours and printed are the same."""
    found = [_share("add", model) for model in ("single-inalu_shared", "single-inalu", "single-schlor_nalu_matrix")]
    assert all(ours == printed for ours, printed in found)
    return f"Of the sums {found[0][0]} %, {found[1][0]} % and {found[2][0]} %"


def where() -> str:
    """How many of the rates that differ are those of iNALUs, and to which side."""
    rates = _rates()
    differs = rates[rates["verdict"] == "differs"]
    mine = differs["model"].str.contains("inalu") & ~differs["model"].str.contains("schlor")
    higher = differs["ours"].astype(float) > differs["printed"].astype(float)
    assert (higher == mine).all()
    settings = differs[mine].drop_duplicates(["operation", "setting", "model"])
    assert mine.sum() == 2 * len(settings)
    by_operation = settings["operation"].value_counts()
    assert [*by_operation.index] == ["mul", "div", "sub"]
    assert by_operation["sub"] == 1
    printed = rates[rates["printed"].notna() & rates["model"].isin(["single-inalu", "single-inalu_shared"])]
    everything = printed.drop_duplicates(["operation", "setting", "model"])
    return (
        f"of products, quotients and one difference. The {len(differs)} rates that differ are {mine.sum()} of iNALUs, "
        f"all higher, and {(~mine).sum()} of NALUs, lower; as each setting counts inside and outside, the {mine.sum()} "
        f"are {len(settings)} settings of {len(everything)}"
    )


def _share(operation: str, model: str, again: bool = True) -> tuple[str, str]:
    """Mean share of solved seeds over the distributions, interpolation: ours and printed, in whole percent."""
    rates = _rates()
    told = rates["setting"].str.contains("reinitialized=0")
    mine = rates[(rates["operation"] == operation) & (rates["model"] == model) & (told != again)]
    mine = mine[mine["split"] == "validation"]
    ours, printed = 100 * mine["ours"].mean(), 100 * mine["printed"].astype(float).mean()
    return f"{ours:.0f}", f"{printed:.0f}"


@functools.cache
def _rates() -> pd.DataFrame:
    table = pd.read_csv(RESULTS / "table.csv")
    return table[table["metric"] == "success_rate"]
