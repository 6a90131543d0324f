"""A table of one's own as a task: a CSV file with a column for each input and one for the target."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.task import KEEP, Rows, Task

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor


@register("table", version=1)
@dataclass
class Table(Task):
    """t = the column `target` of a row, x = its columns `columns`.

    The value in the column `split_by` decides on the split of a row: validation or extrapolation if it lies in their
    interval, else training.

    The file is known by the SHA-256 of its content, wherever it lies. Where `sha256` states it, only training needs
    the file.

    Attributes:
        file: the path of the file, from the current folder.
        sha256: the checksum that the file must have; if it is null, that of the file is used.
        columns: names of the inputs.
        target: name of the target.
        split_by: name of the column that splits the rows; it may be an input.
        validation, extrapolation: intervals [low, high) of that column.
    """

    inputs: ClassVar[str] = "vector"

    file: str = field(metadata={"identity": False})
    sha256: str | None = field(metadata={"identity": False})
    columns: list[str]
    target: str
    split_by: str
    validation: list[float]
    extrapolation: list[float]

    def validate(self) -> None:
        if not self.columns:
            raise UsageError("task.columns must name at least one column of the table, got none.")
        for split in self.evaluated:
            if len(self._interval(split)) != 2 or not self._interval(split)[0] < self._interval(split)[1]:
                raise UsageError(
                    f"task.{split} must be an interval [low, high] of {self.split_by} with low < high, "
                    f"got {list(self._interval(split))}."
                )

    @property
    def input_size(self) -> int:
        return len(self.columns)

    def example_size(self, split: str) -> int:
        return 1

    def fingerprint(self) -> dict[str, str]:
        """The checksum: as stated, or else of the file. If there are both, they must be equal."""
        found = hashlib.sha256(self._content()).hexdigest() if Path(self.file).is_file() else None
        if self.sha256 and found and self.sha256 != found:
            raise UsageError(
                f"{self.file} must have the SHA-256 that task.sha256 states, {self.sha256}, and has {found}: "
                "use the file that is meant, or state its checksum."
            )
        if not self.sha256 and not found:
            raise UsageError(
                f"{self.file} must be a file, and there is none from {Path.cwd()}: set task.file to its path, or "
                "task.sha256 to its checksum (which is enough for `status` and `report`)."
            )
        return {"table": str(self.sha256 or found)}

    def rows(self, split: str) -> Rows:
        return Rows(len(self._part(split)), remainder=KEEP)

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The inputs (n, I) and the targets (n, 1) of the split."""
        part = self._part(split)
        return {"x": part[self.columns].to_numpy(np.float32), "t": part[[self.target]].to_numpy(np.float32)}

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        return split_parameters["x"][numbers[0]], split_parameters["t"][numbers[0]]

    def _interval(self, split: str) -> list[float]:
        interval: list[float] = getattr(self, split)
        return interval

    def _part(self, split: str) -> pd.DataFrame:
        """The rows of a split."""
        rows = self._table()
        value, ends = rows[self.split_by], {one: self._interval(one) for one in self.evaluated}
        inside = {one: (low <= value) & (value < high) for one, (low, high) in ends.items()}
        part = rows[inside[split]] if split in inside else rows[~np.logical_or.reduce([*inside.values()])]
        if part.empty:
            raise UsageError(
                f"every split must hold a row of {self.file}, and {split} holds none of {len(rows)}: complete the "
                f"table, or give task.validation and task.extrapolation other intervals of {self.split_by}."
            )
        return part

    def _table(self) -> pd.DataFrame:
        """All rows, as numbers."""
        import io

        import pandas as pd

        try:
            table = pd.read_csv(io.BytesIO(self._content()), dtype=str, skipinitialspace=True)
        except ValueError as error:
            raise UsageError(
                f"{self.file} must be a CSV file in UTF-8 whose first line names its columns: {error}"
            ) from None
        used = dict.fromkeys([*self.columns, self.target, self.split_by])
        missing = [name for name in used if name not in table]
        if missing:
            raise UsageError(
                f"{self.file} must have the columns {', '.join(used)}, and has no {', '.join(missing)}; "
                f"it has {', '.join(map(str, table.columns))}."
            )
        return pd.DataFrame({name: self._column(table[name]) for name in used})

    def _column(self, cells: pd.Series) -> pd.Series:
        """A column of the file as numbers."""
        import pandas as pd

        numbers = pd.to_numeric(cells, errors="coerce").astype(np.float64)
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            given = cells.iloc[wrong[0]]
            raise UsageError(
                f"every cell of the column {cells.name} of {self.file} must be a finite number, and row {wrong[0] + 1} "
                f"{'is empty' if pd.isna(given) else f'holds {given!r}'}; complete the row or leave it out."
            )
        return numbers

    def _content(self) -> bytes:
        try:
            return Path(self.file).read_bytes()
        except OSError as error:
            raise UsageError(
                f"{self.file} must be a file that can be read ({error.strerror}); set task.file to its path."
            ) from None
