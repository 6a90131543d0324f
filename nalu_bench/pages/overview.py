"""One picture of all claims that were tested: the sentence in plain words, what of it holds, and our number."""

import textwrap
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.pages.claims import SIGNS, Claim, Outcome, by_question

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = {
    Outcome.HOLDS: Verdict.AGREES, Outcome.FAILS: Verdict.DIFFERS, Outcome.MIXED: Verdict.INCONCLUSIVE,
    Outcome.OPEN: Verdict.INCONCLUSIVE,
}  # fmt: skip
"""What became of a claim -> the verdict whose colour it has."""

WIDTH, LINE, GAP = 7.4, 0.165, 0.11
"""Inches: of the picture, of a line of text, between two claims."""

HEAD = 0.42
"""Inches of a question."""

LETTERS = 112
"""Letters in a line."""

SAID = 0.03
"""Where the sentences begin, as a share of the width."""


def drawable(claims: Sequence[Claim]) -> list[Claim]:
    """The claims that were tested."""
    return [claim for claim in claims if claim.outcome is not Outcome.UNTESTED]


def overview(claims: Sequence[Claim]) -> "Figure":
    """A row for each `drawable` claim, under its question: its sign, the claim, who says so, and what came out."""
    parts = by_question(claims)
    texts = {id(claim): _texts(claim) for claim in claims}
    heights = {key: sum(map(len, both)) * LINE + GAP for key, both in texts.items()}
    height = sum(heights.values()) + len(parts) * HEAD + 0.3
    figure, axes = style.new_figure(WIDTH, height)
    axis = axes[0][0]
    axis.set(xlim=(0, 1), ylim=(height, 0))
    axis.axis("off")
    place = _legend(axis, {claim.outcome for claim in claims})
    for asks, part in parts.items():
        axis.text(0, place + 0.22, asks or "Other claims", fontsize=10, fontweight="bold", va="center")
        place += HEAD
        for claim in part:
            _row(axis, place, claim, *texts[id(claim)])
            place += heights[id(claim)]
    return figure


def _texts(claim: Claim) -> tuple[list[str], list[str]]:
    """The lines of its sentence with its source, and those of what came out."""
    source = "our own claim" if claim.own else claim.source
    told = f"{claim.says} ({source})", f"{claim.verdict.capitalize()}. {claim.found}"
    said, found = (textwrap.wrap(text, LETTERS) for text in told)
    return said, found


def _row(axis: "Axes", place: float, claim: Claim, said: Sequence[str], found: Sequence[str]) -> None:
    color = style.verdict(LOOKS[claim.outcome]).color
    axis.text(0, place, SIGNS[claim.outcome], fontsize=10, fontweight="bold", va="top", color=color)
    for number, text in enumerate([*said, *found]):
        ink = "black" if number < len(said) else "#555555"
        axis.text(SAID, place + number * LINE, text, fontsize=8, va="top", color=ink)


def _legend(axis: "Axes", met: Collection[Outcome]) -> float:
    """What the signs mean, above all; returns where it ends."""
    for number, outcome in enumerate(outcome for outcome in LOOKS if outcome in met):
        color = style.verdict(LOOKS[outcome]).color
        axis.text(0.16 * number, 0.1, SIGNS[outcome], fontsize=10, fontweight="bold", va="center", color=color)
        axis.text(0.16 * number + SAID, 0.1, str(outcome), fontsize=8, va="center")
    return 0.24
