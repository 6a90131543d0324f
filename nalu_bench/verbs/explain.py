"""nalu-bench explain: how the verdicts of an experiment came about."""

import argparse

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.verbs import asked

EXAMPLES = """examples:
  nalu-bench explain trask2018/table6 operation=mul model=nalu
  nalu-bench explain madsen2020/table2 verdict=inconclusive
"""


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "explain", help="tell how verdicts came about: printed, ours, the reason, where to look deeper",
        epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="nalu-bench explain PAPER/ARTIFACT [column=value ...]",
    )  # fmt: skip
    asked.add_overrides(parser)
    parser.set_defaults(command=explain)


def explain(options: argparse.Namespace) -> int:
    """Print a paragraph for every printed number that has the words asked for."""
    from nalu_bench.analysis import explained, folders
    from nalu_bench.plan import experiment
    from nalu_bench.plan.names import refuse_repeated

    name, others = asked.experiment_name(options.overrides, sign="")
    if name is None:
        raise UsageError(f"explain needs the name of an experiment, one of {', '.join(experiment.names())}.")
    refuse_repeated(others)
    wanted, chosen = dict(text.split("=", 1) for text in others), folders.named(paths.results_dir(), name)
    folder = folders.find(chosen, paths.results_dir(), wanted.pop("budget", None))
    print(explained.explain(chosen, folder, wanted))
    return 0
