"""The grid world: its rules, its starts, its players."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nalu_bench.environments import players
from nalu_bench.environments.environment import PICTURES
from nalu_bench.environments.grid_world import DOWN, GRACE, LEFT, PASS, RIGHT, UP, GridWorldTime, Squares
from nalu_bench.environments.pictures import AGENT, EMPTY, LINE, TARGET, pictures
from nalu_bench.errors import UsageError


def started(world: GridWorldTime, numbers: Tensor) -> Squares:
    return world.start(numbers, {name: torch.from_numpy(table) for name, table in world.tables().items()})


def squares(agent: int, target: int, time: int, taken: int = 0, scale: float = 1.0) -> Squares:
    return Squares(*(torch.tensor([float(value)]) for value in (agent, target, time, taken, 0, scale)))


def played(world: GridWorldTime, state: Squares, choose: Any) -> tuple[Squares, Tensor]:
    """The state in which each episode ended, and its reward."""
    reward, over, last = torch.zeros_like(state.agent), torch.zeros_like(state.agent, dtype=torch.bool), state
    for _ in range(world.horizon):
        state, gained, ended = world.step(state, choose(state))
        last = Squares(*(torch.where(over, old, new) for old, new in zip(last, state, strict=True)))
        reward, over = reward + torch.where(over, 0.0, gained), over | ended
    assert over.all()
    return last, reward


@pytest.mark.parametrize(
    ("action", "from_12", "from_0", "from_24"),
    [(UP, 7, 0, 19), (DOWN, 17, 5, 24), (LEFT, 11, 0, 23), (RIGHT, 13, 1, 24), (PASS, 12, 0, 24)],
)
def test_an_action_moves_one_square_and_a_wall_stops_it(action: int, from_12: int, from_0: int, from_24: int) -> None:
    for start, end in ((12, from_12), (0, from_0), (24, from_24)):
        after = GridWorldTime().step(squares(start, 6, 9), torch.tensor([action]))
        assert after.state.agent == end
        assert after.state.taken == 1


@pytest.mark.parametrize(("taken", "reward"), [(3, 0), (4, 1), (5, 0)], ids=["early", "in time", "late"])
def test_only_action_t_is_rewarded_and_arrival_ends_the_episode(taken: int, reward: int) -> None:
    after = GridWorldTime().step(squares(0, 1, 5, taken), torch.tensor([RIGHT]))
    assert after.reward == reward
    assert after.over
    assert after.state.arrived == taken + 1
    again = GridWorldTime().step(after.state._replace(agent=torch.tensor([0.0])), torch.tensor([RIGHT]))
    assert again.reward == 0, "the first arrival counts"
    assert again.state.arrived == taken + 1


@pytest.mark.parametrize(("taken", "reward"), [(0, 0.44), (3, 0.86), (4, 1), (5, 0)])
def test_an_early_arrival_costs_in_proportion_if_it_costs_at_all(taken: int, reward: float) -> None:
    world = GridWorldTime(early_cost=0.14)
    after = world.step(squares(0, 1, 5, taken), torch.tensor([RIGHT]))
    assert after.reward == pytest.approx(reward)
    again = world.step(after.state._replace(agent=torch.tensor([0.0])), torch.tensor([RIGHT]))
    assert again.reward == 0, "the first arrival counts"
    assert world.step(squares(0, 1, 5, taken), torch.tensor([PASS])).reward == 0
    assert GridWorldTime(early_cost=1).step(squares(0, 1, 9), torch.tensor([RIGHT])).reward == -7


def test_an_episode_without_arrival_ends_with_action_t_plus_8() -> None:
    last, reward = played(GridWorldTime(), squares(0, 1, 5), lambda state: torch.tensor([PASS]))
    assert last.taken == 5 + GRACE
    assert last.arrived == reward == 0


def test_starts_are_pairs_within_reach_all_equally_likely_and_times_stay_as_drawn() -> None:
    world, count = GridWorldTime(shortest=1, longest=9), 200_000
    drawn = started(world, torch.rand(2, count, generator=torch.Generator().manual_seed(1)))
    distance = (drawn.agent // 5 - drawn.target // 5).abs() + (drawn.agent % 5 - drawn.target % 5).abs()
    assert bool(((distance >= 1) & (distance <= drawn.time)).all())
    times = torch.bincount(drawn.time.long(), minlength=10)[1:] / count
    np.testing.assert_allclose(times, 1 / 9, atol=0.004)
    for time, pairs in ((1, 80), (8, 600), (9, 600)):  # 80 = 2 · 2 · 5 · 4 neighbours
        here = drawn.time == time
        shares = torch.bincount((25 * drawn.agent + drawn.target)[here].long()).double() / int(here.sum())
        assert int((shares > 0).sum()) == pairs
        assert float(shares.max()) < 2 / pairs


def test_the_largest_number_below_1_starts_an_episode() -> None:
    largest = torch.full((2, 1), np.nextafter(np.float32(1), np.float32(0)))
    drawn = started(GridWorldTime(), largest)
    assert (drawn.time, drawn.agent != drawn.target) == (12, True)


def test_a_sweep_has_every_time_in_turn() -> None:
    drawn = started(GridWorldTime(shortest=5, longest=7, sweep=True), torch.rand(2, 7))
    assert drawn.time.tolist() == [5, 6, 7, 5, 6, 7, 5]


def test_the_perfect_player_always_succeeds_and_the_random_one_hardly_ever() -> None:
    world = GridWorldTime(shortest=1, longest=40, sweep=True)
    generator = torch.Generator().manual_seed(2)
    start = started(world, torch.rand(2, 40 * 500, generator=generator))
    last, reward = played(world, start, lambda state: players.perfect(world, state))
    assert reward.min() == 1
    assert torch.equal(last.arrived, last.time)
    _, reward = played(world, start, lambda _: players.random(torch.rand(len(start.agent), generator=generator)))
    assert 0 < reward.mean() < 0.1


def test_an_episode_does_not_depend_on_those_beside_it() -> None:
    world, numbers = GridWorldTime(), torch.rand(2, 64)
    actions = torch.randint(5, (world.horizon, 64))
    for alone in (0, 63):
        many, one = started(world, numbers), started(world, numbers[:, alone : alone + 1])
        for action in actions:
            many, one = world.step(many, action).state, world.step(one, action[alone : alone + 1]).state
            assert [value[alone] for value in many] == [value[0] for value in one]


def test_planes_show_both_squares_and_the_time_is_told_or_what_remains_of_it() -> None:
    seen = GridWorldTime().observe(squares(3, 17, 9, 2))
    assert seen.view.view(2, 25).argmax(-1).tolist() == [3, 17]
    assert seen.view.sum() == 2
    assert seen.told == 9
    assert GridWorldTime(told="remaining").observe(squares(3, 17, 9, 2, 0.1)).told == pytest.approx(0.7)
    assert started(GridWorldTime(scale=0.1), torch.rand(2, 3)).scale.tolist() == pytest.approx([0.1] * 3)


def test_a_picture_shows_lines_a_red_target_and_a_white_agent() -> None:
    world = GridWorldTime(observation="pixels")
    assert world.view == PICTURES
    agent, target = world.observe(squares(3, 17, 9)).view
    picture = pictures(5, agent, target)[0].permute(1, 2, 0)
    assert picture.shape == (56, 56, 3)

    def colour(square: int) -> tuple[float, ...]:
        return tuple(picture[11 * (square // 5) + 6, 11 * (square % 5) + 6].tolist())

    assert [colour(square) for square in range(25)] == [
        {3: AGENT, 17: TARGET}.get(square, EMPTY) for square in range(25)
    ]
    lines = picture[0, :], picture[-1, :], picture[11, :], picture[:, 22]
    assert all(torch.equal(line, torch.tensor(LINE).expand(56, 3)) for line in lines)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"size": 1}, r"in \[2, 64\] squares, got 1"),
        ({"size": 65}, r"in \[2, 64\] squares, got 65"),
        ({"shortest": 0}, "1 <= shortest <= longest, got 0 and 12"),
        ({"shortest": 13}, "got 13 and 12"),
        ({"size": 2.5}, "the size of a grid world must be a whole number, got 2.5"),
        ({"longest": 12.5}, "the longest of a grid world must be a whole number, got 12.5"),
        ({"observation": "sound"}, "unknown observation 'sound'"),
        ({"told": "nothing"}, "unknown time that the agent is told 'nothing'"),
        ({"scale": 0.0}, "so that single precision holds all times, got 0.0"),
        ({"early_cost": -0.1}, "so that single precision holds the squares of all rewards, got -0.1"),
        ({"early_cost": float("inf")}, "so that single precision holds the squares of all rewards, got inf"),
        ({"early_cost": True}, "so that single precision holds the squares of all rewards, got True"),
    ],
)
def test_values_that_cannot_be_are_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        GridWorldTime(**values)
