"""Check that what the manifest states of each part is what training writes: its entries, its files, its data."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from nalu_bench.plan.cell import Wanted
from nalu_bench.store.integrity import other_cell
from nalu_bench.store.provenance import now
from nalu_bench.store.schema import ALWAYS, ARRAYS, LATER, PREDICTIONS, PROVENANCE, SINCE
from nalu_bench.tasks.task import Task
from nalu_bench.verify.networks import predicts

NO_TRAINING = "which no training writes"

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


def _is_time(text: str) -> bool:
    """Whether a text is a time that was, as training writes it; clocks may differ by a day."""
    try:
        latest = datetime.now(UTC) + timedelta(days=1)
        return bool(TIME.fullmatch(text) and datetime.fromisoformat(text).replace(tzinfo=UTC) <= latest)
    except ValueError:
        return False


FORMS: dict[str, Callable[[str], object]] = {
    "device": re.compile("cpu|cuda").fullmatch, "mode": re.compile("eager|compiled").fullmatch,
    "commit": re.compile(r"unknown|[0-9a-f]{12}\+?").fullmatch, "finished": _is_time,
}  # fmt: skip
"""Entry of a part -> whether a text has the form that training writes."""

SHA256 = re.compile("[0-9a-f]{64}")


def stated_faults(manifest: Mapping[str, Any], wanted: Sequence[Wanted]) -> Iterator[str]:
    """A line for everything that a part states and no training writes, or lacks and training states."""
    tasks = {want.cell.digest: want.cell.task for want in wanted}
    for name, part in manifest["parts"].items():
        digest = name.partition("/")[0]
        task = tasks.get(digest)
        told = [*_entries(part)]
        if cell := other_cell(part, digest):
            told.append(f"states the cell {cell} in manifest.json, and is of {digest}")
        if task is not None:  # a part of no cell is a fault of its own
            told += [*_files(task, part.get("files")), *_data(task, part.get("data"))]
        for fault in told:
            yield f"part {name} {fault}"


def _entries(part: Mapping[str, Any]) -> Iterator[str]:
    must = {*PROVENANCE, *(key for key, day in SINCE.items() if part.get("finished", "") >= day)}
    if absent := must - part.keys():
        yield f"must state {', '.join(sorted(absent))} in manifest.json"
    if foreign := part.keys() - PROVENANCE.keys() - LATER.keys():
        yield f"states {', '.join(sorted(foreign))} in manifest.json, {NO_TRAINING}"
    for key, form in FORMS.items():
        if key in part and not form(str(part[key])):
            ahead = key == "finished" and TIME.fullmatch(str(part[key])) and str(part[key]) > now()
            why = "which is yet to come: a clock is wrong, here or where it was trained" if ahead else NO_TRAINING
            yield f"states {key} {part[key]!r:.60} in manifest.json, {why}"


def _files(task: Task, files: Mapping[str, str] | None) -> Iterator[str]:
    """The oldest parts state no files."""
    if files is None:
        return
    must = {*ALWAYS} | ({PREDICTIONS} if predicts(task) else set())
    if absent := must - files.keys():
        yield f"must state the file {', '.join(sorted(absent))} in manifest.json"
    if foreign := files.keys() - must - ({PREDICTIONS, ARRAYS} if task.records() else set()):
        yield f"states the file {', '.join(sorted(foreign))} in manifest.json, which no training writes"
    for name, digest in files.items():
        if not SHA256.fullmatch(digest):
            yield f"must state a SHA-256 of {name} in manifest.json, got {digest!r:.60}"


def _data(task: Task, notes: Mapping[str, str] | None) -> Iterator[str]:
    """Some parts have no notes on their data: these were added later, and a note may be on what was not there."""
    if notes is None:
        return
    known = task.known_notes()
    if not notes or {*notes} != {*known}:
        named = ", ".join(known) or "nothing"
        yield f"must state {named} as its data in manifest.json, got {', '.join(notes) or 'nothing'}"
    for name in sorted(notes.keys() & known.keys()):
        if known[name] and notes[name] not in known[name]:
            told = " or ".join(sorted(known[name]))
            yield f"must state {told} of the data {name} in manifest.json, got {notes[name]!r:.60}"
