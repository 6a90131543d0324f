"""The grid world as gymnasium knows it: the same rules, episode by episode and many at once."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from nalu_bench.environments import players
from nalu_bench.environments.grid_world import GridWorldTime
from nalu_bench.environments.gym import NAME, GridWorldTimeEnv, GridWorldTimeVectorEnv
from nalu_bench.errors import UsageError


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"observation": "pixels"},
        {"told": "remaining", "scale": 0.1},
        {"told": "remaining", "scale": 0.3},
        {"early_cost": 0.14},
    ],
)
def test_gymnasium_finds_nothing_to_complain_of(values: dict[str, object]) -> None:
    check_env(gymnasium.make(NAME, render_mode="rgb_array", **values).unwrapped)


def test_the_perfect_player_succeeds_in_every_episode() -> None:
    env, world = gymnasium.make(NAME, shortest=5, longest=20), GridWorldTime(shortest=5, longest=20)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        over, reward = False, 0.0
        while not over:
            action = int(players.perfect(world, env.unwrapped.state))  # type: ignore[attr-defined]
            _, reward, over, truncated, info = env.step(action)
            assert not truncated
        assert reward == 1
        assert info["taken"] == info["time"]


def test_an_early_arrival_earns_less_where_it_costs() -> None:
    values: dict[str, Any] = {"size": 2, "shortest": 9, "longest": 9, "early_cost": 0.25}
    one, many = gymnasium.make(NAME, **values), gymnasium.make_vec(NAME, num_envs=3, **values)
    hurried = GridWorldTime(**values | {"shortest": 1})
    for env in (one, many):
        env.reset(seed=1)
        inner: Any = env.unwrapped
        over, reward = np.zeros(1, bool), np.zeros(1)
        while not over.any():
            now = inner.state._replace(time=inner.state.taken + 1)  # as if it had to arrive at once
            action = players.perfect(hurried, now).numpy()
            _, reward, over, *_ = env.step(action if env is many else action[0])
            over, reward = np.atleast_1d(over), np.atleast_1d(reward)
        taken = inner.state.taken.numpy()[over]
        np.testing.assert_allclose(reward[over], 1 - 0.25 * (9 - taken), rtol=1e-6)


def test_many_episodes_start_anew_with_the_step_after_their_end() -> None:
    envs = gymnasium.make_vec(NAME, num_envs=50, scale=1.1)
    envs.reset(seed=3)
    world, before, ended = GridWorldTime(), np.zeros(50, bool), 0
    for _ in range(60):
        actions = players.perfect(world, envs.unwrapped.state).numpy()  # type: ignore[attr-defined]
        observed, reward, over, truncated, info = envs.step(actions)
        assert envs.observation_space.contains(observed)
        assert (info["taken"][before] == 0).all()
        assert (info["taken"][~before] > 0).all()
        assert np.array_equal(reward, over.astype(float)), "the player is perfect"
        assert not truncated.any()
        before, ended = over, ended + int(over.sum())
    assert ended > 100


def test_a_seed_determines_the_episodes() -> None:
    envs = gymnasium.make_vec(NAME, num_envs=8)
    one, two, other = (envs.reset(seed=seed)[0]["view"] for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_gymnasiums_own_vector_of_single_episodes_plays_the_same() -> None:
    ours, theirs = (gymnasium.make_vec(NAME, num_envs=1, vectorization_mode=mode) for mode in (None, "sync"))
    assert np.array_equal(ours.reset(seed=5)[0]["view"], theirs.reset(seed=5)[0]["view"])
    for action in torch.randint(5, (30, 1), generator=torch.Generator().manual_seed(4)).numpy():
        for left, right in zip(ours.step(action)[:4], theirs.step(action)[:4], strict=True):
            np.testing.assert_equal(left, right)


@pytest.mark.parametrize("action", [-1, 5, 1.5])
def test_an_action_that_is_none_is_refused(action: float) -> None:
    one = gymnasium.make(NAME, disable_env_checker=True)
    one.reset(seed=0)
    with pytest.raises(UsageError, match=r"an action must be of Discrete\(5\), got"):
        one.step(action)
    many = gymnasium.make_vec(NAME, num_envs=2)
    many.reset(seed=0)
    with pytest.raises(UsageError, match=r"an action must be of MultiDiscrete"):
        many.step(np.array([0, action]))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"observation": "sound"}, "unknown observation 'sound'"),
        ({"scale": "x"}, "so that single precision holds all times, got 'x'"),
        ({"early_cost": -1}, "so that single precision holds the squares of all rewards, got -1"),
        ({"longest": 2**24}, "the longest time must be at most 16,777,208, so that single precision"),
        ({"num_envs": 0}, "num_envs must be a whole number of at least 1, got 0"),
        ({"render_mode": "human"}, "unknown render_mode 'human'"),
    ],
)
def test_a_world_that_cannot_be_is_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        GridWorldTimeVectorEnv(**values)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.array, lambda action: np.array(action, np.uint16)])
def test_an_action_may_be_of_any_kind_that_the_space_contains(kind: Callable[[int], Any]) -> None:
    one, same = gymnasium.make(NAME), gymnasium.make(NAME)
    one.reset(seed=3), same.reset(seed=3)
    for action in (3, 1, 1, 4, 0, 2):
        assert one.action_space.contains(kind(action))
        (seen, *rest), (again, *others) = one.step(kind(action)), same.step(action)
        assert all(np.array_equal(seen[name], again[name]) for name in seen)
        assert rest == others


@pytest.mark.parametrize("kind", [list, tuple, np.uint8, lambda actions: [np.array(one) for one in actions]])
def test_actions_may_be_of_any_kind_that_their_space_contains(kind: Callable[[list[int]], Any]) -> None:
    many, same = (GridWorldTimeVectorEnv(num_envs=2) for _ in range(2))
    many.reset(seed=3), same.reset(seed=3)
    for actions in ([3, 1], [1, 4], [0, 2]):
        assert many.action_space.contains(kind(actions))
        many.step(kind(actions)), same.step(np.array(actions))
        assert all(torch.equal(one, other) for one, other in zip(many.state, same.state, strict=True))


@pytest.mark.parametrize(
    ("env", "action"),
    [
        (GridWorldTimeEnv(render_mode="rgb_array"), 0),
        (GridWorldTimeVectorEnv(num_envs=2, render_mode="rgb_array"), np.array([0, 0])),
    ],
    ids=["one", "many"],
)
def test_nothing_comes_before_the_first_reset(env: Any, action: Any) -> None:
    for call in (env.render, lambda: env.step(action)):
        with pytest.raises(ResetNeeded, match="reset"):
            call()
