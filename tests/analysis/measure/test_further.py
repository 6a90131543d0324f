"""A success by a further criterion must follow from the error of its run."""

import numpy as np
import pandas as pd
import pytest

from nalu_bench.analysis.measure.recheck import Check, _passed
from nalu_bench.tasks.arithmetic import Arithmetic


@pytest.mark.parametrize(
    ("error", "stated", "check"),
    [
        (1e-6, True, Check.RECOMPUTED), (1e-6, False, Check.CONTRADICTED), (1e-4, True, Check.CONTRADICTED),
        (np.nan, False, Check.RECOMPUTED), (np.nan, True, Check.CONTRADICTED), (1e-6, None, Check.CONTRADICTED),
    ],
)  # fmt: skip
def test_a_forged_success_is_contradicted(error: float, stated: bool | None, check: Check) -> None:
    run = pd.Series({"cell": "c", "seed": 0, "extrapolation_mse": error, "solved_mse_1e-5": stated}, dtype=object)
    assert _passed(run, Arithmetic, "extrapolation_mse", 1e-5, "solved_mse_1e-5").check is check
