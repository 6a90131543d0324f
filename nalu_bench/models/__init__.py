"""Models: units stacked into networks. A model's description does not import torch, building it does."""
