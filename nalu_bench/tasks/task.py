"""What every task offers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor


@dataclass(frozen=True)
class Probes:
    """Examples of which every prediction is kept.

    Attributes:
        labels: what a reader calls them.
        inputs: (B, ...) as `sample` gives them.
        targets: (B, output_size).
    """

    labels: list[str]
    inputs: np.ndarray
    targets: np.ndarray


@dataclass
class Task:
    """A distribution of inputs with their targets. The fields of a subclass are its keys in YAML.

    `sample` is a pure function of random numbers, so the trainer alone decides where randomness comes from.
    Importing a task must not import torch: configurations are checked before torch is loaded.

    Attributes:
        kind: the registered name of the class.
        name: the name of the configuration (the YAML file's).
        inputs: what one example is, for models to accept or refuse: "vector" of shape (input_size,), "sequence" of
            shape (length, input_size), or "text": (length,) tokens below input_size, then -1 to the end.
        evaluated: the splits on which errors are recorded at every evaluation; the first selects the step.
        tested: the splits on which the selected network alone is judged, once: what costs too much to follow.
        tolerances: relative errors up to which a prediction counts as right, see `training.ensemble.Errors`.
    """

    inputs: ClassVar[str] = "vector"
    evaluated: ClassVar[tuple[str, ...]] = ("validation", "extrapolation")
    tested: ClassVar[tuple[str, ...]] = ()
    tolerances: ClassVar[tuple[float, ...]] = ()
    output_size: ClassVar[int] = 1

    kind: str
    name: str

    @property
    def input_size(self) -> int:
        """Number of inputs of one example, or of one step of a sequence; of different tokens in a text."""
        raise NotImplementedError

    @property
    def judge(self) -> str:
        """The split that judges a run."""
        return (*self.evaluated, *self.tested)[-1]

    def numbers(self, split: str) -> int:
        """Random numbers behind one example of a split."""
        return self.input_size

    def setting(self) -> dict[str, Any]:
        """The values that tell two cells of one table apart, such as {"operation": "mul"}."""
        return {}

    def validate(self) -> None:
        """Raise UsageError if the values cannot go together."""

    def program(self) -> tuple[Any, ...]:
        """What `sample` reads from the task itself: tasks with equal `program()` share one compiled program.

        All fields by default, which is always right. A task whose `sample` takes its values from the parameters
        alone names less here, and compiles once for all of them.
        """
        return tuple(str(getattr(self, field.name)) for field in fields(self))

    def intervals(self, split: str) -> np.ndarray:
        """Two intervals (2, 2) of equal probability over which the numbers of a split are spread.

        One interval is given by its two halves; [0, 1) by default.
        """
        import numpy as np

        return np.array([[0.0, 0.5], [0.5, 1.0]], np.float32)

    def seed_parameters(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """What differs between seeds (the offset of the subsets, say), drawn once for each."""
        return {}

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """What differs between splits and between tasks of equal `program()`, such as the operation."""
        return {}

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Examples from random numbers.

        Args:
            numbers: (`numbers` of the split, B), uniform on its `intervals`.
            seed_parameters: `seed_parameters` of one seed, as tensors.
            split_parameters: `split_parameters` of the split, as tensors.

        Returns:
            inputs (B, ...) of the kind `inputs`, and targets (B, output_size).
        """
        raise NotImplementedError

    def fixed_numbers(self, split: str) -> np.ndarray | None:
        """The numbers (`numbers`, B) behind all examples of an evaluated split, where it is not drawn at random."""
        return None

    def probes(self) -> Probes | None:
        """Inputs, equal for all seeds, for which the predictions of the selected network are kept; None for none."""
        return None

    def threshold(self, criterion: str, samples: int = 1_000_000) -> float | None:
        """The extrapolation error under which a run counts as solved, or None where the task has no criterion."""
        return None
