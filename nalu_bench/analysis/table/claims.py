"""The table of claims in words, one layout for all papers: each sentence, what tests it, our number, the verdict."""

from collections import Counter
from collections.abc import Callable, Sequence

from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.claim import CLAIM
from nalu_bench.analysis.table.formats import Format, three_digits
from nalu_bench.analysis.table.layout import Judged, Ours, Shown, Table
from nalu_bench.analysis.table.line import Line, grouped


def parted(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """The lines of claims, and the others."""
    claims = [line for line in lines if line.place.metric.startswith(CLAIM)]
    return claims, [line for line in lines if not line.place.metric.startswith(CLAIM)]


def claims_table(
    about: str,
    claims: Sequence[Line],
    under: Callable[[Line], str],
    form: Callable[[Line], Format] = lambda _: three_digits,
) -> list[Table]:
    """The table of these claims; none without any.

    A sentence that is tested several times stands once, with what its verdicts say together.

    Args:
        about: the title of the experiment. claims: their lines. under: of what, or under which condition, a line tests
            its sentence. form: how the number of a line is written.
    """
    groups = grouped(claims, lambda line: (line.place.metric, line.printed_text)).items()
    own, told = any(line.own for line in claims), any(map(under, claims)) or len(groups) < len(claims)
    rows: list[list[Shown]] = []
    for (_, sentence), group in groups:
        head: list[Shown] = [sentence, *(["us" if group[0].own else "the source"] if own else [])]
        if len(group) > 1:
            rows.append([*head, together(group), "", "", ""])
            head = [""] * len(head)
        for line in group:
            where: list[Shown] = [under(line)] if told else []
            rows.append([*head, *where, how_tested(line), Ours(line, form(line)), Judged(line)])
    header = ["Claim", *(["said by"] if own else []), *(["under"] if told else []), "tested by", "ours", "verdict"]
    return [Table(f"Claims. {about}", header, rows)] if claims else []


def about_claims(table: Table) -> bool:
    """Whether it holds verdicts on sentences alone."""
    judged = [shown.line for row in table.rows for shown in row if isinstance(shown, Judged)]
    return bool(judged) and all(line.in_words for line in judged)


def how_tested(line: Line) -> str:
    """The number that tests a claim, and our threshold. Why nothing is compared stands once, below the tables."""
    notes = line.notes[:-1] if line.verdict is Verdict.NOT_COMPARABLE else line.notes
    return ", ".join(filter(None, ["; ".join(notes), line.threshold and f"our threshold: {line.threshold}"]))


WORDS: dict[Verdict | None, str] = {
    Verdict.AGREES: "holds", Verdict.EXACT: "holds", Verdict.DIFFERS: "does not hold", Verdict.FITTED: "fitted",
    Verdict.INCONCLUSIVE: "not decided", Verdict.NOT_COMPARABLE: "not compared",
}  # fmt: skip
"""What a verdict says of a claim, in the order in which `together` tells it."""


def together(lines: Sequence[Line]) -> str:
    """In how many tests a claim holds: `holds under 1, not decided under 3`."""
    found = Counter(WORDS.get(line.verdict, WORDS[Verdict.INCONCLUSIVE]) for line in lines)
    told = {word: found[word] for word in WORDS.values() if word in found}
    if len(told) == 1:
        word = next(iter(told))
        return {"holds": "holds under all", "does not hold": "holds under none"}.get(word, word)
    return ", ".join(f"{word} under {count}" for word, count in told.items())


def bullet(found: str, text: str, where: str) -> str:
    """What became of a sentence, the sentence, and the task on which it was tested, if there is one.

    >>> bullet("agrees", "NMUs multiply", "arithmetic, mul"), bullet("agrees", "the gradient is zero", "")
    ('* agrees: NMUs multiply (arithmetic, mul)', '* agrees: the gradient is zero')
    """
    return f"* {found}: {text}{f' ({where})' if where else ''}"
