"""The seeds behind printed numbers, where a source publishes every one of them.

A `<artifact>.seeds.csv` has one row for each seed of the source, with the words of its cell:

    task, setting, operation, model, seed, steps, solved_at, sparsity_error

`solved_at` is empty for a seed that is not solved after `steps`; `sparsity_error` is that of the selected step.
"""

from pathlib import Path

import pandas as pd

from nalu_bench.analysis.printed.published import line
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.files import require_file

WORDS = ["task", "setting", "operation", "model"]
COLUMNS = [*WORDS, "seed", "steps", "solved_at", "sparsity_error"]


def read_seeds(path: Path) -> dict[Place, pd.DataFrame]:
    """Cell -> its seeds; empty if there is no such file.

    Raises:
        UsageError for other columns, for what is no number, and for a seed that stands there twice.
    """
    if not path.exists():
        return {}
    try:
        frame = pd.read_csv(
            require_file(path), dtype=dict.fromkeys(WORDS, str), keep_default_na=False, na_values={"solved_at": [""]}
        )
    except (OSError, ValueError) as error:  # pandas' own errors are of the latter
        told = f"{path.name} must be a CSV in UTF-8 with the columns {', '.join(COLUMNS)}"
        raise UsageError(f"{told}: {error}.") from None
    if list(frame) != COLUMNS:
        raise UsageError(f"{path.name} must have the columns {', '.join(COLUMNS)}, got {', '.join(map(str, frame))}.")
    for column in COLUMNS[len(WORDS) :]:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            raise UsageError(f"{path.name}: {column} must be a number in every row.")
    repeated = frame.index[frame.duplicated([*WORDS, "seed"])]
    if len(repeated):
        raise UsageError(f"{line(path, repeated[0])}: {path.name} has this seed twice.")
    return {Place.parse(rows.iloc[0].to_dict(), WORDS): rows for _, rows in frame.groupby(WORDS, sort=False)}
