"""Programs: what a network reads of them is a Python expression, and the target is what Python makes of it."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.tasks.program_templates import parse
from nalu_bench.training.data import tensors


def task(*overrides: str, name: str = "programs") -> Any:
    words = [f"task={name}", "model=program_lstm", *overrides]
    return compose.plan_cells(words, multirun=False).cells[0].cell.task


def drawn(chosen: Any, split: str, count: int = 3000) -> tuple[Tensor, Tensor]:
    numbers = torch.randint(2**24, (chosen.example_size(split), count), generator=torch.Generator().manual_seed(0))
    x, t = chosen.sample(numbers / 2**24, {}, tensors(chosen.split_parameters(split)))
    assert x.dtype == t.dtype == torch.float32
    return x, t


def text_of(program: list[list[float]], kinds: list[str], end: bool) -> str:
    """What is read of a program, as Python: without parentheses. Its end is checked and left out."""
    steps = [(int(number), kinds[flags.index(1)]) for number, *flags in program if any(flags)]
    assert all(sum(flags) == any(flags) and (flags[0] or not number) for number, *flags in program)
    assert [kind for _, kind in steps].count("end") == end
    assert (steps[-1][1] == "end") == end
    return " ".join(kind or str(number) for number, kind in steps if kind != "end")


@pytest.mark.parametrize("end", [True, False])
@pytest.mark.parametrize("name", ["programs", "program_sums"])
@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_targets_are_what_python_makes_of_what_is_read(name: str, split: str, end: bool) -> None:
    chosen = task(f"task.end={str(end).lower()}", name=name)
    x, t = drawn(chosen, split)
    kinds = ["", *chosen.operators(), "end"]
    texts = [text_of(program, kinds, end) for program in x.tolist()]
    assert [eval(text) for text in texts] == t[:, 0].to(torch.int64).tolist()
    assert t.frac().eq(0).all()
    shapes = {tuple(word for word in text.split() if not word.isdigit()) for text in texts}
    assert len(shapes) == sum(map(len, chosen.templates)), "every template is drawn"
    low, high = chosen.range_of(split)
    integers = x[..., 0][x[..., 1] > 0]
    assert low <= integers.min() < low + 0.02 * (high - low)
    assert high - 0.02 * (high - low) < integers.max() < high


def test_every_template_is_worth_what_python_says_with_its_parentheses() -> None:
    rng = np.random.default_rng(0)
    texts = [text for group in task().templates for text in group]
    texts += ["(c if a < b else d) + e", "a - (c if b > d else e)", "a - (b - c)"]
    for text in texts:
        template = parse(text)
        for integers in rng.integers(0, 10_000, (50, len(template.letters))):
            yes, no, left, right = template.coefficients @ integers
            assert (yes if left < right else no) == eval(template.rendered(integers.tolist()))


def test_equal_integers_are_not_smaller() -> None:
    template = parse("(c if a < b else d)")
    _, _, left, right = template.coefficients @ np.array([5, 3, 3, 7])
    assert not left < right
    assert template.tokens == ("c", "if", "a", "<", "b", "else", "d")


def test_groups_are_equally_likely_and_so_are_the_templates_of_each() -> None:
    x, _ = drawn(task(), "train", 20_000)
    length = x[..., 1:].sum((1, 2))
    for tokens, share in {3: 1 / 4, 5: 1 / 4, 7: 1 / 4, 9: 1 / 4}.items():  # and the end
        assert float((length == tokens + 1).float().mean()) == pytest.approx(share, abs=0.015)


def test_the_ends_of_the_unit_interval_are_in_range() -> None:
    for split in ("train", "validation", "test"):
        chosen = task()
        low, high = chosen.range_of(split)
        for u, expected in ((0.0, low), (1 - 2**-24, high - 1)):
            x, _ = chosen.sample(torch.full((6, 1), u), {}, tensors(chosen.split_parameters(split)))
            assert float(x[0, 0, 0]) == expected


def test_nested_ranges_begin_at_the_start_of_training() -> None:
    chosen = task("task.nested=true")
    assert [chosen.range_of(split) for split in chosen.evaluated] == [(0, 100), (0, 1000), (0, 10_000)]
    assert chosen.setting() == {"nested": True}


def test_other_ranges_and_templates_of_the_same_sizes_share_one_program() -> None:
    sums = task(name="program_sums")
    assert task("task.ranges=[[0,10],[10,100],[100,200]]", name="program_sums").program_key() == sums.program_key()
    assert task("task.templates=[['a - b']]", name="program_sums").program_key() == sums.program_key()
    assert task().program_key() != sums.program_key()
    assert task("task.end=true", name="program_sums").program_key() != sums.program_key()


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("task.templates=[['a']]", "must have an operator"),
        ("task.templates=[['(a)']]", "must have an operator"),
        ("task.templates=[]", "must be groups of at least one template"),
        ("task.templates=[['a + b'],[]]", "must be groups of at least one template"),
        ("task.templates=[['a * b']]", "must be made of letters"),
        ("task.templates=[['a +']]", "must be made of letters"),
        ("task.templates=[['a + 1']]", "must be made of letters"),
        ("task.templates=[['a if b else c']]", "must be made of letters"),
        ("task.templates=[['a if b <= c else d']]", "must be made of letters"),
        ("task.templates=[['a + a']]", "an integer of its own"),
        ("task.templates=[['a + b + c + d + e + f']]", "at most 9 tokens, got 11"),
        (f"task.templates=[['{'a + ' * 1200}a']]", "at most 9 tokens, got 2401"),
        (f"task.templates=[['{'(' * 500}a + b{')' * 500}']]", "must be made of letters"),
        ("task.templates=[['a - (b - c)','a - b - c']]", "must differ in what is read"),
        ("task.templates=[['(c if a < b else d) + e','(c if a < b else d + e)']]", "must differ in what is read"),
        ("task.ranges=[[0,100],[50,1000],[1000,10000]]", "must not overlap, and that of validation begins at 50"),
        ("task.ranges=[[0,100],[100,1000],[999,10000]]", "must not overlap, and that of test begins at 999"),
        ("task.ranges=[[0,100],[100,1000]]", "must be three"),
        ("task.ranges=[[0,100],[100,1000],[1000,1000]]", r"0 <= low < high <= 1,000,000, got \[1000, 1000\] of test"),
        ("task.ranges=[[-5,100],[100,1000],[1000,2000]]", "of train"),
    ],
)
def test_impossible_programs_are_refused(override: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        task(override)
