"""Scripted players of the grid world: chance, and perfection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nalu_bench.environments.grid_world import ACTIONS, DOWN, LEFT, PASS, RIGHT, UP, GridWorldTime, Squares

if TYPE_CHECKING:
    from torch import Tensor


def random(numbers: Tensor) -> Tensor:
    """Actions (B,), all equally likely, from numbers (B,) uniform on [0, 1)."""
    return (len(ACTIONS) * numbers).long()


def perfect(world: GridWorldTime, state: Squares) -> Tensor:
    """Actions (B,) of a player that waits until the way is as long as the time that remains, and then goes."""
    import torch

    (row, column), (to_row, to_column) = world.place(state.agent), world.place(state.target)
    distance = (row - to_row).abs() + (column - to_column).abs()
    vertical = torch.where(row < to_row, DOWN, UP)
    horizontal = torch.where(column < to_column, RIGHT, LEFT)
    move = torch.where(row == to_row, horizontal, vertical)
    return torch.where(distance < state.time - state.taken, PASS, move)
