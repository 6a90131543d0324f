"""nalu-bench campaign: train several experiments in order, first with few seeds, then with more where they decide."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nalu_bench import paths
from nalu_bench.errors import UsageError, in_a_line
from nalu_bench.verbs import asked
from nalu_bench.verbs import run as training

if TYPE_CHECKING:
    from nalu_bench.plan.campaign import Leg
    from nalu_bench.plan.cell import Cell, Wanted
    from nalu_bench.plan.compose import Plan
    from nalu_bench.store.hours import Rates
    from nalu_bench.store.reader import Store

ABOUT = """Train the experiments of a file in its order: all cells with the seeds of the first stage, then with
those of the second where a verdict is inconclusive, and so on. What is finished is skipped; an
interrupted campaign goes on where it stopped; several processes can share one.

A file:
  budget: paper
  stages: [25, 50]
  experiments: [madsen2020/table1, madsen2020/table2]

examples:
  nalu-bench campaign experiments/madsen2020/campaigns/complete.yaml --status
  nalu-bench campaign experiments/madsen2020/campaigns/complete.yaml device.workers=2
"""


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "campaign", help="train several experiments in order, by stages of seeds", description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="nalu-bench campaign FILE [--status] [device.workers=2 ...]",
    )  # fmt: skip
    parser.add_argument("file", metavar="FILE", help="a YAML file with a list of experiments")
    parser.add_argument("--status", action="store_true", help="train nothing: list what is left, with its hours")
    asked.add_overrides(parser)
    parser.set_defaults(command=campaign)


def campaign(options: argparse.Namespace) -> int:
    """Train what is left of a campaign; returns 1 if any of it failed, and the code of a signal that ended it."""
    state = Campaign.of(options)
    if options.status:
        print("\n".join(state.lines(state.legs)))
        return 0
    code, refused = 0, list[str]()
    for leg in state.legs:
        cells = state.missing(leg)
        if cells:
            print("\n".join(state.lines([leg])), flush=True)
            try:
                code = max(code, _train(leg, cells))
            except UsageError as error:  # such as data that are not there: it costs no other experiment
                print(f"error: {leg.name}: {in_a_line(error)}", file=sys.stderr)
                refused.append(leg.name)
                code = max(code, 1)
        if code >= training.INTERRUPTED:
            return code
    print("\n".join(state.lines([leg for leg in state.legs if state.cells(leg) is None])))
    if refused:
        print(f"not trained, see the errors above: {', '.join(dict.fromkeys(refused))}.")
    return code


def _train(leg: "Leg", cells: "Sequence[Wanted]") -> int:
    """Train some cells of a leg; the code is that of `nalu-bench run`."""
    words = argparse.Namespace(overrides=list(leg.words), multirun=False, fail_fast=False, only_failed=False, only=[])
    plan = replace(leg.plan, cells=list(cells))
    return training.train_missing(lambda: plan, words, ["run"], lambda _: None)


@dataclass(frozen=True)
class Campaign:
    """A campaign and the store, which is asked anew every time: other processes may train, too.

    Attributes:
        legs: experiments at stages, in order. assumed: seconds of one core a seed-step where no block is finished.
        decided: experiment and stage -> the cells that go on; what the first seeds say does not change.
    """

    legs: "list[Leg]"
    assumed: float
    decided: dict[tuple[str, int], set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, options: argparse.Namespace) -> "Campaign":
        """The campaign of a command; raises UsageError for words that are no machine settings."""
        from nalu_bench.plan import campaign, compose

        for word in options.overrides:
            if not word.startswith(compose.MACHINE_KEYS):
                campaign.refuse_launcher(word)
                raise UsageError(
                    f"a campaign takes machine settings alone, such as device.workers=2, got {word}; write it into the "
                    "file, as overrides: [...]."
                )
        file = campaign.load(Path(options.file))
        return cls(list(campaign.legs(file, options.overrides)), 1e-6 * file.microseconds)

    def cells(self, leg: "Leg") -> "list[Wanted] | None":
        """The cells that a leg trains; None as long as the seeds that decide this are not all there."""
        if not leg.stage:
            return leg.plan.cells
        key, store = (leg.name, leg.stage), asked.store(leg.plan)
        if key not in self.decided:
            before = [replace(want, seeds=want.seeds[: leg.before]) for want in leg.plan.cells]
            if any(_open(want, store) for want in before):
                return None
            self.decided[key] = _undecided(replace(leg.plan, cells=before), store)
        return [want for want in leg.plan.cells if want.cell.digest in self.decided[key]]

    def missing(self, leg: "Leg") -> "list[Wanted]":
        """The cells of a leg that have seeds left to train."""
        store = asked.store(leg.plan, hashed=True)
        return [want for want in self.cells(leg) or () if _open(want, store)]

    def lines(self, legs: "Sequence[Leg]") -> list[str]:
        """A line for each of some legs, and the total of all."""
        rates = self._rates()
        return [*(self._line(leg, rates) for leg in legs), self._total(rates)]

    def _line(self, leg: "Leg", rates: "Rates") -> str:
        """One leg: its cells, its runs, and the hours of one core that are left."""
        cells, store = self.cells(leg), asked.store(leg.plan)
        head = f"{leg.name:26} {leg.seeds:>4} seeds"
        if cells is None:
            more = [replace(want, seeds=want.seeds[leg.before :]) for want in leg.plan.cells]
            most = _hours_left(leg, more, rates)
            return (
                f"{head}  at most {len(leg.plan.cells)} cells, {most:.1f} core-hours left: those that are undecided at "
                f"{leg.before} seeds"
            )
        done = sum(len(set(want.seeds) & store.finished_seeds(want.cell)) for want in cells)
        runs, left = sum(len(want.seeds) for want in cells), _hours_left(leg, cells, rates)
        return f"{head}  {len(cells)} cells, {done:,}/{runs:,} runs, {left:.1f} core-hours left"

    def _total(self, rates: "Rates") -> str:
        """Hours done and left; seeds that several legs have count once."""
        from nalu_bench.store import hours

        left, seen = 0.0, set[tuple[str, int]]()
        for leg in self.legs:
            fresh = [_without(want, seen) for want in self.cells(leg) or ()]
            left += _hours_left(leg, [want for want in fresh if want.seeds], rates)
            seen |= {(want.cell.digest, seed) for want in fresh for seed in want.seeds}
        workers, open_ = self.legs[0].plan.machine.workers, any(self.cells(leg) is None for leg in self.legs)
        done = hours.spent(self._store(), self._all_cells()) / 3600
        return (
            f"total: {done:.1f} core-hours done, {'at least ' if open_ else ''}{left:.1f} left: {left / workers:.1f} "
            f"hours with {workers} {'worker' if workers == 1 else 'workers'}"
        )

    def _rates(self) -> "Rates":
        from nalu_bench.store import hours

        return hours.rates(self._store(), self._all_cells(), self.assumed)

    def _all_cells(self) -> "list[Cell]":
        """The cells of all legs, each once."""
        return [*{want.cell.digest: want.cell for leg in self.legs for want in leg.plan.cells}.values()]

    def _store(self) -> "Store":
        return asked.store(self.legs[0].plan)


def _open(want: "Wanted", store: "Store") -> set[int]:
    """The seeds of a cell that are not trained; none of a cell whose model cannot do its task."""
    return set() if want.cell.skip() else set(want.seeds) - store.finished_seeds(want.cell)


def _without(want: "Wanted", seen: set[tuple[str, int]]) -> "Wanted":
    """A cell without the seeds that were seen before."""
    return replace(want, seeds=tuple(seed for seed in want.seeds if (want.cell.digest, seed) not in seen))


def _hours_left(leg: "Leg", cells: "Sequence[Wanted]", rates: "Rates") -> float:
    """Hours of one core that some cells of a leg still need."""
    from nalu_bench.store import hours

    return hours.left(asked.store(leg.plan), cells, rates, leg.plan.machine.width) / 3600


def _undecided(plan: "Plan", store: "Store") -> set[str]:
    """The cells of a plan that are undecided on its seeds."""
    from nalu_bench.analysis import folders, undecided
    from nalu_bench.analysis.measure.read import read

    kept = folders.committed(paths.results_dir(), plan.experiment.name) if plan.committed else ()
    return undecided.undecided(plan, store, [found for found in map(read, kept) if found])
