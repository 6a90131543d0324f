"""Errors on every split beside printed ones."""

from dataclasses import replace

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.reports.kind import compared
from nalu_bench.analysis.reports.mean_errors import Errors
from nalu_bench.plan import experiment

TABLE3 = experiment.load("trask2018/table3")


def measured() -> Measured:
    """Five seeds of the LSTM: 29.0 to 31.0 on validation and test, a thousand times the printed error in training."""
    near = np.linspace(29, 31, 5)
    facts = {
        "role": "cell", "task": "number_words", "setting": "", "operation": "", "model": "text_lstm", "cell": "one",
        "steps": 100, "asked": 5, "seed": range(5), "status": "finished", "train_mae": 3.0, "validation_mae": near,
        "test_mae": near,
    }  # fmt: skip
    return Measured(pd.DataFrame(facts))


def test_a_number_that_chose_the_protocol_cannot_agree_and_can_differ() -> None:
    verdicts = {}
    for chosen in (False, True):
        kind = Errors(replace(TABLE3, report={**TABLE3.report, "fitted": chosen}))
        table = compared(kind.rows(measured()), kind.published)
        lines = table[(table["model"] == "text_lstm") & (table["metric"] == "mae")].set_index("split")
        verdicts[chosen] = [lines.loc[split, "verdict"] for split in ("train", "validation", "test")]
        assert lines["note"].str.contains("with this number in view").all() == chosen
    assert verdicts == {False: ["differs", "agrees", "agrees"], True: ["differs", "fitted", "fitted"]}
