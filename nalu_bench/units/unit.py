"""The base class of all arithmetic units, and the distributions of their initial weights."""

import functools
import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor, nn

from nalu_bench.errors import CallError

Initialiser = Callable[[Tensor, Generator | None], object]

MOST_FEATURES = 2**63 - 1
"""Inputs or outputs of a unit: torch's sizes are integers of 64 bits. What fits is a question of memory."""


class Unit(nn.Module):
    """A layer `(..., in_features) -> (..., out_features)` that knows its weights, penalties and clamp.

    A new unit states its parameters in `__init__`, their initial distribution in `initialisers` and its formula in
    `columns` (or in `forward`, like any module). It overrides `weights`, `penalties` and `project_` if it has any.
    Initial weights are drawn once the outermost `__init__` has returned, so that a subclass may add parameters. A unit
    must work under `torch.func.vmap` and `torch.compile`, and store nothing on itself while computing. Its constants
    are plain numbers, not buffers or tensors. `contract.check` tells the first rule that a unit breaks.

    Args:
        in_features: number of inputs I, at least 1.
        out_features: number of outputs O, at least 1.

    Raises:
        CallError, a UsageError, for a number that is none or that no machine holds, and for other inputs.
    """

    version: ClassVar[int]

    neutral: float | None = None
    """The input that leaves the output as it is: 0 for a sum, 1 for a product, None where there is none."""

    noise: int = 0
    """Number of uniform random numbers that the unit needs for each example in training (dropout, stochastic NMU)."""

    gating: ClassVar[tuple[str, ...]] = ()
    """The parameters that are gates between paths, which a recipe may train in turns with the others."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.in_features = _size("inputs", in_features)
        self.out_features = _size("outputs", out_features)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = _then_drawn(cls.__init__)  # type: ignore[method-assign]
        if "project_" in vars(cls):  # as an optimiser's step, it is no part of a gradient
            cls.project_ = torch.no_grad()(cls.project_)  # type: ignore[method-assign]

    def matrix(self) -> nn.Parameter:
        """An uninitialised parameter of shape (out_features, in_features)."""
        return nn.Parameter(torch.empty(self.out_features, self.in_features))

    def forward(self, x: Tensor) -> Tensor:
        """(..., I) -> (..., O)."""
        self._check(x)
        if x.ndim == 1:
            return self._outputs(x.unsqueeze(-1)).squeeze(-1)
        return self._outputs(x.mT).mT

    def _outputs(self, x: Tensor) -> Tensor:
        """What the formula gives; raises CallError if that is no tensor."""
        y = self.columns(x)
        if not isinstance(y, Tensor):
            raise CallError(f"`columns` of {type(self).__name__} must return a tensor, got {type(y).__name__}.")
        return y

    def _check(self, x: Tensor) -> None:
        """Raise CallError for inputs that torch would refuse in words of its own, or would take for others."""
        inputs = f"inputs of {type(self).__name__} must"
        if not isinstance(x, Tensor):
            raise CallError(f"{inputs} be a tensor, got {type(x).__name__}; torch.tensor makes one.")
        if x.ndim == 0 or x.shape[-1] != self.in_features:  # one input would be taken for each of several
            raise CallError(
                f"{inputs} have the shape (..., {self.in_features}), got {tuple(x.shape)}; put the numbers of an "
                "example along the last axis."
            )
        for parameter in self.parameters():
            if x.is_meta and not parameter.is_meta:  # torch's product gives anything
                raise CallError(f"{inputs} have values, as its parameters do, got a tensor of the device meta.")
            if x.dtype != parameter.dtype:
                raise CallError(
                    f"{inputs} have the type of its parameters, {parameter.dtype}, got {x.dtype}; convert one of them "
                    "with .to(...)."
                )

    def columns(self, x: Tensor) -> Tensor:
        """The formula, with examples as columns: (..., I, B) -> (..., O, B), so that a linear map is `W @ x`.

        With O far smaller than B this layout is several times faster than rows: every operation runs along the batch.
        """
        raise NotImplementedError(f"{type(self).__name__} must give its formula in `columns`")

    def disturbed(self, x: Tensor, noise: Tensor) -> Tensor:
        """The output of a unit with `noise` in training: x (..., B, I), noise (..., noise, B) uniform on [0, 1)."""
        raise NotImplementedError(f"{type(self).__name__} asks for noise and must say in `disturbed` how it acts")

    def read(self, x: Tensor) -> Tensor:
        """The input half of a recurrent cell: a function of the inputs x (..., I - S, B) alone; x by default.

        For texts it is computed once per vocabulary entry, not once per text. A cell that is affine in x saves its
        product with x that way.
        """
        return x

    def advance(self, read: Tensor, state: Tensor) -> Tensor:
        """The output (..., O, B) on [x, state], from `read(x)` and the state (..., S, B)."""
        return self.forward(torch.cat([read, state], dim=-2).mT).mT

    def initialisers(self) -> dict[str, Initialiser]:
        """Parameter name -> function that fills it in place from a generator."""
        raise NotImplementedError(f"{type(self).__name__} must say in `initialisers` how its parameters are drawn")

    @torch.no_grad()
    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw all initial weights, in the order of `initialisers`.

        None means torch's default generator, as in `torch.nn`; the benchmark always passes one.
        """
        found = self.initialisers()
        right = isinstance(found, Mapping) and all(map(callable, found.values()))
        if not right or not all(isinstance(getattr(self, name, None), nn.Parameter) for name in found):
            raise CallError(
                f"`initialisers` of {type(self).__name__} must map names of its parameters to functions that fill "
                f"them, such as uniform(-1.0, 1.0), got {found!r:.200}."
            )
        for name, initialise in found.items():
            initialise(getattr(self, name), generator)

    def weights(self) -> dict[str, Tensor]:
        """The effective matrices (O, I), by name: those that the formula multiplies with.

        The sparsity error is measured on them, and the formulas of NAC, NAU and NMU read them: a subclass that
        overrides this has changed its formula.
        """
        raise NotImplementedError(f"{type(self).__name__} must name its effective weights in `weights`")

    def gates(self, inputs: Tensor) -> dict[str, Tensor]:
        """Gates (..., O) in [0, 1] by name, for the unit's inputs (..., I); empty by default."""
        return {}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        """Regularisers by name, each a scalar, such as {"small": self.W.square().mean()}; none by default.

        They are a pure function of the parameters and the unit's inputs.
        """
        return {}

    def project_(self) -> None:
        """Clamp the parameters after an optimiser step, elementwise and in place; nothing by default."""

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}"


def _size(what: str, given: Any) -> int:
    """A number of inputs or outputs, as Python's own integer."""
    try:
        size = 0 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        size = 0
    if not 1 <= size <= MOST_FEATURES:
        raise CallError(
            f"the number of {what} of a unit must be a whole number from 1 to {MOST_FEATURES:,}, got {given!r:.60}; "
            "give it as an int."
        )
    return size


def _then_drawn(init: Callable[..., None]) -> Callable[..., None]:
    """A constructor that draws the initial weights at its end, unless a subclass's constructor has called it.

    It refuses an option that must be true or false, and is neither: a text such as "False" would be true.
    """
    known = inspect.signature(init).parameters
    flags = [name for name, option in known.items() if option.annotation in (bool, "bool")]

    @functools.wraps(init)
    def outermost(self: Unit, *sizes: Any, **options: Any) -> None:
        given = dict(zip(known, (self, *sizes), strict=False)) | options
        for name in flags:
            if not isinstance(given.get(name, True), bool):
                raise CallError(f"{name} must be true or false, got {given[name]!r}.")
        init(self, *sizes, **options)
        if type(self).__init__ is outermost:
            self.reset_parameters()

    return outermost


def uniform(low: float, high: float) -> Initialiser:
    """Initialiser for U[low, high]."""
    return lambda tensor, generator: tensor.uniform_(low, high, generator=generator)


def zeros(tensor: Tensor, generator: Generator | None) -> object:
    """Initialiser for 0."""
    return tensor.zero_()


def xavier_uniform(tensor: Tensor, generator: Generator | None) -> object:
    """Initialiser U[-r, r], r = sqrt(6 / (in + out)) (Glorot & Bengio 2010, eq. 16), gain 1."""
    return nn.init.xavier_uniform_(tensor, generator=generator)


def xavier_normal(tensor: Tensor, generator: Generator | None) -> object:
    """Initialiser N(0, 2 / (in + out)) (Glorot & Bengio 2010), gain 1."""
    return nn.init.xavier_normal_(tensor, generator=generator)


def kaiming_uniform(tensor: Tensor, generator: Generator | None) -> object:
    """Initialiser U[-r, r], r = sqrt(6 / in) (He et al. 2015, eq. 10), for a layer followed by a ReLU."""
    return nn.init.kaiming_uniform_(tensor, nonlinearity="relu", generator=generator)
