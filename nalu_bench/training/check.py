"""A look at a network before it is trained: what only training would show is refused here."""

import copy
import functools
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from nalu_bench import registry
from nalu_bench.errors import UsageError
from nalu_bench.models.layer import Layer
from nalu_bench.models.network import Network
from nalu_bench.plan import unit_files
from nalu_bench.plan.cell import Cell
from nalu_bench.tasks.task import Task
from nalu_bench.training.data import Tensors, some_numbers, tensors
from nalu_bench.training.random import streams
from nalu_bench.units.contract import (
    attributes,
    coupled_by_projection,
    draws_on_its_own,
    mixes_examples,
    outside,
    without_gradient,
)


def check_network(cell: Cell, network: Network) -> None:
    """Raise UsageError for a network that cannot be trained.

    Every parameter must have an initial value and a gradient, and every penalty a factor. There may be no buffers, no
    units that ask for noise and get none, and no factors without a penalty.

    Raises:
        ValueError if a unit returns what it must not, see `watch_units`, or if the task changes what it is given.
    """
    undrawn = sorted({name for name, _ in network.named_parameters()} - set(network.initialisers()))
    if undrawn:
        raise UsageError(f"`initialisers` of {cell.model.name}'s units must name every parameter, missing {undrawn}.")
    buffers = sorted(name for name, _ in network.named_buffers())
    if buffers:
        raise UsageError(f"{cell.model.name}'s units must keep their constants as numbers, not as buffers: {buffers}.")
    frozen = sorted(name for name, parameter in network.named_parameters() if not parameter.requires_grad)
    if frozen:
        raise UsageError(
            f"every parameter of {cell.model.name}'s units is trained, and must require a gradient; keep as a number "
            f"what stays as it is: {frozen}."
        )
    noisy = sorted(path for path, unit in network.units() if unit.noise)
    if noisy and not network.noise:
        raise UsageError(
            f"units of a {cell.model.kind} model must do without noise, got {', '.join(noisy)} that ask for it; "
            "choose other units or a model that passes noise on."
        )
    if registry.updates.fact(cell.recipe.updates, "several", False) and not network.gating():
        raise UsageError(
            f"recipe.updates={cell.recipe.updates} must train a network with gates (`Unit.gating`), and "
            f"{cell.model.name} has none; choose recipe.updates=together."
        )
    for _, unit in network.units():
        _check_unit(unit)
    watch_units(network)
    for _, unit in network.units():
        name, drawn = type(unit).__name__, _drawn(unit).double()
        if draws_on_its_own(drawn):
            raise ValueError(
                f"{name} must give equal outputs for equal inputs; it states random numbers in `noise`, "
                "and uses them in `disturbed`"
            )
        if mixes_examples(drawn):
            raise ValueError(f"the output of {name} for an example must not depend on the others of its batch")
    penalties = _penalties(cell, network)
    for name, value in penalties.items():
        if not isinstance(value, Tensor) or value.shape:
            raise ValueError(f"the penalty {name} must be a tensor of shape (), with a gradient, got {value!r:.60}")
    _same(f"model.penalties of {cell.model.name} must name its units' penalties", penalties, cell.model.penalties)
    for name in unit_files.names_of(cell.model.of or []):
        stated = unit_files.load(name)
        _same(f"penalties of unit/{name}.yaml must name those of {stated.unit}", _own(stated), stated.penalties)


def _same(must: str, found: Iterable[str], given: Iterable[str]) -> None:
    """Raise UsageError unless a file names the penalties that there are."""
    if sorted(found) != sorted(given):
        raise UsageError(
            f"{must} ({', '.join(sorted(found)) or 'none'}), got {', '.join(sorted(given)) or 'none'}; "
            "conf/unit/NAME.yaml states them as `penalties: {name: {weight: 1.0, start: 0, end: 0}}`, and a weight of "
            "0 leaves one out."
        )


def check_figures(task: Task, split: str, measured: Iterable[str]) -> None:
    """Raise UsageError unless a task measures the figures of a split that it names."""
    if {*measured} != {*(named := task.figures(split))}:
        raise UsageError(
            f"`figures` of the task {task.kind} must name what it measures on the split {split} "
            f"({', '.join(measured)}), got {', '.join(named)}."
        )


def watch_units(network: Network) -> None:
    """Let a unit raise ValueError for changed inputs, and for outputs that do not fit them or its parameters."""
    for _, unit in network.units():
        versions: list[int] = []
        kept: list[dict[str, Any]] = []
        unit.register_forward_pre_hook(functools.partial(_note, versions, kept))
        unit.register_forward_hook(functools.partial(_check_unchanged, versions, kept))
        unit.register_forward_hook(_check_output)


def _note(versions: list[int], kept: list[dict[str, Any]], unit: Any, inputs: tuple[Tensor, ...]) -> None:
    versions[:], kept[:] = [value._version for value in inputs], [attributes(unit)]


def _check_unchanged(
    versions: list[int], kept: list[dict[str, Any]], unit: Any, inputs: tuple[Tensor, ...], output: Tensor
) -> None:
    """Other cells train on the same inputs, and how often a unit is called depends on what trains beside it."""
    name, (before,), after = type(unit).__name__, kept, attributes(unit)
    if [value._version for value in inputs] != versions:
        raise ValueError(f"{name} must leave its inputs as they are, and changes them in place")
    if changed := [key for key in before | after if before.get(key) != after.get(key)]:
        raise ValueError(f"{name} must store nothing on itself while it computes, and changes {', '.join(changed)}")


def _check_unit(unit: Any) -> None:
    """Raise ValueError for a unit whose seeds cannot be trained side by side, or whose gates are none."""
    name = type(unit).__name__
    if coupled := coupled_by_projection(unit):
        raise ValueError(f"`project_` of {name} must clamp elementwise, as seeds are stacked, and not {coupled}")
    for gate, span in outside(_drawn(unit)).items():
        raise ValueError(f"the gate {gate} of {name} must lie from 0 to 1, and is {span} on some inputs")


def _drawn(unit: Any) -> Any:
    """A copy of a unit with initial weights."""
    drawn = copy.deepcopy(unit)
    drawn.reset_parameters(torch.Generator().manual_seed(0))
    return drawn


def _check_output(unit: Any, inputs: tuple[Tensor, ...], output: Any) -> None:
    """Another shape would broadcast in the loss, another type round, and what has lost its gradient never train."""
    name, given = type(unit).__name__, inputs[0]
    if not isinstance(output, Tensor):
        raise ValueError(f"{name} must return a tensor, got {type(output).__name__}")
    expected = (*given.shape[:-1], unit.out_features)
    if output.shape != expected:
        raise ValueError(
            f"{name} must return the shape {expected} for inputs of {tuple(given.shape)}, got {tuple(output.shape)}"
        )
    if output.dtype != given.dtype:
        raise ValueError(f"{name} must return the type of its inputs, {given.dtype}, got {output.dtype}")
    if torch.is_grad_enabled() and (still := without_gradient(unit, output)):
        raise ValueError(
            f"{name} must return what has a gradient for its parameters, got none for {', '.join(still)}; leave out "
            "`detach` and `no_grad`, or the parameter"
        )


@torch.no_grad()
def _own(stated: unit_files.UnitFile) -> Tensors:
    """The penalties of a unit alone, with 4 inputs and 2 outputs."""
    with torch.device("meta"):  # where nothing is drawn
        unit = Layer(stated.unit, stated.options).build(4, 2)
    return unit.to_empty(device="cpu").penalties(torch.zeros(2, 4))


def _penalties(cell: Cell, network: Network) -> Tensors:
    """The penalties of the network on two examples."""
    x, t = _sampled(cell.task)
    noise = torch.zeros(network.noise, 2) if network.noise else None
    return cell.task.objective(network, x, t, registry.losses.load(cell.recipe.loss), noise)[1]


def _sampled(task: Task) -> tuple[Tensor, Tensor]:
    """Two examples; raises ValueError if the task changes what they are made of, which other cells have, too."""
    drawn = task.seed_parameters(streams.numpy_generator("task", 0)), task.split_parameters("train")
    numbers, own, common = some_numbers(task, 2), *map(tensors, drawn)
    given = [numbers, *own.values(), *common.values()]
    before = [value._version for value in given]
    x, t = task.sample(numbers, own, common)
    if [value._version for value in given] != before:
        raise ValueError(f"`sample` of the task {task.kind} must leave what it is given as it is, and changes it")
    return x, t
