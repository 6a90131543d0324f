"""Errors in percent of an untrained model with the same seed, and claims on them."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reported import line_with, lines_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import relative_claims
from nalu_bench.papers.trask2018.relative_claims import Sentence
from nalu_bench.papers.trask2018.relative_errors import RelativeErrors
from nalu_bench.plan import compose, experiment

KIND = RelativeErrors(experiment.load("trask2018/table6"))
SETTING = "range=[0, 1.75];lengths=[1, 20]"


def runs(model: str, errors: list[float], role: str = "cell") -> pd.DataFrame:
    return pd.DataFrame({
        "role": role, "task": "subsections", "setting": SETTING, "operation": "add", "model": model,
        "cell": f"{role} {model}", "steps": 50_000, "asked": len(errors), "seed": range(len(errors)),
        "status": "finished", "validation_mse": errors, "extrapolation_mse": errors,
    })  # fmt: skip


def test_an_error_is_held_against_the_untrained_model_of_the_same_seed() -> None:
    untrained = [10.0 * 10**seed for seed in range(8)]
    measured = Measured(pd.concat([
        runs("nac", [each / 10 for each in untrained]), runs("hidden_linear", untrained, "baseline"),
    ]))  # fmt: skip
    line = line_with(lines_of(KIND, measured), operation="add", model="nac", split="validation", metric="relative")
    assert line.ours.value == pytest.approx(10.0)
    assert (line.printed_text, line.verdict) == ("0.0", "differs")


def test_a_number_that_chose_the_inputs_is_fitted() -> None:
    exact = pd.concat([runs("nac", [0.0] * 8), runs("nalu", [0.0] * 8), runs("hidden_linear", [1.0] * 8, "baseline")])
    lines = lines_of(KIND, Measured(exact))
    verdicts = {
        model: line_with(lines, operation="add", model=model, split="validation", metric="relative").verdict
        for model in ("nac", "nalu")
    }
    assert verdicts == {"nac": "fitted", "nalu": "exact"}


def test_without_the_untrained_models_nothing_is_reported() -> None:
    with pytest.raises(UsageError, match=r"the untrained models for subsections .* add are not there"):
        KIND.require(Measured(runs("nac", [1.0])))


def test_two_untrained_models_of_one_task_are_refused() -> None:
    cells = compose.plan_experiment(KIND.experiment, ["budget=smoke"]).cells
    KIND.check(cells)
    other = next(want for want in cells if want.cell.model.name == "nac")
    with pytest.raises(UsageError, match=r"one cell of the role baseline for each task and setting and operation, got"):
        KIND.check([*cells, replace(other, role="baseline")])


def test_without_a_network_under_the_chosen_inputs_nothing_is_reported() -> None:
    other = runs("nac", [1.0]).assign(setting="range=[0, 1];lengths=[10, 50]")
    untrained = pd.concat([runs("hidden_linear", [1.0], "baseline"), other.assign(role="baseline")])
    with pytest.raises(UsageError, match=r"no runs of trask2018/table6 with range \[0, 1.75\], lengths \[1, 20\]"):
        KIND.require(Measured(pd.concat([other, untrained])))


def errors(**of: dict[str, float]) -> Any:
    """Model -> operation -> the error of 20 seeds, spread by a hundredth."""
    spread = np.linspace(0.995, 1.005, 20)
    return {
        (model, operation, "validation"): value * spread
        for model, each in of.items()
        for operation, value in each.items()
    }


STANDARD = errors(good={"add": 1, "mul": 2}, fair={"add": 8, "mul": 3}, bad={"add": 50, "mul": 1})


@pytest.mark.parametrize(
    ("rank", "limit", "quantity", "value"),
    [
        (1, {"at_most": 10}, "good, at a × b", 2), (2, {"at_most": 10}, "fair, at a + b", 8),
        (3, {"at_most": 10}, "bad, at a + b", 50), (1, {"at_least": 10}, "good, at a × b", 2),
    ],
)  # fmt: skip
def test_a_claim_with_a_rank_is_on_that_model_in_its_worst_operation(
    rank: int, limit: dict[str, float], quantity: str, value: float
) -> None:
    said = Sentence(["good", "fair", "bad"], ["validation"], rank=rank, **limit)
    claim = relative_claims.tested(said, "subsections", STANDARD)
    told = f"number {rank} of 3 models, ordered by their worst operation: percentage of {quantity} in interpolation"
    assert f"{claim.quantity}, at {claim.where}" == told
    assert claim.value == pytest.approx(value, rel=0.01)
    assert (claim.places, claim.picked) == (6, True)


def test_a_claim_without_a_rank_is_on_every_model_and_operation() -> None:
    claim = relative_claims.tested(Sentence(["good", "fair"], ["validation"], at_most=10), "subsections", STANDARD)
    assert (claim.quantity, claim.places) == ("percentage", 4)
    assert claim.where == "a + b by fair in interpolation"
    assert [where for where, _ in claim.everywhere] == [
        f"{operation} by {model} in interpolation" for model in ("good", "fair") for operation in ("a + b", "a × b")
    ]
    missing = relative_claims.tested(Sentence(["good", "unseen"], ["validation"], at_most=10), "subsections", STANDARD)
    assert missing.untested == "no runs of ours: unseen"
    assert math.isnan(missing.value)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (Sentence(["a"], ["validation"]), "must have one limit"),
        (Sentence(["a"], ["validation"], rank=2, at_most=1), "rank of the claim x must be from 1 to 1, got 2"),
    ],
)
def test_a_claim_without_one_limit_or_with_an_impossible_rank_is_refused(said: Sentence, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        said.check("x")


RECURRENT = RelativeErrors(experiment.load("trask2018/table8"))
PLACE = {"task": "recurrent_subsections", "setting": "range=[0, 1.75];lengths=[1, 5]", "operation": "div"}
MODELS = ("sequence_lstm", "sequence_gru", "sequence_rnn_tanh", "sequence_rnn_relu", "sequence_nac", "sequence_nalu")


def division(constant: list[float], best: list[float]) -> Any:
    """The claim that no model divides, if one has these errors, and a constant those."""
    models = [runs(name, best if name == "sequence_nac" else [50.0] * 9) for name in MODELS]
    beside = [runs("sequence_constant", constant, "constant"), runs("sequence_lstm", [100.0] * 9, "baseline")]
    measured = Measured(pd.concat([*models, *beside]).assign(**PLACE))
    return line_with(lines_of(RECURRENT, measured), metric="claim_division", setting=PLACE["setting"])


def test_whether_a_model_divides_is_held_against_a_constant_of_the_same_seed() -> None:
    equal = division([0.0] * 9, [0.0] * 9)
    assert (equal.ours.value, equal.verdict) == (100.0, "fitted")
    assert division([1.0] * 9, [0.05] * 9).ours.value == pytest.approx(5.0)
    assert division([1.0] * 9, [0.05] * 9).verdict == "differs"
    assert division([1.0] * 5, [0.05] * 9).verdict == "not comparable"  # seeds of the constant are missing


def test_a_claim_on_a_role_that_no_cell_has_is_refused() -> None:
    chosen = experiment.load("trask2018/table8")
    chosen.report["claims"]["division"]["of"] = "constnat"
    with pytest.raises(UsageError, match=r"unknown role of the claim division .* did you mean 'constant'"):
        RelativeErrors(chosen).check_printed(compose.plan_experiment(chosen, ["budget=smoke"]).cells)
