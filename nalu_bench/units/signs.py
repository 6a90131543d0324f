"""The sign of a product whose size is computed from absolute values, as pure functions.

Letters as in `functional`: I inputs, O outputs, B examples (as columns).
"""

import math

import torch
from torch import Tensor

from nalu_bench.units import functional


def mixed_sign(x: Tensor, W: Tensor) -> Tensor:
    """s_o = Π_i (sign(x_i) |W_oi| + 1 - |W_oi|), in [-1, 1] where |W| is at most 1: an input of weight 0 has no say.

    Source: Schlör, Ring & Hotho 2020, the mixed sign vector, https://doi.org/10.3389/frai.2020.00071. x (..., I, B) and
    W (O, I) give s (..., O, B).

    >>> mixed_sign(torch.tensor([[-2.0], [-3.0]]), torch.tensor([[1.0, 1.0], [1.0, 0.0]])).flatten().tolist()
    [1.0, -1.0]
    """
    return functional.gated_product(x.sign(), W.abs())


def half_turns(x: Tensor) -> Tensor:
    """k = π where x < 0, else 0: the argument of a real number x as a complex one.

    Source: Heim, Pevný & Šmídl 2020, https://arxiv.org/abs/2006.01681, section 3, as in their code. The paper prints
    the two cases the other way round.
    """
    return math.pi * (x < 0).to(x.dtype)


def cosine_sign(k: Tensor, W: Tensor) -> Tensor:
    """s_o = cos(Σ_i W_oi k_i): the sign of Π x_i^W_oi for integer W, and less than 1 in size between integers.

    Source: Heim, Pevný & Šmídl 2020, the Real NPU, https://arxiv.org/abs/2006.01681. k (..., I, B), of `half_turns`,
    and W (O, I) give s (..., O, B).

    >>> W = torch.tensor([[1.0, 1.0], [2.0, 1.0]])
    >>> cosine_sign(half_turns(torch.tensor([[-2.0], [3.0]])), W).flatten().tolist()
    [-1.0, 1.0]
    """
    return torch.cos(W @ k)
