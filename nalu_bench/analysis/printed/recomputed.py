"""Printed statistics that are known to be miscomputed, recomputed from the data behind them.

A `<artifact>.recomputed.csv` has one row per plain mean, with the keys of the printed number that it replaces:

    task, setting, operation, split, model, metric, recomputed, deviation, n_seeds, printed_model, source

`deviation` is the sample standard deviation (divisor n - 1), if it is known. `n_seeds` is the number of seeds in the
mean. Means of solved steps and of sparsity errors are over solved seeds only. Among the printed numbers such a row has
a metric of its own, `<metric>_recomputed`. The printed number is shown and never compared. The recomputed one is shown
beside our plain mean, and the seeds behind both are compared if every seed of the source is known.
"""

import math
from pathlib import Path

import pandas as pd

from nalu_bench.analysis.printed.published import COLUMNS, check_metrics, line, read_keyed
from nalu_bench.analysis.stats.intervals import student_interval
from nalu_bench.analysis.table.place import KEYS, RECOMPUTED
from nalu_bench.errors import UsageError

OWN_COLUMNS = [*KEYS, "recomputed", "deviation", "n_seeds", "printed_model", "source"]


def add_recomputed(published: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The printed numbers, followed by the recomputed ones of the experiment, if there are any.

    Recomputed numbers have 95 % Student intervals.

    Raises:
        UsageError for a mean or a deviation that is no number of at least 0, and for a row without a printed number.
    """
    if not path.exists():
        return published
    given = read_keyed(path, OWN_COLUMNS)
    _check(given, published, path)
    intervals = [_interval(*row) for row in given[["recomputed", "deviation", "n_seeds"]].itertuples(index=False)]
    rows = given.assign(
        metric=given["metric"] + RECOMPUTED,
        printed=given["recomputed"],
        printed_low=[low for low, _ in intervals],
        printed_high=[high for _, high in intervals],
    )[COLUMNS]
    return pd.concat([published, rows], ignore_index=True)


def _check(given: pd.DataFrame, published: pd.DataFrame, path: Path) -> None:
    printed = set(published[KEYS].itertuples(index=False, name=None))
    for number, keys in enumerate(given[KEYS].itertuples(index=False, name=None)):
        if keys not in printed:
            words = ", ".join(filter(None, keys))
            raise UsageError(f"{line(path, number)} must replace a printed number, and none is printed for {words}.")
        if given["deviation"][number] and not given["recomputed"][number]:
            raise UsageError(f"{line(path, number)}: a deviation needs the recomputed mean that it belongs to.")
        if given["deviation"][number] and not given["n_seeds"][number]:
            raise UsageError(f"{line(path, number)}: a deviation needs n_seeds, the number of seeds behind it.")
        if given.loc[number, ["recomputed", "deviation"]].str.startswith(("<", ">")).any():
            raise UsageError(f"{line(path, number)}: a recomputed mean and its deviation must be numbers, no bounds.")
    for column in ("recomputed", "deviation"):
        check_metrics(given, path, column, {"*": (0, math.inf)})


def _interval(mean: str, deviation: str, seeds: str) -> tuple[str, str]:
    """The limits as text; empty if there is no interval."""
    if not deviation:
        return "", ""
    low, high = student_interval(float(mean), float(deviation), int(seeds))
    return f"{low:.10g}", f"{high:.10g}"
