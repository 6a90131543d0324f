"""How models are called and drawn: one label, colour and marker each, in every table and figure.

The colours are Okabe & Ito's, distinct for colour-blind readers; markers and line styles tell them apart in grey.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = {
    "nac": "NAC₊", "nac_mul": "NAC•", "nac_mul_sigma": "NAC•,σ", "nac_mul_nmu": "NAC•,NMU", "nalu": "NALU",
    "nac_nalu_shared": "NALU (shared)", "nac_nalu_separate": "NALU (separate)", "gated_nau_nmu": "Gated NAU/NMU",
    "nau_gated_nau_nmu": "NAU, gated NAU/NMU", "nau": "NAU", "nmu": "NMU", "linear": "Linear", "relu": "ReLU",
    "relu6": "ReLU6", "lstm": "LSTM", "rnn_relu": "ReLU RNN", "rnn_nac": "NAC₊ RNN", "rnn_nalu": "NALU RNN",
    "text_lstm": "LSTM", "text_lstm_nac": "LSTM + NAC₊", "text_lstm_nalu": "LSTM + NALU",
    "iit_nac": "NAC₊", "iit_nalu": "NALU", "iit_nalu_separate": "NALU (separate)", "iit_nalu_two": "NALU, NALU",
    "iit_nalu_two_separate": "NALU, NALU (separate)",
}  # fmt: skip

ACTIVATION_LABELS = {
    "relu": "ReLU", "relu6": "ReLU6", "leaky_relu": "LeakyReLU", "prelu": "PReLU", "elu": "ELU", "selu": "SELU",
}  # fmt: skip

OPERATION_LABELS = {"add": "a + b", "sub": "a − b", "mul": "a × b", "div": "a / b", "square": "a²", "sqrt": "√a"}

_PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
_MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
_LINES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]

# Models that meet in one figure have numbers of their own.
_NUMBERS = {
    "nac": 0, "nac_mul": 1, "nalu": 2, "nau": 3, "linear": 4, "relu6": 5, "nmu": 6, "relu": 5, "nac_mul_sigma": 4,
    "lstm": 6, "rnn_relu": 5, "rnn_nac": 0, "rnn_nalu": 2,
    "text_lstm": 6, "text_lstm_nac": 0, "text_lstm_nalu": 2,
    "nac_mul_nmu": 0, "nac_nalu_shared": 2, "nac_nalu_separate": 1, "gated_nau_nmu": 5, "nau_gated_nau_nmu": 3,
}  # fmt: skip


def label(model: str) -> str:
    """The paper's name of a model, or its own for one that is not of the papers."""
    return LABELS.get(model, model)


def drawing(model: str) -> dict[str, Any]:
    """Colour, marker and line style of a model, always the same."""
    number = _NUMBERS.get(model, sum(model.encode())) % len(_PALETTE)
    return {"color": _PALETTE[number], "marker": _MARKERS[number], "linestyle": _LINES[number]}


def activation_label(activation: str) -> str:
    """The usual name of an activation."""
    return ACTIVATION_LABELS.get(activation, activation.capitalize())


def gradient(share: float) -> Any:
    """A colour for each of many ordered lines, 0 <= share < 1: dark to light, not too light for paper."""
    from matplotlib import colormaps

    return colormaps["viridis"](0.9 * share)


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> "tuple[Figure, Any]":
    """A figure for print: sizes in inches, sans serif of 9 points, thin grid."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update(
        {
            "font.size": 9, "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "axes.axisbelow": True,
            "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "pdf.fonttype": 42,
            "figure.dpi": 200, "savefig.dpi": 200,
        }
    )  # fmt: skip
    return plt.subplots(rows, columns, figsize=(width, height), layout="constrained", squeeze=False, **options)
