"""Cells of a size that trains in milliseconds, built from their dataclasses: no Hydra, no files."""

import functools
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nalu_bench import registry
from nalu_bench.models.layer import Layer
from nalu_bench.models.model import Penalty
from nalu_bench.models.two_layer import TwoLayer
from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.recipe import Recipe
from nalu_bench.running import compiler
from nalu_bench.tasks.arithmetic import Arithmetic
from nalu_bench.tasks.task import Task
from nalu_bench.tasks.ten_parameter import TenParameter

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor

    from nalu_bench.plan.result import BlockResult
    from nalu_bench.units import Unit


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked `compiled` need a C++ compiler; importing torch's compiler warns on its own account."""
    for item in items:
        if item.get_closest_marker("compiled"):
            item.add_marker(
                pytest.mark.skipif(not compiler.works(), reason=f"torch cannot compile: {compiler.refusal()}")
            )
            item.add_marker(
                pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")
            )


@pytest.fixture(scope="session", autouse=True)
def sigint_as_in_a_terminal() -> None:
    """A shell starts a job in the background with SIGINT ignored, and every process below it inherits that."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def blank_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blank picture is saved for a figure, since drawing takes most of a report; not in tests marked `pictures`."""
    if request.node.get_closest_marker("pictures") is None:
        monkeypatch.setattr("nalu_bench.analysis.render.drawn.Drawn.savefig", _saved_blank)


def _saved_blank(figure: "Figure", target: Any, **options: Any) -> None:
    from matplotlib.figure import Figure

    Figure(figsize=(1, 1)).savefig(target, **options)


@pytest.fixture(scope="session")
def make_task() -> Callable[..., Task]:
    """ten_parameter by default; with `features` the arithmetic task of that many inputs."""

    def make(operation: str = "mul", features: int | None = None, **changes: Any) -> Task:
        values: dict[str, Any] = {"operation": operation, "interpolation": [1, 2], "extrapolation": [2, 6]}
        if features is None:
            return TenParameter(kind="ten_parameter", name="ten_parameter", **values | changes)
        values |= {"features": features, "subset_ratio": 0.25, "overlap_ratio": 0.5}
        return Arithmetic(kind="arithmetic", name="arithmetic", **values | changes)

    return make


@functools.cache
def penalties_of(unit: str, *options: tuple[str, Any]) -> list[str]:
    """The names of a unit's penalties: a model must state a factor for each of them, and for no other."""
    import torch

    return list(registry.units.load(unit)(4, 2, **dict(options)).penalties(torch.rand(3, 4)))


@pytest.fixture(scope="session")
def make_cell(make_task: Callable[..., Task]) -> Callable[..., Cell]:
    """A cell from "unit unit"; everything else has a default. Further arguments are values of the recipe, by name."""
    recipe = Recipe(
        name="test", optimizer="adam", learning_rate=0.01, beta1=0.9, beta2=0.999, epsilon=1e-8,
        batch_size=16, evaluation_size=32, steps=20, log_every=5, ramp_scale=1.0, selection="best_validation",
    )  # fmt: skip

    def make(
        layers: str = "nau nmu",
        task: Task | None = None,
        penalty: Penalty | None = None,
        options: dict[str, Any] | None = None,
        **changes: Any,
    ) -> Cell:
        names = [name for unit in layers.split() for name in penalties_of(unit, *(options or {}).items())]
        model = TwoLayer(
            kind="two_layer",
            name=layers.replace(" ", "_"),
            penalties=dict.fromkeys(names, penalty or Penalty(0.1, 5, 15)),
            layers=[Layer(unit, options or {}) for unit in layers.split()],
            hidden_size=2,
        )
        return Cell(task or make_task(), model, replace(recipe, **changes))

    return make


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """As in the runner: bits are promised for it, and with more, tests side by side wait for each other."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def check_gradients() -> Callable[["Unit", "Tensor"], None]:
    """Run gradcheck in float64 on a unit's outputs and penalties, as functions of its parameters and its inputs."""
    import torch
    from torch.func import functional_call

    class Everything(torch.nn.Module):
        def __init__(self, unit: "Unit") -> None:
            super().__init__()
            self.unit = unit

        def forward(self, x: "Tensor") -> "tuple[Tensor, ...]":
            return (self.unit(x), *self.unit.penalties(x).values())

    def check(unit: "Unit", x: "Tensor") -> None:
        unit.double().reset_parameters(torch.Generator().manual_seed(1))
        module = Everything(unit)
        names = [name for name, _ in module.named_parameters()]

        def outputs(x: "Tensor", *parameters: "Tensor") -> "tuple[Tensor, ...]":
            values = dict(zip(names, parameters, strict=True))
            result: tuple[Tensor, ...] = functional_call(module, values, (x,))
            return result

        values = [p.detach().clone().requires_grad_() for p in module.parameters()]
        assert torch.autograd.gradcheck(outputs, (x.double().requires_grad_(), *values))

    return check


@pytest.fixture
def killed_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., "tuple[BlockResult, BlockResult]"]:
    """(cell, block, step) -> its eager training without interruption, and with one before this step."""

    def both(cell: Cell, block: Block, step: int) -> "tuple[BlockResult, BlockResult]":
        from nalu_bench.training import loop
        from nalu_bench.training.compilation import Mode

        def train(name: str) -> "BlockResult":
            return loop.train_block(cell, block, Mode("cpu", compiled=False), tmp_path / name, lambda *_: None)

        update = loop._Loop.update

        def killed(self: loop._Loop, numbers: "Tensor", shared: "dict[Any, Tensor]") -> None:
            if self.step == step:
                raise KeyboardInterrupt
            update(self, numbers, shared)

        with monkeypatch.context() as patch:
            patch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
            patch.setattr(loop._Loop, "update", killed)
            with pytest.raises(KeyboardInterrupt):
                train("block.pt")
        return train("whole.pt"), train("block.pt")

    return both
