"""Tasks: distributions of inputs with targets, splits and a success criterion. Importing one does not import torch."""
