"""The printed numbers beside an experiment."""
