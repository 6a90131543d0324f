"""What does an early arrival cost? Read off the curve of agent A in Figure 5 of Trask et al. 2018.

The paper states the reward m of an arrival in time alone, and that the baseline agent arrives at t = 12 for every
T > 12, "thus receiving incrementally less reward with larger stimuli". If so its curve is

    reward(T) = 1 - cost (T - 12)

    python -m nalu_bench.papers.trask2018.timing_reward      # tells the cost, and how far the line misses the points

Source: Trask et al. 2018, section 4.5 and Figure 5, digitised. Deviations: the form is ours, as far as it goes beyond
the quoted words; m = 1 is the top of the printed axis.
"""

import csv
from collections.abc import Mapping
from typing import NamedTuple

from nalu_bench import paths

LONGEST = 12
"""T at which agent A arrives, the longest of training."""


class Fit(NamedTuple):
    """The cost of an action earlier than T, and the largest distance of a point from the line."""

    cost: float
    largest_miss: float


def fitted(points: Mapping[int, float]) -> Fit:
    """Least squares of reward = 1 - cost (T - 12) over all points beyond T = 12, through 1 at T = 12.

        cost = Σ d (1 - reward) / Σ d²,   d = T - 12

    Args:
        points: T -> average reward; those of T <= 12 say nothing on the cost, and are not used.

    >>> fitted({12: 0.99, 13: 0.75, 14: 0.5})
    Fit(cost=0.25, largest_miss=0.0)
    """
    early = {T - LONGEST: reward for T, reward in points.items() if T > LONGEST}
    cost = sum(d * (1 - reward) for d, reward in early.items()) / sum(d * d for d in early)
    return Fit(cost, max(abs(reward - (1 - cost * d)) for d, reward in early.items()))


def read_printed(model: str = "agent_lstm_pictures") -> dict[int, float]:
    """The digitised curve of an agent, agent A by default, to T = 25: T -> average reward."""
    path = paths.experiments_dir() / "trask2018" / "figure5.published.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if (row["model"], row["metric"]) == (model, "reward")]
    return {int(row["setting"].partition("T=")[2]): float(row["printed"]) for row in rows}


if __name__ == "__main__":
    print("cost {:.4f} an action, the line misses a point by at most {:.2f}".format(*fitted(read_printed())))
