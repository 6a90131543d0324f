"""A count of the bytes that tensors would hold, for computations on torch's meta device."""

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode


class LiveBytes(TorchFunctionMode):
    """Count the bytes of all live results of the operations in this context, as if every seed computed its own.

    A result computed from a tensor `of_seeds` counts once for every seed, any other once. Views cost nothing. Tensors
    saved for the backward pass are alive. Tensors given at the start are not counted.

    Args:
        of_seeds: tensors of which every seed has its own, such as the parameters.
        shared: other tensors that exist already.
        seeds: number of seeds.

    Attributes:
        live, peak: bytes now, and the most so far.
    """

    def __init__(self, of_seeds: Sequence[Tensor], shared: Sequence[Tensor], seeds: int) -> None:
        super().__init__()
        self.seeds = seeds
        self.live = self.peak = 0
        self._copies = {id(tensor.untyped_storage()): seeds for tensor in of_seeds}
        self._copies |= {id(tensor.untyped_storage()): 1 for tensor in shared}

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = [*args, *(kwargs or {}).values()]
        copies = max(map(self.copies, tensors(given)), default=1)
        result = func(*args, **(kwargs or {}))
        for tensor in tensors([result]):
            self._hold(tensor, copies)
        return result

    def copies(self, tensor: Tensor) -> int:
        """The number of copies of a tensor: one for every seed, or one."""
        return self._copies.get(id(tensor.untyped_storage()), 1)

    def _hold(self, tensor: Tensor, copies: int) -> None:
        storage = tensor.untyped_storage()
        if id(storage) in self._copies:
            return  # a view
        size = copies * storage.nbytes()
        self._copies[id(storage)] = copies
        self.live += size
        self.peak = max(self.peak, self.live)
        weakref.finalize(storage, self._drop, id(storage), size)

    def _drop(self, key: int, size: int) -> None:
        del self._copies[key]
        self.live -= size


def tensors(values: Sequence[Any]) -> Iterator[Tensor]:
    """All tensors in nested lists and tuples."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors(value)
