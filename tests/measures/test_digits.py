"""Matching digits against numbers done by hand, and against the texts of random numbers."""

import math

import pytest
import torch

from nalu_bench.tasks.measure import Measure

NAMES = ("digits", "digits_padded", "digits_left")


def share(name: str, *pairs: tuple[float, float]) -> float:
    y, t = torch.tensor(pairs, dtype=torch.float64).split(1, dim=-1)
    return float(Measure(name)(y, t))


@pytest.mark.parametrize(
    ("y", "t", "right", "padded", "left"),
    [
        (123, 123, 1, 1, 1),
        (123.4, 123, 1, 1, 1),
        (122.6, 123, 1, 1, 1),
        (124, 123, 2 / 3, 2 / 3, 2 / 3),
        (23, 123, 2 / 3, 2 / 3, 0),
        (12, 123, 0, 0, 2 / 3),
        (5, 105, 1 / 3, 2 / 3, 0),
        (0.2, 0, 1, 1, 1),
        (0, 10, 1 / 2, 1 / 2, 0),
        (-123, 123, 1, 1, 1),
        (1e30, 123, 0, 0, 0),
        (math.inf, 999, 3 / 12, 3 / 12, 3 / 12),
        (math.nan, 999, 0, 0, 0),
    ],
)
def test_digits_match_as_done_by_hand(y: float, t: float, right: float, padded: float, left: float) -> None:
    found = {name: share(name, (y, t)) for name in NAMES}
    assert found == pytest.approx({"digits": right, "digits_padded": padded, "digits_left": left})


def plain(y: int, t: int) -> dict[str, float]:
    """The same of texts."""
    one, other = str(abs(y)), str(abs(t))
    longest = max(len(one), len(other))
    pairs = {
        "digits": zip(one[::-1], other[::-1], strict=False),
        "digits_padded": zip(one.zfill(longest), other.zfill(longest), strict=True),
        "digits_left": zip(one, other, strict=False),
    }
    return {name: sum(a == b for a, b in each) / longest for name, each in pairs.items()}


def test_digits_are_those_of_the_texts_of_the_numbers() -> None:
    generator = torch.Generator().manual_seed(0)
    sizes = 10 ** (9 * torch.rand(500, 2, generator=generator, dtype=torch.float64))
    numbers = (torch.randn(500, 2, generator=generator, dtype=torch.float64) * sizes).round()
    expected = [plain(int(y), int(t)) for y, t in numbers.tolist()]
    for name in NAMES:
        mean = sum(each[name] for each in expected) / len(expected)
        assert share(name, *numbers.tolist()) == pytest.approx(mean)


def test_a_sign_is_wrong_after_rounding() -> None:
    assert share("sign_errors", (-3, 3), (3, 3), (-0.4, 0), (0.4, 1)) == 0.5


def test_the_root_has_the_gradient_of_a_root_and_none_at_zero() -> None:
    from nalu_bench import registry

    y = torch.tensor([[3.0], [0.0]], dtype=torch.float64, requires_grad=True)
    rmse = registry.losses.load("rmse")
    assert torch.autograd.gradcheck(lambda y: rmse(y, torch.zeros(2, 1, dtype=torch.float64)), y)
    (slope,) = torch.autograd.grad(rmse(y, y.detach()), y)
    assert slope.eq(0).all()
