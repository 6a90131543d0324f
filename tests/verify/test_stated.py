"""What a manifest states of its parts is what training writes: entries, files with their hashes, notes on the data."""

import copy
import functools
import json
from typing import Any

import pytest

from nalu_bench import paths
from nalu_bench.datasets import mnist
from nalu_bench.plan.cell import Wanted
from nalu_bench.store.schema import ALWAYS, ARRAYS, PREDICTIONS, WEIGHTS
from nalu_bench.verify.planned import plan_of
from nalu_bench.verify.stated import stated_faults

OLDEST, PREDICTED, SERIES = "iit_report/identity", "trask2018/table5", "trask2018/table2"


@functools.cache
def committed(name: str) -> tuple[dict[str, Any], list[Wanted]]:
    manifest = json.loads((paths.CHECKOUT / "results" / name / "manifest.json").read_text(encoding="utf-8"))
    return manifest, list(plan_of(manifest).cells)


def faults(name: str, **entries: Any) -> list[str]:
    """Of the last part of committed results with other entries; None takes one away."""
    manifest, wanted = copy.deepcopy(committed(name))
    part, stated = next((one, held) for one, held in reversed(manifest["parts"].items()))
    changed = {key: value for key, value in (stated | entries).items() if value is not None}
    return list(stated_faults({"parts": {part: changed}}, wanted))


def files(name: str, without: str = "", **further: str) -> dict[str, str]:
    held = list(committed(name)[0]["parts"].values())[-1]["files"]
    return {file: digest for file, digest in held.items() if file != without} | further


@pytest.mark.parametrize("name", [OLDEST, PREDICTED, SERIES])
def test_what_training_writes_is_no_fault(name: str) -> None:
    assert not list(stated_faults(*committed(name)))


@pytest.mark.parametrize("file", [*ALWAYS, PREDICTIONS])
def test_a_file_that_every_part_has_is_named_where_it_is_not_stated(file: str) -> None:
    (line,) = faults(PREDICTED, files=files(PREDICTED, without=file))
    assert f"must state the file {file} in manifest.json" in line


@pytest.mark.parametrize("entries", [{"files": None}, {"width": None}, {"files": None, "width": None}])
def test_only_the_oldest_parts_state_no_width_and_no_files(entries: dict[str, None]) -> None:
    (line,) = faults(PREDICTED, **entries)
    assert f"must state {', '.join(sorted(entries))} in manifest.json" in line


@pytest.mark.parametrize("file", ["award.txt", ARRAYS])
def test_a_file_that_no_part_has_is_named(file: str) -> None:
    (line,) = faults(PREDICTED, files=files(PREDICTED) | {file: "0" * 64})
    assert f"states the file {file} in manifest.json, which no training writes" in line
    assert file != ARRAYS or ARRAYS in files(SERIES), "whose task records arrays"


@pytest.mark.parametrize("digest", ["", "best in class", "0" * 63, "A" * 64])
def test_a_hash_that_is_none_is_named(digest: str) -> None:
    (line,) = faults(PREDICTED, files=files(PREDICTED) | {WEIGHTS: digest})
    assert f"must state a SHA-256 of {WEIGHTS} in manifest.json, got '{digest}'"[:100] in line


IMAGES, DATA = "train-images-idx3-ubyte.gz", {name: min(known) for name, known in mnist.CONTENTS.items()}


@pytest.mark.parametrize(
    ("name", "notes", "words"),
    [
        (SERIES, {"checked": "by hand"}, f"must state {', '.join(DATA)} as its data in manifest.json, got checked"),
        (SERIES, {}, "as its data in manifest.json, got nothing"),
        (SERIES, DATA | {IMAGES: "0" * 32}, f"of the data {IMAGES} in manifest.json, got '{'0' * 32}'"),
        (PREDICTED, {"checked": "by hand"}, "must state nothing as its data in manifest.json, got checked"),
    ],
)
def test_data_that_the_dataset_does_not_know_are_named(name: str, notes: dict[str, str], words: str) -> None:
    assert not faults(SERIES, data=DATA)
    assert not faults(name, data=None)
    (line,) = faults(name, data=notes)
    assert words in line
