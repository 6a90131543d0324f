"""The actor-critic on the grid world, against plain loops and scripted players."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from nalu_bench.environments import players
from nalu_bench.environments.grid_world import DOWN, GridWorldTime, Squares
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.plan.blocks import Block
from nalu_bench.plan.identity import plain
from nalu_bench.tasks.actor_critic import ENTROPY
from nalu_bench.tasks.grid_world import GridWorld
from nalu_bench.training.data import tensors


def configured(*overrides: str) -> GridWorld:
    task = compose.plan_cells(["task=grid_world", "model=agent_lstm", *overrides], multirun=False).cells[0].cell.task
    assert isinstance(task, GridWorld)
    return task


@pytest.fixture(scope="module")
def task() -> GridWorld:
    return configured()


def drawn(task: GridWorld, split: str, count: int) -> Tensor:
    numbers = torch.rand(task.example_size(split), count, generator=torch.Generator().manual_seed(5))
    return task.sample(numbers, {}, tensors(task.split_parameters(split)))[0]


class Fixed:
    """An agent with the same logits and value at every step."""

    def __init__(self, logits: list[float], value: float) -> None:
        self.logits, self.expected = torch.tensor(logits), value

    def begin(self, like: Tensor) -> None:
        return None

    def act(self, view: Tensor, told: Tensor, memory: None) -> tuple[Tensor, Tensor, None]:
        count = view.shape[-1]
        return self.logits.unsqueeze(-1).expand(-1, count), torch.full((count,), self.expected), None


class Scripted:
    """The perfect player as an agent: it is sure of its action."""

    def __init__(self, world: GridWorldTime) -> None:
        self.world = world

    def begin(self, like: Tensor) -> Tensor:
        return torch.zeros_like(like)

    def act(self, view: Tensor, told: Tensor, taken: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        agent, target = view.view(2, 25, -1).argmax(1).to(view.dtype)
        state = Squares(agent, target, told[0], taken, torch.zeros_like(taken), torch.ones_like(taken))
        sure = players.perfect(self.world, state) == torch.arange(5).unsqueeze(-1)
        return 100.0 * sure, torch.ones_like(taken), taken + 1


def test_the_perfect_player_scores_1_at_every_time(task: GridWorld) -> None:
    player: Any = Scripted(task.world("train"))
    found = task.test(player, drawn(task, "test", 36 * 20), torch.zeros(()))
    assert {name: float(found[name]) for name in ("success", "sampled", "early", "late", "never")} == {
        "success": 1, "sampled": 1, "early": 0, "late": 0, "never": 0,
    }  # fmt: skip
    assert all(found[f"{name}_{time}"] == 1 for name in ("success", "reward") for time in range(5, 41))
    assert [float(found[f"longest_{time}"]) for time in range(5, 41)] == [float(11 <= T <= 13) for T in range(5, 41)]


def test_the_outcomes_of_a_greedy_agent_add_up_to_1(task: GridWorld) -> None:
    x = drawn(task, "test", 36 * 20)
    player: Any = Fixed([0.0, 1.0, 0.0, 0.0, 0.0], 0.0)  # always down
    found = task.test(player, x, torch.zeros(()))
    agent, target, time, *_ = x.mT
    below = (agent % 5 == target % 5) & (target > agent)
    steps = (target - agent) / 5
    assert found["success"] == pytest.approx(float((below & (steps == time)).float().mean()))
    assert found["early"] == pytest.approx(float((below & (steps < time)).float().mean()))
    assert found["never"] == pytest.approx(float((~below).float().mean()))
    assert sum(float(found[name]) for name in ("success", "early", "late", "never")) == pytest.approx(1)
    mean = sum(float(found[f"early_{time}"]) for time in range(5, 41)) / 36
    assert mean == pytest.approx(float(found["early"]))


def test_the_reward_of_a_greedy_agent_is_measured_for_every_time() -> None:
    task = configured("task.early_cost=0.14")
    x = drawn(task, "test", 36 * 20)
    player: Any = Fixed([0.0, 1.0, 0.0, 0.0, 0.0], 0.0)  # always down
    found = task.test(player, x, torch.zeros(()))
    agent, target, time, *_ = x.mT
    steps = (target - agent) / 5
    comes = (agent % 5 == target % 5) & (target > agent) & (steps <= time)
    reward = torch.where(comes, 1 - 0.14 * (time - steps), 0.0)
    assert float(found["reward"]) == pytest.approx(float(reward.mean()), abs=1e-6)
    for T in (5, 17, 40):
        assert float(found[f"reward_{T}"]) == pytest.approx(float(reward[time == T].mean()), abs=1e-6)


def test_what_an_early_arrival_costs_is_part_of_the_identity_and_of_the_program_unless_it_is_nothing(
    task: GridWorld,
) -> None:
    costly = configured("task.early_cost=0.14")
    assert "early_cost" not in plain(task)
    assert plain(costly)["early_cost"] == 0.14
    assert costly.program_key() != task.program_key()


def test_the_loss_is_that_of_a_plain_loop(task: GridWorld) -> None:
    x, logits, value = drawn(task, "train", 300), [0.5, -1.0, 0.0, 2.0, 0.3], 0.25
    pi = torch.tensor(logits).softmax(0)
    player: Any = Fixed(logits, value)
    loss, penalties = task.objective(player, x, torch.zeros(()), lambda y, t: y, None)
    world, missing, likelihoods = task.world("train"), [], []
    for row in x:
        state, steps, reward = Squares(*row[:6].unsqueeze(-1)), [], torch.zeros(1)
        for number in row[6:]:
            action = next((a for a in range(5) if number < pi[: a + 1].sum()), 4)
            steps.append(pi[action].log())
            state, reward, over = world.step(state, torch.tensor([action]))
            if over:
                break
        missing += [float(reward) - value] * len(steps)  # undiscounted: every action earns the reward at the end
        likelihoods += steps
    short = torch.tensor(missing)
    critic = (short**2).mean()
    actor = -(short / critic.sqrt() * torch.stack(likelihoods)).mean()
    torch.testing.assert_close(loss, actor + 0.5 * critic, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(penalties[ENTROPY], (pi * pi.log()).sum(), rtol=1e-4, atol=1e-6)


def test_returns_are_discounted_to_the_end() -> None:
    task = configured("task.discount=0.5")
    rewards = torch.tensor([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    assert task.returns(rewards).tolist() == [[0.25, 1.0], [0.5, 0.0], [1.0, 0.0]]


def test_actions_are_drawn_with_their_probabilities(task: GridWorld) -> None:
    numbers = torch.linspace(0, 1, 1001)[:-1]
    pi = torch.tensor([0.1, 0.2, 0.3, 0.15, 0.25])
    start = torch.tensor([12.0, 0.0, 9.0, 0.0, 0.0, 1.0]).expand(1000, 6)
    player: Any = Fixed(pi.log().tolist(), 0.0)
    episodes = task.episodes(player, torch.cat([start, numbers.unsqueeze(-1)], dim=-1))
    found = torch.bincount(episodes.last.agent.long(), minlength=25)[[7, 17, 11, 13, 12]] / 1000
    torch.testing.assert_close(found, pi, atol=0.002, rtol=0)
    assert DOWN == 1


def test_a_greedy_agent_follows_its_logits_whatever_the_numbers(task: GridWorld) -> None:
    x = drawn(task, "train", 50)
    other = torch.cat([x[:, :6], 1 - x[:, 6:]], dim=-1)
    player: Any = Fixed([0.0, 0.1, 0.0, 0.0, 0.0], 0.0)
    one, two = (task.episodes(player, numbers, greedy=True) for numbers in (x, other))
    assert torch.equal(one.last.agent, two.last.agent)


def test_training_sees_short_times_and_the_test_every_time_equally_often(task: GridWorld) -> None:
    assert set(drawn(task, "train", 500)[:, 2].tolist()) == set(range(5, 13))
    times = drawn(task, "test", 36 * 3)[:, 2]
    assert torch.bincount(times.long())[5:].tolist() == [3] * 36
    assert task.examples("test", 7) == 36 * 1024
    assert task.chunk("test") == 56 * 36


SMALL = [
    "recipe=trask2018_grid", "recipe.batch_size=8", "recipe.evaluation_size=8", "task.test_episodes=1", "budget=smoke",
    "model.width=2", "budget.steps=4", "budget.log_every=2",
]  # fmt: skip


def test_training_depends_on_the_seed_alone_and_resumes_to_the_bit(killed_and_resumed: Callable[..., Any]) -> None:
    plan = compose.plan_cells(["task=grid_world", "model=agent_b_memory", *SMALL], multirun=False)
    expected, resumed = killed_and_resumed(plan.cells[0].cell, Block(0, 2), 3)
    for name, column in expected.columns.items():
        assert column.tobytes() == resumed.columns[name].tobytes(), name
    for name, value in expected.parameters.items():
        assert value.tobytes() == resumed.parameters[name].tobytes(), name
        assert value[0].tobytes() != value[1].tobytes(), name
    assert expected.arrays["squares"].shape == (2, 2, 18 + 8 + 1)
    assert (expected.arrays["squares"][..., 0] == 20).all()


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("task.times=[0,12]", r"task.times must be .* 1 <= shortest <= longest, .*got \[0, 12\]"),
        ("task.test_times=[40,5]", r"task.test_times must be .* got \[40, 5\]"),
        ("task.size=1", r"in \[2, 64\] squares, got 1"),
        ("task.observation=sound", "unknown observation 'sound'"),
        ("task.time_scale=0", "so that single precision holds all times, got 0"),
        ("task.time_scale=1e39", r"must be a number up to 3e38, got 1e\+39"),
        ("task.early_cost=-0.1", "so that single precision holds the squares of all rewards, got -0.1"),
        ("task.early_cost=1e30", r"must lie in \[0, .*\], so that single precision holds the squares of all rewards"),
        ("task.time_scale=1e37", r"must lie in \[.*\], so that single precision holds all times, got 1e\+37"),
        ("task.test_episodes=0", "task.test_episodes must be at least 1, got 0"),
        ("task.discount=1.5", r"task.discount must lie in \[0, 1\], got 1.5"),
        ("task.value_weight=-1", "task.value_weight must be at least 0 and finite, got -1"),
        ("model.penalties.entropy.weight=-0.1", "entropy.weight must be at least 0 and finite, got -0.1"),
        ("task.times=[5]", "two times with"),
    ],
)
def test_values_that_cannot_be_are_refused(override: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        configured(override)


def test_both_scales_of_the_time_share_a_program(task: GridWorld) -> None:
    assert configured("task.time_scale=0.1").program_key() == task.program_key()
    assert configured("task.told=remaining").program_key() != task.program_key()
