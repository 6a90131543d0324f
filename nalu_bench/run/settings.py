"""The settings of torch that numbers depend on; a process may train many cells, and the one before may leave others."""

import torch


def reset() -> None:
    """Give them the values that training assumes: torch's defaults, and one thread.

    Blocks are the unit of parallel work, so that more threads would only share processors with other workers. One
    thread also fixes the order of sums. Generators are left alone: nothing draws from a global one.
    """
    torch.set_num_threads(1)
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.set_float32_matmul_precision("highest")
    torch.set_flush_denormal(False)
    torch.use_deterministic_algorithms(False)
