"""A step in two: what depends on the data alone, computed once for all cells on one draw, and the rest.

The cut is made in the traced graph, so that neither tasks nor units know of it: the logarithms of a NALU's inputs and
the sums of a task's subsets are found as products and logarithms that no parameter reaches. A cell alone is cut as it
is among others, so that its bits do not depend on them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, GraphModule, Node

from nalu_bench.training import compilation
from nalu_bench.training.compilation import Flat, Mode
from nalu_bench.training.kernels import thin
from nalu_bench.training.kernels.kind import Shared

aten = torch.ops.aten

VIEWS = frozenset({aten.expand.default, aten.view.default, aten._unsafe_view.default, aten.transpose.int})


@dataclass(frozen=True)
class Value:
    """A tensor that depends on the data alone.

    Attributes:
        formula: its operations as text; values of one formula and the same leaves are equal.
        leaves: what it is computed from: positions among the tensors of the step, followed by the values before.
        graph: computes it from its leaves.
    """

    formula: str
    leaves: tuple[int, ...]
    graph: Flat


class Sharing:
    """The graph of a step, see `Kernels`; it is traced and compiled at the first call."""

    def __init__(self, function: Flat, mode: Mode, data: Collection[int]) -> None:
        self.function, self.mode, self.data = function, mode, data
        self.values: list[Value] = []
        self.rest: Flat | None = None

    def __call__(self, tensors: Sequence[Tensor], shared: Shared) -> Sequence[Tensor]:
        if self.rest is None:
            self.values, self.rest = _cut(compilation.traced(self.function, tensors), set(self.data), tensors)
        known = list(tensors)
        for value in self.values:
            leaves = [known[leaf] for leaf in value.leaves]
            key = (value.formula, *map(id, leaves))
            if key not in shared:
                shared[key] = value.graph(*leaves)[0]
            known.append(shared[key])
        return self.rest(*known)


def _cut(whole: GraphModule, data: set[int], tensors: Sequence[Tensor]) -> tuple[list[Value], Flat]:
    """The values that a traced step shares, and the rest of it as a function of its tensors and these values."""
    inputs = [node for node in whole.graph.nodes if node.op == "placeholder"]
    places = {node: place for place, node in enumerate(inputs)}  # leaves: inputs, then the values before
    given = {inputs[place] for place in data}
    examples, values = list(tensors), []
    for node in [node for node in whole.graph.nodes if node.op == "call_function"]:
        if node.all_input_nodes and given.issuperset(node.all_input_nodes):
            given.add(node)
            if thin.is_ours(node):  # worth a tensor between two graphs; the rest is computed where it is used
                value, example = _value(node, places, examples)
                values.append(value)
                places[node] = len(examples)
                examples.append(example)
    _replace(whole, inputs[-1], [node for node in places if node.op == "call_function"])
    return values, compilation.compiled(thin.replaced(whole), examples)


def _value(node: Node, places: dict[Node, int], examples: Sequence[Tensor]) -> tuple[Value, Tensor]:
    """The value of a node, and the tensor that it is now."""
    part, copies, leaves = Graph(), dict[Node, Node](), list[int]()

    def copy(old: Node) -> Node:
        old = _seen_through(old)
        if old not in copies:
            if old in places:
                leaves.append(places[old])
                copies[old] = part.placeholder(f"leaf_{len(leaves)}")
            else:
                copies[old] = part.node_copy(old, copy)
            copies[old].meta = dict(old.meta)
        return copies[old]

    part.output((copy(node),))
    given, formula = [examples[leaf] for leaf in leaves], _formula(part)
    module = thin.replaced(GraphModule({}, part))
    part.eliminate_dead_code()
    calls = [found for found in part.nodes if found.op == "call_function"]
    alone = len(calls) == 1 and calls[0].all_input_nodes == [found for found in part.nodes if found.op == "placeholder"]
    graph = _called(calls[0]) if alone else compilation.compiled(module, given)
    return Value(formula, tuple(leaves), graph), graph(*given)[0]


def _called(node: Node) -> Flat:
    """An operation on tensors and constants as a graph: it needs no compilation, which would cost 15 µs a call."""
    operation: Any = node.target
    constants = [value for value in node.args if not isinstance(value, Node)]
    return lambda *tensors: (operation(*tensors, *constants),)


def _seen_through(node: Node) -> Node:
    """The node whose tensor this is, if it is only another view of the same numbers in the same shape and order."""
    found = before = node
    while before.target in VIEWS:
        before = before.all_input_nodes[0]
        found = before if _layout(before) == _layout(node) else found
    return found


def _layout(node: Node) -> tuple[Any, ...]:
    value = node.meta["val"]
    return value.shape, value.stride(), value.storage_offset()


def _formula(part: Graph) -> str:
    """The operations of a graph as text, without the names of its nodes: those differ between models."""
    numbers = {node: f"%{number}" for number, node in enumerate(part.nodes)}

    def told(value: Any) -> str:
        return str(torch.fx.node.map_arg(value, lambda node: numbers[node]))

    return "; ".join(
        f"{node.target} {told(node.args)} {told(node.kwargs)}" for node in part.nodes if node.op != "placeholder"
    )


def _replace(whole: GraphModule, last: Node, nodes: Sequence[Node]) -> None:
    """Make nodes further inputs of a graph, behind the last one."""
    for node in nodes:
        with whole.graph.inserting_after(last):
            last = whole.graph.placeholder(f"shared_{node.name}")
        last.meta = dict(node.meta)
        node.replace_all_uses_with(last)
    whole.graph.eliminate_dead_code()
    whole.recompile()
