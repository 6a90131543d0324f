"""Write two tables into the current folder: laws.csv, whose laws are known, and diabetes.csv, measured on patients."""

import csv
import random
import sys
from collections.abc import Iterable
from pathlib import Path

FEATURES, ROWS = 28, 600


def laws() -> tuple[list[str], Iterable[list[str]]]:
    """28 features from 1 to 5 with two decimals, of which three have a say, and three targets."""
    draw = random.Random(0)
    header = [*(f"x{number}" for number in range(1, FEATURES + 1)), "sum", "product", "ratio"]
    rows = []
    for _ in range(ROWS):
        x = [round(1 + 4 * draw.random(), 2) for _ in range(FEATURES)]
        targets = x[0] + x[1] + x[2], x[0] * x[1], x[0] / x[1]
        rows.append([f"{value:.6g}" for value in (*x, *targets)])
    return header, rows


def diabetes() -> tuple[list[str], Iterable[list[str]]]:
    """The diabetes data of scikit-learn in their own units: 442 patients, 10 features, the disease a year later.

    Source: Efron, Hastie, Johnstone & Tibshirani 2004, Least Angle Regression, Annals of Statistics 32, 407-499.
    """
    try:
        from sklearn.datasets import load_diabetes
    except ImportError:
        sys.exit("diabetes.csv needs scikit-learn; install it: pip install scikit-learn")

    found = load_diabetes(as_frame=True, scaled=False).frame.rename(columns={"target": "progression"})
    return list(found), ([f"{value:.6g}" for value in row] for row in found.to_numpy())


if __name__ == "__main__":
    for make in (laws, diabetes):
        header, rows = make()
        with Path(f"{make.__name__}.csv").open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows([header, *rows])
