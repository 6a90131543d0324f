"""Kinds of report, one file each. A kind makes a table and a figure from the runs of an experiment."""
