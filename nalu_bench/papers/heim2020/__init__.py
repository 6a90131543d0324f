"""The tables of the NPU's paper."""
