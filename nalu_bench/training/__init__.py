"""Training: the loop of one cell over a stacked axis of seeds."""
