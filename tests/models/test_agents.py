"""Agents: what they read, how they begin, what they refuse."""

import pytest
import torch

from nalu_bench.errors import UsageError
from nalu_bench.models.agents import Actor
from nalu_bench.plan import compose
from nalu_bench.plan.cell import Cell
from nalu_bench.tasks.task import Task
from nalu_bench.training.random import streams


def configured(model: str, *overrides: str, task: str = "grid_world") -> Cell:
    return compose.plan_cells([f"task={task}", f"model={model}", *overrides], multirun=False).cells[0].cell


def built(model: str, task: str = "grid_world") -> Actor:
    cell = configured(model, task=task)
    network = cell.model.build(cell.task)
    assert isinstance(network, Actor)
    for name, initialise in network.initialisers().items():
        parameter = dict(network.named_parameters())[name]
        with torch.no_grad():
            initialise(parameter, streams.torch_generator("init", 0, name))
    return network


VIEW, TOLD = torch.rand(50, 3), torch.full((1, 3), 9.0)


@pytest.mark.parametrize(
    ("model", "told", "hidden", "memory"),
    [
        ("agent_lstm", "lstm", "lstm", "lstm"),
        ("agent_b", "both", "lstm", "lstm"),
        ("agent_b_memory", "both", "lstm", "both"),
        ("agent_b_linear", "both", "lstm", "both"),
        ("agent_b_hidden", "both", "both", "lstm"),
    ],
)
def test_the_unit_and_the_lstm_read_what_the_model_says(model: str, told: str, hidden: str, memory: str) -> None:
    network = built(model)
    seen: dict[str, torch.Tensor] = {}
    columns = network.lstm.columns

    def reads(inputs: torch.Tensor) -> torch.Tensor:
        seen["lstm"] = inputs
        return columns(inputs)

    network.lstm.columns = reads  # type: ignore[method-assign]
    if network.unit is not None:
        network.unit.register_forward_hook(lambda unit, inputs, output: seen.update(unit=inputs[0].mT))
    marks = {"told": TOLD, "hidden": torch.full((64, 3), 5.0), "memory": torch.full((64, 3), 7.0)}
    prepared, _ = network.begin(VIEW[0])
    with torch.no_grad():
        network.act(VIEW, TOLD, (prepared, torch.cat([marks["hidden"], marks["memory"]])))
    for name, where in (("told", told), ("hidden", hidden), ("memory", memory)):
        rows = len(marks[name])
        found = [part for part, inputs in seen.items() if int((inputs == marks[name][0, 0]).all(-1).sum()) >= rows]
        assert sorted(found) == {"both": ["lstm", "unit"]}.get(where, [where]), name


def test_the_forget_gate_starts_open_and_the_policy_almost_uniform() -> None:
    network = built("agent_lstm")
    means = network.lstm.b.view(4, -1).mean(-1)
    torch.testing.assert_close(means, torch.tensor([0.0, 1.0, 0.0, 0.0]), atol=0.1, rtol=0)
    assert float(network.policy.W.detach().abs().max()) <= 0.1 / 8
    assert float(network.value.W.detach().abs().max()) > 0.1 / 8


def test_an_agent_that_sees_pictures_encodes_each_pair_of_squares_once() -> None:
    network = built("agent_lstm_pictures", "grid_world_pixels")
    view = torch.tensor([[3.0, 3.0, 17.0], [17.0, 17.0, 3.0]])
    with torch.no_grad():
        prepared = network.encoder.prepared()
        z = network.encoder(prepared, view)
    assert prepared.shape == (64, 625)
    assert torch.equal(z[:, 0], z[:, 1])
    assert not torch.equal(z[:, 0], z[:, 2])


def test_an_agent_and_a_view_that_do_not_fit_are_skipped_with_the_reason() -> None:
    model, task = configured("agent_lstm").model, configured("agent_lstm", task="grid_world_pixels").task
    assert model.skip(task) == "an agent with an encoder of numbers does not see pictures"
    assert "episode" in str(model.skip(configured("nmu", task="arithmetic").task))


class Alone(Task):
    """An episode that is none of an actor and a critic."""

    inputs = "episode"


def test_an_agent_acts_in_a_task_of_actor_and_critic_alone() -> None:
    told = configured("agent_lstm").model.skip(Alone("alone", "alone"))
    assert told == "an agent acts in an ActorCritic task, and alone is none"


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["model.encoder=sound"], "unknown encoder of an agent 'sound'"),
        (["model.reads=everything"], "unknown input of an agent's unit 'everything'"),
        (["model.hidden_size=0"], "model.hidden_size must be at least 1, got 0"),
        (["model.policy_scale=0"], "model.policy_scale must be above 0 and finite, got 0"),
    ],
)
def test_values_that_cannot_be_are_refused(overrides: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        configured("agent_b", *overrides)
