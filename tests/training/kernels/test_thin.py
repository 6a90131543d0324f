"""Our operations compute what torch's do, and a row of a product does not depend on those beside it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nalu_bench.training import compilation
from nalu_bench.training.kernels import thin

pytestmark = [pytest.mark.slow, pytest.mark.compiled]

aten = torch.ops.aten


@pytest.fixture(scope="module")
def ours() -> Any:
    thin._load()
    return torch.ops.nalu_bench


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7, 16])
@pytest.mark.parametrize(("inner", "columns"), [(100, 128), (13, 16), (1, 400), (33, 48)])
def test_products_and_their_gradients_are_those_of_double_precision(
    ours: Any, rows: int, inner: int, columns: int
) -> None:
    left, right, gradient = drawn(3, rows, inner), drawn(3, inner, columns), drawn(3, rows, columns)
    exact = left.double() @ right.double(), gradient.double() @ right.double().mT
    for found, expected in zip(
        (ours.product(left, right), ours.product_transposed(gradient, right)), exact, strict=True
    ):
        torch.testing.assert_close(found.double(), expected, rtol=0, atol=3e-5)


@pytest.mark.parametrize("rows", [2, 3, 6, 16])
def test_the_bits_of_a_row_do_not_depend_on_the_rows_and_matrices_beside_it(ours: Any, rows: int) -> None:
    left, right, gradient = drawn(3, rows, 100), drawn(3, 100, 128), drawn(3, rows, 128)
    for operation, first in ((ours.product, left), (ours.product_transposed, gradient)):
        whole = operation(first, right)
        for row in range(rows):
            assert torch.equal(operation(first[1:2, row : row + 1], right[1:2])[0, 0], whole[1, row])


def test_logarithms_of_any_bits_are_within_one_unit_in_the_last_place(ours: Any) -> None:
    bits = np.random.default_rng(0).integers(0, 2**32, 1 << 20, dtype=np.uint64).astype(np.uint32)
    special = np.array(
        [0, -0.0, np.inf, -np.inf, np.nan, -1, 1, 1e-45, -1e-45, 1.17549435e-38, 3.4e38, 2, 0.5, 1e-40, 3, 4]
    )
    near = np.linspace(0.5, 2, 1 << 16)
    values = np.concatenate([bits.view(np.float32), special.astype(np.float32), near.astype(np.float32)])
    found = ours.log(torch.from_numpy(values), None).numpy()
    with np.errstate(all="ignore"):
        exact = np.log(values.astype(np.float64))
    finite = np.isfinite(exact)
    np.testing.assert_array_equal(found[~finite], exact[~finite])
    error = np.abs(found[finite] - exact[finite])
    assert (error <= np.spacing(np.abs(exact[finite]).astype(np.float32))).all()


def test_a_logarithm_of_a_magnitude_has_the_bits_of_its_steps(ours: Any) -> None:
    values = drawn(64, 64)
    assert torch.equal(ours.log(values, 1e-7), ours.log(values.abs() + 1e-7, None))


def operations(function: Callable[..., Any], *tensors: Tensor) -> list[Any]:
    """Of our graph of a function, the operations; its numbers are checked."""
    traced = thin.replaced(compilation.traced(lambda *given: [function(*given)], tensors))
    torch.testing.assert_close(traced(*tensors)[0], function(*tensors), rtol=1e-5, atol=1e-5)
    return [node.target for node in traced.graph.nodes if node.op == "call_function"]


def test_which_operation_is_taken_follows_from_the_shapes(ours: Any) -> None:
    wide = drawn(3, 20, 32)
    product, transposed, log = ours.product.default, ours.product_transposed.default, ours.log.default
    assert operations(torch.bmm, drawn(3, 2, 20), wide) == [product]
    assert transposed in operations(lambda g, x: g @ x.mT, drawn(3, 2, 32), wide)
    assert operations(torch.bmm, drawn(3, 17, 20), wide) == [aten.bmm.default], "too many rows"
    assert operations(torch.bmm, drawn(3, 2, 20), drawn(3, 20, 31)) == [aten.bmm.default], "no whole vectors"
    assert aten.bmm.default not in operations(torch.bmm, drawn(3, 2, 8), drawn(3, 8, 31)), "few terms"
    assert aten.sum.dim_IntList in operations(lambda g, x: g @ x.mT, drawn(3, 2, 32), drawn(3, 4, 32)), "few numbers"
    assert operations(lambda x: (x.abs() + 1e-7).log(), drawn(64, 64))[-1] is log
    assert operations(torch.log, drawn(8, 16).abs()) == [aten.log.default], "too few"
    double = drawn(3, 2, 20).double(), wide.double()
    assert operations(torch.bmm, *double) == [aten.bmm.default], "double precision"
