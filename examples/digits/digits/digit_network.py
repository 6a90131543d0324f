"""A convolution that encodes every image, and a recurrence over the codes."""

from torch import Tensor, nn

from nalu_bench.models.network import Recurrence
from nalu_bench.units import Unit


class DigitNetwork(Recurrence):
    """e_n = A relu(conv(image_n)) + b, then a recurrence over e_1, ..., e_N: (..., N, 8, 8) -> (..., O).

    The encoder is made of ordinary modules, with torch's initial weights. The cell and the head are units.
    """

    def __init__(
        self, channels: int, features: int, cell: Unit, head: Unit, initial: float = 0.0, every: bool = False
    ) -> None:
        super().__init__(cell, head, initial, every)
        self.encoder = nn.Sequential(
            nn.Conv2d(1, channels, kernel_size=3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(channels * 4 * 4, features),
        )

    def encoded(self, x: Tensor) -> Tensor:
        """(..., N, 8, 8) -> (..., N, features)."""
        images = x.reshape(-1, 1, *x.shape[-2:])
        features: Tensor = self.encoder(images)
        return features.view(*x.shape[:-2], -1)

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        return super().predict(self.encoded(x))

    def gates(self, x: Tensor) -> dict[str, Tensor]:
        return super().gates(self.encoded(x))
