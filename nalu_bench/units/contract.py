"""What every unit must do. A test of a package of its own is one line: `contract.check(MyUnit)`.

Each rule is a function of a class and the options of its constructor. It raises AssertionError where a unit breaks it.
Units have 4 inputs and 2 outputs here, and are checked in float64.
"""

import copy
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from nalu_bench.units.unit import Initialiser, Unit, uniform

SIZES = (4, 2)
SHAPES = ((4,), (5, 4), (3, 5, 4))


def check(unit: type[Unit], **options: Any) -> None:
    """Hold a unit to every rule.

    Args:
        unit: the class.
        options: arguments of its constructor other than the two sizes.

    Raises:
        AssertionError at the first rule that the unit breaks.

    >>> from nalu_bench.units import NALU
    >>> check(NALU, shared=False)
    """
    _must(isinstance(unit, type) and issubclass(unit, Unit), f"check takes the class of a unit, got {unit!r:.200}")
    for rule in RULES:
        words = rule.__name__.replace("_", " ")
        try:
            rule(unit, options)
        except AssertionError as error:
            raise AssertionError(f"a unit {words}: {error}") from error
        except Exception as error:
            raise AssertionError(f"a unit {words}: {type(error).__name__}: {error}") from error


def returns_what_the_benchmark_reads(cls: type[Unit], options: dict[str, Any]) -> None:
    unit, x = _made(cls, options), _inputs(5, 4)
    for name, found in {"weights": unit.weights(), "penalties": unit.penalties(x), "gates": unit.gates(x)}.items():
        right = isinstance(found, dict) and all(isinstance(value, Tensor) for value in found.values())
        _must(right, f"`{name}` must return a dictionary of tensors, got {found!r:.200}")


def has_gates_within_the_unit_interval(cls: type[Unit], options: dict[str, Any]) -> None:
    wide = outside(_made(cls, options))
    _must(not wide, f"`gates` must lie from 0 to 1, got {wide}")


@torch.no_grad()
def outside(unit: Unit) -> dict[str, str]:
    """Gate -> its smallest and largest value, for those that leave [0, 1] on some inputs."""
    like = next(unit.parameters(), torch.zeros(0))
    gates = unit.gates(torch.linspace(-3, 3, 2 * unit.in_features, dtype=like.dtype).view(2, -1))
    return {
        name: f"{values.min():g} to {values.max():g}"
        for name, values in gates.items()
        if bool(((values < 0) | (values > 1)).any())
    }


def depends_on_every_parameter(cls: type[Unit], options: dict[str, Any]) -> None:
    unit = _made(cls, options)
    still = without_gradient(unit, unit(_inputs(5, 4)))
    _must(not still, f"outputs must have a gradient for every parameter, got none for {', '.join(still)}")


def without_gradient(unit: Unit, output: Tensor) -> list[str]:
    """The parameters of a unit on which its output does not depend."""
    parameters = dict(unit.named_parameters())
    if not parameters or not output.requires_grad:
        return [*parameters]
    found = torch.autograd.grad(output.sum(), [*parameters.values()], retain_graph=True, allow_unused=True)
    return [name for name, gradient in zip(parameters, found, strict=True) if gradient is None]


def maps_the_last_axis_and_leaves_the_others(cls: type[Unit], options: dict[str, Any]) -> None:
    unit = _made(cls, options)
    for shape in SHAPES:
        x = _inputs(*shape)
        y = unit(x)
        _must(y.shape == (*shape[:-1], 2), f"inputs {shape} must give {(*shape[:-1], 2)}, got {tuple(y.shape)}")
        _must(y.dtype == x.dtype, f"outputs must have the type of the inputs, {x.dtype}, got {y.dtype}")
        rows = torch.stack([unit(row) for row in x.reshape(-1, 4)]).view(y.shape)
        _equal(y, rows)


def has_the_same_output_for_an_example_alone(cls: type[Unit], options: dict[str, Any]) -> None:
    random = "equal inputs must give equal outputs: state random numbers in `noise`, and use them in `disturbed`"
    _must(not draws_on_its_own(_made(cls, options)), random)
    mixed = "the output of an example must not depend on those beside it: no means over, no sorting of examples"
    _must(not mixes_examples(_made(cls, options)), mixed)


@torch.no_grad()
def mixes_examples(unit: Unit) -> bool:
    """Whether the output of an example depends on the others of its batch; the unit has parameters in float64."""
    x = _inputs(3, unit.in_features)
    alone = torch.cat([unit(row.unsqueeze(0)) for row in x])
    return not torch.allclose(unit(x), alone, rtol=1e-9, equal_nan=True)


@torch.no_grad()
def draws_on_its_own(unit: Unit) -> bool:
    """Whether equal inputs give other outputs, as of dropout; the unit has parameters in float64."""
    x = _inputs(3, unit.in_features)
    return not torch.allclose(unit(x), unit(x), rtol=0, atol=0, equal_nan=True)


def works_in_float32_as_made(cls: type[Unit], options: dict[str, Any]) -> None:
    y = cls(*SIZES, **options)(torch.rand(5, 4))
    _must(y.dtype == torch.float32, f"inputs in float32 must give outputs in float32, got {y.dtype}")


def works_in_sequence_with_others(cls: type[Unit], options: dict[str, Any]) -> None:
    first, second = _made(cls, options, (6, 4)), _made(cls, options, seed=1)
    x = _inputs(5, 6)
    _must(torch.equal(nn.Sequential(first, second)(x), second(first(x))), "it must work in nn.Sequential")


def equals_a_loop_under_vmap_over_stacked_parameters(cls: type[Unit], options: dict[str, Any]) -> None:
    units = [_made(cls, options, seed=seed) for seed in range(3)]
    x = _inputs(3, 5, 4)
    module = _Everything(units[0])

    def one(parameters: dict[str, Tensor], x: Tensor) -> Any:
        return functional_call(module, {f"unit.{name}": value for name, value in parameters.items()}, (x,))

    stacked = vmap(one)(stack_module_state(list(units))[0], x)
    for lane, unit in enumerate(units):
        for name, value in _everything(unit, x[lane]).items():
            _equal(stacked[name][lane], value)


def projects_stacked_parameters_too(cls: type[Unit], options: dict[str, Any]) -> None:
    coupled = coupled_by_projection(_made(cls, options))
    _must(not coupled, f"`project_` must clamp {coupled} elementwise, so that seeds may be stacked")


@torch.no_grad()
def coupled_by_projection(unit: Unit) -> list[str]:
    """The parameters that `project_` changes in another way if those of several seeds are stacked."""
    units, draw = [copy.deepcopy(unit) for _ in range(3)], Generator().manual_seed(0)
    for parameter in [parameter for each in units for parameter in each.parameters()]:
        parameter.copy_(torch.rand(parameter.shape, generator=draw) * 20 - 10)
    stacked = copy.deepcopy(unit)
    for name, value in stack_module_state(list(units))[0].items():
        owner, _, own = name.rpartition(".")
        setattr(stacked.get_submodule(owner), own, nn.Parameter(value))
    for each in (stacked, *units):
        each.project_()
    return [
        name
        for name, parameter in stacked.named_parameters()
        if not torch.equal(parameter, torch.stack([each.get_parameter(name) for each in units]))
    ]


def has_weights_of_outputs_by_inputs(cls: type[Unit], options: dict[str, Any]) -> None:
    for name, W in _made(cls, options).weights().items():
        _must(W.shape == (2, 4), f"`weights` must give matrices (out, in) = (2, 4), got {tuple(W.shape)} for {name}")


def stores_nothing_while_it_computes(cls: type[Unit], options: dict[str, Any]) -> None:
    unit, x = _made(cls, options), _inputs(5, 4)
    before, contents = attributes(unit), {name: p.detach().clone() for name, p in unit.named_parameters()}
    first, second = _everything(unit, x), _everything(unit, x)
    for name, value in unit.penalties(x).items():
        _must(value.shape == (), f"the penalty {name} must be a scalar, got the shape {tuple(value.shape)}")
    _must(all(torch.equal(first[name], second[name]) for name in first), "equal inputs must give equal outputs")
    _must(attributes(unit) == before, "a unit must store nothing on itself while it computes")
    kept = all(torch.equal(parameter, contents[name]) for name, parameter in unit.named_parameters())
    _must(kept, "a unit must not change its parameters while it computes")


def names_every_parameter_in_initialisers(cls: type[Unit], options: dict[str, Any]) -> None:
    unit = _made(cls, options)
    named, own = sorted(unit.initialisers()), sorted(name for name, _ in unit.named_parameters())
    _must(named == own, f"`initialisers` must name the parameters {own}, got {named}")
    strange = sorted(set(unit.gating) - set(own))
    _must(not strange, f"`gating` must name parameters of the unit, got {strange}")
    _must(not list(unit.buffers()), "a unit must keep its constants as numbers, not as buffers")


def draws_equal_weights_from_equal_generators(cls: type[Unit], options: dict[str, Any]) -> None:
    unit, before, draws = _made(cls, options), torch.get_rng_state(), []
    for seed in (7, 7, 8):
        unit.reset_parameters(Generator().manual_seed(seed))
        draws.append(torch.cat([torch.empty(0), *(weight.detach().flatten() for weight in unit.parameters())]))
    _must(torch.equal(draws[0], draws[1]), "equal generators must give equal weights")
    has_none = not len(draws[0])
    _must(has_none or not torch.equal(draws[0], draws[2]), "other generators must give other weights")
    _must(torch.equal(torch.get_rng_state(), before), "`reset_parameters` must draw from its generator alone")


def lets_a_subclass_add_a_parameter(cls: type[Unit], options: dict[str, Any]) -> None:
    class Scaled(cls):  # type: ignore[misc, valid-type]
        def __init__(self, *sizes: int, **options: Any) -> None:
            super().__init__(*sizes, **options)
            self.scale = nn.Parameter(torch.empty(self.out_features))
            self.largest = 2.0

        def initialisers(self) -> dict[str, Initialiser]:
            return {**super().initialisers(), "scale": uniform(1.0, self.largest)}

        def forward(self, x: Tensor) -> Tensor:
            y: Tensor = self.scale * super().forward(x)
            return y

    try:
        unit = Scaled(*SIZES, **options)
    except AttributeError as error:
        raise AssertionError("its constructor must not call `reset_parameters`: `Unit` draws at the end") from error
    drawn = unit.scale.detach()
    _must(bool(((drawn >= 1) & (drawn <= 2)).all()), "the initialisers that a subclass adds must be drawn from")
    _must(unit(torch.rand(5, 4)).shape == (5, 2), "a subclass must work as the unit does")


def is_documented_with_formula_and_source(cls: type[Unit], options: dict[str, Any]) -> None:
    text = vars(cls)["__doc__"] or ""
    _must(re.search(r"\w\)? = \S", text) is not None, "its docstring must hold a formula, such as y = W x")
    _must("Source:" in text or "else as" in text, "its docstring must hold its source, as in Source: none")


def refuses_to_have_no_inputs_or_outputs(cls: type[Unit], options: dict[str, Any]) -> None:
    for sizes in ((0, 1), (1, 0)):
        try:
            cls(*sizes, **options)
        except ValueError as error:
            _must("0" in str(error), f"the 0 of {sizes} must be named in the error, got {error}")
        else:
            raise AssertionError(f"a unit must refuse the sizes {sizes}: call super().__init__ first")


RULES: tuple[Callable[[type[Unit], dict[str, Any]], None], ...] = (
    returns_what_the_benchmark_reads,
    has_gates_within_the_unit_interval,
    depends_on_every_parameter,
    has_the_same_output_for_an_example_alone,
    maps_the_last_axis_and_leaves_the_others,
    works_in_float32_as_made,
    works_in_sequence_with_others,
    equals_a_loop_under_vmap_over_stacked_parameters,
    projects_stacked_parameters_too,
    has_weights_of_outputs_by_inputs,
    stores_nothing_while_it_computes,
    names_every_parameter_in_initialisers,
    draws_equal_weights_from_equal_generators,
    lets_a_subclass_add_a_parameter,
    is_documented_with_formula_and_source,
    refuses_to_have_no_inputs_or_outputs,
)


class _Everything(nn.Module):
    """Outputs, weights and penalties of a unit, as a module."""

    def __init__(self, unit: Unit) -> None:
        super().__init__()
        self.unit = copy.deepcopy(unit)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return _everything(self.unit, x)


def _everything(unit: Unit, x: Tensor) -> dict[str, Tensor]:
    return {"output": unit(x), **unit.weights(), **unit.penalties(x)}


def _made(cls: type[Unit], options: dict[str, Any], sizes: tuple[int, int] = SIZES, seed: int = 0) -> Unit:
    unit = cls(*sizes, **options)
    unit.reset_parameters(Generator().manual_seed(seed))
    return unit.double()


def _inputs(*shape: int) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=Generator().manual_seed(0)) * 2 + 0.5


def attributes(unit: Unit) -> dict[str, Any]:
    """The attributes of a unit, each as the identity of what it is; those of a dictionary's values for such."""
    return {
        key: {name: id(one) for name, one in value.items()} if isinstance(value, dict) else id(value)
        for key, value in vars(unit).items()
    }


def _equal(value: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(value, expected, rtol=1e-13, atol=1e-15)


def _must(condition: bool, words: str) -> None:
    if not condition:
        raise AssertionError(words)
