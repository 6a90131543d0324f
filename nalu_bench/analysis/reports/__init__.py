"""Kinds of report, one file each: how the runs of an experiment become its table and its figure."""
