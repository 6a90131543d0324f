"""The search in closed form finds what is there."""

import math
from dataclasses import replace

import numpy as np
import pytest

from nalu_bench.analysis.protocols.controls import rounded, shuffled
from nalu_bench.analysis.protocols.search import (
    MODELS,
    Predicted,
    Space,
    best,
    predicted,
    ranking,
    suited,
    without_moments,
)

SPACE = Space(
    ranges={"uniform": [[0, 1], [1, 2]], "normal": [[0, 1]]}, growths=[1.5, 3], grown=["all", "summed"],
    terms=[1, 3, 8], hidden=[2],
)  # fmt: skip
OPERATIONS = ("mul", "div", "square", "sqrt")


@pytest.fixture(scope="module")
def predictions() -> list[Predicted]:
    return predicted(SPACE, OPERATIONS)


def table(one: Predicted, extrapolation: int, terms: dict[str, int]) -> dict[tuple[str, str, str], str]:
    """What a protocol prints."""
    return {
        (operation, model, split): rounded(float(one.logs[operation, model][terms[operation], extrapolation, side]))
        for operation in OPERATIONS
        for model in MODELS
        for side, split in enumerate(("validation", "extrapolation"))
    }


def truth(predictions: list[Predicted], **words: object) -> Predicted:
    return next(one for one in predictions if words.items() <= one.words.items())


TRUE = {"law": "uniform", "range": (0.0, 1.0), "metric": "rmse", "denominator": "zero", "linear": "linear"}


def test_a_protocol_is_found_from_its_own_table(predictions: list[Predicted]) -> None:
    printed = table(truth(predictions, **TRUE), 2, {"mul": 4, "div": 5, "square": 2, "sqrt": 1})
    assert suited(predictions, printed) == 0.05
    found = ranking(SPACE, predictions, printed, 0.05)
    first = found.iloc[0]
    assert TRUE.items() <= first.to_dict().items()
    assert first["family"] == "each"
    assert first["beyond"] == (0.0, 3.0)
    assert first["terms"] == "mul:3+3 div:3+8 square:8+1 sqrt:3+1"


def test_shared_terms_are_found_too(predictions: list[Predicted]) -> None:
    printed = table(truth(predictions, **TRUE), 0, {"mul": 5, "div": 5, "square": 1, "sqrt": 1})
    found = ranking(SPACE, predictions, printed, 0.1)
    shared = found[found["family"] == "shared"].iloc[0]
    assert shared["terms"] == "3+8"
    assert shared["misfit"] == pytest.approx(found["misfit"].min(), rel=1e-6)


def test_terms_drawn_at_random_pay_for_every_pair_that_does_not_fit(predictions: list[Predicted]) -> None:
    printed = table(truth(predictions, **TRUE), 0, {"mul": 5, "div": 5, "square": 1, "sqrt": 1})
    found = ranking(SPACE, predictions, printed, 0.1)
    least = found[(found[list(TRUE)] == list(TRUE.values())).all(axis=1)].groupby("family")["misfit"].min()
    most = 2 * math.log(9) + 2 * math.log(3)
    assert least["each"] < least["drawn"] <= least["each"] + most + 1e-9


def test_nothing_explains_a_permuted_table_as_well(predictions: list[Predicted]) -> None:
    printed = table(truth(predictions, **TRUE), 2, {"mul": 4, "div": 5, "square": 2, "sqrt": 1})
    rng = np.random.default_rng(0)
    own = best(predictions, printed, 0.1)[1]
    assert all(best(predictions, shuffled(printed, rng), 0.1)[1] > own + 10 for _ in range(20))


def test_what_has_no_moments_cannot_win(predictions: list[Predicted]) -> None:
    printed = table(truth(predictions, **TRUE), 0, {"mul": 5, "div": 5, "square": 1, "sqrt": 1})
    found = ranking(SPACE, predictions, printed, 0.1)
    assert found[found["law"] == "normal"]["misfit"].min() > found["misfit"].min() + 100


def test_what_has_no_moments_is_listed_with_its_share() -> None:
    # A sum of m uniform numbers from 0 on has E[1/b^p] iff m > p; 1 of the sizes 1, 3, 8 has neither moment.
    assert without_moments(SPACE, OPERATIONS) == {
        ("uniform", (0.0, 1.0), "div"): pytest.approx((1 / 3, 1 / 3)),
        ("normal", (0.0, 1.0), "div"): (1, 1),
        ("normal", (0.0, 1.0), "sqrt"): (1, 1),
    }


def test_the_space_is_all_combinations() -> None:
    few = replace(SPACE, metrics=["mae"], linear=["linear"])
    assert len(list(few.protocols())) == 3
    assert len(list(few.choices())) == 2
    assert few.beyond((1.0, 2.0))[:2] == [((1.5, 3.0), "all"), ((1.5, 3.0), "summed")]
    assert len(few.pairs("mul")) == 9
    assert few.pairs("sqrt") == [(1, 1), (3, 1), (8, 1)]
