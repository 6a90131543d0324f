"""Turn a computation for one seed into one for all seeds of a block, over a leading axis."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def over_seeds(function: Callable[..., Any], width: int, in_dims: Any = 0) -> Callable[..., Any]:
    """`torch.vmap(function, in_dims)`. A single seed is computed without vmap: convolutions are faster so.

    Args:
        function: takes tensors and dictionaries of tensors, returns tensors in tuples or dictionaries.
        width: number of seeds of the block.
        in_dims: 0 for an input that differs between seeds, None for one that they share; one value, or one an input.
    """
    return torch.vmap(function, in_dims=in_dims) if width > 1 else _alone(function, in_dims)


def _alone(function: Callable[..., Any], in_dims: Any) -> Callable[..., Any]:
    def call(*inputs: Any) -> Any:
        dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(inputs)
        mapped = zip(inputs, dims, strict=True)
        chosen = [_each(value, lambda lanes: lanes[0]) if dim == 0 else value for value, dim in mapped]
        return _each(function(*chosen), lambda alone: alone.unsqueeze(0))

    return call


def _each(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Change every tensor in nested tuples, lists and dictionaries."""
    if isinstance(value, dict):
        return {key: _each(entry, change) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_each(entry, change) for entry in value)
    return change(value)
