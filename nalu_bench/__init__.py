"""Reproducible experiments with neural arithmetic units: configuration, training, statistics, verdicts."""

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded

__version__ = "0.1.0"

_ONE_AT_A_TIME = threading.RLock()
"""Held while cells train: neither Hydra nor torch's transformations know two threads."""


def run(*words: str, **settings: Any) -> "Loaded":
    """Train what is missing of a sweep or an experiment, and report it: `run("model=nac,nau", seeds=25).table`.

    A script calls it below the line `if __name__ == "__main__":`, because worker processes import the script. Calls of
    several threads wait for each other.

    Args:
        words: as behind `nalu-bench run`: `task=arithmetic`, `task.operation=add,sub`; or `madsen2020/table1`.
        settings: words whose key is a Python name: `seeds=25` is `"seeds=25"`.

    Raises:
        UsageError for unknown words, KeyboardInterrupt if training is interrupted; the same call goes on.
    """
    from nalu_bench.errors import UsageError
    from nalu_bench.verbs import run

    given: tuple[Any, ...] = words
    for word in given:
        if not isinstance(word, str):
            listed = ": a list of words is written run(*words)" if isinstance(word, list | tuple) else ""
            raise UsageError(f'run takes words as texts, such as "seeds=25", got {word!r:.60}{listed}.')
    with _ONE_AT_A_TIME:
        return run.trained([*words, *(f"{key}={value}" for key, value in settings.items())])


def load(name: str, budget: str | None = None) -> "Loaded":
    """The results of an experiment as frames and pictures: `load("madsen2020/table2").table`.

    Args:
        name: such as `madsen2020/table2`, see `nalu-bench list experiment`.
        budget: the name of a budget; None for the largest one that was run.

    Raises:
        UsageError for an unknown experiment, and for one without results.
    """
    from nalu_bench.analysis import loaded
    from nalu_bench.errors import UsageError

    if not isinstance(name, str):
        raise UsageError(
            f'load takes the name of an experiment as a text, such as "madsen2020/table2", got {name!r:.60}.'
        )
    if not isinstance(budget, str | None):
        raise UsageError(f'load takes the name of a budget as a text, such as "paper", got {budget!r:.60}.')
    return loaded.load(name, budget)
