"""Converter of printed tables from their sources' words to our keys. It made the files `*.published.csv`."""

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pandas as pd

from nalu_bench.analysis.printed.published import COLUMNS
from nalu_bench.errors import UsageError

OPERATIONS = {
    "add": "add", "sub": "sub", "mul": "mul", "div": "div", "squared": "square", "root": "sqrt",
    "mul (cumulative)": "product", "add (cumulative)": "sum",
    "(x1+x2)*(x1+x2+x3+x4)": "mul", "identity of the number": "", "sub (0-x1-..-xn)": "neg_sum",
}  # fmt: skip
SPLITS = {
    "Interpolation": "validation",
    "Extrapolation": "extrapolation",
    "train U[1,2] / test U[2,6]": "extrapolation",
    "train": "train",
    "validation": "validation",
    "test": "test",
    "train/val U(20,40), test U(0,60)": "test",
}
SETTINGS_OF = {
    "iit_report.csv": {f"{number} operands": f"operands={number};reinitialized=15" for number in range(1, 11)},
}
"""Source -> words for a setting, which stand after a range/split or as a task. Only the code of the IIT Indore report
says that it always reinitialises."""
MODELS = {
    "NAC*": "nac_mul", "NAC+": "nac", "NAC": "nac", "NALU": "nalu", "NAU": "nau", "NMU": "nmu",
    "NAC*,sigma": "nac_mul_sigma", "NAC*,NMU": "nac_mul_nmu", "Gated NAU/NMU": "gated_nau_nmu",
    "NMU, no Rsparse": "nmu_no_sparsity", "NMU, no W-clamp": "nmu_no_clamp",
    "NMU, no Rsparse, no W-clamp": "nmu_no_sparsity_no_clamp",
    "Linear": "linear", "None (linear)": "linear", "ReLU": "relu", "ReLU6": "relu6", "LSTM": "lstm",
}  # fmt: skip
MODELS_OF: dict[str, dict[str, str]] = {
    "operands": {"NAC": "iit_nac", "NALU": "iit_nalu"},
    "digit_series": {
        "NMU": "image_nmu",
        "NAC*": "image_nac_mul",
        "NAC*,sigma": "image_nac_mul_sigma",
        "NAC*,NMU": "image_nac_mul_nmu",
        "NALU": "image_nalu",
        "LSTM": "image_lstm_output",
        "NAU": "image_nau",
        "NAC+": "image_nac",
        "NAC+,Rz": "image_nac_inputs",
    },
}
"""Task -> its own models by their printed names."""

CORRECTED_OF = {
    "iit_report.csv": {
        "sqrt": {"setting": "operands=1;reinitialized=15"},
        "square": {"setting": "operands=1;reinitialized=15", "model": "iit_nalu_two"},
    },
}
"""Source -> operation -> corrected keys. The IIT Indore report counts two operands and one cell, but its code has one
input, and two layers for the square."""

METRICS = {
    "success_rate": "success_rate",
    "solved_at_iteration_median": "solved_at_median",
    "solved_at_iteration_mean": "solved_at_mean",
    "solved_at_iteration_sample_mean": "solved_at_mean",
    "sparsity_error_mean": "sparsity_error_mean",
    "sparsity_error_sample_mean": "sparsity_error_mean",
    "error, % of a randomly initialised model (0 = perfect)": "score",
    "MAE": "mae",
    "accuracy": "accuracy",
}
PERCENT = {"accuracy"}
"""Metrics printed in percent with two digits, which the source files hold as shares."""

DOCUMENTS = {
    "seeds/iit-indore-report.txt": (
        "Bharath kollanur, Counting/Manipulating numbers and, to Extrapolate the Numeric Relationship using Neural "
        "Arithmetic Logic Units (Machine Learning minor project, IIT Indore; a report without date or address)"
    )
}
"""A file that no reader can open -> the document that it holds."""

TASKS = {
    "t=(x1+x2)*(x1+x2+x3+x4), 4 inputs, hidden 2": "ten_parameter",
    "static": "arithmetic",
    "arithmetic datasets (input 100, subset 0.25, overlap 0.5, hidden H)": "arithmetic",
    "arithmetic datasets (input 100, subset 0.25, overlap 0.5, hidden 2)": "arithmetic",
    "input 100, subset 0.25, overlap 0.5, hidden 2": "arithmetic",
    "arithmetic datasets (input N, subset 0.25, overlap 0.5, hidden 2)": "arithmetic",
    "arithmetic datasets (input 100, subset s, overlap 0.5, hidden 2)": "arithmetic",
    "arithmetic datasets (input 100, subset 0.25, overlap r, hidden 2)": "arithmetic",
    "single operation, n operands": "operands",
    "2 operands": "operands",
    "5 operands": "operands",
    "sequential MNIST product (train length 2)": "digit_series",
    "sequential MNIST sum (train length 10)": "digit_series",
}


WORDS: dict[str, tuple[str, Callable[[str], object]]] = {
    "lambda_hat": ("lambda", float),
    "overlap": ("overlap", float),
    "subset": ("subset", float),
    "input": ("inputs", int),
}
"""Word of a setting -> ours, and the type of its value, which decides how it is written."""

RANGE = re.compile(r"\[(?P<low>[-.\d]+),(?P<high>[-.\d]+)\]->.*")
"""A range in training with the one outside, in place of a split."""


def convert(source: Path, only: Mapping[str, Collection[str]] | None = None) -> pd.DataFrame:
    """Rewrite a table of printed numbers from its source's words to our keys. The printed text is kept.

    Args:
        source: a CSV with the columns paper, experiment, task, operation, range/split, model, metric, value,
            ci_lower, ci_upper, n_seeds, source. NA stands for a missing value. A range/split may be followed by a
            setting, as in `test; hidden=4; length=10`, or be one, as in `test length=10`.
        only: column -> words of the rows to take, for a source with several tables; None for all rows.

    Raises:
        UsageError for a word without a translation.
    """
    given = pd.read_csv(source, dtype=str, keep_default_na=False).replace("NA", "")
    for column, words in (only or {}).items():
        given = given[given[column].isin(words)].reset_index(drop=True)
    given["range/split"] = [re.sub(r"^test length=", "test; length=", text) for text in given["range/split"]]
    given["range/split"] = [
        RANGE.sub(r"Extrapolation; range=[\g<low>, \g<high>]", text) for text in given["range/split"]
    ]
    given[["range/split", "setting"]] = [[*text.split("; ", 1), ""][:2] for text in given["range/split"]]
    given["setting"] = [
        SETTINGS_OF.get(source.name, {}).get(setting or task, _in_our_words(setting))
        for setting, task in zip(given["setting"], given["task"], strict=True)
    ]

    def translate(column: str, words: dict[str, str]) -> pd.Series:
        strange = sorted(set(given[column]) - set(words))
        if strange:
            raise UsageError(f"{source.name}: no translation for the {column} {', '.join(strange)}.")
        return given[column].map(words)

    tasks = translate("task", TASKS)
    models = [_model(source, task, model) for task, model in zip(tasks, given["model"], strict=True)]
    converted = pd.DataFrame(
        {
            "task": tasks,
            "setting": given["setting"],
            "operation": translate("operation", OPERATIONS),
            "split": translate("range/split", SPLITS),
            "model": models,
            "metric": translate("metric", METRICS),
            "printed": [
                f"{100 * float(value):.2f}" if metric in PERCENT else value
                for value, metric in zip(given["value"], given["metric"], strict=True)
            ],
            "printed_low": given["ci_lower"],
            "printed_high": given["ci_upper"],
            "n_seeds": given["n_seeds"],
            "printed_model": given["model"],
            "source": given["source"].replace(DOCUMENTS),
        }
    )[COLUMNS]
    for operation, keys in CORRECTED_OF.get(source.name, {}).items():
        converted.loc[converted["operation"] == operation, list(keys)] = [*keys.values()]
    return converted


def _in_our_words(setting: str) -> str:
    """A setting in our words, its values written as ours are."""
    told = []
    for pair in filter(None, setting.split("; ")):
        word, _, value = pair.partition("=")
        ours, kind = WORDS.get(word, (word, str))
        told.append(f"{ours}={kind(value)}")
    return ";".join(told)


def _model(source: Path, task: str, word: str) -> str:
    known = MODELS | MODELS_OF.get(task, {})
    if word not in known:
        raise UsageError(f"{source.name}: no translation for the model {word}.")
    return known[word]
