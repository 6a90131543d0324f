"""Claims in plain words: the sentence with our number, what its tests say together, and one picture of all."""

import math
from dataclasses import replace

import pytest

import nalu_bench
from nalu_bench import paths
from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.verdicts import CLAIMED_SIDE, LEFT_OPEN, ONLY_ALONE, Verdict
from nalu_bench.analysis.table.line import Line, Printed, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.pages import prose
from nalu_bench.pages.build import reported
from nalu_bench.pages.claims import FORMS, SIGNS, Claim, Outcome, by_question, claims, plain
from nalu_bench.pages.overview import HEADS, drawable, overview
from nalu_bench.plan import experiment

LINE = Line(Place(metric="claim_it"), Value(0.12, 0.07, 0.2), 100, 1000, Printed("it holds"), Verdict.AGREES)
CLAIM = Claim("mine/it", "Mine 2026", "it holds", False, "Does it?", "It holds.", "", "", "", "in tests", [LINE])


TORN = [Verdict.AGREES, Verdict.DIFFERS]


def told(*verdicts: Verdict) -> Claim:
    return replace(CLAIM, lines=[replace(LINE, verdict=verdict) for verdict in verdicts])


@pytest.mark.parametrize(
    ("verdicts", "outcome", "words"),
    [
        ([Verdict.AGREES], Outcome.HOLDS, "holds"),
        ([Verdict.DIFFERS], Outcome.FAILS, "does not hold"),
        ([Verdict.INCONCLUSIVE], Outcome.OPEN, "not decided"),
        ([Verdict.FITTED], Outcome.OPEN, "not decided: it holds, but how it is tested was chosen in view of runs"),
        ([Verdict.NOT_COMPARABLE] * 2, Outcome.UNTESTED, "not trained enough to judge"),
        ([Verdict.AGREES] * 4, Outcome.HOLDS, "holds in 4 of 4 tests"),
        (
            [Verdict.DIFFERS, Verdict.NOT_COMPARABLE],
            Outcome.OPEN,
            "does not hold in 1, not trained enough to judge in 1 of 2 tests",
        ),
        (
            [Verdict.AGREES, Verdict.DIFFERS, Verdict.INCONCLUSIVE],
            Outcome.MIXED,
            "holds in 1, does not hold in 1, not decided in 1 of 3 tests",
        ),
    ],
)
def test_the_tests_of_a_claim_say_one_thing_together(verdicts: list[Verdict], outcome: Outcome, words: str) -> None:
    claim = told(*verdicts)
    assert (claim.outcome, claim.verdict) == (outcome, words)


def test_several_tests_are_named_as_the_experiment_names_them() -> None:
    named = replace(told(*TORN), over="on sets of inputs")
    assert named.verdict == "holds on 1, does not hold on 1 of 2 sets of inputs"


def test_one_or_two_tests_among_others_that_do_not_decide_have_their_intervals() -> None:
    one = nalu_bench.load("iit_report/challenges")
    (found,) = [claim for claim in claims([one]) if claim.says.startswith("A NALU is very sensitive")]
    left = [line.ours for line in found.lines if line.verdict is Verdict.INCONCLUSIVE]
    assert 0 < len(left) <= 2
    for value, low, high in left:
        assert f"{100 * value:.0f} points [{100 * low:.0f}, {100 * high:.0f}]" in found.tested


def test_a_claim_that_one_test_leaves_open_says_so() -> None:
    line = replace(LINE, verdict=Verdict.INCONCLUSIVE, reason=f"our number, from 0 to 1, {LEFT_OPEN}; p = 0.6")
    assert replace(CLAIM, lines=[line]).verdict == "not decided: the interval leaves it open"


@pytest.mark.parametrize(("reason", "would"), [(f"it {CLAIMED_SIDE}", "hold"), ("it lies elsewhere", "not hold")])
def test_a_claim_that_is_decided_only_alone_says_how(reason: str, would: str) -> None:
    line = replace(LINE, verdict=Verdict.INCONCLUSIVE, notes=(ONLY_ALONE,), reason=reason)
    verdict = f"not decided: alone it would {would}, but several claims are tested at once"
    assert replace(CLAIM, lines=[line]).verdict == verdict


def test_every_claim_of_an_experiment_has_plain_words_that_name_a_number_once() -> None:
    """And every plain word is that of a claim; other numbers would not make a sentence false that names its own."""
    for name in experiment.names():
        found = experiment.load(name)
        for metric, words in found.plain.items():
            assert sum(place in words.found for place in FORMS) == 1, (name, metric)
            assert words.asks.endswith("?"), (name, metric)
            assert words.says.endswith("."), (name, metric)
    met = list(reported(paths.results_dir()))
    for one in met:
        keys = {key for line in one.lines for key in (line.place.metric, f"{line.place.metric} {line.place.split}")}
        assert set(one.experiment.plain) <= keys, one.experiment.name
        for claim in claims([one]):
            assert claim.asks, (one.experiment.name, claim.quote)
    of_papers = [claim.outcome for claim in claims(met) if not claim.own]
    counted = prose.filled("<!--= claims --><!--/-->", paths.results_dir(), "main")
    assert f"-->{of_papers.count(Outcome.HOLDS)} hold, {of_papers.count(Outcome.FAILS)} do not hold, " in counted


def test_a_sentence_has_our_number_with_its_interval_or_the_range_of_several() -> None:
    found = {claim.says: claim for claim in claims([nalu_bench.load("trask2018/table5")])}
    line = next(line for line in nalu_bench.load("trask2018/table5").lines if line.place.metric == "claim_fail")
    value, low, high = (f"{100 * each:.0f}" for each in line.ours)
    (fails,) = [claim for says, claim in found.items() if says.startswith("Every non-linear activation fails")]
    assert "(prelu" in line.notes[0], "the activation that fails least"
    fewest = f"With PReLU, which fails least, {value} % [{low}, {high}] of the networks err by more than 1 % on "
    fewest += "average over the numbers outside."
    assert (fails.found, fails.tested) == (fewest, "Our threshold: at least 50 %.")
    several = [claim for claim in claims([nalu_bench.load("trask2018/table6")]) if len(claim.lines) > 1]
    assert several
    for claim in several:
        assert all(plain(line.ours.value) in claim.found for line in claim.lines)
        assert "{" not in claim.found + claim.places


def test_a_claim_on_several_places_has_the_range_of_each_the_largest_first() -> None:
    (nalu,) = [
        claim for claim in claims([nalu_bench.load("trask2018/table6")]) if claim.says.startswith("The NALU learns")
    ]
    told = []
    for split in ("extrapolation", "interpolation"):
        medians = {
            operation: [line.everywhere[f"{operation} in {split}"] for line in nalu.lines]
            for operation in ("a × b", "a / b", "a²", "√a")
        }
        largest_first = sorted(medians, key=lambda operation: -max(medians[operation]))
        ranges = (f"{each} {plain(min(medians[each]))} to {plain(max(medians[each]))}" for each in largest_first)
        told.append(f"in {split} {', '.join(ranges)}")
    assert "; ".join(told) in nalu.places


def test_what_was_not_measured_has_no_number() -> None:
    for claim in claims(list(reported(paths.results_dir()))):
        assert (claim.found == "") == all(math.isnan(line.ours.value) for line in claim.lines)


def test_claims_of_networks_that_were_trained_for_less_than_the_full_scale_say_so() -> None:
    part, whole = (nalu_bench.load("trask2018/table5") for _ in range(2))
    part.manifest["budget"] |= {"steps": 5_000}
    part, whole = claims([part]), claims([whole])
    assert part
    assert all(claim.tested.endswith("Trained for 50 % of the full scale's steps.") for claim in part)
    assert whole
    assert not any("Trained for" in claim.tested for claim in whole)


def test_questions_have_their_decided_claims_first_and_our_own_behind_others() -> None:
    later, own = replace(told(Verdict.NOT_COMPARABLE), says="Later."), replace(CLAIM, own=True, says="Ours.")
    found = by_question([later, own, told(Verdict.AGREES), replace(CLAIM, asks="")])
    said = [[claim.says for claim in part] for part in found.values()]
    assert said == [["It holds.", "Ours.", "Later."], ["It holds."]]
    assert list(found) == ["Does it?", ""]


@pytest.mark.pictures
def test_the_picture_has_every_tested_claim_of_the_papers_and_what_came_out_or_why_that_does_not_decide() -> None:
    torn, open_, fitted = (
        replace(told(*each), found="It is 3.") for each in (TORN, [Verdict.INCONCLUSIVE], [Verdict.FITTED])
    )
    others = told(Verdict.NOT_COMPARABLE), replace(CLAIM, own=True)
    with style.applied():
        figure = overview(drawable([torn, replace(open_, says="Is it?"), replace(fitted, says="Was it?"), *others]))
    (axis,) = figure.axes
    texts = [text.get_text() for text in axis.texts]
    told_of_torn = [
        SIGNS[Outcome.MIXED],
        "It holds. (Mine 2026)",
        "Holds in 1, does not hold in 1 of 2 tests. It is 3.",
    ]
    assert texts == [
        HEADS[Outcome.MIXED],
        *told_of_torn,
        HEADS[Outcome.OPEN],
        SIGNS[Outcome.OPEN],
        "Is it? (Mine 2026)",
        SIGNS[Outcome.OPEN],
        "Was it? (Mine 2026)",
        "It holds, but how it is tested was chosen in view of runs.",
    ]
