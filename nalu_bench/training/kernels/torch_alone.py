"""Every operation is torch's."""

from collections.abc import Collection, Sequence

from torch import Tensor

from nalu_bench.registry import register
from nalu_bench.training import compilation
from nalu_bench.training.compilation import Flat, Mode
from nalu_bench.training.kernels.kind import Shared, StepGraph


@register("torch", version=1)
def torch_alone(function: Flat, mode: Mode, data: Collection[int]) -> StepGraph:
    """The function as one graph: products by torch's library (MKL, oneDNN or OpenBLAS), the rest by TorchInductor."""
    graph = compilation.graph(function, mode)

    def step(tensors: Sequence[Tensor], shared: Shared) -> Sequence[Tensor]:
        return graph(*tensors)

    return step
