"""nalu-bench show: the configuration that a command composes."""

import argparse
import sys

from nalu_bench.errors import UsageError
from nalu_bench.verbs import asked

EXAMPLES = """examples:
  nalu-bench show model=nmu                          the model alone
  nalu-bench show                                    all defaults
  nalu-bench show task=arithmetic task.operation=add recipe=madsen2020
"""


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "show", help="print the values that key=value choose and set", epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    asked.add_overrides(parser)
    parser.set_defaults(command=show)


def show(options: argparse.Namespace) -> int:
    """Print the groups that are named, or all of them, as YAML."""
    from nalu_bench.plan import compose, described

    if asked.experiment_name(options.overrides)[0] is not None:
        raise UsageError("show takes key=value of one cell; the cells of an experiment: nalu-bench status EXPERIMENT.")
    print(described.shown(options.overrides))
    try:
        compose.plan_cells(options.overrides, multirun=False)
    except UsageError as error:
        print(f"run refuses this: {error}", file=sys.stderr)
    return 0
