"""Pieces of sentences of the pages about the experiments, computed again from their results."""

import pandas as pd

from nalu_bench import paths

RESULTS = paths.CHECKOUT / "results" / "heim2020"

NALU = "two_layer-heim_nalu_tenth"
NMU = "two_layer-heim_nau_tenth-heim_nmu_tenth"
REAL_NPU = "two_layer-heim_nau_tenth-heim_real_npu_tenth"


def sentences(page: str) -> list[str]:
    """The pieces that the page must say word for word."""
    return [none_differs(), differing(), learned(), batches(), diverged()] if page == "large_scale" else []


def none_differs() -> str:
    """That no number of the test differs."""
    assert not _differing("extrapolation")
    return "In the test no compared number differs"


def differing() -> str:
    """That two numbers of the training differ, and whose."""
    assert _differing("validation") == [("add", REAL_NPU), ("sqrt", NALU)]
    return "In training two differ"


def learned() -> str:
    """How many NMUs learn a + b."""
    runs = _runs(NMU, "add")
    return f"{(runs['extrapolation_mse'] < 1).sum()} of {len(runs)} end with an error below 1"


def batches() -> str:
    """The loss of the last batches of the NALUs of a + b: what is printed, and the penalty."""
    curves = pd.read_parquet(RESULTS / "large_scale" / "curves.parquet")
    mine = curves[curves["cell"].isin(_runs(NALU, "add")["cell"]) & (curves["step"] == 100_000)]
    return f"has a median of {mine['train_loss'].median():.2g}"


def diverged() -> str:
    """How many NALUs of a b diverged."""
    runs = _runs(NALU, "mul")
    return f"{(runs['status'] == 'diverged').sum()} of {len(runs)} NALUs of a b diverge"


def _differing(split: str) -> list[tuple[str, str]]:
    """Operation and model of the numbers that differ."""
    table = pd.read_csv(RESULTS / "large_scale" / "table.csv")
    found = table[(table["split"] == split) & (table["verdict"] == "differs")]
    return list(zip(found["operation"], found["model"], strict=True))


def _runs(model: str, operation: str) -> pd.DataFrame:
    """The runs of a model with the settings of the code."""
    runs = pd.read_csv(RESULTS / "large_scale" / "runs.csv")
    chosen = (runs["model"] == model) & (runs["operation"] == operation)
    return runs[chosen & (runs["setting"] == "protocol=heim2020_code")]
