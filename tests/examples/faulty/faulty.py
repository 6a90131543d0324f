"""Units and tasks with mistakes."""

import sys
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from nalu_bench.registry import register
from nalu_bench.tasks.identity import Identity
from nalu_bench.tasks.task import Constants, Task
from nalu_bench.units import NAU

NUMBER = 3


@register("raising", version=1)
class Raising(NAU):
    """Raises when it computes."""

    def columns(self, x: Tensor) -> Tensor:
        raise RuntimeError("no such number")


class UnspeakableError(Exception):
    """Has no text."""

    def __str__(self) -> str:
        raise ValueError("no text")


@register("unspeakable", version=1)
class Unspeakable(NAU):
    """Raises an error that cannot be told."""

    def columns(self, x: Tensor) -> Tensor:
        raise UnspeakableError


@register("setting", version=1)
class Setting(NAU):
    """Changes a setting of torch on which all other cells depend."""

    def columns(self, x: Tensor) -> Tensor:
        torch.set_default_dtype(torch.float64)
        return super().columns(x)


@register("misshapen", version=1)
class Misshapen(NAU):
    """Returns a row too many, which would broadcast in the loss."""

    def columns(self, x: Tensor) -> Tensor:
        return super().columns(x).repeat(2, 1)


@register("text_version", version="1.0")  # type: ignore[arg-type]
class TextVersion(NAU):
    """Has the version of a package."""


@register("zero_version", version=0)
class ZeroVersion(NAU):
    """Counts its versions from 0."""


@register("a_function", version=1)
def a_function(**values: Any) -> None:
    """Is no class."""


@register("no_schema", version=1)
@dataclass
class NoSchema(Task):
    """Has a field of a type that no YAML file can hold."""

    chosen: set[int] = field(default_factory=set)


@register("text_threshold", version=1)
@dataclass
class TextThreshold(Identity):
    """Has a criterion that is no number."""

    def threshold(self, criterion: str, samples: int = 1_000_000) -> Any:
        return "low"


@register("leaving", version=1)
@dataclass
class Leaving(Identity):
    """Ends the program when it draws examples."""

    def sample(self, numbers: Tensor, seed_parameters: Constants, split_parameters: Constants) -> tuple[Tensor, Tensor]:
        sys.exit("enough")
