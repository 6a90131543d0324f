"""The run store: one folder a cell, one immutable part a finished block."""
