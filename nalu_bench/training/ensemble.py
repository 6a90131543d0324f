"""Many seeds of one network as one computation: a stacked seed axis through `torch.func.vmap`.

Letters: S seeds of a block, B examples, I inputs, O outputs. Losses are never summed across seeds before they are
differentiated on their own, so every seed trains as if alone.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap

from nalu_bench.cell import Cell, canonical, plain
from nalu_bench.errors import UsageError
from nalu_bench.models.network import Network
from nalu_bench.tasks.task import Task
from nalu_bench.training import streams
from nalu_bench.training.optimizers import UPDATES, Moments
from nalu_bench.training.recipe import Recipe

Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class State:
    """All that changes while a block trains.

    Attributes:
        parameters: by full name, (S, ...).
        moments: the optimiser's two running means of every parameter.
        alive: (S,) whether every loss so far was finite; where not, the seed stays as it was before.
        diverged_at: (S,) the step whose loss was the first not to be finite, or -1.
        loss: (S,) the last training loss.
    """

    parameters: Tensors
    moments: dict[str, Moments]
    alive: Tensor
    diverged_at: Tensor
    loss: Tensor


class Objective(nn.Module):
    """MSE + Σ_k λ_k R_k of one network on one batch."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor, t: Tensor, factors: Tensors) -> Tensor:
        y, penalties = self.network.predict(x)
        loss = (y - t).square().mean()
        for name, value in penalties.items():
            loss = loss + factors[name] * value
        return loss


class Errors(nn.Module):
    """Mean squared and mean absolute error of one network on one split."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor, t: Tensor) -> Tensors:
        difference = self.network(x) - t
        return {"mse": difference.square().mean(), "mae": difference.abs().mean()}


class Method(nn.Module):
    """A method of a network as a module, so that `functional_call` can give it other parameters."""

    def __init__(self, network: Network, method: str) -> None:
        super().__init__()
        self.network = network
        self.method = method

    def forward(self) -> Any:
        return getattr(self.network, self.method)()


class Program:
    """The computations of one model on one shape of task: a training step and an evaluation, perhaps compiled.

    Tasks that differ by values alone (the operation, the ranges) share one program.
    """

    def __init__(self, cell: Cell, compiled: bool) -> None:
        self.task: Task = cell.task
        self.recipe: Recipe = cell.recipe
        self.network = cell.model.build(cell.task)
        self.objective = Objective(self.network)
        self.errors = Errors(self.network)
        self.projection = Method(self.network, "project_")
        self.sparsity = Method(self.network, "sparsity_error")
        self.matrices = Method(self.network, "weights")
        compile_ = _compiled if compiled else _identity
        self.step = compile_(torch.no_grad()(self._step))
        self.evaluate = compile_(torch.no_grad()(self._evaluate))

    def initial_state(self, seeds: list[int], device: torch.device) -> State:
        """Initial weights, each from the stream of its seed and name."""
        prototypes = dict(self.network.named_parameters())
        parameters = {
            f"network.{name}": torch.stack([_draw(prototypes[name], name, initialise, seed) for seed in seeds])
            for name, initialise in self.network.initialisers().items()
        }
        parameters = {name: value.to(device) for name, value in parameters.items()}
        moments = {name: (torch.zeros_like(value), torch.zeros_like(value)) for name, value in parameters.items()}
        count = len(seeds)
        return State(
            parameters=parameters,
            moments=moments,
            alive=torch.ones(count, dtype=torch.bool, device=device),
            diverged_at=torch.full((count,), -1, dtype=torch.int64, device=device),
            loss=torch.full((count,), torch.nan, device=device),
        )

    def _step(
        self, state: State, keys: Tensor, seed_parameters: Tensors, split_parameters: Tensors,
        step: Tensor, step_size: Tensor, correction: Tensor, factors: Tensors,
    ) -> State:  # fmt: skip
        """One update of every seed that is alive; `step` counts from 1."""

        def loss_of(parameters: Tensors, key: Tensor, constants: Tensors) -> Tensor:
            u = streams.uniforms(key, step, self.task.input_size * self.recipe.batch_size)
            x, t = self.task.sample(u.view(self.task.input_size, -1), constants, split_parameters)
            loss = functional_call(self.objective, parameters, (x, t, factors))
            assert isinstance(loss, Tensor)
            return loss

        gradients, loss = vmap(grad_and_value(loss_of))(state.parameters, keys, seed_parameters)
        finite = loss.isfinite()
        alive = state.alive & finite
        parameters, moments = {}, {}
        for name, old in state.parameters.items():
            change, moment = UPDATES[self.recipe.optimizer](
                self.recipe, gradients[name], state.moments[name], step_size, correction
            )
            parameters[name] = old - change
            moments[name] = moment
        functional_call(self.projection, parameters, ())  # clamps in place
        return State(
            parameters=_keep(alive, parameters, state.parameters),
            moments={name: _keep_pair(alive, moments[name], state.moments[name]) for name in moments},
            alive=alive,
            diverged_at=torch.where(state.alive & ~finite, step, state.diverged_at),
            loss=torch.where(alive, loss, torch.nan),
        )

    def _evaluate(self, parameters: Tensors, u: Tensor, seed_parameters: Tensors, split_parameters: Tensors) -> Tensors:
        """Errors (S,) on one split, whose uniform numbers u (I, B) all seeds share."""

        def errors_of(parameters: Tensors, constants: Tensors) -> Tensors:
            x, t = self.task.sample(u, constants, split_parameters)
            errors: Tensors = functional_call(self.errors, parameters, (x, t))
            return errors

        return vmap(errors_of)(parameters, seed_parameters)

    @torch.no_grad()
    def sparsity_error(self, parameters: Tensors) -> Tensor:
        """(S,), see `Network.sparsity_error`."""
        error: Tensor = vmap(lambda p: functional_call(self.sparsity, p, ()))(parameters)
        return error

    @torch.no_grad()
    def weights(self, parameters: Tensors) -> Tensors:
        """The effective matrices (S, O, I) by name, see `Network.weights`."""
        matrices: Tensors = vmap(lambda p: functional_call(self.matrices, p, ()))(parameters)
        return matrices


def program(cell: Cell, compiled: bool) -> Program:
    """The program of a cell, shared with every cell of this process that needs the same computations."""
    recipe = replace(cell.recipe, name="", steps=0, log_every=1, ramp_scale=1.0, learning_rate=1.0, selection="last")
    key = canonical([plain(cell.model), [str(part) for part in cell.task.program()], plain(recipe), compiled])
    if key not in _programs:
        _programs[key] = Program(cell, compiled)
    return _programs[key]


_programs: dict[str, Program] = {}


def check_factors(cell: Cell, network: Network) -> None:
    """Raise UsageError unless every penalty of the units has a factor, and every factor a penalty."""
    with torch.no_grad():
        found = sorted(network.predict(torch.zeros(2, cell.task.input_size))[1])
    given = sorted(cell.model.penalties)
    if found != given:
        raise UsageError(
            f"model.penalties of {cell.model.name} must name its units' penalties ({', '.join(found) or 'none'}), "
            f"got {', '.join(given) or 'none'}; a weight of 0 leaves a penalty out."
        )


def _draw(prototype: Tensor, name: str, initialise: Any, seed: int) -> Tensor:
    value = torch.empty_like(prototype, requires_grad=False)
    initialise(value, streams.torch_generator("init", seed, name))
    return value


def _compiled(function: Any) -> Any:
    # Each program counts its own recompilations: together they would soon reach dynamo's limit of 8.
    return torch.compile(function, fullgraph=True, dynamic=False, isolate_recompiles=True)  # type: ignore[call-overload]


def _identity(function: Any) -> Any:
    return function


def _keep(alive: Tensor, new: Tensors, old: Tensors) -> Tensors:
    return {name: torch.where(_expand(alive, value), value, old[name]) for name, value in new.items()}


def _keep_pair(alive: Tensor, new: Moments, old: Moments) -> Moments:
    mask = _expand(alive, new[0])
    return torch.where(mask, new[0], old[0]), torch.where(mask, new[1], old[1])


def _expand(mask: Tensor, like: Tensor) -> Tensor:
    return mask.view(-1, *[1] * (like.ndim - 1))
