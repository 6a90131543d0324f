"""The agent in a corridor, from its files alone: a task with its own objective and measures."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn

from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.models.network import Stack
from nalu_bench.plan import compose
from nalu_bench.plan.cell import Cell
from nalu_bench.store.reader import Store
from nalu_bench.training import rebuild
from nalu_bench.units import Linear

Example = Callable[[str, Path], AbstractContextManager[Path]]

GROUPS = ["task=corridor", "model=policy", "recipe=corridor", "budget=corridor"]
MACHINE = ["compile=false", "device.workers=1"]
SHORT = ["budget.steps=20", "budget.log_every=10"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corridor(example: Example, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with example("corridor", tmp_path_factory.mktemp("corridor")) as folder:
        yield folder


@pytest.fixture(scope="module")
def cell(corridor: Path) -> Cell:
    return compose.plan_cells(GROUPS, multirun=False).cells[0].cell


@pytest.fixture(scope="module")
def trained(cell: Cell) -> Store:
    assert main(["run", *GROUPS, *MACHINE]) == 0
    return Store(paths.runs_dir())


def policy(odds: list[float]) -> Stack:
    """A network that goes right with these log-odds at each place."""
    network = Stack(Linear(len(odds), 1))
    with torch.no_grad():
        network.layers[0].W.copy_(torch.tensor([odds]))
        network.layers[0].b.zero_()
    return network


def expected_reward(odds: Tensor, limit: int) -> Tensor:
    """The probability of being at the right end after `limit` steps, computed from the Markov chain."""
    right = odds.sigmoid()
    at = nn.functional.one_hot(torch.tensor(len(odds) // 2), len(odds)).to(odds.dtype)
    for _ in range(limit):
        inner, end = at[:-1], at[-1:]
        forth, back = inner * right[:-1], inner * (1 - right[:-1])
        stay, left = back[:1], torch.cat([back[1:], torch.zeros(2, dtype=odds.dtype)])
        at = left + torch.cat([stay, forth[:-1], forth[-1:] + end])
    return at[-1]


ODDS = [0.3, -0.5, 0.2, 0.8, 0.0]


def test_episodes_follow_the_policy(cell: Cell) -> None:
    u = torch.rand(200_000, 8, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        figures = cell.task.measure(policy(ODDS), u, u)
    assert float(figures["reward"]) == pytest.approx(float(expected_reward(torch.tensor(ODDS), 8)), abs=0.004)
    with torch.no_grad():
        straight = cell.task.measure(policy([50.0] * 5), u, u)
    assert {name: float(value) for name, value in straight.items()} == {"reward": 1.0, "length": 2.0}


def test_the_gradient_of_the_loss_is_that_of_the_expected_reward(cell: Cell) -> None:
    odds = torch.tensor(ODDS, dtype=torch.float64, requires_grad=True)
    (wanted,) = torch.autograd.grad(-expected_reward(odds, 8), odds)
    network = policy(ODDS)
    u = torch.rand(400_000, 8, generator=torch.Generator().manual_seed(1))
    loss, penalties = cell.task.objective(network, u, u, nn.functional.mse_loss, None)
    loss.backward()
    assert penalties == {}
    torch.testing.assert_close(network.layers[0].W.grad[0], wanted.float(), atol=0.003, rtol=0)


def test_the_agent_learns_to_go_right(trained: Store, cell: Cell) -> None:
    curves, runs = trained.curves(cell), trained.runs(cell)
    assert cell.task.judges == "test_reward"
    assert curves.loc[curves["step"] == 0, "validation_reward"].mean() < 0.7
    assert (runs["test_reward"] > 0.95).all()
    assert runs["test_reward"].mean() > 0.95
    assert (runs["validation_length"] < 3).all()


def test_the_step_with_the_largest_reward_is_selected(trained: Store, cell: Cell) -> None:
    curves = trained.curves(cell)
    later = curves[curves["step"] > 0]
    best = later.loc[later.groupby("seed")["validation_reward"].idxmax()].set_index("seed")
    runs = trained.runs(cell).set_index("seed")
    assert (runs["selected_step"] == best["step"]).all()
    assert (runs["validation_reward"] == best["validation_reward"]).all()


def test_the_store_rebuilds_the_policy_and_what_it_does_at_every_place(trained: Store, cell: Cell) -> None:
    probes = cell.task.probes()
    predictions = trained.predictions(cell)
    for seed in (0, 7, 24):
        network = rebuild.network(cell, trained.parameters(cell, seed))
        with torch.no_grad():
            right = cell.task.record(network, torch.from_numpy(probes.inputs))["predictions"]
        stored = predictions[predictions["seed"] == seed].sort_values("probe")["prediction"]
        np.testing.assert_allclose(right.flatten(), stored, rtol=1e-6)
        assert (right[2:4] > 0.9).all()


def test_a_seed_trained_alone_has_the_bits_it_has_in_the_block(
    trained: Store, cell: Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    assert main(["run", *GROUPS, *MACHINE, "seeds=1", "first_seed=7"]) == 0
    alone = Store(paths.runs_dir())
    for frame in ("curves", "runs"):
        one, block = (
            rows[rows["seed"] == 7].reset_index(drop=True)
            for rows in (getattr(alone, frame)(cell), getattr(trained, frame)(cell))
        )
        columns = [name for name in block if name not in ("part", "commit")]
        pd.testing.assert_frame_equal(one[columns], block[columns], check_exact=True)
    for name, values in trained.parameters(cell, 7).items():
        assert np.array_equal(alone.parameters(cell, 7)[name], values)


@pytest.mark.parametrize("model", [["model=mlp"], ["model=policy", "model.layer.unit=nalu"], ["model=nau"]])
@pytest.mark.usefixtures("corridor")
def test_any_model_of_vectors_can_be_the_policy(
    model: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    arguments = ["task=corridor", "recipe=corridor", "budget=corridor", *model, *SHORT, "seeds=2"]
    assert main(["run", *arguments, *MACHINE]) == 0
    (want,) = compose.plan_cells(arguments, multirun=False).cells
    store = Store(paths.runs_dir())
    assert store.runs(want.cell)["test_reward"].between(0.0, 1.0).all()
    gates = store.weights(want.cell).query("kind == 'gate'")
    assert len(gates) == (25 if "model.layer.unit=nalu" in model else 0)


@pytest.mark.usefixtures("trained")
def test_the_terminal_tells_the_median_of_the_judging_measure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *GROUPS, *MACHINE]) == 0
    assert re.search(r"^policy +25 .* (1\.00|0\.9\d+) \[", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize(
    ("change", "message"),
    [("task.length=4", "an odd number of places, 3 or more, got 4"), ("task.limit=1", "the 2 steps to the right end")],
)
@pytest.mark.usefixtures("corridor")
def test_a_users_mistake_is_told_in_plain_words(change: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *GROUPS, *MACHINE, change]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.usefixtures("corridor")
def test_compiled_the_agent_acts_and_learns_as_eagerly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [*GROUPS, *SHORT, "task.limit=3", "seeds=3", "device.workers=1"]
    (want,) = compose.plan_cells(few, multirun=False).cells
    rewards = []
    for compiled in ("false", "true"):
        monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path / compiled))
        assert main(["run", *few, f"compile={compiled}"]) == 0
        rewards.append(Store(paths.runs_dir()).curves(want.cell)["validation_reward"])
    assert len(rewards[0]) == 3 * 25
    np.testing.assert_allclose(*rewards, atol=0.005)  # an action may turn with a rounding
