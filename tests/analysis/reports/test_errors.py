"""Errors on every split beside printed ones."""

from dataclasses import replace

import numpy as np
from reported import lines_of, lines_with, measured_of, runs_of

from nalu_bench.analysis.reports.mean_errors import Errors
from nalu_bench.analysis.stats.verdicts import CHOSEN
from nalu_bench.plan import experiment

TABLE3 = experiment.load("trask2018/table3")


def test_a_number_that_chose_the_protocol_cannot_agree_and_can_differ() -> None:
    """Of the LSTM: 29.0 to 31.0 on validation and test, a thousand times the printed error in training."""
    near = np.linspace(29, 31, 5)
    runs = runs_of("text_lstm", 5, task="number_words", train_mae=3.0, validation_mae=near, test_mae=near)
    verdicts = {}
    for chosen in (False, True):
        kind = Errors(replace(TABLE3, report={**TABLE3.report, "fitted": chosen}))
        lines = lines_with(lines_of(kind, measured_of(runs)), model="text_lstm", metric="mae")
        verdicts[chosen] = [str(line.verdict) for line in lines]
        assert [CHOSEN in line.notes for line in lines] == [chosen] * 3
    assert verdicts == {False: ["differs", "agrees", "agrees"], True: ["differs", "fitted", "fitted"]}
