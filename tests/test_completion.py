"""A shell completes verbs, groups, names and experiments."""

import os
import subprocess
import sys

import pytest

from nalu_bench.verbs import completion


@pytest.mark.parametrize(
    ("prefix", "word"),
    [
        ("", "model="),
        ("", "madsen2020/table1"),
        ("model=", "model=nmu"),
        ("experiment=", "experiment=trask2018/table1"),
    ],
)
def test_words_are_completed(prefix: str, word: str) -> None:
    assert word in completion.overrides(prefix)


def test_a_key_that_is_no_group_has_no_names() -> None:
    assert completion.overrides("seeds=") == []


def test_a_shell_that_asks_is_answered(tmp_path: os.PathLike[str]) -> None:
    answer = os.path.join(tmp_path, "answer")
    line = "nalu-bench run model=single_n"
    asked = {
        "_ARGCOMPLETE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": answer,
    }
    subprocess.run([sys.executable, "-m", "nalu_bench"], env=os.environ | asked, check=False, timeout=60)
    with open(answer, encoding="utf-8") as file:
        assert "model=single_nmu" in file.read()
