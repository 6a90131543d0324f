"""What the READMEs of the packages tell their reader to type chooses what there is, at its full scale."""

import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from told import commands

from nalu_bench import paths
from nalu_bench.cli import main

PACKAGES = sorted(path.parent for path in (paths.CHECKOUT / "examples").glob("*/pyproject.toml"))


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_every_command_can_be_planned(
    package: Path, example: Callable[[str, Path], AbstractContextManager[Path]], tmp_path: Path
) -> None:
    told = [shlex.split(command)[1:] for command in commands(package / "README.md")]
    assert {verb for verb, *_ in told} <= {"run", "report", "list", "leaderboard"}
    with example(package.name, tmp_path):
        for verb, *words in told:
            if verb != "leaderboard":
                assert main([verb if verb == "list" else "status", *words]) == 0, words
    assert len(told) > 0
