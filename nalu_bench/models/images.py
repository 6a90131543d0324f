"""Networks over series of images: an encoder of every image, and what becomes of its outputs over the series."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from nalu_bench.models.network import Network, Recurrence
from nalu_bench.models.parts import channels_behind
from nalu_bench.units.unit import Initialiser, Unit, uniform

SIDE = 28
AT_A_TIME = 1000
"""Images that the encoder sees at once where no gradient is needed."""


class DigitEncoder(nn.Module):
    """conv 20 (5x5), pool, ReLU, conv 50 (5x5), pool, ReLU, 500, ReLU, features: (..., 28, 28) -> (..., features).

    Source: the MNIST example of pytorch/examples, as Madsen & Johansen 2020 use it, without dropout and softmax.
    Deviations: it pools before the ReLU, and stores channels behind pixels. Both are the same function, and faster.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 20, 5)
        self.conv2 = nn.Conv2d(20, 50, 5)
        self.hidden = nn.Linear(800, 500)
        self.out = nn.Linear(500, features)

    def forward(self, x: Tensor) -> Tensor:
        images = x.reshape(-1, SIDE, SIDE, 1).permute(0, 3, 1, 2)  # channels behind pixels
        for conv in (self.conv1, self.conv2):
            weight = channels_behind(conv.weight)
            images = functional.relu(functional.max_pool2d(functional.conv2d(images, weight, conv.bias), 2))
        features: Tensor = self.out(functional.relu(self.hidden(images.flatten(1))))
        return features.view(*x.shape[:-2], -1)


class ImageNetwork(Network):
    """z_t = encoder(image_t), then `over` the series z_1, ..., z_T: (..., T, 28, 28) -> (..., O), or (..., T, O).

    Args:
        features: size of z.
        offset: mean of the initial bias of the encoder's last layer.
    """

    def __init__(self, features: int, offset: float = 0.0) -> None:
        super().__init__()
        self.encoder = DigitEncoder(features)
        self.offset = offset

    def initialisers(self) -> dict[str, Initialiser]:
        bound = 1 / math.sqrt(self.encoder.out.in_features)  # torch's own distribution, moved
        return super().initialisers() | {"encoder.out.bias": uniform(self.offset - bound, self.offset + bound)}

    def encoded(self, x: Tensor) -> Tensor:
        """(..., T, 28, 28) -> (..., T, features); without gradients `AT_A_TIME` images at a time."""
        if torch.is_grad_enabled():
            features: Tensor = self.encoder(x)
            return features
        parts = torch.split(x.reshape(-1, SIDE, SIDE), AT_A_TIME)
        return torch.cat([self.encoder(images) for images in parts]).view(*x.shape[:-2], -1)

    def over(self, z: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """The prediction of a series (..., T, features) and the penalties."""
        raise NotImplementedError

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        return self.over(self.encoded(x))


class NoHead(Unit):
    """y = x: the state itself is the output. Without parameters, and so without a name in configurations."""

    def __init__(self, size: int) -> None:
        super().__init__(size, size)

    def initialisers(self) -> dict[str, Initialiser]:
        return {}

    def weights(self) -> dict[str, Tensor]:
        return {}

    def columns(self, x: Tensor) -> Tensor:
        return x


class ImageRecurrence(ImageNetwork):
    """A recurrence over the series, with or without a head: see `Recurrence`.

    Args:
        features: size of z.
        recurrence: the cell and its head.
        offset: initial bias of the encoder's last layer.
        head_offset: initial bias of a linear head; None for its own.
        cell_rate: factor on the learning rate of the cell's parameters.
    """

    def __init__(
        self, features: int, recurrence: Recurrence, offset: float = 0.0, head_offset: float | None = None,
        cell_rate: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(features, offset)
        self.recurrence = recurrence
        self.head_offset = head_offset
        self.cell_rate = cell_rate

    def initialisers(self) -> dict[str, Initialiser]:
        own = super().initialisers()
        if self.head_offset is not None:
            own["recurrence.head.b"] = uniform(self.head_offset, self.head_offset)
        return own

    def rates(self) -> dict[str, float]:
        names = [f"recurrence.cell.{name}" for name, _ in self.recurrence.cell.named_parameters()]
        return dict.fromkeys(names, self.cell_rate) if self.cell_rate != 1 else {}

    def followed(self) -> dict[str, Tensor]:
        """The mean weight on z and the mean recurrent weight, of a cell that is the output itself."""
        matrices = list(self.recurrence.cell.weights().values())
        if not matrices or not isinstance(self.recurrence.head, NoHead):
            return {}
        on_z, on_h = matrices[0].chunk(2, dim=-1)  # of equal size: [z, h]
        return {"input_weight": on_z.diagonal().mean(), "recurrent_weight": on_h.diagonal().mean()}

    def over(self, z: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        return self.recurrence.predict(z)

    def gates(self, x: Tensor) -> dict[str, Tensor]:
        return {f"recurrence.{name}": gate for name, gate in self.recurrence.gates(self.encoded(x)).items()}


class Accumulator(ImageNetwork):
    """The solved accumulator: y_t = z_1 + ... + z_t, or their product; only the encoder learns.

    Source: the reference networks of Madsen & Johansen 2020, sequential MNIST. Deviations: none.
    """

    def __init__(self, features: int, product: bool, every: bool, offset: float = 0.0) -> None:
        super().__init__(features, offset)
        self.product = product
        self.every = every

    def over(self, z: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        if self.every:
            return (z.cumprod(-2) if self.product else z.cumsum(-2)), {}
        return (z.prod(-2) if self.product else z.sum(-2)), {}
