"""Work in other processes."""

import os
from collections.abc import Callable
from typing import Any

from nalu_bench import pool


def square(item: int, tell: Callable[..., None]) -> int:
    """Kills its process for -1."""
    if item == -1:
        os._exit(1)
    tell(item, "seen")
    return item * item


def test_what_the_work_makes_and_tells_arrives() -> None:
    told: list[Any] = []
    found = dict(pool.outcomes(square, [1, 2, 3], 2, lambda *event: told.append(event)))
    assert found == {1: 1, 2: 4, 3: 9}
    assert sorted(told) == [(1, "seen"), (2, "seen"), (3, "seen")]


def test_a_process_that_dies_costs_its_own_work_alone() -> None:
    found = dict(pool.outcomes(square, [1, -1, 2, 3], 2, lambda *event: None))
    assert isinstance(found.pop(-1), pool.WorkerDiedError)
    assert found == {1: 1, 2: 4, 3: 9}
