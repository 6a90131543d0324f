"""Runs that were tested on series of several lengths: the columns `test_<measure>_<length>`."""

import re
from collections.abc import Iterator

import pandas as pd

from nalu_bench.plan.setting import Setting


def lengths(runs: pd.DataFrame, measure: str) -> dict[int, str]:
    """Length -> the column of a measure there, such as `test_mae_10`, from the shortest to the longest."""
    found = {
        int(match[1]): str(column) for column in runs if (match := re.fullmatch(rf"test_{measure}_(\d+)", str(column)))
    }
    return dict(sorted(found.items()))


def by_length(runs: pd.DataFrame, measure: str) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield (length, the runs with that length in their `setting`); a cell then appears once for every length.

    The facts of a length, `solved_test_<measure>_<length>` and `solved_at_...`, become `solved` and `solved_at`.
    """
    for length, column in lengths(runs, measure).items():
        words = [str(Setting.parse(setting) | {"length": length}) for setting in runs["setting"]]
        facts = {name: runs[f"{name}_{column}"] for name in ("solved", "solved_at") if f"{name}_{column}" in runs}
        yield length, runs.assign(setting=words, **facts)
