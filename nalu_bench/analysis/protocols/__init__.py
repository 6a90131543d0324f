"""Hypotheses about a protocol that is not known: what they predict, and how well it explains what was printed."""
