"""The tables of the iNALU's paper."""
