"""The mode of a block's computation: its device, and compiled graphs or eager operations."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule

from nalu_bench.training.cuda_graph import Launched

Flat = Callable[..., Sequence[Tensor]]
"""A function from tensors alone to a sequence of tensors."""


@dataclass(frozen=True)
class Mode:
    """The device and the compilation of a block; they may change its bits, never its meaning."""

    device: str
    compiled: bool

    def describe(self) -> dict[str, str]:
        """The mode as text, for the part's manifest and the checkpoint's identity."""
        return {
            "device": self.device,
            "mode": "compiled" if self.compiled else "eager",
            "torch": str(torch.__version__),
        }


def graph(function: Flat, mode: Mode) -> Flat:
    """The function as one graph, which TorchInductor compiles at the first call; or the function itself if eager.

    All calls must pass tensors of the shapes, types and devices of the first: they are not checked again, and no Python
    runs between the call and the graph. `torch.compile` has guards and wrappers instead. They take 70 µs a call, and
    with them a step of the NMU on 100 inputs takes 1.4 times as long. On a GPU all kernels of a call are launched at
    once, whether they are compiled or not.
    """
    found: Flat = _Graph(function) if mode.compiled else torch.no_grad()(function)
    return Launched(found) if mode.device == "cuda" else found


class _Graph:
    def __init__(self, function: Flat) -> None:
        self.function = function
        self.compiled: Flat | None = None

    def __call__(self, *tensors: Tensor) -> Sequence[Tensor]:
        if self.compiled is None:
            self.compiled = compiled(traced(self.function, tensors), tensors)
        return self.compiled(*tensors)


@torch.no_grad()
def traced(function: Flat, tensors: Sequence[Tensor]) -> GraphModule:
    """The operations of a function, for tensors of the shapes and types of these."""
    from torch.fx.experimental.proxy_tensor import make_fx

    found: GraphModule = make_fx(function, tracing_mode="fake")(*tensors)
    return found


@torch.no_grad()
def compiled(operations: GraphModule, tensors: Sequence[Tensor]) -> Flat:
    """Compile a graph, or take it from TorchInductor's cache of graphs on disk.

    The cache is used within a tracing context alone, as `torch.compile` has one. Without it, the graphs of an agent
    take 70 s in every process; with it, they take 10 s in all but the first. Its keys do not tell the instruction sets
    of processors apart, and a graph compiled for another one gives wrong numbers: the tag does.

    On a CPU, a graph and its kernels are one file of C++. Else each kernel is a file of its own, and the compiler
    spends most of its time on torch's headers: a recurrent network takes twice as long.
    """
    import torch._inductor.config
    from torch._guards import TracingContext, tracing
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    context = TracingContext(FakeTensorMode(shape_env=ShapeEnv()))
    settings: Any = torch.compiler.config
    chosen: Any = torch._inductor.config.patch(
        size_asserts=False, alignment_asserts=False,  # 4 to 15 % of a step
        cpp_wrapper=all(tensor.device.type == "cpu" for tensor in tensors),
    )  # fmt: skip
    with tracing(context), settings.patch(cache_key_tag=torch.backends.cpu.get_cpu_capability()), chosen:
        found: Flat = torch._inductor.compile(operations, list(tensors))
    gc.freeze()  # the compiler leaves a million objects, and a full collection of them takes a quarter of a second
    return found
