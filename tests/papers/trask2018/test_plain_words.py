"""What the plain words of claims and the README say without a number is so in the committed tables."""

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.pages.build import reported
from nalu_bench.pages.claims import claims

SUCCESS = 10
"""The threshold of Table 6: percent of an untrained network's error."""

INSIDE, OUTSIDE = "validation", "extrapolation"


@pytest.fixture(scope="module")
def errors() -> "pd.Series[float]":
    """Distribution, operation, split and model -> median error of Table 6."""
    table = pd.read_csv(paths.CHECKOUT / "results/trask2018/table6/table.csv")
    return table[table["metric"] == "relative"].set_index(["setting", "operation", "split", "model"])["ours"]


@pytest.mark.parametrize("operation", ["add", "sub"])
def test_a_network_without_any_activation_learns_sums_and_differences_as_the_nac_does(
    errors: "pd.Series[float]", operation: str
) -> None:
    largest = [errors.xs((operation, model), level=("operation", "model")).max() for model in ("nac", "hidden_linear")]
    assert max(largest) < 0.01 * SUCCESS


def test_the_nalu_comes_near_all_four_inside_as_a_linear_network_does_and_outside_nearer_to_two(
    errors: "pd.Series[float]",
) -> None:
    for setting in errors.index.unique("setting"):
        for model in ("nalu", "hidden_linear"):
            assert all(
                errors[setting, operation, INSIDE, model] < SUCCESS for operation in ("mul", "div", "square", "sqrt")
            )
        nearer = max(errors[setting, operation, OUTSIDE, "nalu"] for operation in ("div", "sqrt"))
        assert nearer < min(errors[setting, operation, OUTSIDE, "nalu"] for operation in ("mul", "square"))


def test_claims_are_those_of_four_sources_and_the_iit_report_tests_four_of_trask_again() -> None:
    found = [claim for claim in claims(list(reported(paths.results_dir()))) if not claim.own]
    assert {claim.source.partition(",")[0] for claim in found} == {
        "Trask et al. 2018", "Madsen & Johansen 2020", "IIT Indore report", "Schlör",
    }  # fmt: skip
    quotes = {paper: {claim.quote for claim in found if claim.source.startswith(paper)} for paper in ("Trask", "IIT")}
    assert len(quotes["IIT"] & quotes["Trask"]) == 4


def test_the_recurrent_nac_is_told_by_the_worst_difference_and_the_best_sum_of_four_distributions() -> None:
    table = pd.read_csv(paths.CHECKOUT / "results/trask2018/table8/table.csv")
    nac = table[(table["metric"] == "relative") & (table["split"] == OUTSIDE) & (table["model"] == "sequence_nac")]
    errors = nac.set_index(["operation", "setting"])["ours"]
    assert len(errors["sub"]) == len(errors["add"]) == 4
    assert errors["sub"].idxmax().startswith("range=[0.15, 1.65];")
    assert errors["add"].idxmin().startswith("range=[0, 1.75];")


def test_printed_numbers_that_agree_or_differ_are_as_the_readme_says() -> None:
    def counted(name: str, verdict: str) -> pd.DataFrame:
        table = pd.read_csv(paths.CHECKOUT / f"results/{name}/table.csv")
        found = table[table["verdict"].isin([verdict, "exact"] if verdict == "agrees" else [verdict])]
        return found.assign(printed=pd.to_numeric(found["printed"], errors="coerce"))

    mistry, iit = counted("mistry2022/single_module", "agrees"), counted("iit_report/tables", "agrees")
    assert mistry["printed"].isin([0, 1]).mean() > 0.8
    assert (iit["printed"].abs().isin([0, 1, 100])).mean() > 0.8
    assert counted("schlor2020/experiment1", "differs")["printed"].notna().sum() == 0
