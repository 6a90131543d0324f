"""The pages of experiments without results say how many of their cells are trained, as cells of another experiment."""

import json

import pytest

from nalu_bench import paths
from nalu_bench.plan import compose, experiment

UNREPORTED = ["regularization", "figure3a_all", "ablation", "overlap", "subset", "input_size"]


@pytest.mark.slow
@pytest.mark.parametrize("name", UNREPORTED)
def test_a_page_says_how_many_of_its_cells_all_models_has(name: str) -> None:
    manifest = json.loads((paths.results_dir() / "madsen2020/all_models/manifest.json").read_text())
    trained = {part.partition("/")[0] for part in manifest["parts"]}
    plan = compose.plan_experiment(experiment.load(f"madsen2020/{name}"), ["budget=paper"])
    has = len(trained & {want.cell.digest for want in plan.cells})
    page = (paths.experiments_dir() / f"madsen2020/{name}.md").read_text(encoding="utf-8")
    assert f"Of its {len(plan.cells)} cells {has} {'is' if has == 1 else 'are'} trained so far" in page
