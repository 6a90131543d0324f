"""Runs against the same runs trained again."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

LEVEL = 0.001
"""Probability of a false alarm for a block that was trained on another kind of machine."""


def same_bits(stated: pd.DataFrame, again: pd.DataFrame) -> Iterator[str]:
    """A line for every run whose rows differ in any bit.

    Args:
        stated: rows as recorded; columns that only a report adds are not compared.
        again: rows of the same seeds, and perhaps of others, trained again.
    """
    merged = again.set_index("seed").reindex(stated["seed"].astype(int))
    for seed, old, new in zip(merged.index, stated.to_dict("records"), merged.to_dict("records"), strict=True):
        wrong = [name for name, value in new.items() if not _equal(old.get(name), value)]
        if wrong:
            yield f"seed {seed}: " + ", ".join(f"{name} {old.get(name)} (again {new[name]})" for name in wrong)


def _equal(old: object, new: object) -> bool:
    """Whether two values are one. Numbers are compared in the precision of training; missing ones are equal."""
    if pd.isna(old) or pd.isna(new):  # type: ignore[call-overload]
        return bool(pd.isna(old) and pd.isna(new))  # type: ignore[call-overload]
    return np.float32(old) == np.float32(new) if isinstance(new, float) else old == new  # type: ignore[arg-type]


def shifts(stated: pd.DataFrame, again: pd.DataFrame) -> Iterator[str]:
    """A line for every figure that is systematically larger or smaller than before.

    Training amplifies rounding, so on another kind of machine a single run may end elsewhere. But which of its two
    figures is larger is then chance: the differences of a block must be symmetric about 0. This is the Wilcoxon
    signed-rank test, at `LEVEL` divided by the number of figures. Fewer than 11 runs can never fail it.
    """
    from scipy.stats import wilcoxon

    merged = again.set_index("seed").reindex(stated["seed"].astype(int))
    figures = [str(name) for name in merged if name in stated and merged[name].dtype.kind == "f"]
    for name in figures:
        before, after = (np.asarray(frame[name], np.float32).astype(float) for frame in (stated, merged))
        change = (after - before)[np.isfinite(after) & np.isfinite(before)]
        if np.count_nonzero(change):
            chance = float(wilcoxon(change[change != 0]).pvalue)
            if chance < LEVEL / len(figures):
                medians = f"median {np.nanmedian(before):.3g} before, {np.nanmedian(after):.3g} now"
                yield f"{name} is systematically other than stated (p = {chance:.1g}; {medians})"
