"""The contract of every registered unit, and the search for units."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import nalu_bench.units
from nalu_bench import paths, registry
from nalu_bench.errors import UsageError
from nalu_bench.registry import Registry
from nalu_bench.units import NAU, Unit, contract
from nalu_bench.units.unit import Initialiser, uniform

CASES: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in registry.units.entries),
    ("nalu", {"shared": False}),
    ("nau", {"clamped": False}),
    ("nmu", {"clamped": False}),
    ("dense", {"activation": "prelu"}),
    ("inalu", {"shared": True}),
    ("inalu", {"gate": "dependent", "init": "xavier_uniform"}),
    ("schlor_nalu", {"gate": "vector"}),
    ("g_nalu", {"shared": False}),
    ("npu", {"imaginary": False}),
    ("npu", {"gate": False}),
    ("npu", {"init": "nau", "clamped": ["W_re", "W_im", "g"]}),
    ("nru", {"separate_sign": True}),
    ("nmru", {"sign": False}),
    ("mul_mcfc", {"sign": "inalu"}),
    ("mul_mcfc", {"sign": "real_npu"}),
]


@pytest.mark.parametrize("rule", contract.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join([case[0], *map(str, case[1].values())]))
def test_every_unit(case: tuple[str, dict[str, Any]], rule: Callable[[type[Unit], dict[str, Any]], None]) -> None:
    name, options = case
    rule(registry.units.load(name), options)


class Hoarder(NAU):
    """y = W x, and its last inputs are kept. Source: none."""

    def columns(self, x: Tensor) -> Tensor:
        self.last = x
        return super().columns(x)


class Bare(Unit):
    def __init__(self, in_features: int, out_features: int) -> None:
        nn.Module.__init__(self)
        self.W = nn.Parameter(torch.zeros(out_features, in_features))

    def initialisers(self) -> dict[str, Initialiser]:
        return {}


class Hasty(NAU):
    """y = W x, whose constructor draws before a subclass has its parameters. Source: none."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.reset_parameters()


@pytest.mark.parametrize(
    ("rule", "unit", "message"),
    [
        (contract.stores_nothing_while_it_computes, Hoarder, "must store nothing on itself"),
        (contract.is_documented_with_formula_and_source, Bare, "its docstring must hold a formula"),
        (contract.lets_a_subclass_add_a_parameter, Hasty, "must not call `reset_parameters`"),
        (contract.refuses_to_have_no_inputs_or_outputs, Bare, r"must refuse the sizes \(0, 1\)"),
    ],
)
def test_a_unit_that_breaks_a_rule_is_told_which(
    rule: Callable[[type[Unit], dict[str, Any]], None], unit: type[Unit], message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        rule(unit, {})


SIZES = [(2.5, 1), ("3", 1), (None, 1), (2**70, 1), (True, 1), (1, 0), (1, -2), (1, [2]), (torch.tensor(2.0), 1)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("unit", ["nau", "npu", "schlor_nalu"])
def test_sizes_that_are_no_whole_numbers_from_1_up_are_refused(unit: str, sizes: tuple[Any, Any]) -> None:
    with pytest.raises(
        UsageError, match=r"the number of (in|out)puts of a unit must be a whole number from 1 to .* got"
    ):
        registry.units.load(unit)(*sizes)


def test_whole_numbers_of_other_libraries_are_sizes() -> None:
    unit = NAU(np.int64(3), torch.tensor(2))  # type: ignore[arg-type]
    assert repr(unit) == "NAU(3, 2)"
    assert {type(unit.in_features), type(unit.out_features)} == {int}


@pytest.mark.parametrize("shape", [(), (1,), (5, 1), (2, 5, 4)], ids=str)
@pytest.mark.parametrize("unit", ["npu", "nmu", "nalu"])
def test_inputs_of_another_shape_are_refused(unit: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(
        UsageError, match=r"must have the shape \(\.\.\., 3\), got .*; put the numbers of an example along"
    ):
        registry.units.load(unit)(3, 1)(torch.ones(shape))


@pytest.mark.parametrize(
    ("x", "told"),
    [
        (torch.ones(2, 3, dtype=torch.float64), r"have the type of its parameters, torch.float32, got torch.float64"),
        (torch.ones(2, 3, dtype=torch.int64), r"must have the type of its parameters, torch.float32, got torch.int64"),
        ([[1.0, 2.0, 3.0]], r"must be a tensor, got list; torch.tensor makes one"),
        (np.ones((2, 3)), r"must be a tensor, got ndarray"),
    ],
    ids=["double", "integer", "list", "array"],
)
def test_inputs_of_another_type_are_refused(x: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        NAU(3, 1)(x)


def test_inputs_without_values_are_refused_unless_the_parameters_have_none() -> None:
    x = torch.ones(2, 3, device="meta")
    with pytest.raises(UsageError, match="must have values, as its parameters do"):
        NAU(3, 1)(x)
    with torch.device("meta"):
        assert NAU(3, 1)(x).shape == (2, 1)


@pytest.mark.parametrize(
    ("unit", "option"), [("nalu", "shared"), ("linear", "bias"), ("nru", "smooth"), ("nau", "clamped")]
)
@pytest.mark.parametrize("value", ["False", 0, None])
def test_an_option_that_must_be_true_or_false_is_neither_a_text_nor_a_number(
    unit: str, option: str, value: object
) -> None:
    with pytest.raises(UsageError, match=f"{option} must be true or false, got {value!r}"):
        registry.units.load(unit)(3, 1, **{option: value})


def test_a_unit_has_a_name_and_a_version() -> None:
    for name, entry in registry.units.entries.items():
        cls = entry.load()
        assert isinstance(cls.version, int)
        assert cls.version > 0
        assert registry.units.version(name) == cls.version


def test_an_unknown_unit_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"unknown unit 'nmuu'; did you mean 'nmu'\? Known: ") as error:
        registry.units.entry("nmuu")
    assert all(name in str(error.value) for name in registry.units.entries)


def test_a_unit_of_another_package_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "doubling_units.py").write_text(
        "from nalu_bench.registry import register\n"
        "from nalu_bench.units import NAU\n\n"
        "@register('doubling', version=3)\n"
        "class Doubling(NAU):\n"
        "    def forward(self, x):\n"
        "        return 2 * super().forward(x)\n\n"
        "class Undecorated(Doubling):\n"
        "    pass\n"
    )
    installed = tmp_path / "doubling_units-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: doubling-units\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(
        "[nalu_bench.units]\ndoubling = doubling_units:Doubling\nnmu = doubling_units:Doubling\n"
        "undecorated = doubling_units:Undecorated\nbroken = no_such_module:Unit\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "doubling_units", raising=False)

    found = Registry("unit", "nalu_bench.units")
    assert found.entry("doubling").version is None
    assert "doubling_units" not in sys.modules
    assert found.version("doubling") == 3
    assert found.load("doubling")(4, 2)(torch.rand(5, 4)).shape == (5, 2)
    with pytest.raises(UsageError, match=r"nmu is taken by nalu_bench\.units\.nmu:NMU and doubling_units:Doubl"):
        found.entry("nmu")
    with pytest.raises(UsageError, match=r'at doubling_units:Undecorated must bear @register\("undecorated"'):
        found.version("undecorated")
    with pytest.raises(UsageError, match="broken cannot be loaded from no_such_module:Unit: ModuleNotFoundError"):
        found.load("broken")
    assert "broken" in found.entries


def test_listing_names_and_versions_does_not_import_torch() -> None:
    program = (
        "import sys; from nalu_bench import registry\n"
        "kinds = (registry.units, registry.models, registry.tasks)\n"
        "shipped = [(kind, name) for kind in kinds for name, entry in kind.entries.items() if entry.version]\n"
        "assert all(kind.version(name) > 0 for kind, name in shipped)\n"
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=paths.CHECKOUT, check=True)


def test_every_class_that_the_guide_lists_is_imported_from_the_package_of_units() -> None:
    text = (paths.CHECKOUT / "GUIDE.md").read_text(encoding="utf-8")
    listed = text[text.index("| class | `unit=` |") :].partition("\n\n")[0]
    classes = re.findall(r"`([A-Z]\w+)`", listed)
    assert {"NAU", "LSTM"} <= set(classes)
    for name in classes:
        assert getattr(nalu_bench.units, name).registered_name in registry.units.entries


@pytest.mark.parametrize("name", sorted(registry.units.entries))
def test_every_unit_says_where_it_is_from_and_shows_what_it_gives(name: str) -> None:
    unit = registry.units.load(name)
    told = " ".join(parent.__doc__ or "" for parent in unit.__mro__ if issubclass(parent, Unit) and parent is not Unit)
    assert "https://" in told or "Source: none" in told, "the source needs a URL"
    assert "Shape: " in told
    assert ">>> " in (unit.__doc__ or ""), "a doctest shows what the unit gives"


def test_a_unit_is_projected_as_it_is_with_gradients() -> None:
    unit = NAU(2, 1)
    with torch.no_grad():
        unit.W.fill_(3.0)
    unit.project_()
    assert unit.W.tolist() == [[1.0, 1.0]]
    assert unit.W.requires_grad


class Slips(NAU):
    """y = W x. Source: none."""


def mixing(unit: NAU, x: Tensor) -> Tensor:
    return unit.W @ (x - x.mean(-1, keepdim=True))


@pytest.mark.parametrize(
    ("method", "slip", "words"),
    [
        ("columns", lambda unit, x: None, "`columns` of Slip must return a tensor, got NoneType"),
        ("columns", lambda unit, x: unit.W @ nn.functional.dropout(x, 0.5), "state random numbers in `noise`, and use"),
        ("columns", mixing, "the output of an example must not depend on those beside it"),
        ("initialisers", lambda unit: {"w": uniform(-1.0, 1.0)}, "`initialisers` of Slip must map names of its param"),
        ("initialisers", lambda unit: {"W": 0.5}, "`initialisers` of Slip must map names of its parameters to func"),
        ("weights", lambda unit: unit.W, "`weights` must return a dictionary of tensors, got Parameter"),
        ("gates", lambda unit, x: {"g": 5 + x}, "`gates` must lie from 0 to 1, got {'g': '2 to 8'}"),
        ("columns", lambda unit, x: x[:2], "outputs must have a gradient for every parameter, got none for W"),
        ("penalties", lambda unit, x: None, "`penalties` must return a dictionary of tensors, got None"),
        ("penalties", lambda unit, x: {"small": 1.0}, "`penalties` must return a dictionary of tensors, got {'small'"),
    ],
)
def test_a_slip_breaks_a_rule_in_its_words(method: str, slip: object, words: str) -> None:
    broken = type("Slip", (Slips,), {method: slip, "__doc__": Slips.__doc__})
    with pytest.raises(AssertionError, match=f"^a unit [a-z ]+: .*{re.escape(words)}"):
        contract.check(broken)


def test_an_instance_is_no_unit_to_check() -> None:
    with pytest.raises(AssertionError, match=r"check takes the class of a unit, got NAU"):
        contract.check(NAU(4, 2))  # type: ignore[arg-type]
