"""Printed numbers by what they measure, and the words that tell them apart."""

from collections.abc import Sequence

from nalu_bench.analysis.render import style
from nalu_bench.analysis.table.line import Line, grouped


def by_measure(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Metric and split in words -> its lines with a printed number."""

    def words(line: Line) -> str:
        return ", ".join(filter(None, [line.place.metric.replace("_", " "), line.place.split]))

    shown = [line for line in lines if line.verdict and line.printed and not line.printed.in_words]
    return grouped(shown, words)


def labels(lines: Sequence[Line]) -> list[str]:
    """The words by which the rows differ: operation, model, setting."""
    places = [line.place for line in lines]
    columns = [
        [style.operation_label(place.task, place.operation) if place.operation else "" for place in places],
        [style.label(place.model) if place.model else "" for place in places],
        [place.setting.told() for place in places],
    ]
    telling = [column for column in columns if len(set(column)) > 1] or columns[1:2]
    return [", ".join(filter(None, row)) for row in zip(*telling, strict=True)]
