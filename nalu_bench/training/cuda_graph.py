"""Launches of all kernels of a step at once, on a GPU."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from nalu_bench.training.compilation import Flat


class Launched:
    """A function whose kernels are launched as one CUDA graph: one by one, this takes longer than what they compute.

    The graph reads and writes memory of its own. An input is copied there unless it is the object of the call before
    and was not written since, and what is returned are copies. A function that copies from the processor's memory
    cannot be such a graph; its kernels are launched one by one, and a line says so.
    """

    def __init__(self, function: Flat) -> None:
        self.function = function
        self.replay: Callable[[], None] | None = None
        self.alone = False
        self.given: Sequence[tuple[Tensor, int]] = ()
        self.inputs: Sequence[Tensor] = ()
        self.outputs: Sequence[Tensor] = ()

    def __call__(self, *tensors: Tensor) -> Sequence[Tensor]:
        if not self.replay and not self.alone:
            self._begin(tensors)
        if not self.replay:
            return self.function(*tensors)
        changed = [number for number, tensor in enumerate(tensors) if not _as_given(tensor, *self.given[number])]
        _copy([self.inputs[number] for number in changed], [tensors[number] for number in changed])
        self.given = _written(tensors)
        self.replay()
        found = [torch.empty_like(output) for output in self.outputs]
        _copy(found, self.outputs)
        return found

    def _begin(self, tensors: Sequence[Tensor]) -> None:
        self.given, self.inputs = _written(tensors), [tensor.clone() for tensor in tensors]
        try:
            self.replay, self.outputs = captured(self.function, self.inputs)
        except RuntimeError as error:
            self.alone = True
            reason = str(error).splitlines()[0]
            print(f"the kernels of a step are launched one by one, which takes longer: {reason:.200}", file=sys.stderr)


def _written(tensors: Sequence[Tensor]) -> list[tuple[Tensor, int]]:
    """Each tensor, and how often it was written in place: a draw may write all its numbers into one buffer."""
    return [(tensor, tensor._version) for tensor in tensors]


def _as_given(tensor: Tensor, given: Tensor, version: int) -> bool:
    return tensor is given and tensor._version == version


@torch.no_grad()
def captured(function: Flat, inputs: Sequence[Tensor]) -> tuple[Callable[[], None], list[Tensor]]:
    """The launch of a function's kernels on these inputs, and its outputs, which every launch writes anew."""
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # what libraries set up at a first call cannot be part of a graph
        function(*inputs)
    torch.cuda.current_stream().wait_stream(side)
    kernels = torch.cuda.CUDAGraph()
    with torch.cuda.graph(kernels):
        outputs = list(function(*inputs))
    return kernels.replay, outputs


def _copy(into: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    """Copy tensors, those of one type at once."""
    for kind in {value.dtype for value in values}:
        places = [number for number, value in enumerate(values) if value.dtype == kind]
        torch._foreach_copy_([into[number] for number in places], [values[number] for number in places])
