"""Many seeds of one network as one computation: a stacked seed axis through `torch.func.vmap`.

Letters: S seeds of a block, B examples, I inputs, O outputs. Losses are never summed across seeds before they are
differentiated on their own, so every seed trains as if alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.nn import functional

from nalu_bench.errors import UsageError
from nalu_bench.models.network import Network
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.identity import canonical, plain
from nalu_bench.plan.recipe import Recipe
from nalu_bench.tasks.task import Task
from nalu_bench.training import compilation
from nalu_bench.training.compilation import Flat, Mode
from nalu_bench.training.data import Examples, Tensors
from nalu_bench.training.optimizers import UPDATES
from nalu_bench.training.random import streams


@dataclass(frozen=True)
class State:
    """All that changes while a block trains.

    Attributes:
        parameters: by full name, (S, ...).
        means, squares: the optimiser's running means of every gradient and of its square.
        alive: (S,) whether every loss so far was finite; where not, the seed stays as it was before.
        diverged_at: (S,) the step whose loss was the first not to be finite, or -1.
        loss: (S,) the last training loss.
    """

    parameters: Tensors
    means: Tensors
    squares: Tensors
    alive: Tensor
    diverged_at: Tensor
    loss: Tensor

    def tensors(self) -> list[Tensor]:
        """All tensors, as `of` takes them."""
        moments = (*self.means.values(), *self.squares.values())
        return [*self.parameters.values(), *moments, self.alive, self.diverged_at, self.loss]

    @classmethod
    def of(cls, names: Sequence[str], tensors: Sequence[Tensor]) -> "State":
        """The inverse of `tensors`, for parameters of the given names."""
        count = len(names)
        parameters, means, squares = (
            dict(zip(names, tensors[start : start + count], strict=True)) for start in (0, count, 2 * count)
        )
        return cls(parameters, means, squares, *tensors[3 * count :])


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mse": lambda y, t: (y - t).square().mean(),
    "smooth_l1": functional.smooth_l1_loss,
}


class Objective(nn.Module):
    """loss + Σ_k λ_k R_k of one network on one batch."""

    def __init__(self, network: Network, loss: str) -> None:
        super().__init__()
        self.network = network
        self.loss = LOSSES[loss]

    def forward(self, x: Tensor, t: Tensor, factors: Tensors) -> Tensor:
        y, penalties = self.network.predict(x)
        loss = self.loss(y, t)
        for name, value in penalties.items():
            loss = loss + factors[name] * value
        return loss


NEGLIGIBLE = 1e-8
"""The absolute error that is always right, `numpy.isclose`'s default."""


class Errors(nn.Module):
    """Mean squared and mean absolute error of one network on one split, and its accuracies.

    The accuracy of a tolerance is the share of examples with |y - t| <= 1e-8 + tolerance · |t|, as `numpy.isclose` has
    it.
    """

    def __init__(self, network: Network, tolerances: Sequence[float]) -> None:
        super().__init__()
        self.network = network
        self.tolerances = tolerances

    @property
    def names(self) -> list[str]:
        """What `forward` returns."""
        return ["mse", "mae", *(f"accuracy_{tolerance:g}" for tolerance in self.tolerances)]

    def forward(self, x: Tensor, t: Tensor) -> tuple[Tensor, ...]:
        difference = self.network(x) - t
        distance = difference.abs()
        right = [distance <= NEGLIGIBLE + tolerance * t.abs() for tolerance in self.tolerances]
        return difference.square().mean(), distance.mean(), *(each.to(t.dtype).mean() for each in right)


class Method(nn.Module):
    """A method of a network as a module, so that `functional_call` can give it other parameters."""

    def __init__(self, network: Network, method: str) -> None:
        super().__init__()
        self.network = network
        self.method = method

    def forward(self, *inputs: Tensor) -> Any:
        return getattr(self.network, self.method)(*inputs)


class Program:
    """The computations of one model on one shape of task: a training step and an evaluation, perhaps compiled.

    Tasks that differ by values alone (the operation, the ranges) share one program.
    """

    def __init__(self, cell: Cell, mode: Mode) -> None:
        self.task: Task = cell.task
        self.recipe: Recipe = cell.recipe
        self.mode = mode
        self.network = cell.model.build(cell.task)
        self.objective = Objective(self.network, cell.recipe.loss)
        self.errors = Errors(self.network, cell.task.tolerances)
        self.projection = Method(self.network, "project_")
        self.sparsity = Method(self.network, "sparsity_error")
        self.matrices = Method(self.network, "weights")
        self.outputs = Method(self.network, "forward")
        self.names = [f"network.{name}" for name in self.network.initialisers()]
        self.penalties = sorted(cell.model.penalties)
        self.seed_constants = sorted(cell.task.seed_parameters(streams.numpy_generator("task", 0)))
        self.split_constants = sorted(cell.task.split_parameters("train"))
        self._step_graph = compilation.graph(self._flat_step, mode)
        self._error_graphs: dict[tuple[bool, torch.Size], Flat] = {}

    def initial_state(self, seeds: list[int], device: torch.device) -> State:
        """Initial weights, each from the stream of its seed and name."""
        prototypes = dict(self.network.named_parameters())
        parameters = {
            f"network.{name}": torch.stack([_draw(prototypes[name], name, initialise, seed) for seed in seeds])
            for name, initialise in self.network.initialisers().items()
        }
        parameters = {name: value.to(device) for name, value in parameters.items()}
        count = len(seeds)
        return State(
            parameters=parameters,
            means={name: torch.zeros_like(value) for name, value in parameters.items()},
            squares={name: torch.zeros_like(value) for name, value in parameters.items()},
            alive=torch.ones(count, dtype=torch.bool, device=device),
            diverged_at=torch.full((count,), -1, dtype=torch.int64, device=device),
            loss=torch.full((count,), torch.nan, device=device),
        )

    def restarted(self, state: State, due: Tensor, count: Tensor, seeds: list[int]) -> State:
        """The state with new initial weights and a fresh optimiser for the seeds that are due.

        Args:
            due: (S,) which.
            count: (S,) which draw of the seed's initial weights, from 1; 0 was that of `initial_state`.
            seeds: of the block.
        """
        prototypes = dict(self.network.named_parameters())
        parameters = {name: value.clone() for name, value in state.parameters.items()}
        for lane in due.nonzero().flatten().tolist():
            for name, initialise in self.network.initialisers().items():
                value = _draw(prototypes[name], f"{name} {int(count[lane])}", initialise, seeds[lane])
                parameters[f"network.{name}"][lane] = value.to(due.device)
        nothing = {name: torch.zeros_like(value) for name, value in parameters.items()}
        means, squares = _keep(~due, state.means, nothing), _keep(~due, state.squares, nothing)
        return replace(state, parameters=parameters, means=means, squares=squares)

    def step(self, state: State, numbers: Tensor, constants: Sequence[Tensor], schedule: Sequence[Tensor]) -> State:
        """One update of every seed that is alive, from its random numbers (S, I, B).

        Args:
            state: before the update.
            numbers: of this step's batch.
            constants: the values of the task's `seed_parameters` (S, ...) and `split_parameters`, see `Data`.
            schedule: the step (from 1), the optimiser's step size and correction, and the factor of every penalty.
        """
        return State.of(self.names, self._step_graph(*state.tensors(), numbers, *constants, *schedule))

    def _flat_step(self, *tensors: Tensor) -> list[Tensor]:
        rest = iter(tensors)
        state = State.of(self.names, list(islice(rest, 3 * len(self.names) + 3)))
        numbers = next(rest)
        seed_parameters = {name: next(rest) for name in self.seed_constants}
        split_parameters = {name: next(rest) for name in self.split_constants}
        return self._step(state, numbers, seed_parameters, split_parameters, *rest).tensors()

    def _step(
        self, state: State, numbers: Tensor, seed_parameters: Tensors, split_parameters: Tensors,
        step: Tensor, step_size: Tensor, correction: Tensor, *factors: Tensor,
    ) -> State:  # fmt: skip
        named_factors = dict(zip(self.penalties, factors, strict=True))

        def loss_of(parameters: Tensors, numbers: Tensor, constants: Tensors) -> Tensor:
            x, t = self.task.sample(numbers, constants, split_parameters)
            loss = functional_call(self.objective, parameters, (x, t, named_factors))
            assert isinstance(loss, Tensor)
            return loss

        gradients, loss = vmap(grad_and_value(loss_of))(state.parameters, numbers, seed_parameters)
        finite = loss.isfinite()
        alive = state.alive & finite
        parameters, means, squares = {}, {}, {}
        for name, old in state.parameters.items():
            change, (means[name], squares[name]) = UPDATES[self.recipe.optimizer](
                self.recipe, gradients[name], (state.means[name], state.squares[name]), step_size, correction
            )
            parameters[name] = old - change
        functional_call(self.projection, parameters, ())  # clamps in place
        return State(
            parameters=_keep(alive, parameters, state.parameters),
            means=_keep(alive, means, state.means),
            squares=_keep(alive, squares, state.squares),
            alive=alive,
            diverged_at=torch.where(state.alive & ~finite, step, state.diverged_at),
            loss=torch.where(alive, loss, torch.nan),
        )

    def evaluate(self, parameters: Tensors, examples: Examples) -> Tensors:
        """What `Errors` measures, (S,) by name."""
        kind = (examples.shared, examples.x.shape)  # a graph is made for one shape
        if kind not in self._error_graphs:
            self._error_graphs[kind] = compilation.graph(self._flat_errors(examples.shared), self.mode)
        errors = self._error_graphs[kind](*parameters.values(), examples.x, examples.t)
        return dict(zip(self.errors.names, errors, strict=True))

    def _flat_errors(self, shared: bool) -> Flat:
        def errors_of(parameters: Tensors, x: Tensor, t: Tensor) -> tuple[Tensor, ...]:
            errors: tuple[Tensor, ...] = functional_call(self.errors, parameters, (x, t))
            return errors

        def errors(*tensors: Tensor) -> tuple[Tensor, ...]:
            *values, x, t = tensors
            parameters = dict(zip(self.names, values, strict=True))
            found: tuple[Tensor, ...] = vmap(errors_of, in_dims=(0, None if shared else 0, 0))(parameters, x, t)
            return found

        return errors

    def test(self, parameters: Tensors, examples: Examples) -> Tensors:
        """As `evaluate`, eagerly: for what is computed once, and may be long."""
        with torch.no_grad():
            errors = self._flat_errors(examples.shared)(*parameters.values(), examples.x, examples.t)
        return dict(zip(self.errors.names, errors, strict=True))

    @torch.no_grad()
    def sparsity_error(self, parameters: Tensors) -> Tensor:
        """(S,), see `Network.sparsity_error`."""
        error: Tensor = vmap(lambda p: functional_call(self.sparsity, p, ()))(parameters)
        return error

    @torch.no_grad()
    def predictions(self, parameters: Tensors, x: Tensor) -> Tensor:
        """What the network of every seed makes of the same inputs (B, I): (S, B, O)."""
        outputs: Tensor = vmap(lambda p: functional_call(self.outputs, p, (x,)))(parameters)
        return outputs

    @torch.no_grad()
    def weights(self, parameters: Tensors) -> Tensors:
        """The effective matrices (S, O, I) by name, see `Network.weights`."""
        matrices: Tensors = vmap(lambda p: functional_call(self.matrices, p, ()))(parameters)
        return matrices


def program_of(cell: Cell, mode: Mode) -> Program:
    """The program of a cell, shared with every cell of this process that needs the same computations."""
    recipe = replace(
        cell.recipe, name="", steps=0, log_every=1, ramp_scale=1.0, learning_rate=1.0, selection="last",
        reinitialize_after=0, reinitialize_counting="in_a_row", reinitialize_above=0.0, reinitialize_times=1,
    )  # fmt: skip
    sample = type(cell.task).sample  # a subclass that has its own must not get its parent's program
    task = [f"{sample.__module__}.{sample.__qualname__}", *map(str, (*cell.task.program(), *cell.task.tolerances))]
    key = canonical([plain(cell.model), task, plain(recipe), mode.describe()])
    if key not in _programs:
        _programs[key] = Program(cell, mode)
    return _programs[key]


_programs: dict[str, Program] = {}


def check_network(cell: Cell, network: Network) -> None:
    """Raise UsageError for parameters without initial values, for buffers, and for penalties without a factor or
    factors without a penalty."""
    undrawn = sorted({name for name, _ in network.named_parameters()} - set(network.initialisers()))
    if undrawn:
        raise UsageError(f"`initialisers` of {cell.model.name}'s units must name every parameter, missing {undrawn}.")
    buffers = sorted(name for name, _ in network.named_buffers())
    if buffers:
        raise UsageError(f"{cell.model.name}'s units must keep their constants as numbers, not as buffers: {buffers}.")
    with torch.no_grad():
        found = sorted(network.predict(_two_examples(cell.task))[1])
    given = sorted(cell.model.penalties)
    if found != given:
        raise UsageError(
            f"model.penalties of {cell.model.name} must name its units' penalties ({', '.join(found) or 'none'}), "
            f"got {', '.join(given) or 'none'}; a weight of 0 leaves a penalty out."
        )


def _two_examples(task: Task) -> Tensor:
    """Inputs of some network."""
    drawn = task.seed_parameters(streams.numpy_generator("task", 0)), task.split_parameters("train")
    constants = [{name: torch.from_numpy(value) for name, value in part.items()} for part in drawn]
    return task.sample(torch.ones(task.numbers("train"), 2), *constants)[0]


def _draw(prototype: Tensor, name: str, initialise: Any, seed: int) -> Tensor:
    value = torch.empty_like(prototype, requires_grad=False)
    initialise(value, streams.torch_generator("init", seed, name))
    return value


def _keep(alive: Tensor, new: Tensors, old: Tensors) -> Tensors:
    return {name: torch.where(_expand(alive, value), value, old[name]) for name, value in new.items()}


def _expand(mask: Tensor, like: Tensor) -> Tensor:
    return mask.view(-1, *[1] * (like.ndim - 1))
