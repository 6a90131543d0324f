"""Rebuild any trained network from the record of its run."""

from collections.abc import Mapping

import numpy as np
import torch

from nalu_bench.models.network import Network
from nalu_bench.plan.cell import Cell


def network(cell: Cell, parameters: Mapping[str, np.ndarray]) -> Network:
    """The network of a cell with given parameters, an ordinary module for one network.

    Args:
        cell: its model and its task say how the network is built.
        parameters: by full name, as `store.reader.Store.parameters` gives them for a seed.

    Raises:
        RuntimeError for names or shapes that are not the network's.
    """
    built = cell.model.build(cell.task)
    built.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in parameters.items()})
    return built
