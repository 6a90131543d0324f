"""The plan whose results a manifest describes: its cells, seeds and roles, made again from the experiment."""

from collections.abc import Mapping
from typing import Any

from nalu_bench.analysis.folders import words_of
from nalu_bench.plan import compose, experiment, ranking
from nalu_bench.plan.compose import Plan
from nalu_bench.plan.sweep import FOLDER


def plan_of(manifest: Mapping[str, Any]) -> Plan:
    """The plan whose results have this manifest; raises UsageError if there is none any more."""
    name, words = str(manifest["experiment"]), words_of(manifest)
    if name.startswith(f"{FOLDER}/"):
        return compose.plan_cells(words, True, name.partition("/")[2])
    ranked = manifest["budget"].get("verb") == ranking.VERB
    return (ranking.plan if ranked else compose.plan_experiment)(experiment.load(name), words)
