"""Initial weights of modules that are not units, such as convolutions, and how convolutions lie in memory."""

import math

from torch import Tensor, nn

from nalu_bench.units.unit import Initialiser, uniform


def initialisers(module: nn.Module) -> dict[str, Initialiser]:
    """Initialisers of the module's own parameters, by name, with torch's own distribution.

        weight, bias ~ U[-1/√fan_in, 1/√fan_in],   fan_in = inputs of one output

    Source: `torch.nn.Linear` and the convolutions of `torch.nn`. Deviations: none. Other kinds of module get none:
    the network must name the initialisers of their parameters.
    """
    if not isinstance(module, nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d):
        return {}
    bound = 1 / math.sqrt(math.prod(module.weight.shape[1:]))
    return {name: uniform(-bound, bound) for name, _ in module.named_parameters(recurse=False)}


def channels_behind(weight: Tensor) -> Tensor:
    """The weights (O, I, H, W) of a convolution in torch's layout `channels_last`.

    It is made by axes: under vmap torch knows no `memory_format`.
    """
    return weight.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
