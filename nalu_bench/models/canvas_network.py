"""The network that counts digits on a canvas."""

from torch import Tensor, nn
from torch.nn import functional

from nalu_bench.models.network import Network
from nalu_bench.models.parts import channels_behind
from nalu_bench.units.unit import Initialiser, Unit, xavier_uniform, zeros


class CanvasNetwork(Network):
    """conv 8 (7x7, stride 2), pool, conv 16 (3x3, dilation 2), conv 32 (3x3), conv 1 (1x1), dense, head.

    (..., side, side) -> (..., O), ReLUs between. Every convolution keeps the size, but for the stride.

    Source: a public rebuild of Seguí et al. 2015, https://github.com/fomorians/counting-mnist, as Trask et al. 2018 do
    not describe theirs. Deviations: channels are stored behind pixels, which is the same function, and faster; the
    windows of the first convolution begin one pixel earlier than TensorFlow's `same` padding has them.
    """

    def __init__(self, side: int, head: Unit) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 7, stride=2, padding=3)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=2, dilation=2)
        self.conv3 = nn.Conv2d(16, 32, 3, padding=1)
        self.conv4 = nn.Conv2d(32, 1, 1)
        self.side = side
        self.hidden = nn.Linear(((side + 1) // 2 // 2) ** 2, head.in_features)
        self.head = head

    def initialisers(self) -> dict[str, Initialiser]:
        """Weights of convolutions and of the dense layer Xavier-uniform, biases 0, as the rebuild has them.

        With torch's own smaller weights the network hardly leaves the most frequent count.
        """
        found = super().initialisers()
        for name, module in self.named_modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                found |= {f"{name}.weight": xavier_uniform, f"{name}.bias": zeros}
        return found

    def features(self, x: Tensor) -> Tensor:
        """(..., side, side) -> (..., H)."""
        images = x.reshape(-1, self.side, self.side, 1).permute(0, 3, 1, 2)  # channels behind pixels
        for number, conv in enumerate((self.conv1, self.conv2, self.conv3, self.conv4)):
            weight = channels_behind(conv.weight)
            images = functional.conv2d(images, weight, conv.bias, conv.stride, conv.padding, conv.dilation)
            if number == 0:
                images = functional.max_pool2d(images, 2)  # before the ReLU, which is the same and faster
            images = functional.relu(images)
        return functional.relu(self.hidden(images.flatten(1))).view(*x.shape[:-2], -1)

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        features = self.features(x)
        return self.head(features), self.head.penalties(features)
