"""The plan of a command: its cells and their addresses. Nothing here imports torch; three modules import Hydra."""
