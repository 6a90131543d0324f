"""The contract of every registered unit, and the search for units."""

import copy
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Generator, Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

import nalu_bench.units
from nalu_bench import paths, registry
from nalu_bench.errors import UsageError
from nalu_bench.registry import Registry
from nalu_bench.units import Unit

CASES: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in registry.units.entries),
    ("nalu", {"shared": False}),
    ("dense", {"activation": "prelu"}),
]


@pytest.fixture(params=CASES, ids=lambda case: "-".join([case[0], *map(str, case[1].values())]))
def case(request: pytest.FixtureRequest) -> tuple[type[Unit], dict[str, Any]]:
    name, options = request.param
    return registry.units.load(name), options


@pytest.fixture
def unit(case: tuple[type[Unit], dict[str, Any]]) -> Unit:
    return make(case, 4, 2)


def make(case: tuple[type[Unit], dict[str, Any]], size_in: int, size_out: int, seed: int = 0) -> Unit:
    cls, options = case
    unit = cls(size_in, size_out, **options)
    unit.reset_parameters(Generator().manual_seed(seed))
    return unit.double()


def inputs(*shape: int) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=Generator().manual_seed(0)) * 2 + 0.5


def everything(unit: Unit, x: Tensor) -> dict[str, Tensor]:
    return {"output": unit(x), **unit.weights(), **unit.penalties(x)}


@pytest.mark.parametrize("shape", [(4,), (5, 4), (3, 5, 4)])
def test_a_unit_maps_the_last_axis_and_leaves_the_others(unit: Unit, shape: tuple[int, ...]) -> None:
    x = inputs(*shape)
    y = unit(x)
    assert y.shape == (*shape[:-1], 2)
    assert y.dtype == torch.float64
    rows = torch.stack([unit(row) for row in x.reshape(-1, 4)]).view(y.shape)
    torch.testing.assert_close(y, rows, rtol=1e-13, atol=1e-15)


def test_a_unit_works_in_float32_as_made(case: tuple[type[Unit], dict[str, Any]]) -> None:
    unit = case[0](4, 2, **case[1])
    assert unit(torch.rand(5, 4)).dtype == torch.float32


def test_a_unit_works_in_sequence_with_others(case: tuple[type[Unit], dict[str, Any]]) -> None:
    first, second = make(case, 6, 4), make(case, 4, 2, seed=1)
    x = inputs(5, 6)
    assert torch.equal(nn.Sequential(first, second)(x), second(first(x)))


def test_a_unit_under_vmap_over_stacked_parameters_equals_a_loop(
    case: tuple[type[Unit], dict[str, Any]],
) -> None:
    units = [make(case, 4, 2, seed) for seed in range(3)]
    parameters, _ = stack_module_state(units)
    x = inputs(3, 5, 4)

    class Everything(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.unit = copy.deepcopy(units[0])

        def forward(self, x: Tensor) -> dict[str, Tensor]:
            return everything(self.unit, x)

    def one(parameters: dict[str, Tensor], x: Tensor) -> Any:
        return functional_call(module, {f"unit.{name}": value for name, value in parameters.items()}, (x,))

    module = Everything()
    stacked = vmap(one)(parameters, x)
    for lane, unit in enumerate(units):
        for name, value in everything(unit, x[lane]).items():
            torch.testing.assert_close(stacked[name][lane], value, rtol=1e-13, atol=1e-15)


def test_projection_works_on_stacked_parameters(case: tuple[type[Unit], dict[str, Any]]) -> None:
    units = [make(case, 4, 2, seed) for seed in range(3)]
    with torch.no_grad():
        for unit in units:
            for parameter in unit.parameters():
                parameter.mul_(10).sub_(2)
        stacked = copy.deepcopy(units[0])
        for name, value in stack_module_state(units)[0].items():
            setattr(stacked, name, nn.Parameter(value))
        stacked.project_()
        for unit in units:
            unit.project_()
    for name, parameter in stacked.named_parameters():
        assert torch.equal(parameter, torch.stack([unit.get_parameter(name) for unit in units]))


def test_weights_are_matrices_of_outputs_by_inputs(unit: Unit) -> None:
    assert all(W.shape == (2, 4) for W in unit.weights().values())


def test_penalties_are_scalars_and_nothing_is_stored_while_computing(unit: Unit) -> None:
    x = inputs(5, 4)
    attributes = {key: value for key, value in vars(unit).items() if not isinstance(value, dict)}
    registered = {key: dict(value) for key, value in vars(unit).items() if isinstance(value, dict)}
    contents = {name: parameter.detach().clone() for name, parameter in unit.named_parameters()}
    first, second = everything(unit, x), everything(unit, x)
    assert all(penalty.shape == () for penalty in unit.penalties(x).values())
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert {key: value for key, value in vars(unit).items() if not isinstance(value, dict)} == attributes
    assert {key: dict(value) for key, value in vars(unit).items() if isinstance(value, dict)} == registered
    assert all(torch.equal(parameter, contents[name]) for name, parameter in unit.named_parameters())


def test_initialisers_name_exactly_the_parameters(unit: Unit) -> None:
    assert set(unit.initialisers()) == {name for name, _ in unit.named_parameters()}
    assert not list(unit.buffers())


def test_equal_generators_give_equal_weights_and_leave_the_global_one_alone(unit: Unit) -> None:
    state = torch.get_rng_state()
    draws = []
    for seed in (7, 7, 8):
        unit.reset_parameters(Generator().manual_seed(seed))
        draws.append(nn.utils.parameters_to_vector(unit.parameters()).detach())
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert torch.equal(torch.get_rng_state(), state)


def test_a_unit_is_documented_with_its_formula_and_source(case: tuple[type[Unit], dict[str, Any]]) -> None:
    text = vars(case[0])["__doc__"]
    assert re.search(r"\w\)? = \S", text)
    assert "Source:" in text or "else as" in text


def test_a_unit_has_a_name_and_a_version() -> None:
    for name, entry in registry.units.entries.items():
        cls = entry.load()
        assert isinstance(cls.version, int)
        assert cls.version > 0
        assert registry.units.version(name) == cls.version


@pytest.mark.parametrize(("size_in", "size_out"), [(0, 1), (1, 0)])
def test_a_unit_without_inputs_or_outputs_is_refused(
    case: tuple[type[Unit], dict[str, Any]], size_in: int, size_out: int
) -> None:
    with pytest.raises(ValueError, match=f"got {size_in} and {size_out}"):
        case[0](size_in, size_out, **case[1])


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


def test_units_are_imported_without_what_only_experiments_need() -> None:
    program = (
        "import sys; from nalu_bench.units import NAU, NMU\n"
        "heavy = {'hydra', 'omegaconf', 'pandas', 'matplotlib', 'numba', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], cwd=paths.CHECKOUT, check=True)


def test_every_class_that_the_readme_lists_is_imported_from_the_package_of_units() -> None:
    text = (paths.CHECKOUT / "README.md").read_text(encoding="utf-8")
    listed = text[text.index("| class | name |") :].partition("\n\n")[0]
    classes = re.findall(r"`([A-Z]\w+)`", listed)
    assert {"NAU", "LSTM"} <= set(classes)
    for name in classes:
        assert getattr(nalu_bench.units, name).registered_name in registry.units.entries
