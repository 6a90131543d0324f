"""One picture of the papers' claims that were tested: those that hold, those that do not, and what is not decided."""

import textwrap
from collections.abc import Sequence

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.pages.claims import OPEN, SIGNS, Claim, Outcome, by_question

LOOKS = {
    Outcome.HOLDS: Verdict.AGREES, Outcome.FAILS: Verdict.DIFFERS, Outcome.MIXED: Verdict.INCONCLUSIVE,
    Outcome.OPEN: Verdict.INCONCLUSIVE,
}  # fmt: skip
"""What became of a claim -> the verdict whose colour it has; the order in which they are drawn."""

HEADS = {
    Outcome.HOLDS: "These claims hold", Outcome.FAILS: "These do not", Outcome.MIXED: "These hold in some tests",
    Outcome.OPEN: "These are not decided",
}  # fmt: skip

WIDTH, LINE, GAP = 4.7, 0.165, 0.09
"""Inches: of the picture, of a line of text, between two claims."""

HEAD = 0.42
"""Inches of a heading."""

LETTERS = 74
"""Letters in a line, so few that they can be read on a phone."""

SAID = 0.045
"""Where the sentences begin, as a share of the width."""


def drawable(claims: Sequence[Claim]) -> list[Claim]:
    """The papers' claims that were tested; our own are in the index."""
    return [claim for claim in claims if claim.outcome is not Outcome.UNTESTED and not claim.own]


def overview(claims: Sequence[Claim]) -> "style.Figure":
    """A row for each `drawable` claim: its sign, the claim, who says so, and what came out or why it is not decided."""
    ordered = [claim for part in by_question(claims).values() for claim in part]
    parts = {outcome: [claim for claim in ordered if claim.outcome is outcome] for outcome in LOOKS}
    texts = {id(claim): _texts(claim) for claim in claims}
    heights = {key: sum(map(len, both)) * LINE + GAP for key, both in texts.items()}
    height = sum(heights.values()) + sum(bool(part) for part in parts.values()) * HEAD + 0.1
    figure, axes = style.new_figure(WIDTH, height)
    axis = axes[0][0]
    axis.set(xlim=(0, 1), ylim=(height, 0))
    axis.axis("off")
    place = 0.0
    for outcome, part in parts.items():
        if part:
            axis.text(0, place + 0.22, HEADS[outcome], fontsize=10, fontweight="bold", va="center")
            place += HEAD
        for claim in part:
            _row(axis, place, claim, *texts[id(claim)])
            place += heights[id(claim)]
    return figure


def _texts(claim: Claim) -> tuple[list[str], list[str]]:
    """The lines of its sentence with its source, and of what came out, or of the reason if that does not decide."""
    verdict = f"{claim.verdict.removeprefix(OPEN).capitalize()}." if claim.verdict != Outcome.OPEN else ""
    decided = [verdict if claim.torn else "", claim.found, claim.tested]
    told = verdict if claim.outcome is Outcome.OPEN else " ".join(filter(None, decided))
    paper = claim.source.partition(",")[0]
    said, found = (textwrap.wrap(text, LETTERS) for text in (f"{claim.says} ({paper})", told))
    return said, found


def _row(axis: "style.Axes", place: float, claim: Claim, said: Sequence[str], found: Sequence[str]) -> None:
    color = style.verdict(LOOKS[claim.outcome]).color
    axis.text(0, place, SIGNS[claim.outcome], fontsize=10, fontweight="bold", va="top", color=color)
    for number, text in enumerate([*said, *found]):
        ink = "black" if number < len(said) else "#555555"
        axis.text(SAID, place + number * LINE, text, fontsize=8, va="top", color=ink)
