"""Verification: committed results and run stores against their plan, their curves and their networks."""
