"""A kind of kernels: how a training step becomes a graph that is called once a step."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from torch import Tensor

from nalu_bench.training.compilation import Flat, Mode

Shared = dict[Any, Tensor]
"""What was computed from the data of one step, for all cells on one draw; a new one for every step."""

StepGraph = Callable[[Sequence[Tensor], Shared], Sequence[Tensor]]
"""(tensors, shared) -> tensors."""


class Kernels(Protocol):
    """Makes the graph of a function of tensors alone.

    Args:
        function: the training step.
        mode: device and compilation.
        data: positions of the tensors that depend on nothing that is learned: the step's numbers, the constants.
    """

    def __call__(self, function: Flat, mode: Mode, data: Collection[int]) -> StepGraph: ...
