"""The place of a number: what was measured, and on which cell."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from nalu_bench.plan.setting import Setting

RECOMPUTED = "_recomputed"
"""The end of a metric whose printed number is miscomputed and was computed again."""

FROM_RUNS = "recomputed from the authors' runs"
"""What a page says of such a number."""


@dataclass(frozen=True)
class Place:
    """The key of a number in `table.csv` and among the printed ones.

    Attributes:
        task, setting, operation, model: the words of a cell; empty for a number that is about several.
        split: the data on which it was measured. metric: the name of the number.
    """

    task: str = ""
    setting: Setting = field(default_factory=Setting)
    operation: str = ""
    split: str = ""
    model: str = ""
    metric: str = ""

    @classmethod
    def parse(cls, row: Mapping[Any, Any], columns: Iterable[str]) -> "Place":
        """The place that these columns of a row name."""
        texts = {name: str(row[name]) for name in columns}
        return cls(**texts | {"setting": Setting.parse(texts["setting"])})  # type: ignore[arg-type]

    def at(self, **words: Any) -> "Place":
        """The place with other words."""
        return replace(self, **words)

    def words(self) -> dict[str, str]:
        """Column of `table.csv` -> text."""
        return {word.name: str(getattr(self, word.name)) for word in fields(self)}

    def cell(self) -> "Place":
        """The place of the cell itself, without split and metric."""
        return replace(self, split="", metric="")

    @property
    def recomputed(self) -> bool:
        """Whether its printed number was computed again, from the seeds behind it."""
        return self.metric.endswith(RECOMPUTED)

    def told(self) -> str:
        """For a reader: all words that are not empty."""
        return " ".join(filter(None, self.cell().words().values()))


KEYS = list(Place().words())
"""The columns of a file that make a place, in their order."""
