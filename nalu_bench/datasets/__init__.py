"""Data that tasks own: images of digits, read from files. Nothing here imports torch."""
