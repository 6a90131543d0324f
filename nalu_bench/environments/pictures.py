"""Pictures of the grid world."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

SQUARE = 11
"""Pixels of a side of a square, with the line on its left or above; a last line closes the grid."""

LINE, EMPTY, TARGET, AGENT = (0.0, 0.0, 0.0), (0.25, 0.25, 0.25), (1.0, 0.0, 0.0), (1.0, 1.0, 1.0)
"""Colours, red, green and blue from 0 to 1."""


def side(size: int) -> int:
    """Pixels of a side of the picture of `size` x `size` squares: 56 for 5."""
    return SQUARE * size + 1


def pictures(size: int, agent: Tensor, target: Tensor) -> Tensor:
    """RGB pictures (B, 3, side, side) of agents and targets on squares (B,), numbered row by row.

    The target is red, the agent white, and smaller, so that both are seen where they meet.
    """
    import torch

    place = torch.arange(side(size), device=agent.device)
    line = place % SQUARE == 0
    inner = (place % SQUARE > 3) & (place % SQUARE < SQUARE - 2)
    square = (place // SQUARE).clamp(max=size - 1)
    number = size * square.unsqueeze(-1) + square

    def full(colour: tuple[float, ...]) -> Tensor:  # made where it is used: a copy cannot be part of a CUDA graph
        parts = [torch.full((), part, dtype=agent.dtype, device=agent.device) for part in colour]
        return torch.stack(parts).view(3, 1, 1)

    def where(colour: tuple[float, ...], chosen: Tensor, otherwise: Tensor) -> Tensor:
        return torch.where(chosen.unsqueeze(-3), full(colour), otherwise)

    picture = agent.new_zeros(len(agent), 3, side(size), side(size)) + full(EMPTY)
    picture = where(TARGET, number == target.view(-1, 1, 1), picture)
    picture = where(AGENT, (number == agent.view(-1, 1, 1)) & inner.unsqueeze(-1) & inner, picture)
    return where(LINE, line.unsqueeze(-1) | line, picture)


def images(size: int, agent: Tensor, target: Tensor) -> np.ndarray:
    """The same pictures as others show them: (B, side, side, 3), whole numbers from 0 to 255."""
    import torch

    shown = pictures(size, agent, target).permute(0, 2, 3, 1)
    found: np.ndarray = (255 * shown).round().to(torch.uint8).numpy()
    return found
