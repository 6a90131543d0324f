"""How a block is computed: where, and whether as compiled graphs."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Flat = Callable[..., Sequence[Tensor]]
"""A function of tensors alone, to a sequence of tensors."""


@dataclass(frozen=True)
class Mode:
    """How a block is computed; may change its bits, never its meaning."""

    device: str
    compiled: bool

    def describe(self) -> dict[str, str]:
        """For the part's manifest and the checkpoint's identity."""
        return {
            "device": self.device,
            "mode": "compiled" if self.compiled else "eager",
            "torch": str(torch.__version__),
        }


def graph(function: Flat, mode: Mode) -> Flat:
    """The function as one graph compiled by TorchInductor at its first call, or as it is in an eager mode.

    All calls must be with tensors of the shapes, types and devices of the first: they are not checked again. That,
    and no Python between the call and the graph, is why this is not `torch.compile`, whose guards and wrappers take
    70 µs a call: with them a step of the NMU on 100 inputs takes 1.4 times as long.
    """
    return _Graph(function) if mode.compiled else torch.no_grad()(function)


class _Graph:
    def __init__(self, function: Flat) -> None:
        self.function = function
        self.compiled: Flat | None = None

    @torch.no_grad()
    def __call__(self, *tensors: Tensor) -> Sequence[Tensor]:
        if self.compiled is None:
            self.compiled = _compile(self.function, tensors)
        return self.compiled(*tensors)


def _compile(function: Flat, tensors: Sequence[Tensor]) -> Flat:
    import torch._inductor
    from torch.fx.experimental.proxy_tensor import make_fx

    traced: Any = make_fx(function, tracing_mode="fake")(*tensors)
    compiled: Flat = torch._inductor.compile(traced, list(tensors))
    gc.freeze()  # the compiler leaves a million objects, through which a full collection takes a quarter of a second
    return compiled
