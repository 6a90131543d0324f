"""Who computes the operations of a training step: torch's libraries alone, or kernels of our own beside them."""
