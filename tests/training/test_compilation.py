from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch._dynamo.utils import counters

from nalu_bench.training.compilation import Mode, graph


def squares(x: Tensor) -> list[Tensor]:
    return [(x * x).sum(dim=0)]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache of graphs."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.usefixtures("cache")
def test_a_graph_is_compiled_once_and_then_taken_from_the_cache_on_disk() -> None:
    x, found = torch.randn(3, 4), []
    for outcome in ("miss", "hit"):
        before = counters["inductor"][f"fxgraph_cache_{outcome}"]
        found += graph(squares, Mode("cpu", compiled=True))(x)
        assert counters["inductor"][f"fxgraph_cache_{outcome}"] == before + 1
    assert torch.equal(found[0], found[1])


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.usefixtures("cache")
def test_a_graph_is_compiled_again_for_other_instructions_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(3, 4)
    for instructions in ("AVX512", "AVX2"):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda name=instructions: name)
        before = counters["inductor"]["fxgraph_cache_miss"]
        graph(squares, Mode("cpu", compiled=True))(x)
        assert counters["inductor"]["fxgraph_cache_miss"] == before + 1
