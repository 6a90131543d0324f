"""The claims of all experiments in plain words: what was asked, what came out, and what of it holds."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from nalu_bench.analysis.stats.verdicts import CLAIMED_SIDE, LEFT_OPEN, ONLY_ALONE, Verdict
from nalu_bench.analysis.table.formats import Format, in_prose, interval, number, part_of_scale, percent
from nalu_bench.analysis.table.line import Line, grouped
from nalu_bench.plan.experiment import EVERYWHERE, PLACE, PLACES, Plain

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded


class Outcome(StrEnum):
    """What became of a claim: of all tests of it, where there are several."""

    HOLDS = "holds"
    FAILS = "does not hold"
    MIXED = "holds in part"
    OPEN = "not decided"
    UNTESTED = "not trained enough to judge"


NOT_RUN = "not run"
"""What became of a test without a run."""

OPEN = f"{Outcome.OPEN}: "
"""What stands before the reason why a claim is not decided."""

DECIDED_FIRST = sorted(Outcome, key=lambda outcome: outcome in (Outcome.OPEN, Outcome.UNTESTED))
"""The order in which claims are told: holds, does not, in part, then what is open."""


def points(value: float) -> str:
    """-0.8 as `-80 points`, a difference of shares."""
    return f"{100 * value + 0.0:.0f} points"


def plain(value: float) -> str:
    """A number in a sentence: without powers of ten.

    >>> plain(1.2345), plain(5310.4), plain(7e-7), plain(1e15)
    ('1.23', '5,310', 'under 0.001', 'over a million')
    """
    if abs(value) >= 1e6:
        return "over a million" if value > 0 else "under minus a million"
    if 0 < abs(value) < 1e-3:
        return "under 0.001" if value > 0 else "over -0.001"
    return f"{float(number(value)):,.0f}" if abs(value) >= 1000 else number(value)


MOST_TOLD = 4
"""The most numbers of a claim that are told one by one; of more, their range."""

MOST_UNDECIDED = 2
"""The most tests among others that do not decide of which the intervals are told."""

TIMES = {2: " (twice)", 3: " (3 times)"}
"""How often a number is met -> what stands behind it."""

FORMS: dict[str, Format] = dict(zip(PLACES, (plain, percent, points), strict=True))
"""Place in a sentence -> how our number is written there."""

THRESHOLD = re.compile(r"(at least|at most) (-?[\d.]+(?:e-?\d+)?)")
"""A threshold that is a number alone."""

HOLM = re.compile(r"p = (\S+), and Holm's limit is (\S+) among (\d+)")
"""What a comparison tells of its correction."""

UNIT = re.compile(r"\{\w+\}( %| times)")
"""The unit that a sentence gives our number."""


DECIDING = re.compile(r", at (.+?)(?: \(of \d+ places the furthest from true\))?$")
"""The end of what a claim on several places measured."""

SPLIT = re.compile(r"(.*?)( in (?:inter|extra)polation)?")
"""A place, `a × b in extrapolation`, and the split that it names, if it names one."""


@dataclass(frozen=True)
class Claim:
    """A claim of a source, or one of ours, with all that tests it.

    Attributes:
        experiment: its name. source: the paper with table or figure. quote: the sentence itself. own: whether it is
            ours.
        asks: the question that it belongs to; empty if its experiment names none.
        says: the claim in plain words; the quote if its experiment has none.
        found: what came out, in plain words; empty if nothing was measured.
        places: of a claim on several places, the number of each, in a sentence.
        tested: our threshold, why it does not decide, and the share of the full scale's steps if it is not all of them.
        over: where its tests are, as in `Plain`.
        lines: its tests, one for each setting.
    """

    experiment: str
    source: str
    quote: str
    own: bool
    asks: str
    says: str
    found: str
    places: str
    tested: str
    over: str
    lines: Sequence[Line]

    @property
    def outcome(self) -> Outcome:
        """What its verdicts say together."""
        return _outcome({line.verdict for line in self.lines})

    @property
    def torn(self) -> bool:
        """Whether not all of its tests came out alike."""
        return len({_outcome({line.verdict}) for line in self.lines}) > 1

    @property
    def verdict(self) -> str:
        """The outcome in words; of several tests, under how many it holds."""
        if all(line.verdict is Verdict.FITTED for line in self.lines):
            return f"{OPEN}it holds, but how it is tested was chosen in view of runs"
        if self.outcome is Outcome.OPEN and all(ONLY_ALONE in line.notes for line in self.lines):
            holds = all(CLAIMED_SIDE in line.reason for line in self.lines)
            return f"{OPEN}alone it would {'hold' if holds else 'not hold'}, but several claims are tested at once"
        if len(self.lines) == 1 and self.outcome is Outcome.OPEN and LEFT_OPEN in self.lines[0].reason:
            return f"{OPEN}the interval leaves it open"
        if len(self.lines) == 1 or self.outcome is Outcome.UNTESTED:
            return str(self.outcome)
        counted = Counter(_came_of(line) for line in self.lines)
        where, tests = self.over.split(maxsplit=1)
        told = ", ".join(f"{words} {where} {counted[words]}" for words in (*Outcome, NOT_RUN) if counted[words])
        return f"{told} of {len(self.lines)} {tests}"


def _came_of(line: Line) -> str:
    """What became of one test, in words."""
    outcome = _outcome({line.verdict})
    return NOT_RUN if outcome is Outcome.UNTESTED and math.isnan(line.ours.value) else outcome


def _outcome(verdicts: Collection[Verdict | None]) -> Outcome:
    if set(verdicts) == {Verdict.NOT_COMPARABLE}:
        return Outcome.UNTESTED
    if set(verdicts) <= {Verdict.AGREES, Verdict.EXACT}:
        return Outcome.HOLDS
    if set(verdicts) == {Verdict.DIFFERS}:
        return Outcome.FAILS
    torn = Verdict.DIFFERS in verdicts and {Verdict.AGREES, Verdict.EXACT} & set(verdicts)
    return Outcome.MIXED if torn and Verdict.NOT_COMPARABLE not in verdicts else Outcome.OPEN


def claims(experiments: Sequence["Loaded"]) -> list[Claim]:
    """The claims in words of these experiments, in their order."""
    return [claim for one in experiments for claim in _of(one)]


def by_question(found: Sequence[Claim]) -> dict[str, list[Claim]]:
    """Question -> its claims, decided ones first, and our own behind those of others; short lists before long ones."""
    parts, order = grouped(found, lambda claim: claim.asks), list(DECIDED_FIRST)
    return {
        asks: sorted(part, key=lambda claim: (order.index(claim.outcome), claim.own))
        for asks, part in sorted(parts.items(), key=lambda item: (not item[0], len(item[1])))
    }


def spanned(values: Sequence[float], form: Format) -> str:
    """All of a few numbers, or the range of many, in one unit: `-80 and -11 points`; a dash if there is none.

    >>> spanned([0.12, 0.5], percent), spanned([5, 1, 2, 1], number), spanned([*range(9)], number), spanned([], number)
    ('12 and 50 %', '1 (twice), 2 and 5', '0 to 8', '–')
    """
    told = Counter(form(value) for value in sorted(values) if not math.isnan(value))
    *others, last = told or ["–"]
    unit = last.partition(" ")[2] if last[0].isdigit() or last[0] in "-–" else ""
    before = [text.removesuffix(f" {unit}") for text in others]
    if not before:
        return last
    if told.total() > MOST_TOLD:
        return f"{before[0]} to {last}"
    *first, end = [f"{text}{TIMES.get(count, '')}" for text, count in zip([*before, last], told.values(), strict=True)]
    return f"{'; '.join(first) if ',' in ''.join(first) else ', '.join(first)} and {end}"


def _of(loaded: "Loaded") -> Iterator[Claim]:
    judged = [line for line in loaded.lines if line.verdict and line.in_words]
    steps, full = loaded.manifest["budget"]["steps"], loaded.experiment.printed_steps
    shorter = part_of_scale(steps, full)
    for (metric, split, quote), lines in grouped(judged, _key).items():
        known = loaded.experiment.plain
        plain = known.get(f"{metric} {split}") or known.get(metric)
        asks, says, found, places, tested, over = "", quote, "", "", "", Plain.over
        if plain:
            asks, says, found, over = plain.asks, plain.says, _filled(plain.found, lines), plain.over
            places = plain.places.replace(EVERYWHERE, _everywhere(lines, _form(plain.found)[1])) if found else ""
        if plain and found:
            judged_by = [_undecided(plain.found, lines), _corrected(lines), _asked(plain.found, lines)]
            told = judged_by if _outcome({line.verdict for line in lines}) is not Outcome.UNTESTED else []
            tested = " ".join(filter(None, [*told, shorter]))
        name, source = loaded.experiment.name, loaded.experiment.source
        yield Claim(name, source, quote, lines[0].own, asks, says, found, places, tested, over, lines)


def _key(line: Line) -> tuple[str, str, str]:
    return line.place.metric, line.place.split, line.printed_text


def _filled(sentence: str, lines: Sequence[Line]) -> str:
    """The sentence with our number and its interval, or the range of several numbers; empty without a number."""
    place, form = _form(sentence)
    known = [line.ours for line in lines if not math.isnan(line.ours.value)]
    if not known:
        return ""
    told = in_prose(*known[0], form) if len(known) == 1 else spanned([ours.value for ours in known], form)
    return sentence.replace(place, told).replace(PLACE, _deciding(lines)).strip()


def _deciding(lines: Sequence[Line]) -> str:
    """The places whose numbers are those of the tests: `a × b and a² in extrapolation`."""
    found = dict.fromkeys(place[1] for line in lines for note in line.notes if (place := DECIDING.search(note)))
    return _alike([*found])


def _alike(places: Sequence[str]) -> str:
    """Places in a row, their split once if it is that of all."""
    splits = {_parts(place)[1] for place in places}
    alone = splits.pop() if len(splits) == 1 else ""
    *first, last = [place.removesuffix(alone) for place in places] or ["–"]
    return f"{', '.join(first)}{' and ' if first else ''}{last}{alone}"


def _parts(place: str) -> tuple[str, str]:
    """A place without its split, and the split, such as ` in extrapolation`; empty if it names none."""
    found = SPLIT.fullmatch(place)
    return (found[1], found[2] or "") if found else (place, "")


def _undecided(sentence: str, lines: Sequence[Line]) -> str:
    """The numbers with their intervals of one or two tests among others that do not decide, as a sentence."""
    left = [line for line in lines if _outcome({line.verdict}) is Outcome.OPEN]
    if not 0 < len(left) < min(len(lines), MOST_UNDECIDED + 1):
        return ""
    form, unit = _form(sentence)[1], UNIT.search(sentence)
    told = " and ".join(in_prose(*line.ours, form) for line in left)
    return f"Not decided: {told}{unit[1] if unit else ''}."


def _corrected(lines: Sequence[Line]) -> str:
    """Why one test does not decide although it would alone, as a sentence; empty for none, or several."""
    alone = [line for line in lines if ONLY_ALONE in line.notes]
    limit = HOLM.search(alone[0].reason) if len(alone) == 1 else None
    whose = "Its p" if len(lines) == 1 else "In the test that does not decide, p"
    return f"{whose} is {limit[1]}, and must be below {limit[2]} among {limit[3]} comparisons." if limit else ""


def _everywhere(lines: Sequence[Line], form: Format) -> str:
    """The numbers of each place, the largest first: `in extrapolation a × b 2 to 90, √a 3`."""
    numbers = grouped((item for line in lines for item in line.everywhere.items()), itemgetter(0))
    ranges = {place: (min(found), max(found)) for place, items in numbers.items() if (found := _known(items))}
    by_split = grouped(sorted(ranges, key=lambda place: -ranges[place][1]), lambda place: _parts(place)[1])
    return "; ".join(
        f"{split} ".lstrip()
        + ", ".join(f"{_parts(place)[0]} {' to '.join(dict.fromkeys(map(form, ranges[place])))}" for place in places)
        for split, places in by_split.items()
    )


def _known(items: Iterable[tuple[str, float]]) -> list[float]:
    return [value for _, value in items if not math.isnan(value)]


def _form(sentence: str) -> tuple[str, Format]:
    """The place of our number in a sentence, and how it is written there."""
    return next((item for item in FORMS.items() if item[0] in sentence), ("", plain))


def _asked(sentence: str, lines: Sequence[Line]) -> str:
    """Our threshold as a sentence, in the unit of our number; empty if it is more than a number."""
    form, unit = _form(sentence)[1], UNIT.search(sentence)
    thresholds = {line.threshold for line in lines if line.threshold}
    found = THRESHOLD.fullmatch(thresholds.pop()) if len(thresholds) == 1 else None
    return f"Our threshold: {found[1]} {form(float(found[2]))}{unit[1] if unit else ''}." if found else ""


def where(line: Line) -> str:
    """The setting and the operation of a claim, in words; empty if it is about all."""
    return " ".join(filter(None, [line.place.setting.told(), line.place.operation]))


SIGNS = {
    Outcome.HOLDS: "✓", Outcome.FAILS: "✗", Outcome.MIXED: "◐", Outcome.OPEN: "?", Outcome.UNTESTED: "–",
}  # fmt: skip
"""Outcome -> the sign of it on a page, which colour only repeats."""


def shown(claim: Claim, link: str = "") -> dict[str, Any]:
    """A claim as the template `claims.html` shows it; with a `link` to its experiment's page, it is cited, too."""
    return {
        "look": claim.outcome.name.lower(), "sign": SIGNS[claim.outcome], "verdict": claim.verdict, "own": claim.own,
        "says": claim.says, "found": claim.found, "places": claim.places, "tested": claim.tested,
        "source": claim.source, "quote": claim.quote, "link": link, "cited": bool(link),
        "tests": [_test(line) for line in claim.lines],
    }  # fmt: skip


def _test(line: Line) -> dict[str, str]:
    """One test of a claim: where, by which number and threshold, and what came out."""
    assert line.verdict is not None
    return {
        "where": where(line), "told": "; ".join(line.told()),
        "ours": "" if math.isnan(line.ours.value) else interval(*line.ours, number),
        "look": line.verdict.name.lower(), "verdict": str(line.verdict),
    }  # fmt: skip
