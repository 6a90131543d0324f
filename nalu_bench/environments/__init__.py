"""Worlds that agents act in, many episodes at once."""
