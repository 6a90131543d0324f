"""What shall be computed, and how it is addressed. Nothing here imports torch; `compose` and `launch` know Hydra."""
