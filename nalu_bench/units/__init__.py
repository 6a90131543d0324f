"""Arithmetic units: ordinary `torch.nn.Module`s for one network.

>>> import torch
>>> from nalu_bench.units import NAU, NMU
>>> network = torch.nn.Sequential(NAU(100, 2), NMU(2, 1))
>>> network(torch.rand(128, 100)).shape
torch.Size([128, 1])
"""

from nalu_bench.units.affine import Constant, Linear, ReLU, ReLU6
from nalu_bench.units.dense import Dense
from nalu_bench.units.embedding import Embedding
from nalu_bench.units.gnalu import GNALU
from nalu_bench.units.gru import GRU
from nalu_bench.units.inalu import INALU, SchlorNALU
from nalu_bench.units.lstm import LSTM
from nalu_bench.units.mcfc import MCFC, MulMCFC
from nalu_bench.units.nac import NAC, NACMul, NACMulNMU, NACMulSigma
from nalu_bench.units.nalu import NALU, GatedNAUNMU
from nalu_bench.units.nau import NAU
from nalu_bench.units.nmu import NMU
from nalu_bench.units.npu import NPU
from nalu_bench.units.reciprocal import NMRU, NRU
from nalu_bench.units.snmu import SNMU
from nalu_bench.units.unit import Unit

__all__ = [
    "GNALU", "GRU", "INALU", "LSTM", "MCFC", "NAC", "NALU", "NAU", "NMRU", "NMU", "NPU", "NRU", "SNMU", "Constant",
    "Dense", "Embedding", "GatedNAUNMU", "Linear", "MulMCFC", "NACMul", "NACMulNMU", "NACMulSigma", "ReLU", "ReLU6",
    "SchlorNALU", "Unit",
]  # fmt: skip
