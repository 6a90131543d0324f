"""Forest plots: every printed number, hollow, beside ours with its interval, coloured by the verdict.

A thin line is the range of our seeds, where the printed number is held against it.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.measures import by_measure, labels
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.line import Line

ROWS = 30
"""The most numbers in one picture."""

WIDTH = 4.8
"""Inches of a picture, which a phone shows without making letters much smaller."""

WIDE = 30.0
"""The ratio of largest to smallest number from which on the axis is logarithmic."""

PRINTED = "#444444"

ROOM = 1.6
"""The factor by which a logarithmic axis is longer on both sides."""

DECADES = 1e6
"""The most that an axis which is linear around 0 shows of small numbers."""

Scale = tuple[str, dict[str, float]]
"""Name of an axis' scale, and its options."""


def forests(
    lines: Sequence[Line], named: Mapping[str, str], shares: Collection[str] = ()
) -> "Iterator[tuple[str, style.Figure]]":
    """A title and a picture for every measure with printed numbers that are compared, several where there are many.

    Args:
        lines: all of a report. named: words of metrics, see `Kind`.
        shares: patterns of the metrics that are shares, on an axis from 0 to 1.
    """
    for title, part in by_measure([line for line in lines if not math.isnan(_printed(line)[0])], named).items():
        if not any(line.judged and line.verdict is not Verdict.SAME_SEEDS for line in part):
            continue
        share = any(fnmatchcase(part[0].place.metric, pattern) for pattern in shares)
        scale = ("linear", {}) if share else _scale(part)
        names, count = labels(part), math.ceil(len(part) / ROWS)
        rows = math.ceil(len(part) / count)
        for number in range(count):
            some = slice(number * rows, (number + 1) * rows)
            yield f"{title}, {number + 1} of {count}" if count > 1 else title, _drawn(part[some], names[some], scale)


def _drawn(lines: Sequence[Line], names: Sequence[str], scale: Scale) -> "style.Figure":
    figure, axes = style.new_figure(WIDTH, 0.5 + 0.22 * len(lines))
    axis: style.Axes = axes[0][0]
    for place, line in enumerate(lines):
        _row(axis, place, line)
    axis.set_yticks(range(len(lines)), names, fontsize=7)
    axis.set_ylim(len(lines) - 0.4, -0.6)
    axis.grid(visible=False, axis="y")
    axis.set_xscale(scale[0], **scale[1])
    if scale[0] == "log":
        axis.set_xlim(*_ends(lines))
    if scale[0] == "symlog" and min(_values(lines)) >= 0:
        axis.set_xlim(0, _ends(lines)[1])
    axis.tick_params(axis="x", labelsize=7)
    return figure


def _row(axis: "style.Axes", place: int, line: Line) -> None:
    """The printed number above the middle of its row, ours below it."""
    look = style.verdict(line.verdict or Verdict.NOT_COMPARABLE)
    value, low, high = _printed(line)
    axis.plot(value, place - 0.14, "o", markersize=4.5, markerfacecolor="none", color=PRINTED, clip_on=False)
    if math.isfinite(low) and math.isfinite(high):
        axis.plot([low, high], [place - 0.14] * 2, color=PRINTED, linewidth=0.8)
    ours, low, high = line.ours
    axis.plot(ours, place + 0.14, look.marker, markersize=4.5, color=look.color, clip_on=False)
    if line.held:
        axis.plot(line.held, [place + 0.14] * 2, color=look.color, linewidth=0.6)
    if math.isfinite(low) and math.isfinite(high):
        axis.plot([low, high], [place + 0.14] * 2, color=look.color, linewidth=1.8)


def _printed(line: Line) -> tuple[float, ...]:
    """The printed number with its interval, a bound such as >999 as its number; nan where there is none."""
    if line.printed is None or line.in_words or not line.printed_text:
        return (math.nan,) * 3
    found = line.printed
    return tuple(float(text.lstrip("<>") or "nan") for text in (found.text, found.low, found.high))


def _scale(lines: Sequence[Line]) -> Scale:
    """Linear, or logarithmic where numbers of one sign are wide apart; then linear around 0 if some are 0.

    An interval may reach far beyond, on a logarithmic axis also to 0: it is drawn to the edge.
    """
    values = _values(lines)
    sizes = [abs(number) for number in values if number]
    if not sizes or max(sizes) / min(sizes) <= WIDE or min(values) < 0 < max(values):
        return "linear", {}
    if min(values) > 0:
        return "log", {}
    least = max(min(sizes), max(sizes) / DECADES)
    return "symlog", {"linthresh": 10.0 ** math.ceil(math.log10(least))}


def _values(lines: Sequence[Line]) -> list[float]:
    return [each for line in lines for each in (_printed(line)[0], line.ours.value) if math.isfinite(each)]


def _ends(lines: Sequence[Line]) -> tuple[float, float]:
    """The ends of a logarithmic axis: all values, and the limits of intervals that are not far beyond them.

    A tick on the very edge would lose half of its label.
    """
    values = _values(lines)
    low, high = min(values), max(values)
    limits = [each for line in lines for each in (*line.ours[1:], *(line.held or ()))]
    limits = [each for each in limits if low / WIDE <= each <= high * WIDE]
    return min([low, *limits]) / ROOM, max([high, *limits]) * ROOM
