"""nalu-bench verify: check results and stores, and train finished blocks again."""

import argparse
import random
import sys
from pathlib import Path

from nalu_bench import paths
from nalu_bench.errors import UsageError, in_a_line
from nalu_bench.verbs import asked


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "verify", help="check results and stores: files against hashes, facts against curves",
        description="Check folders of results and run stores. The pages, report.html, and what is made of all "
        "experiments together, such as results/index.html and results/article.md, are not read: "
        "nalu-bench report --all makes them again.",
    )  # fmt: skip
    parser.add_argument("asked", nargs="*", metavar="EXPERIMENT or FOLDER", help="all committed results by default")
    parser.add_argument("--store", action="store_true", help="check the run store: alone, or beside what is named")
    parser.add_argument("--rerun", type=int, metavar="N", help="train N random finished blocks again and compare them")
    parser.add_argument("--seed", type=int, help="of the choice of these blocks")
    parser.add_argument("--longest", type=float, metavar="MINUTES", help="leave out blocks that took longer than this")
    parser.set_defaults(command=verify)


def verify(options: argparse.Namespace) -> int:
    """Print a line a folder; returns 1 if anything is wrong."""
    from nalu_bench.verify.folder import targets
    from nalu_bench.verify.folder import verify as check
    from nalu_bench.verify.verified import Verified

    if options.rerun is not None and options.rerun < 1:
        raise UsageError(f"--rerun must be at least 1, got {options.rerun}.")
    if options.rerun is None and (options.seed is not None or options.longest is not None):
        raise UsageError("--seed and --longest choose the blocks of --rerun N, which must be given, too.")
    if options.longest is not None and not options.longest > 0:
        raise UsageError(f"--longest must be above 0 minutes, got {options.longest:g}.")
    chosen = targets(options.asked, paths.results_dir()) if options.asked or not options.store else {}
    if options.store and paths.runs_dir().resolve() not in [folder.resolve() for folder in chosen.values()]:
        if not paths.runs_dir().is_dir():
            raise UsageError(f"{paths.runs_dir()} must be a run store, and is not there (NALU_BENCH_HOME moves it).")
        chosen |= {"store": paths.runs_dir()}
    total = Verified()
    for name, folder in chosen.items():
        found = check(folder)
        print(f"{name:24} {found.describe()}", flush=True)
        for fault in found.faults:
            print(f"  {name}: {in_a_line(fault)}", file=sys.stderr)
        total += found
    print(f"{'in all':24} {total.describe()}", flush=True)
    wrong = _rerun(options, list(chosen.values())) if options.rerun else 0
    return 1 if total.faults or wrong else 0


def _rerun(options: argparse.Namespace, folders: list[Path]) -> int:
    """Train random finished blocks of the folders again; returns how many differ or can no longer be trained."""
    from nalu_bench.running.rerun import choose, rerun
    from nalu_bench.verify.folder import finished

    found = [block for folder in folders for block in finished(folder)]
    seed = random.randrange(10**6) if options.seed is None else options.seed
    blocks = choose(found, options.rerun, seed, options.longest)
    print(f"training {len(blocks)} of {len(found)} finished blocks again: --rerun {options.rerun} --seed {seed}")
    wrong = 0
    for block in blocks:
        try:
            outcome = rerun(block)
        except UsageError as error:
            print(f"{block.label}: {in_a_line(error)}", file=sys.stderr)
            wrong += 1
            continue
        print(outcome.describe(), flush=True)
        for fault in outcome.faults:
            print(f"  {fault}", file=sys.stderr)
        wrong += bool(outcome.faults)
    return wrong
