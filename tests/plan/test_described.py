"""Configurations in words and as YAML."""

import pytest
import yaml

from nalu_bench.errors import UsageError
from nalu_bench.plan import described, folders


@pytest.mark.parametrize("group", folders.GROUPS)
def test_every_configuration_says_in_a_sentence_what_it_is(group: str) -> None:
    for name in folders.files(group):
        assert len(described.about(group, name)) > 10, f"conf/{group}/{name}.yaml must begin with a comment"


def test_the_values_shown_are_those_that_a_command_composes() -> None:
    shown = yaml.safe_load(described.shown(["model=nmu", "task.operation=add"]))
    assert list(shown) == ["task", "model"]
    assert shown["task"]["operation"] == "add"
    assert shown["model"]["penalties"]["sparsity"]["start"] == 1_000_000
    everything = yaml.safe_load(described.shown([]))
    assert set(everything) == {*folders.GROUPS, "seeds", "first_seed", "compile", "committed", "logger"}
    assert everything["seeds"] == everything["budget"]["seeds"]


def test_what_cannot_be_composed_cannot_be_shown() -> None:
    with pytest.raises(UsageError, match="unknown model 'nmuu'; did you mean 'nmu'"):
        described.shown(["model=nmuu"])
