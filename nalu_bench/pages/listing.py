"""The list of all experiments with results, in Markdown: `results/README.md`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabulate import tabulate

from nalu_bench.analysis.outcome import cost
from nalu_bench.analysis.render.markdown import escaped
from nalu_bench.analysis.results import kind_of
from nalu_bench.pages import tally
from nalu_bench.pages.index import scale

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded
    from nalu_bench.plan.experiment import Experiment

HEAD = """# Results

Made by `nalu-bench report`; nothing here is edited. The pages of `experiments/` tell what the papers leave open, what
was chosen and what came out. `nalu-bench report --all` builds a page for every experiment and the index of all claims,
`index.html`. `nalu-bench verify` checks tables, runs, curves and kept networks.

Printed numbers: *agree* stands for the verdicts `exact` and `agrees`, *not decided* for `inconclusive` and
`uninformative`, *not compared* for `fitted` and `not comparable`. Sentences, and numbers that were computed again from
the authors' runs, are not counted here.

"""


def listing(experiments: Sequence["Loaded"], untrained: Sequence["Experiment"] = ()) -> str:
    """A table with a row for each experiment: what it is, how much of it was run, what came out.

    Below it stand the untrained ones with printed numbers.
    """
    rows = [
        [
            f"`{one.experiment.name}`",
            f"[{escaped(one.experiment.about)}]({one.experiment.name}/table.md)",
            tally.told(one.lines),
            _protocol(one),
            scale(one),
            cost(one.manifest["parts"].values()),
        ]
        for one in experiments
    ]
    header = ["experiment", "what", "printed numbers", "how", "run so far", "time so far"]
    printed = {one.name: _printed(one) for one in untrained}
    waiting = ", ".join(f"`{name}` ({count:,})" for name, count in printed.items() if count)
    rest = f"\nWithout results so far, with their printed numbers: {waiting}.\n" if waiting else ""
    return f"{HEAD}{tabulate(rows, header, tablefmt='github', disable_numparse=True)}\n{rest}"


def _printed(one: "Experiment") -> int:
    """How many numbers, sentences left out, are printed for an experiment."""
    published = kind_of(one).published.items()
    return sum(bool(printed.text) and not printed.in_words and not place.recomputed for place, printed in published)


def _protocol(one: "Loaded") -> str:
    """A link to the page beside the experiment, wherever that lies; nothing if there is none."""
    page = one.experiment.page
    return f"[protocol]({Path(os.path.relpath(page, one.folder.parents[1])).as_posix()})" if page.exists() else ""
