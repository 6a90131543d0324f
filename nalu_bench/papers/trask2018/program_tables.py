"""Tables of matching digits by step, in the words of `program_curves`."""

import math
from collections.abc import Mapping, Sequence

from nalu_bench.analysis.render import style
from nalu_bench.analysis.table.claims import claims_table, parted
from nalu_bench.analysis.table.formats import one_decimal, percent
from nalu_bench.analysis.table.layout import EMPTY, Ours, Shown, Table, Theirs, beside, ours, stacked
from nalu_bench.analysis.table.line import Line, grouped

DIGITS, REACHED, STEP, LAST = "digits", "reached", "step", "last"

FURTHER = {
    "digits_padded": "digits, padded with zeros", "digits_left": "digits from the left", "rounds": "exact",
    "sign_errors": "wrong sign",
}  # fmt: skip
"""The measures that are further figures, and their names."""


def tables(heading: str, lines: Sequence[Line], splits: Mapping[str, str], reached: float) -> list[Table]:
    """The claims; then for every task and split the digits by step; then the further figures."""
    claims, others = parted(lines)
    made = claims_table(heading, claims, lambda line: "", lambda _: one_decimal)
    for task, mine in grouped([line for line in others if line.n_seeds], lambda line: line.place.task).items():
        for split, name in splits.items():
            here = [line for line in mine if line.place.split == split]
            made.append(_by_step(f"Matching digits in percent, {name}, {task}. {heading}", here))
        made.append(_further(f"Other figures in percent, at the selected step, {task}", mine, splits, reached))
    return [table for table in made if table.rows]


def _by_step(title: str, lines: Sequence[Line]) -> Table:
    """Three lines a model: ours, the printed number, the verdict."""
    found = [line for line in lines if line.place.metric == DIGITS]
    steps = list(dict.fromkeys(line.place.setting[STEP] for line in found))
    rows: list[list[Shown]] = []
    for network, mine in grouped(found, _network).items():
        by_step = {line.place.setting[STEP]: line for line in mine}
        ways = beside("ours", lambda line: Ours(line, one_decimal), mine)
        rows += stacked([network], ways, by_step, steps)
    return Table(title, ["", "", *(_at(step) for step in steps)], rows)


def _further(title: str, lines: Sequence[Line], splits: Mapping[str, str], reached: float) -> Table:
    rows: list[list[Shown]] = []
    for (network, split), mine in grouped(lines, lambda line: (_network(line), line.place.split)).items():
        if split in splits:
            by = {line.place.metric: line for line in mine if not line.place.setting.get(STEP)}
            figures = [ours(by.get(metric), one_decimal) for metric in FURTHER]
            theirs: Shown = Theirs(by[REACHED]) if by[REACHED].printed_text else EMPTY
            rows.append([network, splits[split], *figures, ours(by[REACHED], at_step), theirs])
    step = f"{percent(reached)} of the digits at step, median of the seeds"
    header = ["", "", *FURTHER.values(), step, "printed step"]
    return Table(title, header, rows)


def _network(line: Line) -> str:
    """The label of a model, with what tells a control from it: `NALU, rate=0.001`."""
    return ", ".join([style.label(line.place.model), *line.place.setting.in_words({}, but=STEP)])


def at_step(value: float) -> str:
    """A step, infinite if it never comes."""
    return "never" if math.isinf(value) else f"{value:,.0f}"


def _at(step: str) -> str:
    return "last step" if step == LAST else f"step {int(step):,}"
