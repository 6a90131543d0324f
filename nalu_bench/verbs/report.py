"""nalu-bench report: write an experiment's tables, figures and verdicts."""

import argparse

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.verbs import asked


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "report", help="write an experiment's tables, figures and verdicts to results/",
        usage="nalu-bench report PAPER/ARTIFACT [key=value ...]",
    )  # fmt: skip
    asked.add_overrides(parser)
    parser.set_defaults(command=report)


def report(options: argparse.Namespace) -> int:
    """Bring the experiment's folder up to date and print its table."""
    from nalu_bench.analysis import results
    from nalu_bench.plan import compose, experiment

    name, overrides = asked.experiment_name(options.overrides)
    if name is None:
        raise UsageError(f"report needs the name of an experiment, one of {', '.join(experiment.names())}.")
    chosen = experiment.load(name)
    if not any(text.startswith("budget=") for text in overrides):
        overrides.append(f"budget={results.default_budget(chosen, paths.results_dir())}")
    plan = compose.plan_experiment(chosen, overrides)
    asked.check(chosen, plan)
    scope = results.Scope(chosen, plan.budget, plan.custom, plan.cells, plan.changes)
    folder = results.write(scope, asked.store(), paths.results_dir())
    print(results.told(chosen, folder))
    print(f"\nwritten to {paths.short(folder)}/: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    print(f"why each verdict:   nalu-bench explain {name}")
    print(f"what the paper says, what we chose, what came out:   {paths.short(chosen.folder / 'README.md')}")
    return 0
