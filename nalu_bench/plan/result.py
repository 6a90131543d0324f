"""The record of a trained block: the contract between training and the run store."""

from dataclasses import dataclass

import numpy as np

from nalu_bench.plan.blocks import Block

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class BlockResult:
    """The runs of a block: S seeds, E evaluations.

    Attributes:
        block: the block.
        steps: (E,) the steps of the evaluations.
        columns: name of a measured value -> (E, S) float32.
        selected_step: (S,) the step selected, -1 where no error on the selecting split was finite.
        diverged_at: (S,) the first step whose loss was not finite, or -1.
        parameters: full name -> (S, ...) of the selected networks; any of them can be rebuilt from these.
        weights: name -> effective matrices (S, O, I) at the selected step.
        gates: name -> gates (S, O) of the selected networks, means over the examples of the selecting split.
        tested: name of a measure on a tested split -> (S,) float32, of the selected networks.
        arrays: name -> (S, ...) arrays that the task records of the selected networks at its probes. "predictions"
            (S, B, O) is among them if the task has probes.
        seconds: processor time of the training, divided among the blocks that were trained side by side.
        processors: all that trained it, as far as they are known: bits hold on one alone.
    """

    block: Block
    steps: np.ndarray
    columns: Arrays
    selected_step: np.ndarray
    diverged_at: np.ndarray
    parameters: Arrays
    weights: Arrays
    gates: Arrays
    tested: Arrays
    arrays: Arrays
    seconds: float
    processors: tuple[str, ...] = ()
