"""The grid world for gymnasium. Needs the extra `rl`.

import nalu_bench.environments.gym
world = gymnasium.make("nalu_bench/GridWorldTime-v0")      # or make_vec, with num_envs
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from nalu_bench.environments.grid_world import GRACE, PLANES, TIME, GridWorldTime, Squares
from nalu_bench.environments.pictures import images, side
from nalu_bench.errors import UsageError, unknown

NAME = "nalu_bench/GridWorldTime-v0"
FRAMES = 4
"""Frames per second of a rendered episode."""

METADATA: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": FRAMES}

Observation = dict[str, np.ndarray]


def _spaces(world: GridWorldTime) -> tuple[spaces.Dict, spaces.Discrete]:
    """The spaces of one episode."""
    if world.observation == PLANES:
        view: spaces.Space[Any] = spaces.Box(0.0, 1.0, (2, world.size, world.size), np.float32)
    else:
        view = spaces.Box(0, 255, (side(world.size), side(world.size), 3), np.uint8)
    scale, least = np.float32(world.scale), 0 if world.told == TIME else -GRACE
    told = spaces.Box(scale * np.float32(least), scale * np.float32(world.longest), (1,), np.float32)
    return spaces.Dict({"view": view, "told": told}), spaces.Discrete(world.actions)


def _observed(world: GridWorldTime, state: Squares) -> Observation:
    """What the agents of all episodes are shown, with a leading axis of episodes."""
    view, told = world.observe(state)
    planes = world.observation == PLANES
    seen = view.mT.reshape(-1, 2, world.size, world.size).numpy() if planes else _pictures(world, state)
    return {"view": seen, "told": told.mT.numpy()}


def _pictures(world: GridWorldTime, state: Squares) -> np.ndarray:
    return images(world.size, state.agent, state.target)


def _info(state: Squares) -> dict[str, np.ndarray]:
    return {"time": state.time.numpy().astype(int), "taken": state.taken.numpy().astype(int)}


def _check(space: spaces.Space[Any], action: Any) -> None:
    """Raise UsageError for an action that is none: the world itself would take it for PASS."""
    if not space.contains(action):
        raise UsageError(f"an action must be of {space}, got {action!r}.")


class _Episodes:
    """Some episodes of a world, and the numbers that they start from."""

    def __init__(self, world: GridWorldTime) -> None:
        self.world = world
        self.tables = {name: torch.from_numpy(table) for name, table in world.tables().items()}

    def start(self, rng: np.random.Generator, count: int) -> Squares:
        numbers = rng.random((self.world.starting, count), dtype=np.float32)
        return self.world.start(torch.from_numpy(numbers), self.tables)


class _InOrder:
    """What has a state once it is reset."""

    state: Squares

    def _require_reset(self) -> None:
        """gymnasium checks the order of calls for a single episode alone, and only for what `make` has wrapped."""
        if not hasattr(self, "state"):
            raise ResetNeeded("reset() must come before step() and render().")


class GridWorldTimeEnv(_InOrder, gymnasium.Env[Any, Any]):
    """One episode at a time, see `GridWorldTime`.

    Args:
        render_mode: None, or `rgb_array`.
        values: the attributes of `GridWorldTime`.
    """

    metadata = METADATA

    def __init__(self, render_mode: str | None = None, **values: Any) -> None:
        self.render_mode = render_mode
        self.episodes = _Episodes(GridWorldTime(**values))
        self.observation_space, self.action_space = _spaces(self.episodes.world)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self.state = self.episodes.start(self.np_random, 1)
        return self._shown()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self._require_reset()
        _check(self.action_space, action)
        self.state, reward, over = self.episodes.world.step(self.state, torch.tensor([int(action)]))
        observed, info = self._shown()
        return observed, float(reward), bool(over), False, info

    def _shown(self) -> tuple[Observation, dict[str, Any]]:
        observed = {name: value[0] for name, value in _observed(self.episodes.world, self.state).items()}
        return observed, {name: int(value[0]) for name, value in _info(self.state).items()}

    def render(self) -> Any:
        self._require_reset()
        return _pictures(self.episodes.world, self.state)[0] if self.render_mode else None


class GridWorldTimeVectorEnv(_InOrder, VectorEnv[Any, Any, Any]):
    """Many episodes at once; one that is over starts anew with the next step.

    Args:
        num_envs: number of episodes.
        render_mode: None, or `rgb_array`.
        values: the attributes of `GridWorldTime`.
    """

    metadata = METADATA | {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, num_envs: int = 1, render_mode: str | None = None, **values: Any) -> None:
        if type(num_envs) is not int or num_envs < 1:
            raise UsageError(f"num_envs must be a whole number of at least 1, got {num_envs!r}.")
        if render_mode not in (None, *METADATA["render_modes"]):
            raise unknown("render_mode", str(render_mode), METADATA["render_modes"])
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.episodes = _Episodes(GridWorldTime(**values))
        self.single_observation_space, self.single_action_space = _spaces(self.episodes.world)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self.state = self.episodes.start(self.np_random, self.num_envs)
        self.over = torch.zeros(self.num_envs, dtype=torch.bool)
        return _observed(self.episodes.world, self.state), _info(self.state)

    def step(self, actions: np.ndarray) -> tuple[Observation, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        self._require_reset()
        _check(self.action_space, actions)
        world = self.episodes.world
        after = world.step(self.state, torch.from_numpy(np.asarray(actions, dtype=np.int64)))
        anew = self.over
        state = after.state
        if anew.any():
            fresh = self.episodes.start(self.np_random, self.num_envs)
            state = Squares(*(torch.where(anew, new, old) for new, old in zip(fresh, state, strict=True)))
        self.state, self.over = state, after.over & ~anew
        reward = torch.where(anew, 0.0, after.reward).double().numpy()
        never = np.zeros(self.num_envs, dtype=bool)
        return _observed(world, state), reward, self.over.numpy(), never, _info(state)

    def render(self) -> Any:
        self._require_reset()
        return tuple(_pictures(self.episodes.world, self.state)) if self.render_mode else None


gymnasium.register(
    NAME,
    entry_point=f"{__name__}:{GridWorldTimeEnv.__name__}",
    vector_entry_point=f"{__name__}:{GridWorldTimeVectorEnv.__name__}",
)
