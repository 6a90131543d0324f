"""One picture of all claims that were tested: the sentence in plain words, our number, and what of it holds."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.pages.claims import Claim, Outcome, by_question

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGEND = {Verdict.AGREES: Outcome.HOLDS, Verdict.DIFFERS: Outcome.FAILS, Verdict.INCONCLUSIVE: Outcome.OPEN}
"""A verdict with each mark -> what it means."""

WIDTH, LINE, GAP = 8.6, 0.16, 0.11
"""Inches: of the picture, of a line of text, between two claims."""

HEAD = 0.4
"""Inches of a question."""

LETTERS = 98
"""Letters in a line of a sentence."""

SAID, SOURCE = 0.085, 0.8
"""Where the columns begin, as shares of the width."""


def drawable(claims: Sequence[Claim]) -> list[Claim]:
    """The claims that were tested."""
    return [claim for claim in claims if claim.outcome is not Outcome.UNTESTED]


def overview(claims: Sequence[Claim]) -> "Figure":
    """A row for each `drawable` claim, under its question: marks of its tests, the claim and what came out."""
    parts = by_question(claims)
    texts = {id(claim): _texts(claim) for claim in claims}
    heights = {key: max(map(len, columns)) * LINE + GAP for key, columns in texts.items()}
    height = sum(heights.values()) + len(parts) * HEAD + 0.3
    figure, axes = style.new_figure(WIDTH, height)
    axis = axes[0][0]
    axis.set(xlim=(0, 1), ylim=(height, 0))
    axis.axis("off")
    place = _legend(axis)
    for asks, part in parts.items():
        axis.text(0, place + 0.2, asks or "Other claims", fontsize=9.5, fontweight="bold", va="center")
        place += HEAD
        for claim in part:
            _row(axis, place, claim, *texts[id(claim)])
            place += heights[id(claim)]
    return figure


def _texts(claim: Claim) -> tuple[list[str], list[str]]:
    """The lines of its sentences, and those of its source."""
    said = textwrap.wrap(claim.says, LETTERS), textwrap.wrap(claim.found, LETTERS)
    return [*said[0], *said[1]], textwrap.wrap("our own claim" if claim.own else claim.source, 30)


def _row(axis: "Axes", place: float, claim: Claim, said: Sequence[str], source: Sequence[str]) -> None:
    for number, line in enumerate(claim.lines):
        look = style.verdict(line.verdict or Verdict.INCONCLUSIVE)
        axis.scatter(0.008 + 0.017 * number, place + 0.06, s=24, marker=look.marker, color=look.color, linewidths=0)
    first = len(textwrap.wrap(claim.says, LETTERS))
    for number, text in enumerate(said):
        color = "black" if number < first else "#444444"
        axis.text(SAID, place + number * LINE, text, fontsize=8 if number < first else 7.5, va="top", color=color)
    for number, text in enumerate(source):
        axis.text(SOURCE, place + number * LINE, text, fontsize=7, va="top", color="#5a5a5a")


def _legend(axis: "Axes") -> float:
    """What the marks mean, above all; returns where it ends."""
    for number, (verdict, outcome) in enumerate(LEGEND.items()):
        look = style.verdict(verdict)
        axis.scatter(0.008 + 0.15 * number, 0.1, s=26, marker=look.marker, color=look.color, linewidths=0)
        axis.text(0.024 + 0.15 * number, 0.1, str(outcome), fontsize=8, va="center")
    axis.text(SOURCE, 0.1, "who says so", fontsize=7.5, va="center", color="#5a5a5a")
    return 0.24
