"""Digits of rounded predictions that match those of their targets. They take predictions and targets (B, O).

Digits are those of |y|, rounded to a whole number, and of |t|. A minus is no digit: see `sign_errors`.
"""

import torch
from torch import Tensor

from nalu_bench.registry import register

MOST = 12
"""Digits of the longest number; a larger prediction counts as the largest number with so many digits."""


@register("digits", version=1, lowest=0.0, highest=1.0)
def digits(y: Tensor, t: Tensor) -> Tensor:
    """The share of digits that match from the right, of the longer number: 123 and 923 have 2 / 3, 23 and 123 2 / 3.

    Source: Trask et al. 2018, Figure 4, who do not say how numbers of different lengths are aligned. Of the three ways
    here this one alone fits the printed 7.0 % and 5.8 % of the LSTM on sums out of range. Deviations: none known.
    """
    one, other = _whole(y), _whole(t)
    both = torch.minimum(_lengths(one), _lengths(other))
    return _share(_digits(one) == _digits(other), both, one, other, y)


@register("digits_padded", version=1, lowest=0.0, highest=1.0)
def digits_padded(y: Tensor, t: Tensor) -> Tensor:
    """As `digits`, the shorter number filled up with zeros: 5 and 105 have 2 / 3. Source: ours."""
    one, other = _whole(y), _whole(t)
    longer = torch.maximum(_lengths(one), _lengths(other))
    return _share(_digits(one) == _digits(other), longer, one, other, y)


@register("digits_left", version=1, lowest=0.0, highest=1.0)
def digits_left(y: Tensor, t: Tensor) -> Tensor:
    """As `digits`, aligned at the left: 12 and 123 have 2 / 3. Source: ours."""
    one, other = _whole(y), _whole(t)
    both = torch.minimum(_lengths(one), _lengths(other))
    left, right = (_digits(number * _powers(y)[MOST - _lengths(number)]) for number in (one, other))
    return _share((left == right).flip(-1), both, one, other, y)


@register("sign_errors", version=1, lowest=0.0, highest=1.0)
def sign_errors(y: Tensor, t: Tensor) -> Tensor:
    """The share of rounded predictions whose sign is not that of the target; the sign of 0 is 0."""
    wrong = y.round().sign() != t.sign()
    return wrong.to(y.dtype).mean()


def _powers(y: Tensor) -> Tensor:
    """10^0 to 10^MOST, exactly."""
    return torch.full((MOST + 1,), 10.0, dtype=torch.float64, device=y.device).cumprod(0) / 10


def _whole(y: Tensor) -> Tensor:
    """|y| rounded to a whole number of at most `MOST` digits, in double precision; nan as the largest."""
    most = 10.0**MOST - 1
    return y.double().round().abs().nan_to_num(most, most).clamp(max=most)


def _lengths(whole: Tensor) -> Tensor:
    """The number of digits; 0 has one."""
    return 1 + (whole.unsqueeze(-1) >= _powers(whole)[1:MOST]).sum(-1)


def _digits(whole: Tensor) -> Tensor:
    """(..., MOST): the digits, the last one first. Quotients of whole numbers below 10^16 have exact floors."""
    above = (whole.unsqueeze(-1) / _powers(whole)).floor()
    return above[..., :-1] - 10 * above[..., 1:]


def _share(same: Tensor, counted: Tensor, one: Tensor, other: Tensor, y: Tensor) -> Tensor:
    """The mean over the examples of the matching digits, over those of the longer number; none match of nan.

    `same` (..., MOST) says which digits are equal, and the first `counted` of them count.
    """
    longer = torch.maximum(_lengths(one), _lengths(other))
    places = torch.arange(MOST, device=y.device)
    matching = (same & (places < counted.unsqueeze(-1))).sum(-1) * ~y.isnan()
    return (matching / longer).mean().to(y.dtype)
