"""A table of one's own: the rows of a CSV file."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nalu_bench.datasets import csv_table
from nalu_bench.datasets.ranges import SCALES, Scale, is_end, limits, partition
from nalu_bench.errors import UsageError, unknown
from nalu_bench.registry import register
from nalu_bench.tasks.ranges import LARGEST_TARGET, LEAST
from nalu_bench.tasks.task import KEEP, Rows, Task

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

CHECKED = 100_000
"""The most rows in which they are counted at a time: numbers of a dense column of more may meet without harm."""

SPLITS = ("train", "validation", "test", "extrapolation")


@register("table", version=2)
@dataclass
class Table(Task):
    """t = the cells of a row in the columns `targets`, x = its cells in the `features`.

    The value of one column decides on the split of a row. Of the rows in the training range, low <= value <= high, a
    random share is held out for `validation`, another for `test`, and the others are for training. The rows outside
    are the extrapolation split.

    Networks see (value - shift) / factor, fitted on the training rows alone. Errors are in the units of the table. The
    step is selected by an error without units, because targets may have several:

        nmse = mean over the targets j of  mean (y_j - t_j)² / s_j²,   s_j the deviation of t_j in the training rows

    It is about 1 for the mean of the training rows. With several targets, each has its own error, `mae_<target>`.

    Source: none; the data are the user's. They are known by the SHA-256 of the file, wherever it lies. Where `sha256`
    states it, only training needs the file.

    Attributes:
        data: the path of the CSV file, from the current folder. Its first line names the columns.
        sha256: the checksum that the file must have; null for that of the file.
        targets: names of the targets.
        features: names of the inputs; null for all columns but the targets and those of `ignore`.
        ignore: names of columns that are no inputs.
        split_column: the column that has the training range; null for the first feature.
        train_range: [low, high]: values, quantiles such as 80%, or null for no limit. A quantile is moved inwards to
            the next value of the column.
        validation_share, test_share: of the rows in the range; at least one row each.
        split_seed: the seed of this draw. It is the same for all seeds that are trained.
        scale: none; max_abs, every column by its largest absolute value, which keeps 0 and the signs; standard, to
            mean 0 and deviation 1. The targets are scaled, too.
    """

    tested: ClassVar[tuple[str, ...]] = ("test",)
    selecting: ClassVar[str] = "nmse"
    judging: ClassVar[str] = "nmse"

    data: str = field(metadata={"identity": False})
    sha256: str | None = field(metadata={"identity": False})
    targets: list[str]
    features: list[str] | None
    ignore: list[str]
    split_column: str | None
    train_range: list[Any]
    validation_share: float
    test_share: float
    split_seed: int
    scale: str

    def validate(self) -> None:
        for key in ("targets", "features"):
            names = getattr(self, key)
            if names is not None and not (names and len({*names}) == len(names)):
                raise UsageError(f"task.{key} must name at least one column of the table, and none twice, got {names}.")
        if ignored := {*self.ignore} & {*self.targets}:
            raise UsageError(f"task.ignore must name no target, got {', '.join(sorted(ignored))} in it.")
        if {*self.targets} & {*(self.features or ())}:
            raise UsageError(f"no target must be an input, got task.targets={self.targets} and {self.features}.")
        if both := sorted({*(self.features or ())} & {*self.ignore}):
            raise UsageError(f"task.ignore must name no column of task.features, got {', '.join(both)} in both.")
        if len(self.train_range) != 2 or not all(map(is_end, self.train_range)):
            raise UsageError(
                "task.train_range must be [low, high], each a number, a quantile such as 80%, or null for no limit, "
                f"got {self.train_range}."
            )
        shares = self.validation_share, self.test_share
        if not (min(shares) > 0 and sum(shares) < 1):
            raise UsageError(
                "task.validation_share and task.test_share must be above 0 and leave rows for training, got "
                f"{shares[0]} and {shares[1]}."
            )
        if self.sha256 is not None and not re.fullmatch(r"[0-9a-f]{64}", self.sha256):
            raise UsageError(f"task.sha256 must be 64 digits of base 16, as of sha256sum, got {self.sha256!r:.100}.")
        if self.split_seed < 0:
            raise UsageError(f"task.split_seed must be at least 0, got {self.split_seed}.")
        if self.scale not in SCALES:
            raise unknown("task.scale", self.scale, SCALES)

    @property
    def judge(self) -> str:
        return "extrapolation"

    @property
    def input_size(self) -> int:
        return len(self._features())

    @property
    def output_size(self) -> int:
        return len(self.targets)

    def setting(self) -> dict[str, Any]:
        return {"target": "+".join(self.targets)}

    def fingerprint(self) -> dict[str, str]:
        """The checksum: as stated, or else of the file. If there are both, they must be equal."""
        return {"table": self._checksum}

    @functools.cached_property
    def _checksum(self) -> str:
        """That of the file when it was first asked for; other processes get it with the task."""
        if self.sha256 is not None and not Path(self.data).exists():
            return self.sha256
        found = csv_table.checksum(self.data)
        if self.sha256 not in (None, found):
            raise UsageError(
                f"{self.data} must have the SHA-256 that task.sha256 states, {self.sha256}, and has {found}: use the "
                "file that is meant, or state its checksum."
            )
        return found

    def data_notes(self) -> dict[str, str]:
        """The number of rows of every split."""
        return {"rows": ", ".join(f"{len(rows):,} {split}" for split, rows in self._rows().items())}

    def known_notes(self) -> Mapping[str, Collection[str]]:
        """The name alone: the table itself may be elsewhere."""
        return {"rows": ()}

    def example_size(self, split: str) -> int:
        return 1

    def rows(self, split: str) -> Rows:
        if split == "train":  # once for all splits
            self._check_squares()
            self._check_precision()
        return Rows(len(self._rows()[split]), remainder=KEEP)

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The inputs (n, I) and the targets (n, O) of the split, scaled."""
        part = self._table().iloc[self._rows()[split]]
        names = {"x": self._features(), "t": self.targets}
        return {key: self._scaled(part, columns).astype(np.float32) for key, columns in names.items()}

    def _scaled(self, rows: pd.DataFrame, names: list[str]) -> np.ndarray:
        """Columns of some rows as networks see them, in double precision."""
        shift, factor = self._scale(names, self.scale)
        scaled: np.ndarray = (rows[names].to_numpy() - shift) / factor
        return scaled

    def _check_squares(self) -> None:
        """Raise UsageError for a target whose errors have no squares in single precision, whatever the scale."""
        sizes = self._scale(self.targets, "standard")[1]
        ends = np.abs(self._table()[self.targets].to_numpy()).max(axis=0)
        for name, size, end in zip(self.targets, sizes, ends, strict=True):
            if not (size >= LEAST and end <= LARGEST_TARGET):
                raise UsageError(
                    f"{name} of {self.data} must vary by {LEAST:g} or more and have values up to {LARGEST_TARGET:g}, "
                    f"because its errors are squared in single precision, and it varies by {size:.0e} and has values "
                    f"up to {end:.0e}: write it in another unit. No task.scale helps: errors are in the table's units."
                )

    def _check_precision(self) -> None:
        """Raise UsageError for a column whose values, scaled, are too large or no longer apart in single precision."""
        names = [*self._features(), *self.targets]
        table, first = self._table(), 1
        for rows in np.array_split(np.arange(len(table)), math.ceil(len(table) / CHECKED)):
            for name, column in zip(names, self._scaled(table.iloc[rows], names).T, strict=True):
                if (largest := np.abs(column).max()) > LARGEST_TARGET:
                    raise UsageError(
                        f"{name} of {self.data} has numbers up to {largest:.0e} with task.scale={self.scale}, and "
                        f"errors of more than {LARGEST_TARGET:g} may have no mean square in single precision: write it "
                        "in another unit, or leave out those rows."
                    )
                apart = table[name].iloc[rows].nunique()
                single = len(np.unique(column.astype(np.float32)))
                if single < csv_table.LEAST_APART * apart:
                    remedy = ", or choose task.scale=standard, which does so"
                    remedy = " (or leave out rows far from all others)" if self.scale == "standard" else remedy
                    raise UsageError(
                        f"{name} of {self.data} has {apart:,} different values in its rows {first:,} to "
                        f"{first + len(rows) - 1:,}, and {single:,} in single precision (24 bits): subtract an offset "
                        f"and divide by a unit{remedy}."
                    )
            first += len(rows)

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        return split_parameters["x"][numbers[0]], split_parameters["t"][numbers[0]]

    def measure(self, network: Any, x: Tensor, t: Tensor) -> dict[str, Tensor]:
        """mse and mae over all targets, nmse, and `mae_<target>` if there are several."""
        import torch

        factors, deviations = (self._scale(self.targets, scale)[1].tolist() for scale in (self.scale, "standard"))
        # Differences first: an offset of the targets, added in single precision, would take digits from the errors.
        errors = [one * f for one, f in zip((network(x) - t).unbind(-1), factors, strict=True)]
        together = torch.stack(errors, dim=-1)
        figures = {measure.name: measure(together, torch.zeros_like(together)) for measure in self.measures}
        relative = [(one / s).square().mean() for one, s in zip(errors, deviations, strict=True)]
        figures["nmse"] = torch.stack(relative).mean()
        if len(errors) > 1:
            figures |= {f"mae_{name}": one.abs().mean() for name, one in zip(self.targets, errors, strict=True)}
        return figures

    def figures(self, split: str) -> Collection[str]:
        several = self.targets if len(self.targets) > 1 else []
        return [*super().figures(split), "nmse", *(f"mae_{name}" for name in several)]

    def _scale(self, names: list[str], scale: str) -> Scale:
        """The scale of some columns, fitted on the training rows; raises UsageError for one without any size."""
        part = self._table().iloc[self._rows()["train"]]
        shift, factor = SCALES[scale](part[names].to_numpy())
        for name, size in zip(names, factor, strict=True):
            if not size > 0:
                raise UsageError(
                    f"{name} of {self.data} must have more than one value in the training rows, and it is "
                    f"{part[name].iloc[0]:g} in all {len(part)}; leave it out, or choose other rows (task.train_range)."
                )
        return shift, factor

    def _rows(self) -> dict[str, np.ndarray]:
        """Split -> its row numbers."""
        column = self._column()
        values = self._table()[column].to_numpy()
        low, high = limits(values, self.train_range)
        if low > high:
            raise UsageError(f"task.train_range must have low <= high, got {self.train_range}: {low:g} and {high:g}.")
        inside = (low <= values) & (values <= high)
        parts = partition(inside, (self.validation_share, self.test_share), self.split_seed)
        rows = dict(zip(SPLITS, parts, strict=True))
        if not all(map(len, parts)):
            counts = ", ".join(f"{len(part)} {split}" for split, part in rows.items())
            raise UsageError(
                f"every split must have a row of {self.data}, got {counts}: {inside.sum()} of {len(values)} rows have "
                f"{column} in the training range, {low:g} to {high:g}, and its values are {values.min():g} to "
                f"{values.max():g}. Set task.split_column or task.train_range, or add rows."
            )
        return rows

    def _table(self) -> pd.DataFrame:
        """All columns that are used."""
        return csv_table.numbers(self.data, [*self._features(), *self.targets, self._column()], self._checksum)

    def _column(self) -> str:
        return self._features()[0] if self.split_column is None else self.split_column

    def _features(self) -> list[str]:
        there = csv_table.columns(self.data, self._checksum)
        known = set(there)
        for name in (*self.targets, *self.ignore, *(self.features or ())):
            if name not in known:
                for other in there if _is_number(name) else ():
                    if _is_number(other) and float(other) == float(name):
                        raise UsageError(
                            f"{self.data} has no column {name}, but {other}: a name that is a number needs quotes, "
                            f"as in 'task.targets=[\"{other}\"]'."
                        )
                raise unknown(f"column of {self.data}", name, there)
        if self.features is not None:
            return self.features
        features = [name for name in there if name not in {*self.targets, *self.ignore}]
        if not features:
            raise UsageError(f"{self.data} must have a column beside task.targets and task.ignore, and has none.")
        return features


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?[\d.]+", text) is not None and text.count(".") <= 1 and any(map(str.isdigit, text))
