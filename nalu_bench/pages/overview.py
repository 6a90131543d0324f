"""One picture of all verdicts: how many printed numbers and claims of each experiment hold."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nalu_bench.analysis.loaded import Loaded

COLORS = {
    Verdict.EXACT: "#004d40", Verdict.AGREES: "#009E73", Verdict.FITTED: "#F0E442", Verdict.UNINFORMATIVE: "#b8ddd0",
    Verdict.INCONCLUSIVE: "#E69F00", Verdict.DIFFERS: "#D55E00", Verdict.NOT_COMPARABLE: "#d0d0d0",
}  # fmt: skip
"""Okabe & Ito's colours, from what holds to what cannot be said."""

SMALLEST = 0.035
"""Smallest share of a bar that holds its count."""


def judged(experiments: Sequence["Loaded"]) -> list["Loaded"]:
    """The experiments with verdicts."""
    return [one for one in experiments if any(line.counted for line in one.lines)]


def overview(experiments: Sequence["Loaded"]) -> "Figure":
    """A bar for each of the `judged` experiments: the shares and counts of their verdicts."""
    counts = [
        (loaded.experiment.source, Counter(line.verdict for line in loaded.lines if line.counted))
        for loaded in experiments
    ]
    figure, axes = style.new_figure(7.2, 0.9 + 0.27 * len(counts))
    axis = axes[0][0]
    for place, found in enumerate(found for _, found in counts):
        total, left = found.total(), 0.0
        for verdict, color in COLORS.items():
            number = found[verdict]
            if number:
                share = number / total
                axis.barh(place, share, left=left, color=color, edgecolor="white", linewidth=0.8, label=str(verdict))
                if share >= SMALLEST:
                    dark = verdict in (Verdict.EXACT, Verdict.AGREES, Verdict.DIFFERS)
                    axis.text(left + share / 2, place, f"{number}", ha="center", va="center", fontsize=7,
                              color="white" if dark else "black")  # fmt: skip
                left += share
    axis.set_yticks(range(len(counts)), [source for source, _ in counts], fontsize=8)
    axis.invert_yaxis()
    axis.set_xlim(0, 1)
    axis.set_xticks([])
    axis.grid(visible=False)
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.tick_params(length=0)
    entries = dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    shown = [str(verdict) for verdict in COLORS if str(verdict) in entries]
    figure.legend([entries[name] for name in shown], shown, loc="outside upper center", ncols=len(shown), fontsize=8,
                  handlelength=1, columnspacing=1.2)  # fmt: skip
    return figure
