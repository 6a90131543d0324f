"""What a manifest of results says of the cells of a plan, and where a manifest departs from it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from nalu_bench.analysis.measure.manifest import NEEDED
from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.plan.cell import Wanted

NOTHING = "nothing"
"""In the place of a value that is not there; null is a value."""


def judges(wanted: Sequence[Wanted], runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of roles other than "cell", by which those of this role may be judged."""
    beside = [want.cell.digest for want in wanted if want.role != "cell"]
    return runs[runs["cell"].isin(beside)]


def known(want: Wanted, others: pd.DataFrame) -> pd.DataFrame:
    """The runs of other roles by which a cell may be judged. A cell of such a role itself gets none."""
    return others if want.role == "cell" else others.iloc[:0]


def entries(kind: Kind, wanted: Sequence[Wanted], others: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Digest -> what a manifest holds of a cell; `others` see `judges`."""
    return {
        want.cell.digest: {
            "label": want.label(), "role": want.role, "seeds": len(want.seeds),
            "criteria": kind.criteria(want.cell, known(want, others)), "identity": want.cell.identity(),
            **({"stands_in": want.cell.task.stands_in()} if want.cell.task.stands_in() else {}),
        }
        for want in wanted
    }  # fmt: skip


def seconds(parts: Mapping[str, Mapping[str, Any]]) -> float:
    """Seconds of one core behind all parts."""
    return round(sum((float(part["seconds"]) for part in parts.values()), 0), 1)


def departures(manifest: Mapping[str, Any], stated: Mapping[str, Any]) -> Iterator[str]:
    """A line for every entry of a manifest that is not as stated, those of the cells one by one, or of unknown use."""
    for key in sorted(manifest.keys() - stated.keys() - NEEDED.keys()):
        yield f"{key} is an entry of manifest.json that no report writes"
    there: dict[str, Any] = json.loads(json.dumps(stated))  # tuples become lists, as in a file
    cells, ours = there.pop("cells"), manifest["cells"]
    for key, value in there.items():
        yield from _differences(key, manifest.get(key, NOTHING), value)
    for digest in sorted({*cells, *ours}):
        if digest not in ours:
            yield f"cell {digest} ({cells[digest]['label']}) is one of the plan's, and not in manifest.json"
        elif digest not in cells:
            yield f"cell {digest} ({ours[digest].get('label')}) is in manifest.json, and none of the plan's"
        else:
            yield from _differences(f"cell {digest}:", ours[digest], cells[digest])


def _differences(name: str, ours: Any, there: Any) -> Iterator[str]:
    """A line for every value that differs, with the keys that lead to it."""
    if isinstance(ours, dict) and isinstance(there, dict):
        for key in sorted({*ours, *there}):
            yield from _differences(f"{name} {key}", ours.get(key, NOTHING), there.get(key, NOTHING))
    elif (stated := _written(ours)) != (must := _written(there)):
        yield f"{name} is {stated} in manifest.json, and must be {must}"


def _written(value: Any) -> str:
    """A value as JSON writes it: 2, 2.0 and true are three, though Python takes them for one; a text as it is."""
    return value if value is NOTHING else json.dumps(value, sort_keys=True, ensure_ascii=False)
