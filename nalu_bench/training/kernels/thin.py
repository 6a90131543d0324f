"""Operations of a traced graph replaced by those of `thin.cpp`.

A product is thin if its left matrix has few rows, such as the hidden units of an arithmetic network. MKL computes one
of 2 x 100 by 100 x 128 numbers in 1.2 µs and its gradient in 1.4, our kernels in 0.5 and 0.6. Torch's logarithms of
12,800 numbers take 9 µs, ours 2.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule, Node

MOST_ROWS = 16
"""Rows of the left matrix beyond which a product is the library's."""

LANES = 16
"""Numbers that the kernels compute at once; the sizes along which they run must be multiples of it."""

FEW = 8
"""Terms of a sum, or numbers of a result, up to which TorchInductor computes a product, as multiplications and sums."""

LARGE = 4096
"""Numbers from which logarithms are worth a pass of their own."""

SHAPES: dict[str, Callable[..., Tensor]] = {
    "product": lambda left, right: left.new_empty(left.shape[0], left.shape[1], right.shape[2]),
    "product_transposed": lambda left, right: left.new_empty(left.shape[0], left.shape[1], right.shape[1]),
    "log": lambda values, more: torch.empty_like(values),
}
"""Operation -> an empty tensor like its result, which is all that a trace needs."""

aten = torch.ops.aten


def replaced(traced: GraphModule) -> GraphModule:
    """The graph with our operations wherever they fit; where that is depends on shapes alone."""
    _load()
    graph = traced.graph
    for node in graph.nodes:
        with graph.inserting_before(node):
            new = _ours(node) if is_ours(node) else _summed(node) if _is_short(node) else node
        if new is not node:
            new.meta = dict(node.meta)
            node.replace_all_uses_with(new)
            graph.erase_node(node)
    graph.lint()
    traced.recompile()
    return traced


def is_ours(node: Node) -> bool:
    """Whether one of our operations takes the place of a node."""
    if node.target is aten.log.default:
        (values,) = _values(node)
        return _floats(values) and values.is_contiguous() and values.numel() >= LARGE and values.numel() % LANES == 0
    if node.target is not aten.bmm.default or _is_short(node):
        return False
    left, right = _values(node)
    (_, rows, inner), columns = left.shape, right.shape[2]
    by_rows, by_columns = right.stride(2) == 1 and columns % LANES == 0, right.stride(1) == 1 and inner % LANES == 0
    return _floats(left, right) and rows <= MOST_ROWS and (by_rows or by_columns)


def _is_short(node: Node) -> bool:
    """Whether a node is a product with few terms, or few numbers as its result."""
    if node.target is not aten.bmm.default:
        return False
    left, right = _values(node)
    return _floats(left, right) and (left.shape[2] <= FEW or left.shape[1] * right.shape[2] <= FEW)


def _ours(node: Node) -> Node:
    """Our operation in the place of a node; |x| + ε becomes a part of the logarithm behind it."""
    call, ours = node.graph.call_function, torch.ops.nalu_bench
    if node.target is aten.bmm.default:
        left, right = node.args
        if _values(node)[1].stride(2) == 1:
            return call(ours.product.default, (left, right))
        return call(ours.product_transposed.default, (left, call(aten.transpose.int, (right, 1, 2))))
    values: Any = node.args[0]
    magnitude, more = values.args if values.target is aten.add.Tensor else (None, None)
    if isinstance(magnitude, Node) and magnitude.target is aten.abs.default and isinstance(more, int | float):
        return call(ours.log.default, (magnitude.args[0], float(more)))
    return call(ours.log.default, (values, None))


def _summed(node: Node) -> Node:
    """A short product as operations that TorchInductor fuses with those around it."""
    call, (left, right) = node.graph.call_function, node.args
    inner = _values(node)[0].shape[2]
    if inner > FEW:
        factors = (
            call(aten.unsqueeze.default, (left, 2)),
            call(aten.unsqueeze.default, (call(aten.transpose.int, (right, 1, 2)), 1)),
        )
        return call(aten.sum.dim_IntList, (call(aten.mul.Tensor, factors), [-1]))
    terms = [
        call(
            aten.mul.Tensor,
            (call(aten.slice.Tensor, (left, 2, k, k + 1)), call(aten.slice.Tensor, (right, 1, k, k + 1))),
        )
        for k in range(inner)
    ]
    return functools.reduce(lambda sum_, term: call(aten.add.Tensor, (sum_, term)), terms)


def _values(node: Node) -> list[Tensor]:
    """What is known of a node's tensors: shapes, strides, types."""
    return [argument.meta["val"] for argument in node.args if isinstance(argument, Node)]


def _floats(*values: Tensor) -> bool:
    return all(value.dtype == torch.float32 and value.device.type == "cpu" for value in values)


@functools.cache
def _load() -> None:
    """Compile `thin.cpp`, or take it from TorchInductor's cache, and register its operations with torch."""
    from torch._inductor.codecache import CppCodeCache

    CppCodeCache.load(Path(__file__).with_suffix(".cpp").read_text(encoding="utf-8"))

    for name, shape in SHAPES.items():
        torch.library.register_fake(f"nalu_bench::{name}", shape)
