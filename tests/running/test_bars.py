"""A progress bar works whatever the variables of tqdm say."""

import os
import subprocess
import sys

import pytest

from nalu_bench.running import bars
from nalu_bench.running.progress import Display

BAR = """
from nalu_bench.running import bars
with bars.bar(10) as bar:
    bar.set_postfix_str("a block")
    bar.update(3)
"""


def written(**variables: str) -> str:
    """Standard error of a process that draws a bar."""
    environment = os.environ | {"TQDM_MININTERVAL": "0"} | variables
    done = subprocess.run([sys.executable, "-c", BAR], env=environment, capture_output=True, text=True, check=True)
    return done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [("MININTERVAL", "soon"), ("BAR_FORMAT", "{mine}"), ("UNIT_DIVISOR", "many"), ("FILE", "bar.log"), ("GUI", "1")],
)
def test_a_variable_that_tqdm_cannot_use_costs_no_bar(name: str, value: str) -> None:
    found = written(**{f"TQDM_{name}": value})
    assert "3.00/10.0" in found
    assert ("warning: tqdm cannot use" in found) == (name != "FILE")


def test_a_bar_that_is_not_wanted_is_not_drawn() -> None:
    assert written(TQDM_DISABLE="1") == ""


@pytest.mark.parametrize("watched", [True, False])
def test_what_has_begun_is_shown_at_once_to_a_person_and_in_no_log(
    watched: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with bars.bar(10, pause=1000) as bar:
        Display(bar, 1, watched)("compiling a block", 0, 0)
        assert ("compiling a block" in capsys.readouterr().err) == watched
