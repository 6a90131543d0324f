"""Kernels of our own for what takes the time of a step, and one computation for all cells of what the data give."""

from collections.abc import Collection

from nalu_bench.registry import register
from nalu_bench.training.compilation import Flat, Mode
from nalu_bench.training.kernels.kind import StepGraph
from nalu_bench.training.kernels.sharing import Sharing
from nalu_bench.training.kernels.torch_alone import torch_alone


@register("own", version=1)
def own(function: Flat, mode: Mode, data: Collection[int]) -> StepGraph:
    """Thin products and logarithms by `thin.cpp`; those of data alone once a step for all cells on one draw.

    They round otherwise than torch's, so that these runs are other runs. The bits of a run do not depend on the cells
    beside it. Deviations: in eager mode and on a GPU it is `torch`.
    """
    if mode.compiled and mode.device == "cpu":
        return Sharing(function, mode, data)
    return torch_alone(function, mode, data)
