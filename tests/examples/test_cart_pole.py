"""The actor-critic of the grid world learns elsewhere, too."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.plan import compose
from nalu_bench.store.reader import Store

GROUPS = ["task=cart_pole", "model=balancer", "recipe=cart_pole", "budget=cart_pole"]


@pytest.fixture(scope="module")
def cart_pole(
    example: Callable[[str, Path], AbstractContextManager[Path]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    with example("cart_pole", tmp_path_factory.mktemp("cart_pole")) as folder:
        yield folder


@pytest.mark.usefixtures("cart_pole")
def test_the_dynamics_are_gymnasiums_step_by_step() -> None:
    task: Any = compose.plan_cells(GROUPS, multirun=False).cells[0].cell.task
    world, theirs, rng = task.world("test"), gymnasium.make("CartPole-v1").unwrapped, np.random.default_rng(0)
    for _ in range(30):
        state = world.start(torch.from_numpy(rng.random((4, 1))), {"limit": torch.tensor(500.0)})
        theirs.reset()
        theirs.state = tuple(float(value) for value in state[:4])  # type: ignore[attr-defined]
        over = False
        while not over:
            action = int(rng.integers(2))
            observed, reward, over, *_ = theirs.step(action)
            state, gained, ended = world.step(state, torch.tensor([action]))
            np.testing.assert_allclose(world.observe(state).view[:, 0], observed, atol=1e-6)
            assert (float(gained), bool(ended)) == (pytest.approx(0.02 * reward), over)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("cart_pole")
def test_the_actor_critic_keeps_the_pole_upright(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a failure in the grid world is the agent's, not the learner's."""
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    assert main(["run", *GROUPS, "device.workers=1"]) == 0
    (want,) = compose.plan_cells(GROUPS, multirun=False).cells
    runs = Store(paths.runs_dir()).runs(want.cell)
    assert runs["test_actions"].median() >= 475
