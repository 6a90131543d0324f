"""The contract of a task: its examples, the objective of training, and the measures that judge a network."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from nalu_bench.tasks.distributions import Distribution
from nalu_bench.tasks.measure import Measure

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

Constants = dict[str, "Tensor"]
Loss = Callable[["Tensor", "Tensor"], "Tensor"]
"""(prediction, target) -> scalar."""

DROP, KEEP = "drop", "keep"


@dataclass(frozen=True)
class Rows:
    """Rules for making examples from the rows of fixed data. See `training.random.epochs`.

    Attributes:
        count: number of rows in the split.
        fixed: whether the rows of an example stay together in all epochs, as chunks of one permutation. Otherwise every
            epoch groups them anew.
        remainder: `drop` or `keep` the last examples of an epoch if they do not fill a batch.
    """

    count: int
    fixed: bool = False
    remainder: str = DROP


@dataclass(frozen=True)
class Probes:
    """Examples whose predictions are kept.

    Attributes:
        labels: names of the examples for a reader.
        inputs: (B, ...) as `sample` gives them.
        targets: (B, output_size).
    """

    labels: list[str]
    inputs: np.ndarray
    targets: np.ndarray


@dataclass
class Task:
    """A distribution of inputs with their targets. The fields of a subclass are its keys in YAML.

    `sample` is a pure function of random numbers, or of the numbers of rows of fixed data, so the trainer alone decides
    where randomness comes from.
    Importing a task must not import torch: configurations are checked before torch is loaded.

    Attributes:
        kind: the registered name of the class.
        name: the name of the configuration (the YAML file's).
        inputs: the shape of one example, for models to accept or refuse: "vector" (input_size,), "sequence"
            (length, input_size), "text" (length,) of tokens below input_size, then -1 to the end, or a word that
            the task defines.
        evaluated: the splits that are followed: measured at every evaluation. The first selects the step.
        tested: the splits that `test` measures. One that is not followed is measured once, on the selected network.
        measures: the measures taken on every split. A task that overrides `measure` or `test` has figures of its own,
            see `figures`.
        shares: the task's own figures that are shares, from 0 to 1.
        selecting, judging: the names of the measures that select the step and that judge the run.
        larger_is_better: whether the selected step has the largest value of the selecting measure, not the smallest.
        reads_loss: whether the objective is made of the recipe's loss.
    """

    inputs: ClassVar[str] = "vector"
    evaluated: ClassVar[tuple[str, ...]] = ("validation", "extrapolation")
    tested: ClassVar[tuple[str, ...]] = ()
    measures: ClassVar[tuple[Measure, ...]] = (Measure("mse"), Measure("mae"))
    shares: ClassVar[tuple[str, ...]] = ()
    selecting: ClassVar[str] = "mse"
    judging: ClassVar[str] = "mse"
    larger_is_better: ClassVar[bool] = False
    reads_loss: ClassVar[bool] = True

    kind: str
    name: str

    @property
    def input_size(self) -> int:
        """Number of inputs of one example or of one step of a sequence; for texts, the number of different tokens."""
        raise NotImplementedError

    @property
    def output_size(self) -> int:
        """Number of outputs of one example."""
        return 1

    @property
    def judge(self) -> str:
        """The split that judges a run."""
        return (*self.evaluated, *self.tested)[-1]

    @property
    def selects(self) -> str:
        """The column by which the step is selected, such as `validation_mse`."""
        return f"{self.evaluated[0]}_{self.selecting}"

    @property
    def judges(self) -> str:
        """The column by which a run is judged, such as `extrapolation_mse`."""
        return f"{self.judge}_{self.judging}"

    def example_size(self, split: str) -> int:
        """Number of random numbers, or of rows of fixed data, in one example of a split."""
        return self.input_size

    def chunk(self, split: str) -> int | None:
        """Number of examples that are evaluated at a time; None for all of the split at once."""
        return None

    def examples(self, split: str, asked: int) -> int:
        """Number of examples of an evaluated split that are drawn at random; by default what the recipe asks for."""
        return asked

    def setting(self) -> dict[str, Any]:
        """The values that tell two cells of one table apart, such as {"operation": "mul"}."""
        return {}

    def validate(self) -> None:
        """Raise UsageError if the values contradict each other. This must not need files that only training needs."""

    def fingerprint(self) -> dict[str, str]:
        """The identity of data that the fields do not determine. It is part of the address of a run; empty by default.

        A well-known dataset is identified by name and version, an unknown file by its checksum, and a library that
        makes the data by its version. Paths are never part of it: their fields carry `metadata={"identity": False}`.
        Only training may need the file itself.
        """
        return {}

    def data_notes(self) -> dict[str, str]:
        """Facts on the data that were read, for the manifest and not for the identity; none by default.

        Such as which of several checksums that count as one dataset a file had, or the version of a library.
        """
        return {}

    def known_notes(self) -> Mapping[str, Collection[str]]:
        """The names of the `data_notes`, each with the values that it can have; none if they are not known."""
        return dict.fromkeys(self.data_notes(), ())

    def stands_in(self) -> str:
        """Which data stand in for those of the source, in words; empty by default.

        They are for a first look: such runs are compared with no printed number, and never among committed results.
        """
        return ""

    def program(self) -> tuple[Any, ...]:
        """The values of the task that its computations read directly.

        Tasks of one class with equal values share a compiled program. The default is all fields and the fingerprint,
        which is always right. A task whose `sample`, `objective` and `measure` read only the parameters can return
        fewer values here, so that many tasks share one program.
        """
        return (*(str(getattr(self, field.name)) for field in fields(self)), *self.fingerprint().values())

    def program_key(self) -> list[str]:
        """The class and its `program()`: a subclass may override methods that its parent's `program()` leaves out."""
        kind = type(self)
        return [f"{kind.__module__}.{kind.__qualname__}", *map(str, self.program())]

    def rows(self, split: str) -> Rows | None:
        """The rows of fixed data in a split; None if every example is drawn afresh.

        With rows, `sample` gets their numbers (int64) instead of random numbers. The data themselves are among the
        `split_parameters`, in their own type.
        """
        return None

    @property
    def evaluates_rows(self) -> bool:
        """Whether the splits that are followed are rows of fixed data, evaluated whole; no file is read for it."""
        return type(self).rows is not Task.rows

    def intervals(self, split: str) -> np.ndarray:
        """Two intervals (2, 2) of equal probability from which the numbers of a split are drawn.

        A single interval is given as its two halves. The default is [0, 1).
        """
        import numpy as np

        return np.array([[0.0, 0.5], [0.5, 1.0]], np.float32)

    def distribution(self, split: str) -> Distribution | None:
        """The distribution of the numbers of a split, if it is not uniform on the `intervals`."""
        return None

    @property
    def repeated(self) -> int | None:
        """Number of training examples that are drawn once, and gone through in the same order in every epoch.

        They need no memory: a batch is drawn again from its place. None: every batch is new.
        """
        return None

    def seed_parameters(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The constants that differ between seeds, such as the offset of the subsets, drawn once for each seed."""
        return {}

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The constants that differ between splits and between tasks of equal `program()`, such as the operation."""
        return {}

    def sample(self, numbers: Tensor, seed_parameters: Constants, split_parameters: Constants) -> tuple[Tensor, Tensor]:
        """Examples from random numbers.

        Args:
            numbers: (`example_size` of the split, B), uniform on its `intervals`; or numbers of rows, see `rows`.
            seed_parameters: `seed_parameters` of one seed, as tensors.
            split_parameters: `split_parameters` of the split, as tensors.

        Returns:
            inputs (B, ...) of the kind `inputs`, and targets (B, ...): (B, output_size) by default.
        """
        raise NotImplementedError

    def objective(
        self, network: Any, x: Tensor, t: Tensor, loss: Loss, noise: Tensor | None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of one network on one batch, and its penalties by name.

        The default is the loss of prediction and target. A task may override it, for example to let the network act
        (`x` then holds its random numbers) or to sum over time.

        Args:
            network: a `models.network.Network`, with the methods of its class.
            x, t: what `sample` gives.
            loss: the loss function of the recipe.
            noise: the random numbers that the network needs, (noise, B) uniform on [0, 1); None if it needs none.
        """
        y, penalties = network.predict(x) if noise is None else network.predict(x, noise)
        return loss(y, t), penalties

    def measure(self, network: Any, x: Tensor, t: Tensor) -> dict[str, Tensor]:
        """Named figures of one network, each a mean over the examples.

        The default is the `measures`. A task may override it, for example to measure per length or per instruction.
        """
        y = network(x)
        return {measure.name: measure(y, t) for measure in self.measures}

    def test(self, network: Any, x: Tensor, t: Tensor) -> dict[str, Tensor]:
        """Figures of a tested split: by default those of `measure`. It is never compiled.

        A task may measure here what `measure` does not, such as series of other lengths.
        """
        return self.measure(network, x, t)

    def figures(self, split: str) -> Collection[str]:
        """The names of all figures of a split: what `measure` gives, or `test` of a tested split.

        The default is the `measures`. A task that overrides `measure` or `test` must override it, too: it is trained
        with these names alone, and `verify` knows by them which columns its runs and curves must have.
        """
        return [measure.name for measure in self.measures]

    def gates(self, network: Any, x: Tensor) -> dict[str, Tensor]:
        """The gates (B, O) of one network by name. Their means are kept.

        The default is the gates on the inputs x. A task whose network sees other inputs, such as the places where it
        has been, must override it.
        """
        gates: dict[str, Tensor] = network.gates(x)
        return gates

    def record(self, network: Any, x: Tensor) -> dict[str, Tensor]:
        """Named arrays of the selected network at the probes' inputs: its "predictions" (B, O), and any others."""
        return {"predictions": network(x)}

    @classmethod
    def records(cls) -> bool:
        """Whether `record` is the task's own, so that only a network tells which arrays there are."""
        return cls.record is not Task.record

    def fixed_numbers(self, split: str) -> np.ndarray | None:
        """The numbers (`example_size`, B) of all examples of an evaluated split; None if they are drawn at random."""
        return None

    def probes(self) -> Probes | None:
        """Examples, the same for all seeds, on which the selected network's predictions are kept, if any."""
        return None

    @classmethod
    def solves(cls, figure: Any, threshold: float) -> Any:
        """Whether figures of the judging measure, a tensor or an array of them, count as solved."""
        return figure > threshold if cls.larger_is_better else figure < threshold

    def threshold(self, criterion: str, samples: int = 1_000_000) -> float | None:
        """The value of the judging measure that a solved run passes, see `solves`; None for a task without a criterion.

        Args:
            criterion: the name that a report asks for, `task` by default. A task may know several; it refuses others.
            samples: number of examples to simulate where there is no formula.
        """
        return None

    def without_threshold(self, criterion: str) -> str:
        """Why these values of a task that has a criterion have no threshold, as a clause; empty if they have one."""
        return ""
