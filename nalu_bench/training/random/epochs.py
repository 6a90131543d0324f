"""Rows of fixed data, epoch by epoch: the rows of a batch are a pure function of (purpose, seed, step).

The order of an epoch is the permutation that sorts the outputs of a SplitMix64 stream:

    order_e = argsort(z_{e n}, ..., z_{e n + n - 1}),   z the outputs of the stream (purpose, seed), n things to order

Nothing has to be stored to go on in the middle of an epoch. An example is L rows; rows are drawn without replacement.
The rows of an example either stay together, as chunks of one permutation that all seeds share, or are grouped anew in
every epoch.
"""

import numpy as np
import torch
from torch import Tensor

from nalu_bench.tasks.task import KEEP, Rows
from nalu_bench.training.random import streams


class EpochDraw:
    """Step (from 1) -> numbers of rows (S, L, B), int64; B is smaller in the last batch of an epoch that keeps it.

    Args:
        rows: the rows of the split, their grouping, and the fate of an incomplete batch.
        length: L, rows of an example.
        batch: B, examples of a batch.
        seeds: the seeds of the block.
    """

    def __init__(self, rows: Rows, length: int, batch: int, seeds: list[int]) -> None:
        self.rows, self.length, self.batch = rows, length, batch
        self.keys = streams.stream_keys("rows", seeds)
        self.examples = rows.count // length
        full, left = divmod(self.examples, batch)
        self.batches = full + (1 if left and rows.remainder == KEEP else 0)
        self.chunks = chunks(rows.count, length) if rows.fixed else None
        self.epoch, self.order = -1, torch.empty(0)

    def __call__(self, step: int) -> Tensor:
        epoch, number = divmod(step - 1, self.batches)
        if epoch != self.epoch:
            self.epoch, self.order = epoch, self._order(epoch)
        return self.order[:, :, number * self.batch : (number + 1) * self.batch].contiguous()

    def _order(self, epoch: int) -> Tensor:
        """The rows (S, L, examples) of an epoch in their order, that of the data where one batch holds them all."""
        if self.batch == self.rows.count == self.examples:
            return torch.arange(self.batch).expand(len(self.keys), 1, self.batch)
        if self.chunks is not None:
            return self.chunks[:, permutation(self.keys, epoch, self.examples)].movedim(1, 0)
        orders = permutation(self.keys, epoch, self.rows.count)[:, : self.examples * self.length]
        return orders.reshape(len(self.keys), self.examples, self.length).mT


def permutation(keys: Tensor, epoch: int, count: int) -> Tensor:
    """The order of `count` things in an epoch of each stream, (..., count) int64, from the `keys` (..., 2)."""
    position = epoch * count + torch.arange(count)
    z = streams.splitmix64(keys[..., 0, None], keys[..., 1, None], position)
    return torch.from_numpy(np.argsort(z.numpy(), axis=-1, kind="stable"))


def chunks(count: int, length: int, purpose: str = "chunks") -> Tensor:
    """The rows (L, count // L) of chunks: consecutive rows of one permutation, which is the same for all seeds."""
    order = permutation(streams.stream_keys(purpose, [0])[0], 0, count)
    return order[: count // length * length].view(-1, length).mT


def in_order(rows: Rows, length: int, split: str) -> Tensor:
    """The rows (L, examples) of an evaluated split: single rows in their order, else the split's own chunks."""
    return torch.arange(rows.count).unsqueeze(0) if length == 1 else chunks(rows.count, length, split)
