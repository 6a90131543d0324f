"""Controls of a search over protocols: it must find one that is there, and none where there is none."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from nalu_bench.analysis.protocols.explain import Explained, Hypothesis, Judge, Printed, by_chance, gain

SEED = 20_180_801
"""Seed of the drawn tables and of the permutations."""

CHANCE = 0.05
"""The largest probability of what does not count as chance."""


class Control(NamedTuple):
    """How often something happened in so many tables."""

    happened: int
    tables: int


def recovered(judge: Judge, among: Sequence[Hypothesis], tables: int) -> Control:
    """How often the search finds the protocol of a table that was made with it.

    Every table is made by a hypothesis and a choice that are drawn at random: its scores are drawn from what they
    predict, blurred by the discrepancy that the search grants, and rounded as the paper's. It is found if no other
    protocol explains the fitting cells better.
    """
    rng = np.random.default_rng(SEED)
    found = 0
    for _ in range(tables):
        truth = among[int(rng.integers(len(among)))]
        column = int(rng.choice(truth.choices or len(judge.predictions.choices)))
        rows = {operation: rows[int(rng.integers(len(rows)))] for operation, rows in truth.rows.items()}
        best = judge.ranked(_drawn(judge, rows, column, rng), among)[0]
        found += _protocol(judge, best.rows) == _protocol(judge, rows)
    return Control(found, tables)


def _protocol(judge: Judge, rows: Mapping[str, int]) -> tuple[str, ...]:
    return judge.predictions.candidates[next(iter(rows.values()))].protocol


def _drawn(judge: Judge, rows: Mapping[str, int], column: int, rng: np.random.Generator) -> Printed:
    one = judge.predictions
    deviation = np.hypot(one.deviation, judge.discrepancy)
    return {
        (operation, model, split): rounded(
            float(rng.normal(one.location[row, column, place, side], deviation[row, column, place, side]))
        )
        for operation, row in rows.items()
        for place, model in enumerate(one.models)
        for side, split in enumerate(one.splits)
    }


def rounded(log_score: float) -> str:
    """A score as the paper prints it."""
    score = math.exp(log_score)
    return ">999" if score > 999 else f"{score:.1f}"


def permuted(
    judge: Judge, described: Hypothesis, among: Sequence[Hypothesis], printed: Printed, tables: int
) -> Control:
    """How often some protocol explains permuted tables clearly better than the described one, where there is nothing.

    The numbers of a split change places among all its cells. A winner is declared as for the true table, with the
    discrepancy that suits that one.
    """
    rng = np.random.default_rng(SEED)
    wins = 0
    for _ in range(tables):
        wins += winner(judge, described, among, shuffled(printed, rng))[1]
    return Control(wins, tables)


def winner(
    judge: Judge, described: Hypothesis, among: Sequence[Hypothesis], printed: Printed
) -> tuple[Explained, bool]:
    """The hypothesis that explains the fitting cells best, and whether it also explains those held out.

    It must be clearly better there than the described one, and better than by chance.
    """
    ranked = judge.ranked(printed, among)
    own = next(one for one in ranked if one.hypothesis is described)
    explains = gain(ranked[0], own, judge).clear and by_chance(ranked[0], judge, printed) <= CHANCE
    return ranked[0], explains


def shuffled(printed: Printed, rng: np.random.Generator) -> Printed:
    """The numbers of each split in other places."""
    moved = dict(printed)
    for split in dict.fromkeys(key[2] for key in printed):
        places = [key for key in printed if key[2] == split]
        for place, number in zip(places, rng.permutation(len(places)), strict=True):
            moved[place] = printed[places[number]]
    return moved
