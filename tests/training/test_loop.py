"""The training of a block compared with a plain loop, and the independence of a seed's bits."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from nalu_bench.errors import Interrupted, UsageError
from nalu_bench.models.model import Penalty
from nalu_bench.models.network import Stack
from nalu_bench.plan import unit_files
from nalu_bench.plan.blocks import WIDTH, Block, blocks
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.result import BlockResult
from nalu_bench.tasks.arithmetic import Arithmetic
from nalu_bench.tasks.task import Task
from nalu_bench.tasks.ten_parameter import TenParameter
from nalu_bench.training import checkpoint, data
from nalu_bench.training import loop as loop_module
from nalu_bench.training.check import check_network
from nalu_bench.training.checkpoint import CheckpointWarning
from nalu_bench.training.compilation import Mode
from nalu_bench.training.loop import Request, _Group, _Loop, train_block, train_together
from nalu_bench.training.program import program_of
from nalu_bench.training.random import addressable, draws, streams
from nalu_bench.units import NAU, NMU, Linear

MakeCell = Callable[..., Cell]
MakeTask = Callable[..., Task]

EAGER = Mode("cpu", compiled=False)
COMPILED = Mode("cpu", compiled=True)
ALL = Block(0)


def silent(step: int, solved: int) -> None:
    pass


def train(cell: Cell, path: Path, block: Block = ALL, report: Callable[[int, int], None] = silent) -> BlockResult:
    return train_block(cell, block, EAGER, path / "block.pt", report)


class Single(_Loop):
    """One block on its own, between two evaluations."""

    def __init__(self, cell: Cell, mode: Mode = EAGER, data_seeds: list[int] | None = None) -> None:
        super().__init__(Request(cell, ALL, Path("unused/block.pt"), silent), mode)
        self.draw = data.training_numbers(cell, data_seeds or ALL.seeds, mode)

    def advance(self) -> None:
        """Train to the next evaluation, which is entered into the log."""
        assert list(_Group([self], self.draw).advance()) == []


def same(one: BlockResult, other: BlockResult, lanes: list[int] | None = None) -> bool:
    """Whether two results hold the same bits; with `lanes`, in these."""
    chosen: Any = slice(None) if lanes is None else lanes
    pairs = [(one.steps, other.steps)]
    pairs += [(one.columns[name][:, chosen], other.columns[name][:, chosen]) for name in other.columns]
    pairs += [(one.weights[name][chosen], other.weights[name][chosen]) for name in other.weights]
    pairs += [(getattr(one, name)[chosen], getattr(other, name)[chosen]) for name in ("selected_step", "diverged_at")]
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in pairs)


def sparsity(name: str, W: Tensor) -> Tensor:
    """The penalty of a layer as the authors write it: the first layer is a NAU, the second an NMU."""
    complement = 1 - W.abs() if name == "layers.0.W" else 1 - W
    return torch.min(W.abs(), complement.abs()).mean()


class PlainTraining:
    """One seed of a NAU-NMU or an unpenalised network, trained the usual way: no stacking, torch's optimiser."""

    def __init__(self, cell: Cell, seed: int, penalised: bool = True, clamped: bool = True) -> None:
        self.cell, self.seed = cell, seed
        self.penalised = penalised and "nmu" in cell.model.units()
        self.clamped = clamped and "nmu" in cell.model.units()
        self.network = cell.model.build(cell.task)
        for name, parameter in self.network.named_parameters():
            generator = torch.Generator().manual_seed(streams.digest64("init", seed, name))
            self.network.initialisers()[name](parameter.data, generator)
        recipe = cell.recipe
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), recipe.learning_rate, (recipe.beta1, recipe.beta2), recipe.epsilon
        )
        drawn = cell.task.seed_parameters(streams.numpy_generator("task", seed))
        self.constants = {name: torch.from_numpy(array) for name, array in drawn.items()}
        self.losses: list[float] = []

    def loss(self, step: int) -> Tensor:
        task, batch = self.cell.task, self.cell.recipe.batch_size
        key = torch.tensor(streams.stream_key("data", self.seed))
        u = streams.uniforms(key, torch.tensor(step), task.input_size * batch).view(task.input_size, batch)
        numbers = draws.spread(u, draws.coefficients(task.intervals("train")))
        split = {name: torch.from_numpy(array) for name, array in task.split_parameters("train").items()}
        x, t = task.sample(numbers, self.constants, split)
        loss = torch.nn.functional.mse_loss(self.network(x), t)
        if self.penalised:
            penalty = self.cell.model.penalties["sparsity"]
            factor = penalty.weight * min(max((step - 1 - penalty.start) / (penalty.end - penalty.start), 0), 1)
            loss = loss + factor * sum(sparsity(name, W) for name, W in self.network.named_parameters())
        return loss

    def train(self, steps: int) -> "PlainTraining":
        for step in range(1, steps + 1):
            self.optimizer.zero_grad()
            loss = self.loss(step)
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.item())
            if self.clamped:
                self.network.layers[0].W.data.clamp_(-1, 1)
                self.network.layers[1].W.data.clamp_(0, 1)
        return self


@pytest.mark.parametrize(
    ("layers", "rate"), [("nau nmu", 0.3), ("nalu nalu", 0.003), ("nac nac_mul", 0.003), ("relu linear", 0.03)]
)
@pytest.mark.parametrize("seed", [3, 31])
def test_a_block_trains_every_seed_like_a_plain_loop_over_one_network(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path, layers: str, rate: float, seed: int
) -> None:
    schedule = {"learning_rate": rate, "steps": 30, "log_every": 10, "selection": "last"}
    cell = make_cell(layers, make_task(features=8), Penalty(5.0, 5, 25), **schedule)
    (block,), lane = blocks([seed]), seed % WIDTH
    result = train(cell, tmp_path, block)
    plain, nudged = PlainTraining(cell, seed), PlainTraining(cell, seed)
    with torch.no_grad():
        for parameter in nudged.network.parameters():
            parameter *= 1 + 1e-6  # a few roundings
    plain.train(30)
    nudged.train(30)
    assert result.selected_step[lane] == 30
    # Rounding is magnified in log space near an input of 0: as much as a nudge of the initial weights is.
    nearby = nudged.network.weights()
    for name, W in plain.network.weights().items():
        W = W.detach()
        wobble = float((nearby[name].detach() - W).abs().max())
        np.testing.assert_allclose(result.weights[name][lane], W, rtol=0, atol=1e-5 + 10 * wobble)
    losses = np.array(plain.losses[9::10])
    wobbles = np.abs(np.array(nudged.losses[9::10]) - losses)
    assert (np.abs(result.columns["train_loss"][1:, lane] - losses) < 1e-4 * losses + 10 * wobbles).all()


def test_without_the_clamp_or_the_penalty_that_comparison_would_fail(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path
) -> None:
    schedule = {"learning_rate": 0.3, "steps": 30, "log_every": 10, "selection": "last"}
    cell = make_cell("nau nmu", make_task(features=8), Penalty(5.0, 5, 25), **schedule)
    weights = train(cell, tmp_path).weights
    for missing in ({"clamped": False}, {"penalised": False}):
        other = PlainTraining(cell, 3, **missing).train(30).network.weights()
        assert any(not np.allclose(W[3], other[name].detach(), atol=1e-3) for name, W in weights.items())


def test_parameters_are_within_the_bounds_of_their_unit_after_every_step(make_cell: MakeCell) -> None:
    loop = Single(make_cell("nau nmu", learning_rate=5.0, log_every=1))
    for _ in range(5):
        loop.advance()
        nau, nmu = (loop.state.parameters[f"network.layers.{layer}.W"] for layer in (0, 1))
        assert nau.min() == -1
        assert nau.max() == 1
        assert nmu.min() == 0
        assert nmu.max() == 1


def test_without_the_clamp_weights_leave_the_bounds_of_their_unit(make_cell: MakeCell) -> None:
    """As in the authors' ablation: what multiplies is still within them."""
    loop = Single(make_cell("nau nmu", options={"clamped": False}, learning_rate=5.0, log_every=1))
    loop.advance()
    nau, nmu = (loop.state.parameters[f"network.layers.{layer}.W"] for layer in (0, 1))
    assert nau.abs().max() > 1
    assert nmu.min() < 0
    assert nmu.max() > 1


def test_losses_and_gradients_are_not_mixed_across_seeds(make_cell: MakeCell, make_task: MakeTask) -> None:
    cell = make_cell("nau nmu", make_task(features=8), Penalty(5.0, -10, 10), log_every=1)
    loop = Single(cell)
    loop.advance()
    assert len(loop.state.loss.unique()) == WIDTH
    for lane in (0, 11, 24):
        plain = PlainTraining(cell, lane)
        loss = plain.loss(1)
        loss.backward()
        torch.testing.assert_close(loop.state.loss[lane], loss.detach())
        for name, parameter in plain.network.named_parameters():
            mean, square = loop.state.means[f"network.{name}"], loop.state.squares[f"network.{name}"]
            gradient = parameter.grad
            torch.testing.assert_close(mean[lane], 0.1 * gradient, rtol=1e-4, atol=1e-6)
            torch.testing.assert_close(square[lane], 0.001 * gradient**2, rtol=1e-4, atol=1e-6)


def together(cells: list[Cell], path: Path, mode: Mode = EAGER) -> list[BlockResult]:
    """The results of cells trained side by side."""
    requests = [Request(cell, ALL, path / f"{cell.digest}.pt", silent) for cell in cells]
    outcomes = dict(train_together(requests, mode))
    results = [outcomes[number] for number in range(len(cells))]
    assert all(isinstance(result, BlockResult) for result in results)
    return results  # type: ignore[return-value]


def different(make_cell: MakeCell, make_task: MakeTask, **changes: Any) -> list[Cell]:
    """Cells that share their inputs: other models, operations, rates and numbers of steps."""
    return [
        make_cell("nau nmu", make_task("mul", features=8), **changes),
        make_cell("nau nau", make_task("sub", features=8), learning_rate=0.1, steps=10, **changes),
        make_cell("nalu nalu", make_task("add", features=8), **changes),
    ]


def test_cells_trained_side_by_side_have_the_bits_they_have_alone(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path
) -> None:
    cells = different(make_cell, make_task)
    assert len({data.sharing_key(cell) for cell in cells}) == 1
    for cell, result in zip(cells, together(cells, tmp_path), strict=True):
        assert same(result, train(cell, tmp_path / "alone"))


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("kernels", [pytest.param("torch", marks=pytest.mark.thorough), "own"])
def test_compiled_cells_have_the_bits_they_have_alone(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path, kernels: str
) -> None:
    first, *others = different(make_cell, make_task, log_every=10, kernels=kernels)[::-1]
    result = together([first, *others], tmp_path, COMPILED)[0]
    assert same(train_block(first, ALL, COMPILED, tmp_path / "block.pt", silent), result)


def test_a_block_that_fails_costs_none_of_those_beside_it(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path
) -> None:
    def fail(step: int, solved: int) -> None:
        if step == 10:
            raise RuntimeError("no luck")

    cells = different(make_cell, make_task)
    requests = [Request(cell, ALL, tmp_path / f"{number}.pt", silent) for number, cell in enumerate(cells)]
    requests[0] = replace(requests[0], report=fail)
    outcomes = dict(train_together(requests, EAGER))
    assert repr(outcomes[0]) == "RuntimeError('no luck')"
    for number in (1, 2):
        other = outcomes[number]
        assert isinstance(other, BlockResult)
        assert same(other, train(cells[number], tmp_path / "alone"))


def test_a_block_whose_checkpoint_is_behind_catches_up(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = different(make_cell, make_task)
    expected = together(cells, tmp_path / "uninterrupted")
    monkeypatch.setattr(loop_module, "CHECKPOINT_SECONDS", -1.0)
    steps: list[int] = []
    for number, stop in ((0, 15), (2, 10)):
        request = Request(cells[number], ALL, tmp_path / f"{cells[number].digest}.pt", killed_at(stop))
        assert isinstance(dict(train_together([request], EAGER))[0], KilledError)
    seen = [lambda step, solved: steps.append(step)] * 3
    requests = [
        Request(cell, ALL, tmp_path / f"{cell.digest}.pt", report) for cell, report in zip(cells, seen, strict=True)
    ]
    outcomes = dict(train_together(requests, EAGER))
    for number, result in enumerate(expected):
        outcome = outcomes[number]
        assert isinstance(outcome, BlockResult)
        assert same(outcome, result)
    assert steps == [15, 0, 10, 5, 10, 10, 15, 15, 20, 20]


def lane_bits(loop: _Loop, lane: int) -> list[bytes]:
    """The bits of everything that a loop holds for one lane."""
    state, selected = loop.state, loop.selected
    tensors = [*state.tensors(), selected.error, selected.step]
    tensors += [*selected.parameters.values(), *(entry for column in loop.log.columns.values() for entry in column)]
    return [tensor[lane].numpy().tobytes() for tensor in tensors]


def fill_other_lanes(loop: _Loop, lane: int) -> None:
    """Put other weights, data and subsets into every lane but one, with a NaN and an infinity beside it."""
    others = torch.arange(WIDTH) != lane
    generator = torch.Generator().manual_seed(0)
    parameters = {name: value.clone() for name, value in loop.state.parameters.items()}
    for value in parameters.values():
        value[others] = torch.rand(value[others].shape, generator=generator)
        value[lane - 1] = torch.nan
        value[lane + 1] = torch.inf
    loop.state = replace(loop.state, parameters=parameters)
    loop.data.seeds["members"][others] = loop.data.seeds["members"][others].flip(-1)


def check_that_neighbours_do_not_matter(cell: Cell, mode: Mode) -> None:
    lane = 3
    loops = [Single(cell, mode), Single(cell, mode, [seed if seed == lane else 1000 + seed for seed in ALL.seeds])]
    fill_other_lanes(loops[1], lane)
    for loop in loops:
        loop.evaluate()
        loop.advance()
    assert lane_bits(loops[0], lane) == lane_bits(loops[1], lane)
    assert all(lane_bits(loops[0], other) != lane_bits(loops[1], other) for other in range(WIDTH) if other != lane)
    assert loops[1].state.diverged_at[[lane - 1, lane]].tolist() == [1, -1]


@pytest.mark.parametrize("layers", ["nau nmu", "nalu nalu", "nac nac_mul", "relu6 linear"])
def test_the_bits_of_a_seed_do_not_depend_on_its_neighbours(
    make_cell: MakeCell, make_task: MakeTask, layers: str
) -> None:
    check_that_neighbours_do_not_matter(make_cell(layers, make_task(features=8)), EAGER)


@pytest.fixture(params=["torch", "own"])
def compiled_cell(make_cell: MakeCell, make_task: MakeTask, request: pytest.FixtureRequest) -> Cell:
    """One cell a kind of kernels for all compiled tests: its program is compiled once for the process."""
    return make_cell("nau nmu", make_task(features=8), Penalty(5.0, 5, 15), log_every=10, kernels=request.param)


@pytest.mark.compiled
def test_compiled_the_bits_of_a_seed_do_not_depend_on_its_neighbours(compiled_cell: Cell) -> None:
    check_that_neighbours_do_not_matter(compiled_cell, COMPILED)


@pytest.mark.compiled
def test_compiled_and_eager_training_agree_to_rounding_over_20_steps(compiled_cell: Cell) -> None:
    loops = [Single(compiled_cell, mode) for mode in (EAGER, COMPILED)]
    for loop in loops:
        loop.advance()
    eager, fast = (loop.state.parameters for loop in loops)
    for name, value in eager.items():
        torch.testing.assert_close(fast[name], value, rtol=0, atol=2e-6)  # 2e-7 measured
    assert loops[0].selected.step.equal(loops[1].selected.step)


@pytest.mark.parametrize(
    ("layers", "given", "message"),
    [
        ("nau nmu", {}, r"must name its units' penalties \(sparsity\), got none"),
        ("nau nmu", {"sparsty": Penalty(1.0, 0, 1)}, "got sparsty"),
        ("linear linear", {"sparsity": Penalty(1.0, 0, 1)}, r"penalties \(none\), got sparsity"),
    ],
)
def test_penalties_and_their_factors_must_match(
    make_cell: MakeCell, layers: str, given: dict[str, Penalty], message: str
) -> None:
    cell = make_cell(layers)
    wrong = replace(cell, model=replace(cell.model, penalties=given))
    with pytest.raises(UsageError, match=message):
        check_network(wrong, wrong.model.build(wrong.task))


def test_a_penalty_that_is_no_scalar_tensor_is_refused(make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = make_cell("nau nmu", None, Penalty(1.0, 0, 1))
    for wrong in (0.5, torch.zeros(3)):
        monkeypatch.setattr(NAU, "penalties", lambda self, inputs, wrong=wrong: {"sparsity": wrong})
        monkeypatch.setattr(NMU, "penalties", lambda self, inputs, wrong=wrong: {"sparsity": wrong})
        with pytest.raises(ValueError, match=r"the penalty sparsity must be a tensor of shape \(\), with a gradient"):
            check_network(cell, cell.model.build(cell.task))


def test_a_units_file_names_its_penalties_also_where_another_unit_of_the_stack_does(
    make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"forgetful": unit_files.UnitFile("nau"), "nmu": unit_files.load("nmu")}
    monkeypatch.setattr(unit_files, "load", files.__getitem__)
    cell = make_cell("nau nmu")
    stack = replace(cell, model=replace(cell.model, of=["forgetful", "nmu"]))
    drawn = torch.get_rng_state()
    with pytest.raises(UsageError, match=r"unit/forgetful.yaml must name those of nau \(sparsity\), got none"):
        check_network(stack, stack.model.build(stack.task))
    assert torch.equal(torch.get_rng_state(), drawn)


def test_cells_that_differ_by_values_share_one_program(make_cell: MakeCell, make_task: MakeTask) -> None:
    program = program_of(make_cell(), EAGER)
    for cell in (make_cell(task=make_task("add")), make_cell(learning_rate=1.0, steps=40, ramp_scale=0.5)):
        assert program_of(cell, EAGER) is program
    for cell in (make_cell("nau nau"), make_cell(batch_size=8), make_cell(optimizer="rmsprop"), make_cell(beta1=0.5)):
        assert program_of(cell, EAGER) is not program


def test_data_do_not_depend_on_the_model(make_cell: MakeCell, make_task: MakeTask) -> None:
    task = make_task(features=8)
    first, second = (Single(make_cell(layers, task)) for layers in ("nau nmu", "relu linear"))
    assert torch.equal(first.draw(3), second.draw(3))
    assert torch.equal(first.data.seeds["members"], second.data.seeds["members"])
    splits = [{split: next(iter(loop.data.evaluated[split])) for split in task.evaluated} for loop in (first, second)]
    for split in task.evaluated:
        assert splits[0][split].x.shape == (32, 8)
        assert torch.equal(splits[0][split].x, splits[1][split].x)
        assert torch.equal(splits[0][split].t, splits[1][split].t)
    assert not torch.equal(splits[0]["validation"].x, splits[0]["extrapolation"].x)


def test_training_leaves_the_global_generators_alone(make_cell: MakeCell, tmp_path: Path) -> None:
    before, numpy_before = torch.get_rng_state(), repr(np.random.get_state())  # noqa: NPY002
    train(make_cell(steps=5, batch_size=4), tmp_path)
    assert torch.equal(torch.get_rng_state(), before)
    assert repr(np.random.get_state()) == numpy_before  # noqa: NPY002


def test_a_step_takes_numbers_below_the_normal_ones_as_zero_and_leads_to_the_same_weights(
    make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def saturated() -> Single:
        loop = Single(make_cell("nac nac", steps=5))
        for name, value in loop.state.parameters.items():
            if name.endswith("M_hat"):
                value.fill_(-46.0)  # its sigmoid is 1e-20, and so is the output of a layer
        loop.advance()
        return loop

    flushed = saturated()
    assert torch.tensor(1e-38) * 0.1 > 0  # evaluations, and what else this process does, keep them
    monkeypatch.setattr(torch, "set_flush_denormal", lambda mode: True)
    exact = saturated()
    assert not any(value.any() for value in flushed.state.means.values())
    assert any(value.any() for value in exact.state.means.values())
    for name, value in exact.state.parameters.items():
        assert torch.equal(flushed.state.parameters[name], value), name


def test_a_diverged_seed_is_frozen_and_reported_and_its_neighbours_go_on(make_cell: MakeCell) -> None:
    undisturbed, loop = (Single(make_cell()) for _ in range(2))
    for one in (undisturbed, loop):
        one.advance()
    for value in loop.state.parameters.values():
        value[2, 0, 0] = torch.nan
    frozen = {name: value[2].clone() for name, value in everything_trained(loop).items()}
    for one in (undisturbed, loop):
        one.advance()
    assert not loop.state.alive[2]
    for name, value in everything_trained(loop).items():
        torch.testing.assert_close(value[2], frozen[name], rtol=0, atol=0, equal_nan=True)
    result, expected = loop.result(), undisturbed.result()
    assert result.diverged_at.tolist() == [-1, -1, 6] + [-1] * (WIDTH - 3)
    assert result.selected_step[2] == 5
    for name in result.columns:
        assert np.isnan(result.columns[name][2:, 2]).all()
        assert np.isfinite(result.columns[name][1, 2])
    neighbours = [lane for lane in range(WIDTH) if lane != 2]
    assert same(result, expected, neighbours)
    assert result.weights["layers.0.W"][2].tobytes() == undisturbed_weights_at_step_5(make_cell)[2].tobytes()


def everything_trained(loop: _Loop) -> dict[str, Tensor]:
    """Parameters and moments."""
    means = {f"{name} mean": value for name, value in loop.state.means.items()}
    return loop.state.parameters | means | {f"{name} square": value for name, value in loop.state.squares.items()}


def undisturbed_weights_at_step_5(make_cell: MakeCell) -> Any:
    loop = Single(make_cell(steps=5))
    loop.advance()
    return loop.result().weights["layers.0.W"]


def test_a_huge_learning_rate_diverges_with_finite_weights_and_nothing_selected(
    make_cell: MakeCell, tmp_path: Path
) -> None:
    result = train(make_cell("linear linear", learning_rate=1e30), tmp_path)
    assert result.diverged_at.tolist() == [2] * WIDTH
    assert result.selected_step.tolist() == [-1] * WIDTH
    assert np.isfinite(result.columns["validation_mse"][0]).all()
    assert np.isnan(result.columns["validation_mse"][1:]).all()
    assert all(np.isfinite(W).all() for W in result.weights.values())


class KilledError(Exception):
    pass


def killed_at(stop: int) -> Callable[[int, int], None]:
    def report(step: int, solved: int) -> None:
        if step == stop:
            raise KilledError

    return report


def interrupted(cell: Cell, path: Path, stop: int, block: Block = ALL) -> Path:
    """Train until the evaluation at `stop`: the checkpoints of the two steps before it remain."""
    with pytest.raises(KilledError):
        train(cell, path, block, killed_at(stop))
    return path / "block.pt"


@pytest.fixture
def checkpoint_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_module, "CHECKPOINT_SECONDS", -1.0)


@pytest.mark.usefixtures("checkpoint_always")
@pytest.mark.parametrize("stop", [5, 10, 20])
def test_a_resumed_run_has_the_bits_of_an_uninterrupted_one(make_cell: MakeCell, tmp_path: Path, stop: int) -> None:
    cell, steps = make_cell(), []
    expected = train(cell, tmp_path / "uninterrupted")
    interrupted(cell, tmp_path, stop)
    resumed = train(cell, tmp_path, report=lambda step, solved: steps.append(step))
    assert steps[:2] == [stop, stop]  # the checkpoint came before the evaluation, which is still due
    assert same(resumed, expected)


@pytest.mark.usefixtures("checkpoint_always")
def test_a_run_killed_after_its_last_checkpoint_needs_no_more_steps(make_cell: MakeCell, tmp_path: Path) -> None:
    steps: list[int] = []
    first = train(make_cell(), tmp_path)
    assert same(train(make_cell(), tmp_path, report=lambda step, solved: steps.append(step)), first)
    assert steps == [20, 20]


@pytest.mark.parametrize("stop", [1, 7, 13, 19])
def test_a_checkpoint_after_any_step_leads_to_the_bits_of_an_uninterrupted_run(
    make_cell: MakeCell, tmp_path: Path, stop: int
) -> None:
    cell = make_cell()
    expected = train(cell, tmp_path / "uninterrupted")
    loop = Single(cell)
    group = _Group([loop], loop.draw)
    while loop.step < stop:
        until = min(loop.next_evaluation, stop)
        loop.prepare(until)
        while loop.step < until:
            loop.update(loop.draw(loop.step + 1), {})
        if loop.step == loop.next_evaluation:
            loop.evaluate()
    loop.request = replace(loop.request, checkpoint=tmp_path / "block.pt")
    group.save()
    assert json.loads((tmp_path / "block.json").read_text()) == {"step": stop}
    assert same(train(cell, tmp_path), expected)


def test_the_log_keeps_no_tensor_of_its_own_for_an_evaluation(make_cell: MakeCell, tmp_path: Path) -> None:
    """Small tensors kept between large ones that are freed made a process grow by megabytes an evaluation."""
    loop = _Loop(Request(make_cell(), ALL, tmp_path / "block.pt", silent), EAGER)
    before = loop.log.columns
    for _ in range(4):
        loop.evaluate()
    for name, column in loop.log.columns.items():
        assert column.shape == (5, WIDTH)
        assert column.data_ptr() == before[name].data_ptr()


@pytest.mark.usefixtures("checkpoint_always")
def test_a_truncated_checkpoint_is_passed_over_for_the_older_one(make_cell: MakeCell, tmp_path: Path) -> None:
    cell, steps = make_cell(), []
    expected = train(cell, tmp_path / "uninterrupted")
    path = interrupted(cell, tmp_path, stop=15)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.warns(CheckpointWarning, match=r"block\.pt cannot be read .*; training goes on from step 14\."):
        resumed = train(cell, tmp_path, report=lambda step, solved: steps.append(step))
    assert steps[0] == 14
    assert same(resumed, expected)


@pytest.mark.usefixtures("checkpoint_always")
def test_a_damaged_checkpoint_does_not_take_the_place_of_the_older_one(make_cell: MakeCell, tmp_path: Path) -> None:
    path = interrupted(make_cell(), tmp_path, stop=15)
    path.write_bytes(b"damaged")
    identity = Single(make_cell()).identity
    with pytest.warns(CheckpointWarning):
        good = checkpoint.load(path, identity)
    assert good is not None
    checkpoint.save(path, good)
    path.write_bytes(b"damaged again")
    with pytest.warns(CheckpointWarning):
        assert checkpoint.load(path, identity) is not None


@pytest.mark.usefixtures("checkpoint_always")
def test_a_block_that_goes_on_elsewhere_names_all_its_processors(make_cell: MakeCell, tmp_path: Path) -> None:
    path = interrupted(make_cell(), tmp_path, stop=15)
    torch.save(torch.load(path) | {"processors": ["one"]}, path)
    ((_, result),) = train_together([Request(make_cell(), ALL, path, lambda *_: None, processor="another")], EAGER)
    assert isinstance(result, BlockResult)
    assert result.processors == ("one", "another")


@pytest.mark.usefixtures("checkpoint_always")
def test_a_checkpoint_stays_where_memory_runs_out(
    make_cell: MakeCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = interrupted(make_cell(), tmp_path, stop=15)

    def load(*_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8000 bytes.")

    monkeypatch.setattr(torch, "load", load)
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        checkpoint.load(path, {})
    assert path.exists()


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("put", [empty, os.mkfifo])
@pytest.mark.usefixtures("checkpoint_always")
def test_without_a_readable_checkpoint_training_starts_again(
    make_cell: MakeCell, tmp_path: Path, put: Callable[[Path], None]
) -> None:
    cell, steps = make_cell(), []
    expected = train(cell, tmp_path / "uninterrupted")
    path = interrupted(cell, tmp_path, stop=15)
    for damaged in (path, path.with_name("block.pt.old")):
        damaged.unlink()
        put(damaged)
    with pytest.warns(CheckpointWarning) as warned:
        resumed = train(cell, tmp_path, report=lambda step, solved: steps.append(step))
    (warning,) = warned
    assert str(warning.message).count("cannot be read") == 2
    assert str(warning.message).endswith("training starts at step 0.")
    assert steps[0] == 0
    assert same(resumed, expected)


@pytest.mark.usefixtures("checkpoint_always")
def test_a_checkpoint_of_another_run_is_refused_with_what_differs(make_cell: MakeCell, tmp_path: Path) -> None:
    interrupted(make_cell(), tmp_path, stop=10)
    other, block, steps = make_cell(learning_rate=0.5), Block(1), []
    expected = train(other, tmp_path / "uninterrupted", block)
    differing = r"another run, of lanes 0-24 \(not 25-49\), recipe.learning_rate 0.01 \(not 0.5\); it is not used"
    with pytest.warns(CheckpointWarning, match=differing):
        resumed = train(other, tmp_path, block, lambda step, solved: steps.append(step))
    assert steps[0] == 0
    assert same(resumed, expected)


@pytest.mark.usefixtures("checkpoint_always")
def test_a_checkpoint_of_another_version_or_mode_is_refused_with_what_differs(
    make_cell: MakeCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = interrupted(make_cell(), tmp_path, stop=10)
    identity = Single(make_cell()).identity
    assert checkpoint.load(path, identity) is not None
    with pytest.warns(CheckpointWarning, match=r"of mode eager \(not compiled\), torch .* \(not 1.0\); it is not used"):
        assert checkpoint.load(path, identity | {"mode": "compiled", "torch": "1.0"}) is None
    path = interrupted(make_cell(), tmp_path / "other", stop=10)
    monkeypatch.setattr("nalu_bench.plan.cell.TRAINER_VERSION", 99)
    with pytest.warns(CheckpointWarning, match=r"of version.trainer 2 \(not 99\); it is not used"):
        assert checkpoint.load(path, Single(make_cell()).identity) is None


@pytest.mark.usefixtures("checkpoint_always")
def test_a_checkpoint_of_another_mode_outlives_training_in_this_one_until_the_block_is_stored(
    make_cell: MakeCell, tmp_path: Path
) -> None:
    path = interrupted(make_cell(), tmp_path, stop=10)
    eager = Single(make_cell()).identity
    compiled = eager | {"mode": "compiled"}
    with pytest.warns(CheckpointWarning, match=r"it is not used, and kept as block\.\w+\.pt"):
        assert checkpoint.load(path, compiled) is None
    for step in (1, 2, 3):
        checkpoint.save(path, {"identity": compiled, "step": step})
    with pytest.warns(CheckpointWarning, match=r"training goes on from step 10\.$"):
        found = checkpoint.load(path, eager)
    assert found is not None
    assert found["step"] == 10
    checkpoint.remove(path)
    assert not [*path.parent.glob("block.*")]


@pytest.mark.parametrize("step", [1, 5, 7, 20])
def test_blocks_that_are_to_stop_save_the_step_they_are_at_and_go_on_with_the_same_bits(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path, step: int
) -> None:
    cells = different(make_cell, make_task)
    expected = together(cells, tmp_path / "uninterrupted")
    requests = [Request(cell, ALL, tmp_path / f"{cell.digest}.pt", silent) for cell in cells]
    answers = iter([False] * (len(cells) + step - 1) + [True])  # asked before each block starts and after each step
    ended: list[int] = []
    with pytest.raises(Interrupted):
        ended += [number for number, _ in train_together(requests, EAGER, lambda: next(answers))]
    for number, cell in enumerate(cells):
        if cell.recipe.steps >= step:
            note = json.loads((tmp_path / f"{cell.digest}.json").read_text())
            assert note == {"step": step}
            assert number not in ended
    for result, resumed in zip(expected, together(cells, tmp_path), strict=True):
        assert same(resumed, result)


def test_a_block_that_has_not_begun_when_it_is_to_stop_leaves_nothing(make_cell: MakeCell, tmp_path: Path) -> None:
    request = Request(make_cell(), ALL, tmp_path / "block.pt", silent)
    with pytest.raises(Interrupted):
        list(train_together([request], EAGER, lambda: True))
    assert list(tmp_path.iterdir()) == []


def selected_after(cell: Cell, errors: list[list[float]]) -> tuple[list[int], list[float]]:
    """The steps selected and the parameters kept for invented validation errors, one row an evaluation."""
    loop = Single(cell)
    for number, row in enumerate(errors):
        loop.step = number * cell.recipe.log_every
        parameters = {name: torch.full_like(value, number) for name, value in loop.state.parameters.items()}
        loop.state = replace(loop.state, parameters=parameters)
        error = torch.tensor(row + [1.0] * (WIDTH - len(row)), dtype=torch.float64)
        if number:
            loop.selected = loop.selected.updated(error, loop.step, loop.state.parameters, cell.recipe.selection)
    count = len(errors[0])
    kept = loop.selected.parameters["network.layers.0.W"][:count, 0, 0]
    return loop.selected.step[:count].tolist(), kept.tolist()


NAN, INF = float("nan"), float("inf")
ERRORS = [
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0, NAN, NAN, 1.0, 7.0],
    [2.0, INF, NAN, 2.0, 6.0],
    [2.0, 4.0, INF, 3.0, NAN],
    [5.0, 4.0, NAN, 4.0, NAN],
]


def test_the_first_smallest_finite_validation_error_after_step_zero_is_selected(make_cell: MakeCell) -> None:
    steps, kept = selected_after(make_cell(), ERRORS)
    assert steps == [10, 15, -1, 5, 10]
    assert [kept[lane] for lane in (0, 1, 3, 4)] == [2.0, 3.0, 1.0, 2.0]


def test_the_last_finite_evaluation_is_selected_where_the_recipe_says_so(make_cell: MakeCell) -> None:
    steps, kept = selected_after(make_cell(selection="last"), ERRORS)
    assert steps == [20, 20, -1, 20, 10]
    assert [kept[lane] for lane in (0, 1, 3, 4)] == [4.0, 4.0, 4.0, 2.0]


def test_without_training_the_untrained_model_is_selected(make_cell: MakeCell, tmp_path: Path) -> None:
    result = train(make_cell(steps=0), tmp_path)
    assert result.steps.tolist() == [0]
    assert result.selected_step.tolist() == [0] * WIDTH
    assert np.isfinite(result.columns["validation_mse"]).all()


def test_results_hold_the_selected_weights_and_every_evaluation(make_cell: MakeCell, tmp_path: Path) -> None:
    cell = make_cell("nau nmu", learning_rate=0.1)
    result = train(cell, tmp_path)
    assert result.steps.tolist() == [0, 5, 10, 15, 20]
    assert np.isnan(result.columns["train_loss"][0]).all()
    best = result.columns["validation_mse"][1:].argmin(axis=0)
    assert (result.selected_step == result.steps[1:][best]).all()
    assert len(set(best.tolist())) > 1
    for step in set(result.selected_step.tolist()):
        stopped = train(make_cell("nau nmu", learning_rate=0.1, steps=step, selection="last"), tmp_path)
        lanes = np.flatnonzero(result.selected_step == step)
        assert all(np.array_equal(result.weights[name][lanes], W[lanes]) for name, W in stopped.weights.items())


def test_seeds_below_the_threshold_are_reported(make_cell: MakeCell, tmp_path: Path) -> None:
    reported: list[tuple[int, int]] = []
    judged = make_cell().task.judges
    limit = float(np.median(train(make_cell(), tmp_path / "once").columns[judged][-1]))
    request = Request(make_cell(), ALL, tmp_path / "block.pt", lambda *event: reported.append(event), threshold=limit)
    ((number, result),) = train_together([request], EAGER)
    assert number == 0
    assert isinstance(result, BlockResult)
    solved = (result.columns[judged] < limit).sum(axis=1)
    assert 0 < solved[-1] < WIDTH
    assert reported == [*zip(result.steps, solved, strict=True)]


@pytest.mark.usefixtures("checkpoint_always")
def test_a_file_that_is_no_checkpoint_is_passed_over(make_cell: MakeCell, tmp_path: Path) -> None:
    for number, content in enumerate(({"step": 5}, torch.zeros(3))):
        path = tmp_path / f"{number}.pt"
        torch.save(content, path)
        with pytest.warns(CheckpointWarning, match=rf"{number}\.pt cannot be read"):
            assert checkpoint.load(path, Single(make_cell()).identity) is None


@pytest.mark.usefixtures("checkpoint_always")
def test_a_checkpoint_that_cannot_be_written_costs_no_training(
    make_cell: MakeCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = train(make_cell(), tmp_path / "undisturbed")

    def full(snapshot: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.warns(CheckpointWarning, match="cannot be written"):
        assert same(train(make_cell(), tmp_path / "full"), expected)
    assert list((tmp_path / "full").iterdir()) == []


@pytest.mark.usefixtures("checkpoint_always")
def test_the_step_of_a_checkpoint_can_be_read_without_torch(make_cell: MakeCell, tmp_path: Path) -> None:
    path = interrupted(make_cell(), tmp_path, stop=15)
    assert json.loads(path.with_suffix(".json").read_text()) == {"step": 15}
    checkpoint.remove(path)
    assert list(tmp_path.iterdir()) == []


class OwnSample(Arithmetic):
    """Another function of the same inputs."""

    def sample(self, numbers: Tensor, *constants: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        return numbers.mT, numbers.mT.sum(-1, keepdim=True)


class Constant(TenParameter):
    """A task without any constants of its own."""

    def seed_parameters(self, rng: np.random.Generator) -> dict[str, Any]:
        return {}

    def split_parameters(self, split: str) -> dict[str, Any]:
        return {}

    def sample(self, numbers: Tensor, *constants: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        return numbers.mT, torch.ones_like(numbers[:1].mT)


def test_a_task_with_a_sample_of_its_own_does_not_get_its_parents_program(
    make_cell: MakeCell, make_task: MakeTask
) -> None:
    parent = make_task(features=8)
    child = OwnSample(**vars(parent))
    assert child.program() == parent.program()
    assert program_of(make_cell(task=child), EAGER) is not program_of(make_cell(task=parent), EAGER)


def test_a_task_may_have_no_constants(make_cell: MakeCell, make_task: MakeTask, tmp_path: Path) -> None:
    result = train(make_cell(task=Constant(**vars(make_task()))), tmp_path)
    assert np.isfinite(result.columns["validation_mse"]).all()


class Forgetful(Linear):
    """A unit that does not say how its bias is initialised."""

    def initialisers(self) -> dict[str, Any]:
        return {"W": super().initialisers()["W"]}


class Buffered(Linear):
    """A unit with a buffer."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.register_buffer("two", torch.tensor(2.0))


class Returning(Linear):
    """A unit whose initialiser makes another tensor."""

    def initialisers(self) -> dict[str, Any]:
        return super().initialisers() | {"b": lambda tensor, _: torch.ones_like(tensor)}


def test_an_initialiser_that_does_not_fill_its_tensor_is_refused() -> None:
    unit = Returning(4, 2)
    assert unit.b is not None
    with pytest.raises(ValueError, match="the initialiser of b must fill the tensor that it gets, and returns another"):
        addressable.initial(unit.b, "b", unit.initialisers()["b"], 0)


class Frozen(Linear):
    """A unit whose bias shall stay as it is."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.b.requires_grad_(False)


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        (Forgetful, r"missing \['layers.0.b'\]"),
        (Buffered, r"not as buffers: \['layers.0.two'\]"),
        (Frozen, r"must require a gradient; keep as a number what stays as it is: \['layers.0.b'\]"),
    ],
)
def test_units_whose_values_would_be_left_undefined_are_refused(
    make_cell: MakeCell, unit: type[Linear], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check_network(make_cell("linear linear"), Stack(unit(4, 2)))


class InPlace(Linear):
    """It changes what other cells train on, too."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.relu_())


class Silent(Linear):
    """It returns nothing."""

    def forward(self, x: Tensor) -> Tensor:
        super().forward(x)
        return None  # type: ignore[return-value]


class Double(Linear):
    """It returns double precision."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).double()


class Detached(Linear):
    """It would never learn."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).detach()


class Counting(Linear):
    """What it computes depends on how often it was called, and so on what trains beside it."""

    calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return super().forward(x) / self.calls


class Coupled(Linear):
    """It clamps by the largest weight, which may be that of another seed."""

    def project_(self) -> None:
        self.W.div_(self.W.abs().max())


class WideGate(Linear):
    """Its gate is up to 3."""

    def gates(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"g": 3 * torch.sigmoid(inputs @ self.W.mT)}


class Mixing(Linear):
    """Its output for an example depends on the others of the batch."""

    def columns(self, x: Tensor) -> Tensor:
        return super().columns(x - x.mean(-1, keepdim=True))


class Dropping(Linear):
    """It draws random numbers where nobody can repeat them."""

    def columns(self, x: Tensor) -> Tensor:
        return super().columns(nn.functional.dropout(x, 0.5))


class Unreturned(Linear):
    """Its formula is computed and not returned."""

    def columns(self, x: Tensor) -> Tensor:  # type: ignore[return]
        super().columns(x)


class PartlyDetached(Linear):
    """Its bias would learn, and its matrix never."""

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.W.detach().T + self.b


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        (InPlace, "InPlace must leave its inputs as they are"),
        (Silent, "Silent must return a tensor, got NoneType"),
        (Double, "Double must return the type of its inputs, torch.float32, got torch.float64"),
        (Detached, "Detached must return what has a gradient for its parameters, got none for W, b"),
        (Counting, "Counting must store nothing on itself while it computes, and changes calls"),
        (Coupled, r"`project_` of Coupled must clamp elementwise, as seeds are stacked, and not \['W'\]"),
        (WideGate, "the gate g of WideGate must lie from 0 to 1, and is "),
        (Mixing, "the output of Mixing for an example must not depend on the others of its batch"),
        (Dropping, "Dropping must give equal outputs for equal inputs; it states random numbers in `noise`"),
        (Unreturned, "`columns` of Unreturned must return a tensor, got NoneType"),
        (PartlyDetached, "PartlyDetached must return what has a gradient for its parameters, got none for W;"),
    ],
)
def test_a_unit_that_computes_what_cannot_be_trained_is_refused(
    make_cell: MakeCell, unit: type[Linear], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        check_network(make_cell("linear linear"), Stack(unit(4, 2)))


def test_a_task_that_changes_what_its_examples_are_made_of_is_refused(
    make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evaluated numbers are kept, and other cells train on the same batches."""
    cell, sample = make_cell("linear linear"), Arithmetic.sample

    def changing(task: Arithmetic, numbers: Tensor, *given: Any) -> tuple[Tensor, Tensor]:
        numbers -= 1
        return sample(task, numbers, *given)

    monkeypatch.setattr(type(cell.task), "sample", changing)
    with pytest.raises(ValueError, match=r"`sample` of the task \w+ must leave what it is given as it is"):
        check_network(cell, Stack(Linear(4, 2)))


def test_a_task_that_measures_other_figures_than_it_names_is_refused(
    make_cell: MakeCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Task, "figures", lambda task, split: ["mse"])
    words = r"`figures` of the task \w+ must name what it measures on the split validation \(mse, mae\), got mse"
    with pytest.raises(UsageError, match=words):
        train(make_cell(), tmp_path)
