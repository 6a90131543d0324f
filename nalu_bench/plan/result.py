"""What a trained block hands to the store."""

from dataclasses import dataclass

import numpy as np

from nalu_bench.plan.blocks import Block


@dataclass(frozen=True)
class BlockResult:
    """The runs of the seeds of a block that were asked for. S of them, E evaluations.

    Attributes:
        block: which seeds.
        steps: (E,) the steps of the evaluations.
        columns: name of a measured value -> (E, S) float32.
        selected_step: (S,) the step selected, -1 where no validation error was finite.
        diverged_at: (S,) the first step whose loss was not finite, or -1.
        weights: name -> effective matrices (S, O, I) at the selected step.
        tested: name of an error on a split that is tested -> (S,) float32, of the selected networks.
        predictions: (S, B, O) of the selected networks at the task's probes, or None.
        seconds: time it took, divided among the blocks that were trained side by side.
    """

    block: Block
    steps: np.ndarray
    columns: dict[str, np.ndarray]
    selected_step: np.ndarray
    diverged_at: np.ndarray
    weights: dict[str, np.ndarray]
    tested: dict[str, np.ndarray]
    predictions: np.ndarray | None
    seconds: float
