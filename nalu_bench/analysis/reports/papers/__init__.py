"""Kinds of report that belong to one paper."""
