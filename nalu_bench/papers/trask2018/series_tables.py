"""The tables of networks over series of digits: printed errors beside ours, beside a reference's and a constant's."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.words import Better, times
from nalu_bench.analysis.table.claims import claims_table, parted
from nalu_bench.analysis.table.formats import percent, three_digits
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Show, Shown, Table, ours
from nalu_bench.analysis.table.line import Line, Value, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.papers.trask2018 import series_constant
from nalu_bench.papers.trask2018.series_claims import FAILS, HOLDS
from nalu_bench.papers.trask2018.series_printed import Pair

if TYPE_CHECKING:
    from nalu_bench.papers.trask2018.series_errors import SeriesErrorsSettings

BETWEEN, OPEN = "between", "open"
LATE_FALL = "late_fall"
MOST = 9.99
"""Larger shares of the way are shown as this bound."""

By = Mapping[tuple[str, int], Line]
"""(model, length) -> the line of one metric."""


def tables(
    heading: str, report: "SeriesErrorsSettings", lines: Sequence[Line], pairs: Mapping[Place, Pair]
) -> list[Table]:
    """Claims, printed numbers that contradict each other, and five tables for every operation.

    Args:
        heading: of the experiment. lines: all lines of the report.
        pairs: the printed errors, by the place of the mean absolute one.
    """
    claims, (_, errors) = parted(lines)[0], parted(measured(lines))
    found = claims_table(heading, claims, _operation)
    found += [_contradictions(pairs)] if pairs else []
    for part in grouped(errors, lambda line: line.place.operation).values():
        by = {metric: _by(each) for metric, each in grouped(part, lambda line: line.place.metric).items()}
        name = _operation(part[0])
        found += [_errors(by[metric], f"{name}, mean {kind} error") for metric, kind in KINDS.items() if metric in by]
        found += [_beside(by.get("ratio", {}), by.get("way", {}), report, name), _rounding(by["rounding"], name)]
        found += [_single(by.get("digits", {}), by.get(LATE_FALL, {}), name)]
    return found


def _operation(line: Line) -> str:
    return style.operation_label(line.place.task, line.place.operation)


def measured(lines: Sequence[Line]) -> list[Line]:
    """The lines of runs of ours, and of the constant."""
    return [line for line in lines if line.n_seeds or line.place.model == series_constant.MODEL]


KINDS = {"mae": "absolute", "mse": "squared"}


def _by(lines: Sequence[Line]) -> By:
    """Lines without a length, such as late falls, stand at 0."""
    return {(line.place.model, int(line.place.setting.get("length", 0))): line for line in lines}


def _grid(by: By, shows: Mapping[str, Show], title: str) -> Table:
    """A row for each model and each way to show its lines; a column for each length."""
    every = sorted({length for _, length in by})
    rows: list[list[Shown]] = []
    for model in dict.fromkeys(model for model, _ in by):
        mine = [by.get((model, length)) for length in every]
        shown = {name: [show(line) if line else EMPTY for line in mine] for name, show in shows.items()}
        kept = [(name, cells) for name, cells in shown.items() if any(cell != EMPTY for cell in cells)]
        for number, (name, cells) in enumerate(kept):
            named = "computed" if model == series_constant.MODEL else name
            rows.append(["" if number else label(model), *([named] if len(shows) > 1 else []), *cells])
    return Table(title, ["Length", *([""] if len(shows) > 1 else []), *(f"{length:,}" for length in every)], rows)


def label(model: str) -> str:
    """The label of a model, or of the constant."""
    return "Constant" if model == series_constant.MODEL else style.label(model)


def _errors(by: By, title: str) -> Table:
    shows: dict[str, Show] = {
        "ours": lambda line: Ours(line, three_digits), "printed": lambda line: line.printed_text or EMPTY,
        "factor": _factor,
    }  # fmt: skip
    if any(line.judged for line in by.values()):
        shows["verdict"] = lambda line: Judged(line) if line.printed_text else EMPTY
    return _grid(by, shows, title)


def _factor(line: Line) -> str:
    """How far our number is from the printed one, whatever the verdict."""
    return (times(line.ours.value, line.printed.number(), Better.LOWER) if line.printed else "") or EMPTY


def _beside(ratios: By, ways: By, report: "SeriesErrorsSettings", name: str) -> Table:
    shows: dict[str, Show] = {"×": lambda line: Ours(line, three_digits, _says(report, line.ours))}
    if ways:
        shows["way"] = lambda line: Ours(ways[line.place.model, int(line.place.setting["length"])], _way)
    limits = f"up to {report.holds:g} holds, from {report.fails:g} on fails, an interval over a limit is open"
    way = "; share of the way from there to the constant's error" if ways else ""
    return _grid(ratios, shows, f"{name}, mean absolute error as a multiple of the reference's ({limits}){way}")


def _way(value: float) -> str:
    return ">999 %" if value > MOST else percent(round(value, 2))


def _says(report: "SeriesErrorsSettings", ratio: Value) -> str:
    """What the whole interval of a ratio says."""
    if ratio.high <= report.holds:
        return HOLDS
    if ratio.low >= report.fails:
        return FAILS
    return BETWEEN if report.holds < ratio.low and ratio.high < report.fails else OPEN


def _rounding(by: By, name: str) -> Table:
    return _grid(by, {"": lambda line: Ours(line, percent)}, f"{name}, share of series that round to their targets")


def _single(digits: By, late: By, name: str) -> Table:
    """The digit read off one image, beside the printed accuracy, and how far the training was."""
    judged = any(line.judged for line in digits.values())
    rows: list[list[Shown]] = []
    for model, line in {model: line for (model, _), line in digits.items()}.items():
        printed = f"{line.printed_text} %" if line.printed_text else EMPTY
        verdict: list[Shown] = [Judged(line)] if judged else []
        rows.append([label(model), Ours(line, _tenths), printed, *verdict, ours(late.get((model, 0)), percent)])
    header = ["", "digit read off one image", "printed", *(["verdict"] if judged else []), "late fall"]
    title = f"{name}, accuracy at one image, and late fall of the squared validation error"
    return Table(title, header, rows)


def _tenths(value: float) -> str:
    return f"{100 * value:.1f} %"


def _contradictions(pairs: Mapping[Place, Pair]) -> Table:
    """Printed mean absolute errors as multiples of the root of the printed mean squared ones."""
    columns = list(dict.fromkeys((place.operation, int(place.setting["length"])) for place in pairs))
    columns.sort(key=lambda column: column[0])
    found = {(place.model, place.operation, int(place.setting["length"])): pair for place, pair in pairs.items()}
    models = dict.fromkeys(place.model for place in pairs)
    rows = [[label(model), *(_told(found.get((model, *column))) for column in columns)] for model in models]
    task = next(iter(pairs)).task
    header = ["Length", *(f"{style.operation_label(task, operation)} {length:,}" for operation, length in columns)]
    impossible = sum(pair.impossible for pair in pairs.values())
    title = (
        f"Printed mean absolute error as a multiple of the root of the printed mean squared error. More than 1 is "
        f"impossible: {impossible} of {len(pairs)} are, by more than rounding (!)"
    )
    return Table(title, header, rows)


def _told(pair: Pair | None) -> str:
    return f"{three_digits(pair.ratio)}{' !' if pair.impossible else ''}" if pair else EMPTY
