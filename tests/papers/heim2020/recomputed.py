"""Pieces of sentences of the pages about the experiments, computed again from their results."""

import pandas as pd

from nalu_bench import paths

RESULTS = paths.CHECKOUT / "results" / "heim2020"


def sentences(page: str) -> list[str]:
    """The pieces that the page must say word for word."""
    return [batches(), diverged()] if page == "large_scale" else []


def batches() -> str:
    """The loss of the last batches of the NALUs of a + b: what is printed, and the penalty."""
    curves = pd.read_parquet(RESULTS / "large_scale" / "curves.parquet")
    mine = curves[curves["cell"].isin(_nalus("add")["cell"]) & (curves["step"] == 100_000)]
    return f"has a median of {mine['train_loss'].median():.2g}"


def diverged() -> str:
    """How many NALUs of a b diverged."""
    runs = _nalus("mul")
    return f"{(runs['status'] == 'diverged').sum()} of {len(runs)} NALUs of a b diverge"


def _nalus(operation: str) -> pd.DataFrame:
    """The runs of the code's NALUs."""
    runs = pd.read_csv(RESULTS / "large_scale" / "runs.csv")
    chosen = (runs["model"] == "two_layer-heim_nalu_tenth") & (runs["operation"] == operation)
    return runs[chosen & (runs["setting"] == "protocol=heim2020_code")]
