"""The formulas that several units share, as pure functions.

Letters: I inputs, O outputs, B examples (as columns); `...` stands for any batch dimensions.
"""

import torch
from torch import Tensor

EPSILON = 1e-7
"""The epsilon of log(|x| + epsilon) in Madsen & Johansen's code. Trask et al. (eq. 2) print no value."""


def log_space_product(x: Tensor, W: Tensor, epsilon: float = EPSILON) -> Tensor:
    """y_o = exp(Σ_i W_oi log(|x_i| + ε)), Trask et al. 2018, eq. 2 (`m`); loses the signs of x.

    x (..., I, B) and W (O, I) give y (..., O, B).
    """
    return torch.exp(W @ torch.log(x.abs() + epsilon))


def gated_product(x: Tensor, W: Tensor) -> Tensor:
    """y_o = Π_i (W_oi x_i + 1 - W_oi), Madsen & Johansen 2020, eq. 12: a weight of 0 gives the factor 1.

    x (..., I, B) and W (O, I) give y (..., O, B).
    """
    W = W.unsqueeze(-1)
    return product(W * x.unsqueeze(-3) + 1 - W)


def product(z: Tensor) -> Tensor:
    """Π over the second-to-last axis, by halves. Gradients are exact at zeros and faster than those of torch.prod.

    >>> product(torch.tensor([[2.0, 0.0], [3.0, 1.0], [5.0, 4.0]]))
    tensor([30.,  0.])
    """
    while z.shape[-2] > 1:
        half = z.shape[-2] // 2
        pairs = z[..., :half, :] * z[..., half : 2 * half, :]
        z = torch.cat([pairs, z[..., 2 * half :, :]], dim=-2) if z.shape[-2] % 2 else pairs
    return z.squeeze(-2)


def nac_weight(W_hat: Tensor, M_hat: Tensor) -> Tensor:
    """W = tanh(Ŵ) ⊙ σ(M̂), Trask et al. 2018, eq. 1: biased towards -1, 0 and 1."""
    return torch.tanh(W_hat) * torch.sigmoid(M_hat)


def sparsity_penalty(W: Tensor, complement: Tensor) -> Tensor:
    """R_sparse = mean min(|W|, |complement|); complement is 1 - |W| (NAU, eq. 6) or 1 - W (NMU, eq. 11).

    Madsen & Johansen 2020. W and complement have one shape, of any dimensions; the result is a scalar.
    """
    return torch.minimum(W.abs(), complement.abs()).mean()


def input_penalty(W: Tensor, inputs: Tensor, neutral: float) -> Tensor:
    """R_z = mean_oi (1 - |W_oi|) (n - z̄_i)², z̄ the mean of the inputs (..., I), n the neutral element.

    An input that a weight shuts out shall on the average be neutral: 1 for a product, 0 for a sum. So an encoder before
    the unit gets a gradient before the weights have found their values.

    Source: Madsen & Johansen 2020, appendix, sequential MNIST, and their code. Deviations: none from the paper. Their
    code gives it the inputs as a unit sees them, which for NAC•,NMU are log(|x| + ε), with the minimum at z̄ = e.
    """
    mean = inputs.reshape(-1, inputs.shape[-1]).mean(0)
    return ((1 - W.abs()) * (neutral - mean).square()).mean()


def sparsity_error(W: Tensor) -> Tensor:
    """max_oi min(|W_oi|, |1 - |W_oi||): the distance of the worst weight from {-1, 0, 1}.

    Madsen & Johansen 2020, eq. 17. 0 is sparse, 0.5 the worst for weights in [-1, 1].
    """
    return torch.minimum(W.abs(), (1 - W.abs()).abs()).amax()
