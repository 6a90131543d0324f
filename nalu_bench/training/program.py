"""Many seeds of one network as one computation, over a stacked seed axis.

Letters: S seeds of a block, B examples, I inputs, O outputs. The loss of every seed is differentiated on its own, so
every seed trains as if alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import methodcaller
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call, grad_and_value

from nalu_bench import registry
from nalu_bench.models.model import WIDTH
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.identity import canonical, plain
from nalu_bench.plan.recipe import Recipe
from nalu_bench.tasks.task import Task
from nalu_bench.training import compilation
from nalu_bench.training.compilation import Flat, Mode
from nalu_bench.training.data import Examples, Tensors
from nalu_bench.training.kernels.kind import Kernels, Shared, StepGraph
from nalu_bench.training.lanes import over_seeds
from nalu_bench.training.objective import Bound, in_turn, loss_alone, mean_gates, objective, penalties_alone
from nalu_bench.training.random.kind import streams_of
from nalu_bench.training.restart import RestartRule
from nalu_bench.training.state import State, keep
from nalu_bench.training.updates import LOSS, PENALTIES, TOTAL, Point, Step, Updates


class Program:
    """The computations of one model on one shape of task: a training step and an evaluation, perhaps compiled.

    Tasks that differ by values alone (the operation, the ranges) share one program.
    """

    def __init__(self, cell: Cell, mode: Mode, width: int) -> None:
        self.task: Task = cell.task
        self.recipe: Recipe = cell.recipe
        self.mode = mode
        self.width = width
        self.network = cell.model.build(cell.task)
        losses = cell.recipe.losses()
        loss = in_turn(*map(registry.losses.load, losses.values()))
        self.two_losses = len(losses) > 1
        self.goals = {
            TOTAL: Bound(self.network, objective(cell.task, loss, cell.model.penalties)),
            LOSS: Bound(self.network, loss_alone(cell.task, loss)),
            PENALTIES: Bound(self.network, penalties_alone(cell.task, loss)),
        }
        self.updates: Updates = registry.updates.load(cell.recipe.updates)
        self.gate_names = frozenset(f"network.{name}" for name in self.network.gating())
        self.measures = Bound(self.network, cell.task.measure)
        self.tests = Bound(self.network, cell.task.test)
        self.recording = Bound(self.network, cell.task.record)
        self.gating = Bound(self.network, mean_gates(cell.task))
        self.projection = Bound(self.network, methodcaller("project_"))
        self.sparsity = Bound(self.network, methodcaller("sparsity_error"))
        self.following = Bound(self.network, methodcaller("followed"))
        self.matrices = Bound(self.network, methodcaller("weights"))
        self.kernels: Kernels = registry.kernels.load(cell.recipe.kernels)
        self.clip = registry.clippings.load(cell.recipe.clipping)
        self.optimizer = registry.optimizers.load(cell.recipe.optimizer)
        self.rule: RestartRule = registry.restarts.load(cell.recipe.restart)()
        self.names = [f"network.{name}" for name in self.network.initialisers()]
        self.rates = {f"network.{name}": rate for name, rate in self.network.rates().items()}
        self.noise = self.network.noise
        self.penalties = sorted(cell.model.penalties)
        self.limits = {name: penalty.below for name, penalty in cell.model.penalties.items()}
        self.streams = streams_of(cell)
        self.seed_constants = sorted(self.streams.seed_parameters(cell.task, 0))
        self.split_constants = sorted(cell.task.split_parameters("train"))
        self._step_graphs: dict[torch.Size, StepGraph] = {}
        self._measure_graphs: dict[tuple[bool, torch.Size], tuple[Flat, list[str]]] = {}

    def initial_state(self, seeds: list[int], device: torch.device) -> State:
        """The state before training; the weights come from the recipe's streams."""
        prototypes, initialisers = dict(self.network.named_parameters()), self.network.initialisers()
        drawn = [self.streams.weights(prototypes, initialisers, seed, 0) for seed in seeds]
        parameters = {f"network.{name}": torch.stack([one[name] for one in drawn]) for name in initialisers}
        parameters = {name: value.to(device) for name, value in parameters.items()}
        count = len(seeds)
        return State(
            parameters=parameters,
            means={name: torch.zeros_like(value) for name, value in parameters.items()},
            squares=self._first_squares(parameters),
            alive=torch.ones(count, dtype=torch.bool, device=device),
            diverged_at=torch.full((count,), -1, dtype=torch.int64, device=device),
            loss=torch.full((count,), torch.nan, device=device),
        )

    def restarted(self, state: State, due: Tensor, count: Tensor, seeds: list[int]) -> State:
        """The state with new initial weights for the seeds that are due; their optimiser starts afresh or is kept.

        Args:
            due: (S,) the seeds that start anew.
            count: (S,) number of the draw of a seed's weights, from 1; `initial_state` makes draw 0.
            seeds: of the block.
        """
        prototypes = dict(self.network.named_parameters())
        parameters = {name: value.clone() for name, value in state.parameters.items()}
        initialisers = self.rule.initialisers(self.network)
        for lane in due.nonzero().flatten().tolist():
            drawn = self.streams.weights(prototypes, initialisers, seeds[lane], int(count[lane]))
            for name, value in drawn.items():
                parameters[f"network.{name}"][lane] = value.to(due.device)
        if registry.restarts.fact(self.recipe.restart, "keeps_optimizer", False):
            return replace(state, parameters=parameters)
        nothing = {name: torch.zeros_like(value) for name, value in parameters.items()}
        first = self._first_squares(parameters)
        means, squares = keep(~due, state.means, nothing), keep(~due, state.squares, first)
        return replace(state, parameters=parameters, means=means, squares=squares)

    def _first_squares(self, parameters: Tensors) -> Tensors:
        """The optimiser's means of squares before the first update."""
        first = registry.optimizers.fact(self.recipe.optimizer, "first_square", 0.0)
        return {name: torch.full_like(value, first) for name, value in parameters.items()}

    def step(
        self, state: Sequence[Tensor], numbers: Tensor, noise: Tensor | None, constants: Sequence[Tensor],
        schedule: Sequence[Tensor], shared: Shared,
    ) -> Sequence[Tensor]:  # fmt: skip
        """One update of every seed that is alive, from its random numbers.

        Args:
            state: the tensors of a `State` before the update; those after it are returned.
            numbers: of this step's batch (S, I, B).
            noise: the numbers (S, noise, B) that the network asked for, or None.
            constants: the values of the task's `seed_parameters` (S, ...) and `split_parameters`, see `Data`.
            schedule: the step (from 1), the optimiser's step size and correction, whether the first of two losses
                acts, and the factor of every penalty.
            shared: what the blocks on this draw have computed from this step's numbers.
        """
        drawn = [numbers] if noise is None else [numbers, noise]
        graph = self._step_graphs.get(numbers.shape)  # the last batch of an epoch may be smaller
        if graph is None:
            start = len(state) + len(drawn)
            data = {len(state), *range(start, start + len(constants))}
            graph = self._step_graphs[numbers.shape] = self.kernels(self._flat_step, self.mode, data)
        return graph([*state, *drawn, *constants, *schedule], shared)

    def _flat_step(self, *tensors: Tensor) -> list[Tensor]:
        rest = iter(tensors)
        state = State.of(self.names, list(islice(rest, 3 * len(self.names) + 3)))
        numbers = next(rest)
        noise = {"noise": next(rest)} if self.noise else {}
        seed_parameters = {name: next(rest) for name in self.seed_constants}
        split_parameters = {name: next(rest) for name in self.split_constants}
        return self._step(state, numbers, noise, seed_parameters, split_parameters, *rest).tensors()

    def _step(
        self, state: State, numbers: Tensor, noise: Tensors, seed_parameters: Tensors, split_parameters: Tensors,
        step: Tensor, step_size: Tensor, correction: Tensor, *schedule: Tensor,
    ) -> State:  # fmt: skip
        first, factors = (schedule[:1], schedule[1:]) if self.two_losses else ((), schedule)
        named_factors = dict(zip(self.penalties, factors, strict=True))

        def slope(goal: str, parameters: Tensors, own: Tensors | None) -> tuple[Tensors, Tensor]:
            """The gradients and values of a goal for every seed; `own` factors of its penalties are those of a seed."""

            def value_of(parameters: Tensors, numbers: Tensor, constants: Tensors, noise: Tensors, *own: Any) -> Tensor:
                x, t = self.streams.examples(self.task, numbers, constants, split_parameters)
                given = (x, t, noise.get("noise"), *(own or (named_factors,)), *first)
                value = functional_call(self.goals[goal], parameters, given)
                assert isinstance(value, Tensor)
                return value

            each = over_seeds(grad_and_value(value_of), self.width)
            further = () if own is None else (own,)
            found: tuple[Tensors, Tensor] = each(parameters, numbers, seed_parameters, noise, *further)
            return found

        def descend(point: Point, gradients: Tensors, masks: Mapping[str, Tensor] | None) -> Point:
            return self._descended(point, gradients, masks, step_size, correction)

        start = Point(state.parameters, state.means, state.squares)
        end, loss = self.updates(Step(step, self.gate_names, named_factors, self.limits, slope, descend), start)
        finite = loss.isfinite()
        alive = state.alive & finite
        functional_call(self.projection, end.parameters, ())  # clamps in place
        return State(
            parameters=keep(alive, end.parameters, state.parameters),
            means=keep(alive, end.means, state.means),
            squares=keep(alive, end.squares, state.squares),
            alive=alive,
            diverged_at=torch.where(state.alive & ~finite, step, state.diverged_at),
            loss=torch.where(alive, loss, torch.nan),
        )

    def _descended(
        self, point: Point, gradients: Tensors, masks: Mapping[str, Tensor] | None, step_size: Tensor,
        correction: Tensor,
    ) -> Point:  # fmt: skip
        """The point after one update of the optimiser, see `Step.descend`."""
        gradients = self.clip(gradients, self.recipe.clip_at)
        parameters, means, squares = {}, {}, {}
        for name, old in point.parameters.items():
            size = step_size * self.rates[name] if name in self.rates else step_size
            change, (means[name], squares[name]) = self.optimizer(
                self.recipe, gradients[name], (point.means[name], point.squares[name]), size, correction
            )
            parameters[name] = old - change
        if masks is None:
            return Point(parameters, means, squares)
        return Point(
            _chosen(masks, parameters, point.parameters),
            _chosen(masks, means, point.means),
            _chosen(masks, squares, point.squares),
        )

    def evaluate(self, parameters: Tensors, chunks: Iterable[Examples]) -> Tensors:
        """The task's measures of a split, (S,) by name: means over all chunks."""
        return _mean_over((self._measured(parameters, examples), examples.count) for examples in chunks)

    def _measured(self, parameters: Tensors, examples: Examples) -> Tensors:
        kind = (examples.shared, examples.x.shape)  # a graph is made for one shape
        if kind not in self._measure_graphs:
            names: list[str] = []
            flat = self._flat_measures(self.measures, examples.shared, names)
            self._measure_graphs[kind] = compilation.graph(flat, self.mode), names
        graph, names = self._measure_graphs[kind]
        figures = graph(*parameters.values(), examples.x, examples.t)
        return dict(zip(names, figures, strict=True))

    def _flat_measures(self, measures: Bound, shared: bool, names: list[str]) -> Flat:
        """The measures as a function of tensors alone; a call or a trace of it writes their names into `names`."""

        def figures_of(parameters: Tensors, x: Tensor, t: Tensor) -> tuple[Tensor, ...]:
            figures: Tensors = functional_call(measures, parameters, (x, t))
            names[:] = figures
            return tuple(figures.values())

        def figures(*tensors: Tensor) -> tuple[Tensor, ...]:
            *values, x, t = tensors
            parameters = dict(zip(self.names, values, strict=True))
            each = over_seeds(figures_of, self.width, in_dims=(0, None if shared else 0, 0))
            found: tuple[Tensor, ...] = each(parameters, x, t)
            return found

        return figures

    @torch.no_grad()
    def test(self, parameters: Tensors, chunks: Iterable[Examples]) -> Tensors:
        """The same as `evaluate`, but eager: for long splits that are evaluated once."""

        def measured(examples: Examples) -> Tensors:
            names: list[str] = []
            flat = self._flat_measures(self.tests, examples.shared, names)
            figures = flat(*parameters.values(), examples.x, examples.t)
            return dict(zip(names, figures, strict=True))

        return _mean_over((measured(examples), examples.count) for examples in chunks)

    def gates(self, parameters: Tensors, chunks: Iterable[Examples]) -> Tensors:
        """The gates (S, O) by name, means over the examples of all chunks, see `Network.gates`."""

        def found(examples: Examples) -> Tensors:
            dims = (0, None if examples.shared else 0)
            gates: Tensors = self.of_every_seed(self.gating, parameters, examples.x, in_dims=dims)
            return gates

        return _mean_over((found(examples), examples.count) for examples in chunks)

    @torch.no_grad()
    def of_every_seed(self, function: Bound, parameters: Tensors, *inputs: Tensor, in_dims: Any = None) -> Any:
        """A function of the network for every seed (S, ...), eagerly, such as `sparsity`, `following` or `matrices`.

        Seeds share the inputs unless `in_dims` says otherwise.
        """
        dims = in_dims or (0, *(None for _ in inputs))
        return over_seeds(lambda p, *rest: functional_call(function, p, rest), self.width, dims)(parameters, *inputs)


def _chosen(masks: Mapping[str, Tensor], new: Tensors, old: Tensors) -> Tensors:
    """The new values where the mask (S,) of their name says so, the old ones elsewhere."""
    return {name: keep(masks[name], {name: value}, old)[name] for name, value in new.items()}


def _mean_over(chunks: Iterable[tuple[Tensors, int]]) -> Tensors:
    """Means of figures over chunks of examples, weighted by their counts; those of a single chunk stay as they are."""
    (figures, count), *others = chunks
    if not others:
        return figures
    total = count + sum(more for _, more in others)
    sums = {name: figure.double() * count for name, figure in figures.items()}
    for figures, more in others:
        sums = {name: value + figures[name].double() * more for name, value in sums.items()}
    return {name: (value / total).to(figures[name].dtype) for name, value in sums.items()}


def program_of(cell: Cell, mode: Mode, width: int = WIDTH) -> Program:
    """The program of a cell; all cells of this process that need the same computations share it."""
    recipe = replace(
        cell.recipe, name="", steps=0, log_every=1, ramp_scale=1.0, learning_rate=1.0, selection="last",
        reinitialize_after=0, reinitialize_counting="in_a_row", reinitialize_above=0.0, reinitialize_times=1,
        schedule="constant", schedule_end=0.0, first_steps=0,
    )  # fmt: skip
    key = canonical([plain(cell.model), cell.task.program_key(), plain(recipe), mode.describe(), width])
    if key not in _programs:
        _programs[key] = Program(cell, mode, width)
    return _programs[key]


_programs: dict[str, Program] = {}
