"""What a manifest of results says of the cells of a plan, and where a manifest departs from it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.plan.cell import Wanted


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
    return round(sum(part["seconds"] for part in parts.values()), 1)


def departures(manifest: Mapping[str, Any], stated: Mapping[str, Any]) -> Iterator[str]:
    """A line for every entry of a manifest that is not as stated: those of the cells one by one."""
    for key, value in stated.items():
        if key != "cells" and manifest.get(key) != value:
            yield f"{key} is {manifest.get(key)} in manifest.json, and must be {value}"
    cells = json.loads(json.dumps(stated["cells"]))  # tuples become lists, as in a file
    for digest in sorted({*cells, *manifest["cells"]}):
        ours, there = manifest["cells"].get(digest), cells.get(digest)
        if ours is None:
            yield f"cell {digest} is one of the experiment's ({there['label']}), and not in manifest.json"
        elif there is None:
            yield f"cell {digest} is in manifest.json ({ours.get('label')}), and none of the experiment's"
        else:
            yield from _entry(digest, ours, there)


def _entry(digest: str, ours: Mapping[str, Any], there: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted({*ours, *there}):
        if ours.get(key) != there.get(key):
            yield f"cell {digest}: {key} is {ours.get(key)} in manifest.json, and must be {there.get(key)}"
