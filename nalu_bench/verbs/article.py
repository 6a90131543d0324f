"""nalu-bench article: one document over all experiments."""

import argparse

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.verbs import asked


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "article", help="write one document over all experiments: claims, deviations, statistics, cost, data"
    )
    parser.set_defaults(command=article)


def article(options: argparse.Namespace) -> int:
    """Write `article.md` and `article.html` into the folder of results."""
    from nalu_bench.pages import build

    results = paths.results_dir()
    if not any(True for _ in build.reported(results)):
        raise UsageError(
            f"there are no results in {paths.short(results)} to write about; first: nalu-bench run PAPER/ARTIFACT."
        )
    for written in build.article(results):
        print(f"written to {paths.short(written)}")
    return 0
