"""The streams of Madsen & Johansen's code, compared with constants that torch and NumPy print without us."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.random import RandomState
from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.models.model import Penalty
from nalu_bench.plan.blocks import WIDTH, Block, blocks
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.result import BlockResult
from nalu_bench.tasks.identity import Identity
from nalu_bench.tasks.recurrent_arithmetic import RecurrentArithmetic
from nalu_bench.tasks.task import Rows, Task
from nalu_bench.tasks.ten_parameter import TenParameter
from nalu_bench.training import data
from nalu_bench.training import loop as loop_module
from nalu_bench.training.compilation import Mode
from nalu_bench.training.loop import Request, _Group, _Loop, train_block, train_together
from nalu_bench.training.program import program_of
from nalu_bench.training.random import mersenne, stable_nalu
from nalu_bench.training.random.stable_nalu import Batches, Legacy, StableNALU, batch_seed, whole

MakeCell = Callable[..., Cell]
MakeTask = Callable[..., Task]

HERE = Path(__file__).parent
EAGER = Mode("cpu", compiled=False)
KIND = StableNALU()
ALL = Block(0)
LANES = ALL.seeds


def plain_script() -> Any:
    """The script that prints the constants."""
    spec = importlib.util.spec_from_file_location("stable_nalu_plain", HERE / "stable_nalu_plain.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def constants() -> dict[tuple[int, str], dict[str, str]]:
    """(seed, part) -> name -> the numbers as they are printed."""
    found: dict[tuple[int, str], dict[str, str]] = {}
    for line in (HERE / "stable_nalu.txt").read_text().splitlines():
        place, _, numbers = line.partition(": ")
        seed, part, name = place.split("; ")
        found.setdefault((int(seed.removeprefix("seed ")), part), {})[name] = numbers
    return found


PRINTED = constants()


def shown(values: Any) -> str:
    """The first numbers of an array in the form of the constants."""
    return " ".join(f"{number:.9g}" for number in np.float32(np.asarray(values).ravel()[:4]))


def on_streams(make_cell: MakeCell, layers: str = "nalu nalu", **changes: Any) -> Cell:
    return make_cell(layers, streams="stable_nalu", **changes)


def test_the_constants_are_what_torch_and_numpy_print() -> None:
    with torch.random.fork_rng():
        assert plain_script().constants() == (HERE / "stable_nalu.txt").read_text()


NETWORKS = [(seed, part) for seed, part in PRINTED if "inputs" in part]


@pytest.mark.parametrize(("seed", "part"), NETWORKS)
def test_initial_weights_are_the_authors(make_cell: MakeCell, make_task: MakeTask, seed: int, part: str) -> None:
    layers, _, size = part.partition(", ")
    cell = on_streams(make_cell, layers, task=make_task(features=100) if size == "100 inputs" else make_task())
    network = cell.model.build(cell.task)
    drawn = KIND.weights(dict(network.named_parameters()), network.initialisers(), seed, 0)
    assert {name: shown(value) for name, value in drawn.items()} == PRINTED[seed, part]


@pytest.mark.parametrize("layers", ["nac nac_mul", "nalu nalu", "nau nmu"])
def test_a_block_begins_with_the_weights_of_its_seeds(make_cell: MakeCell, layers: str) -> None:
    program = program_of(on_streams(make_cell, layers), EAGER)
    state = program.initial_state(Block(1).seeds, torch.device("cpu"))
    begun = {name.removeprefix("network."): shown(value[2]) for name, value in state.parameters.items()}
    assert begun == PRINTED[27, f"{layers}, 4 inputs"]


def numbers_of(cell: Cell, seed: int) -> dict[str, str]:
    """The numbers of a cell in the form of the constants."""
    task, found = cell.task, {}
    block = data.Data(cell, [seed, seed], torch.device("cpu"))
    split = data.tensors(task.split_parameters("train"))
    constants_of_seed = {name: value[0] for name, value in block.seeds.items()}
    draw = data.training_numbers(cell, [seed], EAGER)
    for step in (1, 2):
        x, t = KIND.examples(task, draw(step)[0], constants_of_seed, split)
        found |= {f"batch {step} inputs": shown(x[-1]), f"batch {step} {task.operation}": shown(t)}
    for name, (examples,) in block.evaluated.items():
        assert examples.shared
        found |= {f"{name} inputs": shown(examples.x[-1]), f"{name} {task.operation}": shown(examples.t[0])}
    return found | {"offset": shown(block.seeds["members"][0, 0].nonzero()[0])}


@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
@pytest.mark.parametrize("seed", [0, 1, 27])
@pytest.mark.parametrize(
    ("part", "size", "range_"),
    [("ten_parameter", None, [1, 2]), ("arithmetic", 100, [1, 2]), ("arithmetic from 1.1 to 1.2", 100, [1.1, 1.2])],
)
def test_offsets_batches_and_evaluated_examples_are_the_authors(
    make_cell: MakeCell,
    make_task: MakeTask,
    operation: str,
    seed: int,
    part: str,
    size: int | None,
    range_: list[float],
) -> None:
    task = make_task(operation, features=size, interpolation=range_)
    cell = on_streams(make_cell, task=task, batch_size=128, evaluation_size=10_000)
    printed, told = PRINTED[seed, part], ("inputs", "offset", operation)
    assert numbers_of(cell, seed) == {name: text for name, text in printed.items() if name.split()[-1] in told}


@pytest.mark.parametrize("seed", [0, 1, 27])
def test_two_intervals_are_drawn_as_the_authors_draw_them(make_cell: MakeCell, make_task: MakeTask, seed: int) -> None:
    task = make_task(features=100, interpolation=[[-2, -1], [1, 2]])
    draw = data.training_numbers(on_streams(make_cell, task=task, batch_size=128), [seed], EAGER)
    assert shown(draw(1)[0].mT[-1]) == PRINTED[seed, "arithmetic from two intervals"]["batch 1 inputs"]


def test_intervals_that_meet_are_halves_of_one() -> None:
    assert whole([[1, 1.5], [1.5, 2]]) == [(1, 2)]
    assert whole([[-2, -1], [1, 2]]) == [(-2, -1), (1, 2)]


@pytest.mark.parametrize("intervals", [[[0.1, 0.15], [0.15, 0.2]], [[-6, -2], [2, 6]]])
@pytest.mark.parametrize("shape", [(128, 4), (7, 9), (1, 1)])
def test_the_kernels_draw_the_numbers_of_numpys_generator(intervals: Any, shape: tuple[int, int]) -> None:
    seeds = [3, 2**32 - 2]
    batches, generators = Batches(seeds, intervals, shape, EAGER), [RandomState(seed) for seed in seeds]
    for step in range(1, 200):
        drawn = batches(step).mT.numpy()
        for lane, generator in enumerate(generators):
            assert (drawn[lane] == stable_nalu.uniform(generator, intervals, shape)).all()


def test_a_task_draws_whole_numbers_as_randomstate_does() -> None:
    ours, theirs = Legacy(5), RandomState(5)
    for low, high in ((63, None), (1, None), (0, 2**32 - 1), (-3, 4)):
        assert ours.integers(low, high) == theirs.randint(low, high)
    assert (ours.integers(10, size=4) == theirs.randint(10, size=4)).all()


def test_inputs_and_targets_are_rounded_to_the_networks_precision_after_the_sum(
    make_cell: MakeCell, make_task: MakeTask
) -> None:
    task = make_task("sub", features=100)
    draw = Batches([batch_seed(task, 0)], task.intervals("train"), (128, 100), EAGER)(1)[0]
    parts = [data.tensors(KIND.seed_parameters(task, 0)), data.tensors(task.split_parameters("train"))]
    x, t = KIND.examples(task, draw, *parts)
    assert draw.dtype == torch.float64
    assert x.dtype == t.dtype == torch.float32
    assert torch.equal(x, draw.mT.float())
    rounded = task.sample(draw.float(), *parts)[1]
    assert (t - rounded).abs().max() > 1e-6  # a sum of rounded numbers, in single precision, is another one


@pytest.mark.parametrize(("layers", "seed"), [("nac nac_mul", 1), ("nau nmu", 27)])
def test_a_block_trains_a_seed_like_the_authors_loop(
    make_cell: MakeCell, tmp_path: Path, layers: str, seed: int
) -> None:
    sizes = {"batch_size": 128, "evaluation_size": 10_000, "learning_rate": 0.001}
    cell = on_streams(make_cell, layers, penalty=Penalty(0.0, 5, 15), **sizes)
    (block,) = blocks([seed])
    result = train(cell, tmp_path, block)
    losses, extrapolation = authors_loop(cell, layers, seed, 20)
    lane = seed % WIDTH
    np.testing.assert_allclose(result.columns["train_loss"][1:, lane], losses[4::5], rtol=1e-4)
    np.testing.assert_allclose(result.columns["extrapolation_mse"][:, lane], extrapolation[::5], rtol=1e-4)


def authors_loop(cell: Cell, layers: str, seed: int, steps: int) -> tuple[list[float], list[float]]:
    """Training loss of every step, and error on the extrapolation examples before every step and after the last.

    One network, torch's optimiser, the global generator of torch and NumPy's `RandomState`.
    """
    script = plain_script()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        for _ in range(2):
            drawn = [layer(*sizes) for layer, sizes in zip(script.NETWORKS[layers], [(4, 2), (2, 1)], strict=True)]
    network = cell.model.build(cell.task)
    network.load_state_dict(
        {f"layers.{number}.{name}": value for number, layer in enumerate(drawn) for name, value in layer.items()}
    )
    optimizer = torch.optim.Adam(network.parameters())
    batches = RandomState(RandomState(seed).randint(0, 2**32 - 1))
    held_out = examples(RandomState(8689336).uniform(2, 6, (10_000, 4)))
    losses, errors = [], [error(network, held_out)]
    for _ in range(steps):
        optimizer.zero_grad()
        x, t = examples(batches.uniform(1, 2, (128, 4)))
        loss = torch.nn.functional.mse_loss(network(x), t)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        errors.append(error(network, held_out))
    return losses, errors


def examples(x: np.ndarray) -> tuple[Tensor, Tensor]:
    t = x[:, :2].sum(1) * x.sum(1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(t[:, np.newaxis], dtype=torch.float32)


@torch.no_grad()
def error(network: Any, held_out: tuple[Tensor, Tensor]) -> float:
    x, t = held_out
    return torch.nn.functional.mse_loss(network(x), t).item()


def silent(step: int, solved: int) -> None:
    pass


def train(cell: Cell, path: Path, block: Block = ALL, report: Callable[[int, int], None] = silent) -> BlockResult:
    return train_block(cell, block, EAGER, path / "block.pt", report)


def same(one: BlockResult, other: BlockResult) -> bool:
    """Whether two results hold the same bits."""
    pairs = [(one.columns[name], other.columns[name]) for name in other.columns]
    pairs += [(one.parameters[name], other.parameters[name]) for name in other.parameters]
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


class KilledError(Exception):
    pass


def killed_at(stop: int) -> Callable[[int, int], None]:
    def report(step: int, solved: int) -> None:
        if step == stop:
            raise KilledError

    return report


@pytest.fixture
def drawn_batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Checkpoints are written after every step; the list grows by the size of every batch that is drawn."""
    monkeypatch.setattr(loop_module, "CHECKPOINT_SECONDS", -1.0)
    sizes: list[int] = []
    fill = mersenne.fill

    def counted(keys: Any, positions: Any, low: float, high: float, out: Any) -> None:
        sizes.append(out.size)
        fill(keys, positions, low, high, out)

    monkeypatch.setattr(mersenne, "fill", counted)
    return sizes


@pytest.mark.parametrize("interpolation", [[1, 2], [[-2, -1], [1, 2]]])
def test_a_resumed_run_has_the_bits_of_an_uninterrupted_one_and_draws_no_batch_again(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path, drawn_batches: list[int], interpolation: Any
) -> None:
    cell = on_streams(make_cell, task=make_task(features=8, interpolation=interpolation))
    expected = train(cell, tmp_path / "uninterrupted")
    whole_run = len(drawn_batches)
    with pytest.raises(KilledError):
        train(cell, tmp_path, report=killed_at(15))
    drawn_batches.clear()
    assert same(train(cell, tmp_path), expected)
    assert len(drawn_batches) == whole_run // 4  # 5 of 20 steps


def test_a_checkpoint_without_the_place_of_the_draw_leads_to_the_same_bits(
    make_cell: MakeCell, tmp_path: Path, drawn_batches: list[int]
) -> None:
    cell = on_streams(make_cell)
    expected = train(cell, tmp_path / "uninterrupted")
    with pytest.raises(KilledError):
        train(cell, tmp_path, report=killed_at(10))
    saved = torch.load(tmp_path / "block.pt", weights_only=True)
    del saved["place"]
    torch.save(saved, tmp_path / "block.pt")
    assert same(train(cell, tmp_path), expected)
    assert len(drawn_batches) == 20 + 10 + 20


def test_blocks_at_different_steps_go_on_from_the_place_of_the_one_behind(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path, drawn_batches: list[int]
) -> None:
    cells = [on_streams(make_cell, layers, task=make_task(features=8)) for layers in ("nalu nalu", "nau nmu")]
    expected = [train(cell, tmp_path / f"alone {number}") for number, cell in enumerate(cells)]
    for cell, stop in zip(cells, (15, 5), strict=True):
        request = Request(cell, ALL, tmp_path / f"{cell.digest}.pt", killed_at(stop))
        assert isinstance(dict(train_together([request], EAGER))[0], KilledError)
    drawn_batches.clear()
    outcomes = dict(
        train_together([Request(cell, ALL, tmp_path / f"{cell.digest}.pt", silent) for cell in cells], EAGER)
    )
    for number, result in enumerate(expected):
        outcome = outcomes[number]
        assert isinstance(outcome, BlockResult)
        assert same(outcome, result)
    assert len(drawn_batches) == 15


def test_a_draw_gives_the_same_numbers_in_any_order_of_steps_and_from_any_place() -> None:
    shape, intervals = (16, 5), [[1, 1.5], [1.5, 2]]
    draw = Batches([1, 2], intervals, shape, EAGER)
    expected = {step: draw(step).clone() for step in range(1, 30)}
    for step in (29, 3, 3, 17):
        assert torch.equal(draw(step), expected[step])
    place = draw.place()
    for step in (18, 19, 5):
        other = Batches([1, 2], intervals, shape, EAGER)
        other.go_to(place)
        assert torch.equal(other(step), expected[step])
    assert place["step"] == 17


def test_the_numbers_of_a_seed_do_not_depend_on_the_seeds_beside_it(make_cell: MakeCell, make_task: MakeTask) -> None:
    cell = on_streams(make_cell, task=make_task(features=8))
    program = program_of(cell, EAGER)
    chosen = [LANES, [seed if seed == 3 else 1000 + seed for seed in LANES], [*LANES[:4], *LANES[:21]]]
    draws = [data.training_numbers(cell, seeds, EAGER) for seeds in chosen]
    for step in (1, 2, 9):
        drawn = [draw(step).clone() for draw in draws]
        assert torch.equal(drawn[0][3], drawn[1][3])
        assert torch.equal(drawn[2][3], drawn[2][7])
        assert not torch.equal(drawn[0][4], drawn[1][4])
    weights = [program.initial_state(seeds, torch.device("cpu")).parameters for seeds in chosen]
    for name, value in weights[0].items():
        assert torch.equal(value[3], weights[1][name][3])
        assert torch.equal(weights[2][name][3], weights[2][name][7])
    members = [data.Data(cell, seeds, torch.device("cpu")).seeds["members"] for seeds in chosen]
    assert torch.equal(members[0][3], members[1][3])


def bits_with_other_neighbours(cell: Cell, mode: Mode) -> None:
    lane = 3
    loops = [_Loop(Request(cell, ALL, Path("unused/block.pt"), silent), mode) for _ in range(2)]
    others = [seed if seed == lane else 1000 + seed for seed in LANES]
    for loop, seeds in zip(loops, (LANES, others), strict=True):
        assert list(_Group([loop], data.training_numbers(cell, seeds, mode)).advance()) == []
    mine, theirs = (loop.state.tensors() for loop in loops)
    assert all(torch.equal(a[lane], b[lane]) for a, b in zip(mine, theirs, strict=True))
    assert not torch.equal(mine[0][lane + 1], theirs[0][lane + 1])


def test_a_seed_trains_to_the_same_bits_whatever_its_neighbours_draw(make_cell: MakeCell, make_task: MakeTask) -> None:
    bits_with_other_neighbours(on_streams(make_cell, task=make_task(features=8)), EAGER)


@pytest.mark.slow
@pytest.mark.compiled
def test_compiled_a_seed_trains_to_the_same_bits_whatever_its_neighbours_draw(
    make_cell: MakeCell, make_task: MakeTask
) -> None:
    bits_with_other_neighbours(on_streams(make_cell, task=make_task(features=8)), Mode("cpu", compiled=True))


def test_no_global_generator_is_touched(make_cell: MakeCell, tmp_path: Path) -> None:
    def states() -> tuple[bytes, str]:
        numpys = np.random.get_state()  # noqa: NPY002
        return torch.random.get_rng_state().numpy().tobytes(), repr([numpys[0], numpys[1].tolist(), *numpys[2:]])

    before = states()
    train(on_streams(make_cell), tmp_path)
    assert states() == before


def test_weights_that_are_drawn_anew_go_on_in_the_generator_of_the_first(make_cell: MakeCell) -> None:
    cell = on_streams(make_cell)
    network = cell.model.build(cell.task)
    first, second = (KIND.weights(dict(network.named_parameters()), network.initialisers(), 0, n) for n in (0, 1))
    assert first.keys() == second.keys()
    assert all(not torch.equal(first[name], second[name]) for name in first)


def test_models_of_one_task_share_a_draw_and_other_tasks_do_not(make_cell: MakeCell, make_task: MakeTask) -> None:
    tasks = [make_task(features=8), make_task(features=8, overlap_ratio=0.0), make_task("add", features=8)]
    keys = [data.sharing_key(on_streams(make_cell, task=task)) for task in tasks]
    assert len({*keys}) == 3
    assert data.sharing_key(on_streams(make_cell, "nau nmu", task=tasks[0])) == keys[0]
    assert data.sharing_key(make_cell(task=tasks[0])) not in keys


def test_the_streams_are_part_of_the_identity_unless_they_are_our_own(make_cell: MakeCell) -> None:
    own, authors = make_cell(), make_cell(streams="stable_nalu")
    assert "streams" not in own.identity()["recipe"]
    assert authors.identity()["recipe"]["streams"] == "stable_nalu"
    assert own.digest != authors.digest


def test_an_unknown_kind_of_streams_is_refused(make_cell: MakeCell) -> None:
    with pytest.raises(UsageError, match=r"unknown kind of streams 'stable_nal'; did you mean 'stable_nalu'"):
        make_cell(streams="stable_nal").validate()


class Tabled(TenParameter):
    """A task of fixed data."""

    def rows(self, split: str) -> Rows:
        return Rows(100)


def test_a_task_that_the_authors_code_does_not_know_is_refused(make_cell: MakeCell) -> None:
    arithmetic = {"operation": "add", "interpolation": [1, 2], "extrapolation": [2, 6]}
    sequence = RecurrentArithmetic(
        kind="recurrent_arithmetic", name="recurrent_arithmetic", features=8, subset_ratio=0.25, overlap_ratio=0.5,
        length=2, extrapolation_length=3, **arithmetic,
    )  # fmt: skip
    inside = Identity(kind="identity", name="identity", interpolation=[-5, 5], extrapolation=[-20, 20], probed=5)
    table = Tabled(kind="ten_parameter", name="table", **arithmetic)
    for task in (sequence, table):
        with pytest.raises(UsageError, match="needs a task of uniform vectors that are drawn"):
            data.check_data(on_streams(make_cell, task=task))
    data.check_data(on_streams(make_cell, task=inside))
